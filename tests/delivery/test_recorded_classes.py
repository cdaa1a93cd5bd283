"""Scripts of loss, doubling and rejection that Kafka's own classes were led through, event by event."""

from dataclasses import replace

import pytest

from kafkalearn.delivery import Delivery, ProduceRequest, Settings, step
from kafkalearn.delivery.simulator import DOUBLED, LOST, REJECTED, SAFE, result_of
from kafkalearn.log.sequences import Stamp, judge, remember
from kafkalearn.replication import BrokerStarted, Partition
from kafkalearn.replication.events import NONE, ProduceAnswered
from kafkalearn.replication.state import blank
from tests.recorded import recorded
from tests.replication.scripts import answer, effects_as_recorded, event_of, lines_of, settings_of, shown
from tests.replication.test_recorded import whom_the_script_holds_for_leader

LOSS = recorded("log-loss")["cases"]
IDEMPOTENCE = recorded("log-idempotence")["cases"]


def delivery_settings_of(case: dict) -> Settings:
    release = "3.6" if case["config"].get("behaviour") == "<=3.6" else "4.0"
    return Settings(settings_of(case["config"], release))


def request_of(entry: dict):
    """The event of a line; what is produced is a request made by hand."""
    event = event_of(entry)
    if entry["op"] != "produce":
        return event
    stamp = (entry.get("pid"), entry.get("epoch", 0), entry.get("seq", 0))
    return ProduceRequest(event.values, event.acks, *stamp, event.timeout_ms, event.to_broker)


def with_the_script_s_controller(delivery: Delivery, event, leader: int) -> Delivery:
    """The scripts have no controller: who restarts while nobody leads waits for the script to elect."""
    if not isinstance(event, BrokerStarted) or leader != -1:
        return delivery
    partition = delivery.partition
    return replace(delivery, partition=replace(partition, controller=partition.controller._replace(leader=None)))


def answer_of(before: Partition, after: Partition, entry: dict) -> dict:
    """The answer to the sender; of a batch that was written before, with its offsets."""
    said = answer(before, after, entry["op"])
    bases = [each.base_offset for each in after.effects if isinstance(each, ProduceAnswered)]
    if "pid" in entry and "base_offset" not in said and bases[0] is not None:
        said |= {"base_offset": bases[0], "last_offset": bases[0] + len(entry["values"]) - 1}
    return said


def played(case: dict):
    """Every line of a script with the partition before and after it, and whom the script holds for leader."""
    settings = delivery_settings_of(case)
    delivery, leader = Delivery(blank(settings.topic)), -1
    for entry in lines_of(case):
        event = request_of(entry)
        before = with_the_script_s_controller(delivery, event, leader)
        delivery = before if event is None else step(settings, before, event)
        leader = whom_the_script_holds_for_leader(event, leader)
        yield entry, event, before.partition, delivery.partition, leader


@pytest.mark.parametrize("case", recorded("log-loss")["cases"], ids=lambda case: case["id"])
def test_every_event_of_a_recorded_script_leads_to_the_recorded_effects_answer_and_state(case):
    topic = delivery_settings_of(case).topic
    for entry, event, before, after, leader in played(case):
        expected = dict(entry["expect"])
        state, effects = expected.pop("state"), expected.pop("effects", [])
        is_whole = any("log" in replica for replica in state["replicas"].values())

        assert shown(topic, after, leader, is_whole) == state, entry
        assert event is None or effects_as_recorded(after, entry["op"]) == effects, entry
        assert answer_of(before, after, entry) == expected, entry


VERDICTS = {
    "lost (acknowledged)": LOST,
    "safe": SAFE,
    "safe, once": SAFE,
    "safe, but not visible past the HW while under min ISR (3.7+)": SAFE,
    "duplicated": DOUBLED,
    "rejected": REJECTED,
}


@pytest.mark.parametrize("case", recorded("log-loss")["cases"], ids=lambda case: case["id"])
def test_the_result_of_each_record_is_the_recorded_verdict(case):
    sent, answered = {}, {}  # request -> values, request -> error
    for _, event, _, partition, _ in played(case):
        if isinstance(event, ProduceRequest):
            sent[partition.ledger.requests.request_count] = event.values
        answered |= {each.request: each.error for each in partition.effects if isinstance(each, ProduceAnswered)}
    log = [record.value for record in partition.leader.log.records]

    for value, verdict in case["verdict"].items():
        # L16 ends while the last request still waits: it counts as the success it will be.
        errors = [answered.get(request, NONE) for request, values in sent.items() if value in values]
        if verdict in VERDICTS:
            last_error = NONE if NONE in errors else errors[-1]
            assert result_of(last_error, log.count(value)) == VERDICTS[verdict], value


def test_the_scripts_are_all_there():
    assert [case["id"] for case in LOSS] == [f"L{n:02}" for n in range(1, 18)]
    assert [case["id"] for case in IDEMPOTENCE] == [f"I{n:02}" for n in range(1, 7)]


@pytest.mark.parametrize("case", recorded("log-idempotence")["cases"], ids=lambda case: case["id"])
def test_a_broker_judges_every_batch_as_kafka_s_log_did(case):
    entries, log_end_offset = {}, 0
    expected = {each["event"]: each for each in case["expect"]}
    for index, event in enumerate(each for each in case["events"] if each["op"] == "append"):
        (batch,) = event["batches"]
        stamp = Stamp(batch["pid"], batch["epoch"], batch["seq"], len(batch["records"]))
        verdict = judge(entries.get(stamp.producer_id), stamp, "4.0")
        first = log_end_offset if verdict.duplicate_of is None else verdict.duplicate_of.base_offset
        if verdict.is_accepted:
            entries[stamp.producer_id] = remember(entries.get(stamp.producer_id), stamp, log_end_offset)
            log_end_offset += stamp.record_count
        offsets = {"first_offset": first, "last_offset": first + stamp.record_count - 1}
        answered = offsets | {"log_end_offset": log_end_offset} if verdict.error == NONE else {"error": verdict.error}
        assert answered == {key: value for key, value in expected[index].items() if key not in ("event", "op")}, batch
