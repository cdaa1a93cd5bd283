"""Scripts of an operator, recorded on a cluster of Kafka 4.3.1: replicas move, leadership is given back."""

from __future__ import annotations

import pytest

from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    ElectLeaders,
    Produce,
    SessionExpired,
    Settings,
    pass_time,
    settle,
    simulate,
    step,
)
from kafkalearn.replication.events import ElectionAnswered, ProduceAnswered, ReassignmentAnswered
from kafkalearn.replication.state import Log
from tests.recorded import recorded

BROKER_IDS = (1, 2, 3, 4)
PRODUCE_TIMEOUT_MS = 1_000
ERRORS_WITHOUT_OFFSET = ("NOT_ENOUGH_REPLICAS",)


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
            return [BrokerRestarted(words[0])]
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


RECORDED = recorded("reassignment")


@pytest.mark.parametrize(
    "case", RECORDED["cases"], ids=lambda case: f"{case['name']}-{'elr' if case['elr'] else 'no elr'}"
)
def test_a_recorded_script_comes_to_the_recorded_replicas_leaders_logs_and_answers(case):
    compare(case, RECORDED["kafka"])


def test_the_recorded_scripts_are_all_there():
    errors = {
        step["answer"] for case in RECORDED["cases"] for step in case["steps"] if step["op"] in ("reassign", "elect")
    }
    assert len(RECORDED["cases"]) == 34
    assert errors >= {"NONE", "NO_REASSIGNMENT_IN_PROGRESS", "INVALID_REPLICA_ASSIGNMENT", "ELECTION_NOT_NEEDED"}
