"""What `why` makes of lines about transactions: those that brokers and Java's producers wrote, and made ones."""

import json
from pathlib import Path

import pytest

from kafkalearn.oncall import why
from kafkalearn.oncall.answer import WIDTH, Outcome
from kafkalearn.oncall.logs import read
from kafkalearn.oncall.logs.transactions import MEANINGS, event_of_line, findings
from tests.recorded import recorded

RECORDED = json.loads(
    (Path(__file__).resolve().parents[1] / "vectors" / "server_logs" / "transactions.json").read_text(encoding="utf-8")
)["runs"]

GIVEN_UP = recorded("given-up")["runs"]


def kinds(answer):
    return {(each.transactional_id, each.kind): each.count for each in answer.transactions}


@pytest.mark.parametrize("release", RECORDED)
def test_a_brokers_lines_name_the_rollback_and_the_commit_that_came_after_it(release):
    answer = why(RECORDED[release]["server"], has_advice=False)
    assert kinds(answer) == {("slow", "timed out"): 1, ("slow", "not ended"): 1}
    assert answer.outcome == Outcome.FOUND
    assert answer.reading.unknown_count == 0
    late = next(each for each in answer.transactions if each.kind == "not ended")
    assert late.words.endswith("it came after its transaction had timed out")
    assert "transaction.timeout.ms" in str(answer)
    assert max(map(len, str(answer).splitlines())) <= WIDTH


@pytest.mark.parametrize("release", RECORDED)
def test_producers_lines_name_who_was_fenced_and_what_asked_for_too_long(release):
    answer = why(RECORDED[release]["client"], has_advice=False)
    found = kinds(answer)
    assert found["payments", "old epoch"] >= 1
    assert found["payments", "fenced"] >= 1
    assert found["slow", "not ended"] >= 1
    assert found["long", "timeout too long"] >= 1
    assert not [each for each in answer.transactions if each.transactional_id is None]  # stack traces say it again
    fenced = next(each for each in answer.transactions if each.kind == "old epoch")
    assert "gave epoch 2" in fenced.words


def test_both_logs_together_say_it_once_for_each_id_and_kind():
    answer = why([*RECORDED["4.4.0"]["server"], *RECORDED["4.4.0"]["client"]], has_advice=False)
    names = [(each.transactional_id, each.kind) for each in answer.transactions]
    assert len(names) == len(set(names))
    data = answer.as_data()["transactions"]
    assert [each["kind"] for each in data] == [each.kind for each in answer.transactions]
    assert all(each["evidence"] for each in data)


