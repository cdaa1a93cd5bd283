"""Scripts that Kafka's own Partition, UnifiedLog and DelayedFetch were led through, event by event."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.replication import BrokerCrashed, LeaderElected, PowerLost, step
from kafkalearn.replication.state import assign, blank, cut_from_end, cut_from_start, end_offset_for
from tests.recorded import recorded
from tests.replication.scripts import answer, effects_as_recorded, event_of, lines_of, settings_of, shown

MARKS, CUTS = recorded("log-hw-leo"), recorded("log-truncation")
EPOCHS = recorded("log-leader-epoch-cache")


@pytest.mark.parametrize("case", [*MARKS["cases"], *CUTS["cases"]], ids=lambda case: case["id"])
def test_every_event_of_a_recorded_script_leads_to_the_recorded_effects_answer_and_state(case):
    settings = settings_of(case["config"])
    partition, leader = blank(settings), -1
    for entry in lines_of(case):
        before, event, expected = partition, event_of(entry), dict(entry["expect"])
        partition = before if event is None else step(settings, before, event)
        leader = whom_the_script_holds_for_leader(event, leader)
        state, effects = expected.pop("state"), expected.pop("effects", [])
        is_whole = any("log" in replica for replica in state["replicas"].values())

        assert shown(settings, partition, leader, is_whole) == state, entry
        assert event is None or effects_as_recorded(partition, entry["op"]) == effects, entry
        assert answer(before, partition, entry["op"]) == expected, entry


def whom_the_script_holds_for_leader(event, leader: int) -> int:
    if isinstance(event, LeaderElected):
        return event.leader
    has_ended = isinstance(event, BrokerCrashed | PowerLost) and event.broker_id == leader
    return -1 if has_ended else leader


def test_the_recorded_scripts_are_all_there():
    assert [case["id"] for case in MARKS["cases"]] == [f"R{n:02}" for n in range(1, 12)]
    assert [case["id"] for case in CUTS["cases"]] == [f"T{n:02}" for n in range(1, 6)]


@pytest.mark.parametrize("case", EPOCHS["cases"], ids=lambda case: case["id"])
def test_the_epoch_cache_answers_and_keeps_what_kafka_s_own_does(case):
    epochs = ()
    for entry in case["events"]:
        expected = entry["expect"]
        match entry["op"]:
            case "assign" if "error" in expected:
                with pytest.raises(KafkaLearnError, match="must be at least 0, got -1"):
                    assign(epochs, entry["epoch"], entry["start_offset"])
            case "assign":
                epochs = assign(epochs, entry["epoch"], entry["start_offset"])
            case "truncate_from_end":
                epochs = cut_from_end(epochs, entry["offset"])
            case "truncate_from_start":
                epochs = cut_from_start(epochs, entry["offset"])
            case "end_offset_for":
                answered = end_offset_for(epochs, entry["epoch"], entry["log_end_offset"])
                assert answered == (expected["epoch"], expected["end_offset"])
        assert [list(each) for each in epochs] == expected["entries"]
