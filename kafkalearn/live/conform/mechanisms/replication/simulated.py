"""What operators do to a cluster, on the simulator; and its state and its answers in the form of the recorded runs.

An entry has its ``op``: produce, freeze, thaw, kill, power, stop, restart, wait or pause, with the words of that kind.
What is written down of a partition has the form of tests/vectors/replication/replication.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kafkalearn.replication.cluster import ReplicationTrace, pass_time, settle
from kafkalearn.replication.effects import NoReachableLeader, ProduceAnswered
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    PowerLost,
    Produce,
    ReplicationEvent,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import simulate, step
from kafkalearn.replication.state import Controller, Partition
from kafkalearn.trace import extend

PRODUCE_TIMEOUT_MS = 1_000  # what every request asks for
PATIENCE_MS = 30_000
NOTICED_MS = 100

KINDS: Mapping[str, tuple[type, ...]] = {
    "freeze": (BrokerFrozen,),
    "thaw": (BrokerThawed, BrokerReconnected),
    "kill": (BrokerCrashed,),
    "stop": (BrokerStopped,),
    "restart": (BrokerRestarted,),
}
"""The events of each kind of entry that names brokers."""


class NeverReached(AssertionError):  # noqa: N818  (named for what it is)
    """The simulator does not come to a state that the cluster has come to."""


def settings_of(case: Mapping[str, Any], release: str) -> Settings:
    """The settings of the partition of a case."""
    topic, broker = case["topic_config"], case["broker_settings"]
    return Settings(
        release=release,
        min_insync_replicas=int(topic["min.insync.replicas"]),
        is_unclean_election_enabled=topic["unclean.leader.election.enable"] == "true",
        has_eligible_leader_replicas=case["elr"],
        assignment=tuple(case["replicas"]),
        replica_lag_time_max_ms=broker["replica.lag.time.max.ms"],
        fetch_wait_max_ms=broker["replica.fetch.wait.max.ms"],
    )


def begun(settings: Settings) -> ReplicationTrace:
    """The run before the first entry: all is quiet."""
    return settle(settings, simulate(settings, []))


def events_of(entry: Mapping[str, Any]) -> list[ReplicationEvent]:
    """What an operator did, as events; the brokers do the rest by themselves."""
    if entry["op"] == "produce":
        values = tuple(entry["answer"]["values"])
        return [Produce(entry["n"], entry["acks"], values, PRODUCE_TIMEOUT_MS)]
    brokers = entry.get("brokers", [])
    if entry["op"] == "power":
        return [PowerLost(broker_id, entry["flushed_to"]) for broker_id in brokers]
    return [kind(broker_id) for broker_id in brokers for kind in KINDS[entry["op"]]]


def carried_on(
    case: Mapping[str, Any], settings: Settings, trace: ReplicationTrace, entry: Mapping[str, Any]
) -> ReplicationTrace:
    """The run until all is quiet after one entry.

    Raises
    ------
    NeverReached
        If what was waited for does not come about.
    """
    let_time_pass = partial(
        pass_time, settings, session_timeout_ms=case["broker_settings"]["broker.session.timeout.ms"]
    )
    trace = extend(step, settings, trace, events_of(entry))
    if entry["op"] in ("kill", "thaw", "restart", "freeze", "power") and entry.get("state") is None:
        return trace  # it was not waited for
    if entry["op"] == "pause":
        return let_time_pass(trace, ms=entry["ms"])
    begun_at, trace = trace, settle(settings, trace)
    if entry["op"] == "produce" and is_waiting(trace[-1].state):
        return let_time_pass(begun_at, ms=PRODUCE_TIMEOUT_MS)  # in which a laggard may leave, and the answer come
    deadline_ms = trace[-1].state.now_ms + PATIENCE_MS
    while entry["op"] == "wait" and not is_reached(trace[-1].state, entry):
        if trace[-1].state.now_ms >= deadline_ms:
            raise NeverReached(f"{entry} does not come about; there is {metadata(trace[-1].state.controller)}")
        trace = let_time_pass(trace, ms=NOTICED_MS)
    return trace


def is_waiting(partition: Partition) -> bool:
    """Whether a producer waits for its answer."""
    return partition.leader is not None and bool(partition.leader.waiting.produces)


def is_reached(partition: Partition, entry: Mapping[str, Any]) -> bool:
    """Whether what is waited for has come about: a leader, an ISR, who does not count as alive."""
    controller = partition.controller
    leader = -1 if controller.leader is None else controller.leader
    seen = {"leader": leader, "isr": list(controller.isr), "offline": list(controller.fenced)}
    return all(entry.get(name, value) == value for name, value in seen.items())


def shown(partition: Partition) -> dict[str, Any]:
    """The state as a cluster shows it."""
    replicas = {str(id_): replica for id_, replica in enumerate(partition.replicas, start=1)}
    of_status = {
        status: [int(id_) for id_, replica in replicas.items() if replica.broker.status == status]
        for status in ("running", "frozen", "down")
    }
    return {
        "up": of_status["running"],
        "frozen": of_status["frozen"],
        "dead": of_status["down"],
        "metadata": metadata(partition.controller) if of_status["running"] else None,
        "hw": partition.high_watermark,
        "leo": {id_: replica.log_end_offset for id_, replica in replicas.items()},
        "hw_checkpoint": {id_: replica.log.checkpointed_high_watermark for id_, replica in replicas.items()},
        "epochs": {id_: [list(entry) for entry in replica.log.epochs] for id_, replica in replicas.items()},
        "values": {
            id_: [[offset, record.value, record.leader_epoch] for offset, record in enumerate(replica.log.records)]
            for id_, replica in replicas.items()
        },
    }


def metadata(controller: Controller) -> dict[str, Any]:
    """What brokers say of the partition."""
    return {
        "leader": -1 if controller.leader is None else controller.leader,
        "leader_epoch": controller.leader_epoch,
        "isr": list(controller.isr),
        "elr": list(controller.elr),
        "last_known_elr": [] if controller.last_known_leader is None else [controller.last_known_leader],
        "offline": list(controller.fenced),
    }


def producer_answer(frames: ReplicationTrace, leader: int | None) -> dict[str, Any]:
    """The answer to the producer; empty if there was none."""
    for effect in (effect for frame in frames for effect in frame.state.effects):
        if isinstance(effect, NoReachableLeader):
            return {"broker": -1, "error": "no reachable leader", "base_offset": None}
        if isinstance(effect, ProduceAnswered):
            return {"broker": leader, "error": effect.error, "base_offset": effect.base_offset}
    return {}


def replayed(case: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], release: str) -> list[dict[str, Any]]:
    """The entries of a run, with the states and the answers that the simulator comes to.

    Parameters
    ----------
    case : mapping
        The partition and its cluster.
    entries : sequence of mapping
        What was done; where a ``state`` or an ``answer`` was noted, the simulator's is put in its place.
    release : str
        Of the cluster.

    Raises
    ------
    NeverReached
        As `carried_on`.
    """
    settings = settings_of(case, release)
    trace, after = begun(settings), []
    for entry in entries:
        since, leader = len(trace), trace[-1].state.controller.leader
        trace = carried_on(case, settings, trace, entry)
        done = dict(entry)
        if entry["state"] is not None:
            done["state"] = shown(trace[-1].state)
        if "answer" in entry:
            done["answer"] = {**producer_answer(trace[since:], leader), "values": entry["answer"]["values"]}
        after.append(done)
    return after
