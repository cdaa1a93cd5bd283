"""Scripts that Kafka's own Partition, UnifiedLog and DelayedFetch were led through, event by event."""

from __future__ import annotations

import pytest

from conformance.mechanisms import replication as runs
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    ElectLeaders,
    LeaderElected,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    pass_time,
    settle,
    simulate,
    step,
)
from kafkalearn.replication.events import NONE, ElectionAnswered, ProduceAnswered, ReassignmentAnswered
from kafkalearn.replication.state import Log, assign, blank, cut_from_end, cut_from_start, end_offset_for
from tests.recorded import recorded
from tests.replication import scripts

MARKS, CUTS = recorded("log-hw-leo"), recorded("log-truncation")
EPOCHS = recorded("log-leader-epoch-cache")


@pytest.mark.parametrize("case", [*MARKS["cases"], *CUTS["cases"]], ids=lambda case: case["id"])
def test_every_event_of_a_recorded_script_leads_to_the_recorded_effects_answer_and_state(case):
    settings = scripts.settings_of(case["config"])
    partition, leader = blank(settings), -1
    for entry in scripts.lines_of(case):
        before, event, expected = partition, scripts.event_of(entry), dict(entry["expect"])
        partition = before if event is None else step(settings, before, event)
        leader = whom_the_script_holds_for_leader(event, leader)
        state, effects = expected.pop("state"), expected.pop("effects", [])
        is_whole = any("log" in replica for replica in state["replicas"].values())

        assert scripts.shown(settings, partition, leader, is_whole) == state, entry
        assert event is None or scripts.effects_as_recorded(partition, entry["op"]) == effects, entry
        assert scripts.answer(before, partition, entry["op"]) == expected, entry


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


RUNS = recorded("replication")
RELEASE = "4.3"


@pytest.mark.parametrize("case", RUNS["cases"], ids=lambda case: f"{case['id']}-{case['name']}")
def test_a_recorded_run_comes_to_the_recorded_states_and_tells_the_producer_the_same(case):
    settings = runs.settings_of(case, RELEASE)
    trace = runs.begun(settings)
    for entry in case["events"]:
        since, leader = len(trace), trace[-1].state.controller.leader
        trace = runs.carried_on(case, settings, trace, entry)

        if entry.get("state") is not None:
            assert runs.shown(trace[-1].state) == entry["state"], entry
        if "answer" in entry:
            recorded_answer = {key: value for key, value in entry["answer"].items() if key != "values"}
            assert runs.producer_answer(trace[since:], leader) == recorded_answer, entry


def test_the_recorded_runs_are_all_there():
    answers = [entry["answer"]["error"] for case in RUNS["cases"] for entry in case["events"] if "answer" in entry]

    assert len(RUNS["cases"]) == 19
    assert set(answers) == {NONE, "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "no reachable leader"}


REASSIGNMENTS = recorded("reassignment")
BROKER_IDS = (1, 2, 3, 4)
PRODUCE_TIMEOUT_MS = 1_000


def settings_of(case: dict, release: str) -> Settings:
    return Settings(
        len(case["replicas"]),
        release=release,
        broker_count=len(BROKER_IDS),
        min_insync_replicas=case["min_isr"],
        has_eligible_leader_replicas=case["elr"],
        assignment=tuple(case["replicas"]),
        replica_lag_time_max_ms=60_000,
        fetch_wait_max_ms=100,
    )


def events_of(entry: dict) -> list:
    words = entry["words"]
    match entry["op"]:
        case "produce":
            return [Produce(words[0], words[1], timeout_ms=PRODUCE_TIMEOUT_MS)]
        case "reassign":
            replicas = None if words[0] is None else tuple(words[0])
            return [AlterPartitionReassignments(replicas, *words[1:])]
        case "elect":
            return [ElectLeaders(words[0])]
        case "freeze":
            return [BrokerFrozen(words[0])]
        case "thaw":
            return [BrokerThawed(words[0]), BrokerReconnected(words[0])]
        case "kill":
            return [BrokerCrashed(words[0]), SessionExpired(words[0])]
        case "stop":
            return [BrokerStopped(words[0])]
        case "restart":
            return [BrokerStarted(words[0])]
    return []


def answer_of(frames) -> object:
    """The last answer to a client, as scripts have it."""
    found = None
    for effect in (effect for frame in frames for effect in frame.state.effects):
        if isinstance(effect, ReassignmentAnswered | ElectionAnswered):
            found = effect.error
        elif isinstance(effect, ProduceAnswered):
            found = [effect.error, effect.base_offset]
    return found


def shown(state) -> dict:
    controller = state.controller
    return {
        "leader": controller.leader,
        "leader_epoch": controller.leader_epoch,
        "replicas": list(controller.assignment.replicas),
        "isr": sorted(controller.isr),
        "elr": sorted(controller.elr),
        "last_known": [] if controller.last_known_leader is None else [controller.last_known_leader],
        "adding": list(controller.assignment.adding),
        "removing": list(controller.assignment.removing),
        "logs": {str(each): log_of(state, each) for each in BROKER_IDS},
    }


def log_of(state, broker_id: int) -> list | None:
    log, broker = state.replica(broker_id).log, state.replica(broker_id).broker
    knows_of_it = log != Log() or broker.leader_epoch >= 0 or broker_id in state.controller.assignment.replicas
    is_made = broker.is_running or log != Log()
    if not (knows_of_it and is_made):
        return None
    return [[offset, record.value, record.leader_epoch] for offset, record in enumerate(log.records)]


def compare(case: dict, release: str) -> None:
    """Fail at the first step after which the simulator stands otherwise, or answers otherwise."""
    settings = settings_of(case, release)
    trace = settle(settings, simulate(settings, []))
    assert shown(trace[-1].state) == case["begin"]
    for entry in case["steps"]:
        since = len(trace)
        trace = settle(settings, extend(step, settings, trace, events_of(entry)))
        if entry["op"] == "produce" and any(replica.waiting.produces for replica in trace[-1].state.replicas):
            trace = pass_time(settings, trace, PRODUCE_TIMEOUT_MS)
        if entry["answer"] is not None:
            assert answer_of(trace[since:]) == entry["answer"], entry
        if entry["state"] is not None:
            assert shown(trace[-1].state) == entry["state"], entry


@pytest.mark.parametrize(
    "case",
    REASSIGNMENTS["cases"],
    ids=lambda case: f"{case['name']}-{'elr' if case['elr'] else 'no elr'}-{case.get('kafka', 'newest')}",
)
def test_a_recorded_script_comes_to_the_recorded_replicas_leaders_logs_and_answers(case):
    compare(case, case.get("kafka", REASSIGNMENTS["kafka"]))


def test_the_recorded_reassignments_are_all_there():
    errors = {
        step["answer"]
        for case in REASSIGNMENTS["cases"]
        for step in case["steps"]
        if step["op"] in ("reassign", "elect")
    }
    assert len(REASSIGNMENTS["cases"]) == 37
    assert errors >= {"NONE", "NO_REASSIGNMENT_IN_PROGRESS", "INVALID_REPLICA_ASSIGNMENT", "ELECTION_NOT_NEEDED"}
