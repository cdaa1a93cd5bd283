"""The judge: our own broker is a Kafka, librdkafka's mock cluster is not quite one, and nothing is left of either."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from conformance.judge.judging import AGREES, DIFFERS, judge, main
from conformance.mechanism import Mechanism, new_topic
from conformance.mechanisms import MECHANISMS
from kafkalearn.live.request_values import NEWEST_COMMIT_WITH_NAMES, commit
from tests.live.checked import asked_release, holds

pytestmark = pytest.mark.live

OVER_THE_NETWORK = [each for each in MECHANISMS.values() if each.is_for_any_cluster]
PREFIX = "kafkalearn-judge-"


@pytest.fixture(scope="module")
def mock():
    """The address of a cluster of librdkafka's own, which lives as long as its client."""
    client = Producer({"bootstrap.servers": "nobody:1", "test.mock.num.brokers": 3, "log_level": 0})
    broker = next(iter(client.list_topics(timeout=10).brokers.values()))
    yield f"{broker.host}:{broker.port}"
    client.flush(0)


def left_of_it(kafka) -> list[str]:
    groups = [group.group_id for group in kafka.groups()]
    return [name for name in [*kafka.topics(), *groups] if name.startswith(PREFIX)]


@holds(*(rule for each in OVER_THE_NETWORK for rule in each.rules))
def test_our_own_broker_agrees_in_all_and_nothing_is_left(kafka):
    report = judge(
        kafka.bootstrap, may_write=True, release=asked_release(), seconds=0, fewest=2, mechanisms=OVER_THE_NETWORK
    )
    assert {each.mechanism: each.status for each in report.verdicts} == dict.fromkeys(
        (each.name for each in OVER_THE_NETWORK), AGREES
    ), str(report)
    assert report.exit_code == 0
    assert report.left_behind == ()
    assert not report.unreadable
    assert left_of_it(kafka) == []


def test_the_differences_of_librdkafkas_mock_cluster_come_out(mock):
    report = judge(mock, may_write=True, seconds=0, fewest=40, mechanisms=[MECHANISMS["list offsets"]])
    assert report.exit_code == 1
    assert "Metadata version 13" in report.unreadable
    assert report.verdicts[0].status == DIFFERS
    assert report.verdicts[0].difference.broker != report.verdicts[0].difference.simulator
    assert "DeleteTopics" in str(report)  # what could not be removed is said


@pytest.mark.parametrize("error", [KeyboardInterrupt, AssertionError])
def test_what_was_made_is_removed_after_an_interrupt_or_an_error_too(kafka, error):
    made = []

    def ask(cluster, case, new_name):
        group, (place,) = new_name("group") + "\0é", new_topic(cluster, new_name("topic"))
        broker = cluster.coordinator(group, place)
        cluster.ask(broker, "OffsetCommit", commit(group, {place: 1}), NEWEST_COMMIT_WITH_NAMES)
        made.extend(left_of_it(kafka))
        raise error

    planted = MECHANISMS["list offsets"]
    with pytest.raises(error):
        judge(
            kafka.bootstrap,
            may_write=True,
            mechanisms=[Mechanism("planted", ("lag",), planted.cases, ask, planted.say, only_requests=True)],
        )
    assert {name.split("-")[3] for name in made} == {"topic", "group"}
    assert left_of_it(kafka) == []


def test_the_command_prints_and_writes_the_report(kafka, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("conformance.judge.judging.MECHANISMS", {"list offsets": MECHANISMS["list offsets"]})
    config = tmp_path / "client.properties"
    config.write_text("# as clients have it\nsecurity.protocol=PLAINTEXT\n")
    words = ["--may-write", "--seconds", "0", "--release", asked_release(), "--config", str(config)]
    assert main([kafka.bootstrap, *words, "--report", str(tmp_path / "judged.json")]) == 0
    assert '"status": "agrees"' in (tmp_path / "judged.json").read_text()
    assert "| list offsets | agrees |" in capsys.readouterr().out
    assert left_of_it(kafka) == []
