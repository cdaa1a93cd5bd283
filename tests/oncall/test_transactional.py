"""`safe` and a transactional producer: its file, its brokers' and its consumers'."""

import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import safe
from kafkalearn.oncall.answer import WIDTH, Outcome
from kafkalearn.oncall.settings import parse_properties
from kafkalearn.oncall.transactional import NOT_SAID, troubles_of
from tests.oncall.examples import asked

GOOD = {"producer": "transactional.id=pay", "broker": "", "consumer": "isolation.level=read_committed"}


def troubles(**texts):
    files = [(side, f"{side}.properties", parse_properties(text)) for side, text in {**GOOD, **texts}.items()]
    found, notes = troubles_of(files)
    return [(each.setting, each.value, each.remedy) for each in found], notes


def test_nothing_goes_wrong_with_kafkas_defaults_and_a_consumer_that_reads_committed():
    assert troubles() == ([], ())


def test_a_producer_without_an_id_is_not_looked_at():
    assert troubles(producer="acks=all", consumer="", broker="transaction.state.log.min.isr=1") == ([], ())


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (
            {"producer": "transactional.id=pay\ntransaction.timeout.ms=3600000"},
            ("transaction.timeout.ms", 3_600_000, 900_000),
        ),
        (
            {
                "producer": "transactional.id=pay\ntransaction.timeout.ms=60000",
                "broker": "transaction.max.timeout.ms=30000",
            },
            ("transaction.timeout.ms", 60_000, 30_000),
        ),
        ({"producer": "transactional.id=pay\nenable.idempotence=false"}, ("enable.idempotence", "false", "true")),
        ({"producer": "transactional.id=pay\nacks=1"}, ("acks", "1", "all")),
        ({"broker": "transaction.state.log.min.isr=1"}, ("transaction.state.log.min.isr", 1, 2)),
        ({"broker": "transaction.state.log.min.isr=4"}, ("transaction.state.log.min.isr", 4, 3)),
        (
            {"broker": "transaction.partition.verification.enable=false"},
            ("transaction.partition.verification.enable", "false", "true"),
        ),
        ({"consumer": "group.id=search"}, ("isolation.level", "read_uncommitted", "read_committed")),
    ],
)
def test_each_setting_that_goes_wrong_is_named_with_what_to_set(texts, found):
    assert troubles(**texts)[0] == [found]


def test_a_timeout_that_is_just_allowed_is_no_trouble():
    assert troubles(producer="transactional.id=pay\ntransaction.timeout.ms=900000")[0] == []


def test_one_replica_of_the_transactions_topic_is_named_and_so_is_a_minimum_that_it_cannot_have():
    one = "transaction.state.log.replication.factor=1"
    assert [name for name, _, _ in troubles(broker=one)[0]] == [
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
    ]
    assert len(troubles(broker=f"{one}\ntransaction.state.log.min.isr=1")[0]) == 1


def test_without_a_consumers_file_the_answer_says_that_it_was_not_seen():
    found, notes = troubles_of([("producer", "a", parse_properties("transactional.id=pay"))])
    assert (found, notes) == ((), (NOT_SAID,))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"producer": "transactional.id=pay\ntransaction.timeout.ms=1 min"}, "is a number"),
        ({"consumer": "isolation.level=committed"}, "read_committed"),
    ],
)
def test_what_makes_no_sense_is_refused(texts, message):
    with pytest.raises(KafkaLearnError, match=message):
        troubles(**texts)


def test_the_command_takes_the_files_and_says_what_to_set(tmp_path):
    producer, consumer = tmp_path / "app.properties", tmp_path / "search.properties"
    producer.write_text("transactional.id=pay\ntransaction.timeout.ms=3600000\n")
    consumer.write_text("group.id=search\n")
    words = ["safe", "--replicas", "3", "--min-isr", "2", "--elr", "yes", "--producer", str(producer)]
    code, out, _ = asked([*words, "--consumer", str(consumer)])
    assert code == Outcome.FOUND
    assert "Set transaction.timeout.ms = 900000" in " ".join(out.split())
    assert "isolation.level = read_committed" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= WIDTH
    data = json.loads(asked([*words, "--json"])[1])
    assert [each["setting"] for each in data["transactions"]] == ["transaction.timeout.ms"]
    answer = safe(min_insync_replicas=2, replication_factor=3, has_eligible_leader_replicas=True)
    assert answer.transactions == ()
