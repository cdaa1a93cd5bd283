"""Scripts of an operator on a cluster of four brokers: replicas that move, elections by command, brokers that fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

BROKER_IDS = (1, 2, 3, 4)
PRODUCE_TIMEOUT_MS = 1_000


def played(case: Mapping[str, Any], release: str) -> dict[str, Any]:
    """A script as the simulator has it: the beginning, and each step with its answer and the state after it.

    The release is the case's own if it names one. Where a step has no answer or no state, none is told.
    """
    settings = settings_of(case, case.get("kafka", release))
    trace = settle(settings, simulate(settings, []))
    begin, steps = shown(trace[-1].state), []
    for entry in case["steps"]:
        since = len(trace)
        trace = settle(settings, extend(step, settings, trace, events_of(entry)))
        if entry["op"] == "produce" and any(replica.waiting.produces for replica in trace[-1].state.replicas):
            trace = pass_time(settings, trace, PRODUCE_TIMEOUT_MS)
        answer = None if entry["answer"] is None else answer_of(trace[since:])
        state = None if entry["state"] is None else shown(trace[-1].state)
        steps.append({**entry, "answer": answer, "state": state})
    return {"begin": begin, "steps": steps}


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
