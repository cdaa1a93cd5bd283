"""Scripts of loss, doubling and rejection that Kafka's own classes were led through, event by event."""

import pytest

from kafkalearn.delivery.simulator import DOUBLED, LOST, REJECTED, SAFE, result_of
from kafkalearn.log.sequences import Stamp, judge, remember
from kafkalearn.replication.events import NONE, ProduceAnswered
from tests.recorded import recorded
from tests.replay.partitions import ADelivery

LOSS = recorded("log-loss")["cases"]
IDEMPOTENCE = recorded("log-idempotence")["cases"]


VERDICTS = {
    "lost (acknowledged)": LOST,
    "safe": SAFE,
    "safe, once": SAFE,
    "safe, but not visible past the HW while under min ISR (3.7+)": SAFE,
    "duplicated": DOUBLED,
    "rejected": REJECTED,
}


@pytest.mark.parametrize("case", LOSS, ids=lambda case: case["id"])
def test_the_result_of_each_record_is_the_recorded_verdict(case):
    sent, answered = {}, {}  # request -> values, request -> error
    player = ADelivery(case, case.get("release", "4.0"))
    for event in (step["event"] for step in case["steps"] if "event" in step):
        player.play(event)
        partition = player.partition
        if event["op"] == "produce":
            sent[partition.ledger.requests.request_count] = player.made(event).values
        answered |= {each.request: each.error for each in partition.effects if isinstance(each, ProduceAnswered)}
    log = [record.value for record in partition.leader.log.records]

    for value, verdict in case["verdict"].items():
        # L16 ends while the last request still waits: it counts as the success it will be.
        errors = [answered.get(request, NONE) for request, values in sent.items() if value in values]
        if verdict in VERDICTS:
            last_error = NONE if NONE in errors else errors[-1]
            assert result_of(last_error, log.count(value)) == VERDICTS[verdict], value


@pytest.mark.parametrize("case", IDEMPOTENCE, ids=lambda case: case["id"])
def test_a_broker_judges_every_batch_as_kafka_s_log_did(case):
    entries, log_end_offset = {}, 0
    for line in (each for each in case["steps"] if "event" in each):
        (batch,) = line["event"]["batches"]
        stamp = Stamp(batch["pid"], batch["epoch"], batch["seq"], len(batch["records"]))
        verdict = judge(entries.get(stamp.producer_id), stamp, "4.0")
        first = log_end_offset if verdict.duplicate_of is None else verdict.duplicate_of.base_offset
        if verdict.is_accepted:
            entries[stamp.producer_id] = remember(entries.get(stamp.producer_id), stamp, log_end_offset)
            log_end_offset += stamp.record_count
        offsets = {"first_offset": first, "last_offset": first + stamp.record_count - 1}
        answered = offsets | {"log_end_offset": log_end_offset} if verdict.error == NONE else {"error": verdict.error}
        assert answered == line["expect"], batch