@pytest.mark.parametrize("release", GIVEN_UP)
def test_a_marker_that_is_given_up_names_the_partition_and_what_ends_what_hangs(release):
    answer = why(GIVEN_UP[release]["lines"], has_advice=False)
    if release == "4.2.1":  # there it waits until there is a leader
        assert answer.transactions == ()
        return
    (found,) = answer.transactions
    assert (found.transactional_id, found.kind, found.count) == ("billing-1", "marker given up", 1)
    assert found.words.endswith("without a leader: orders-0")
    assert "KAFKA-20734" in str(answer)
    assert max(map(len, str(answer).splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("line", "kind", "name", "producer", "place"),
    [
        (
            "Epoch of producer 7 at offset 5 in orders-0 is 1, which is smaller than the last seen epoch 2",
            "old epoch", None, 7, "orders-0",
        ),
        (
            "Out of order sequence number for producer 7 at offset 5 in partition orders-0: 9 (incoming seq. number), "
            "3 (current end sequence number)",
            "out of order", None, 7, "orders-0",
        ),
        (
            "[Transaction Marker Request Completion Handler 1]: Sending pay's transaction marker for partition "
            "orders-0 has permanently failed with error org.apache.kafka.common.errors.InvalidProducerEpochException "
            "with the current coordinator epoch 3; cancel sending any more transaction markers",
            "marker refused", "pay", None, "orders-0",
        ),
        (
            "[TransactionCoordinator id=1] Returning INVALID_PRODUCER_ID_MAPPING error code to client for pay's "
            "AddPartitions request",
            "id unknown", "pay", None, None,
        ),
        (
            "[TransactionCoordinator id=1] Rollback of ongoing transaction for transactionalId pay failed due to "
            "error NOT_ENOUGH_REPLICAS",
            "rollback failed", "pay", None, None,
        ),
        (
            "[Transaction Marker Channel Manager 1]: Couldn't find leader endpoint for partitions HashSet(orders-0, "
            "orders-1) while trying to send transaction markers for pay, these partitions are likely deleted already "
            "and hence can be skipped",
            "marker given up", "pay", None, "orders-0, orders-1",
        ),
        ("[TransactionCoordinator id=1] Startup complete.", None, None, None, None),
        ("[Producer clientId=p] Closing the Kafka producer", None, None, None, None),
    ],
)  # fmt: skip
def test_a_line_is_what_it_says(line, kind, name, producer, place):
    event = event_of_line(line, 5, "log", 1)
    found = (None,) * 4 if event is None else (event.kind, event.transactional_id, event.producer_id, event.place)
    assert found == (kind, name, producer, place)


def test_a_producer_is_named_by_the_id_that_it_was_given_to():
    lines = [
        "[2026-11-26 03:55:56,403] INFO [TransactionCoordinator id=1] Initialized transactionalId pay with producerId "
        "7 and producer epoch 0 on partition __transaction_state-0 (a.B)",
        "[2026-11-26 03:55:57,403] INFO [TransactionCoordinator id=1] Initialized transactionalId pay with producerId "
        "7 and producer epoch 2 on partition __transaction_state-0 (a.B)",
        "[2026-11-26 03:55:58,403] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
        "orders-0 (kafka.server.ReplicaManager)",
        "org.apache.kafka.common.errors.InvalidProducerEpochException: Epoch of producer 7 at offset 5 in orders-0 is "
        "0, which is smaller than the last seen epoch 2",
    ]
    (found,) = findings(read(lines).transactions)
    assert (found.transactional_id, found.kind) == ("pay", "old epoch")


def test_one_that_was_answered_concurrent_transactions_once_is_no_finding_and_an_id_that_hangs_is():
    line = "[TransactionCoordinator id=1] Returning CONCURRENT_TRANSACTIONS error code to client for pay's {} request"
    once = [event_of_line(line.format("InitProducerId"), 1, "log", 1)]
    assert findings(once) == ()
    (found,) = findings(once * 50)
    assert found.kind == "other state"


def test_a_group_that_is_asked_for_hides_transactions():
    assert why(RECORDED["4.4.0"]["server"], group="billing").transactions == ()


def test_every_kind_has_its_words_and_its_advice():
    assert all(each.words and each.advice for each in MEANINGS.values())


FLINK = (
    "2026-11-22 15:46:13,448 WARN a.Sink [] - Transaction KafkaTransactionState [transactionalId=Source: a -> Sink: b-1"
    ", producerId=7, epoch=5] has been open for {} ms. This is close to or even exceeding the "
    "transaction timeout of 60000 ms."
)


@pytest.mark.parametrize(("open_ms", "kind"), [(70_000, "timed out"), (55_000, "open for long")])
def test_flink_says_how_long_a_transaction_is_open(open_ms, kind):
    (found,) = why([FLINK.format(open_ms)], has_advice=False).transactions
    assert (found.kind, found.transactional_id, found.producer_id) == (kind, "Source: a -> Sink: b-1", None)


def test_an_exception_at_the_beginning_of_a_line_is_no_logger():
    lines = [
        "15:46:13 ERROR RecordCollectorImpl - task [1_7] Error encountered sending record to topic changelog due to:",
        "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old one.",
    ]
    assert [each.kind for each in why(lines, has_advice=False).transactions] == ["old epoch"]
