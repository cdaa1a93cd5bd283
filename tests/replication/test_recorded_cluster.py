"""Runs recorded on a cluster of Kafka 4.3.0: a controller and three brokers, killed, frozen and started again."""

from functools import partial

import pytest

from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    Produce,
    Settings,
    pass_time,
    settle,
    simulate,
    step,
)
from kafkalearn.replication.effects import NONE, NoReachableLeader, ProduceAnswered
from kafkalearn.trace import extend
from tests.recorded import recorded

RECORDED = recorded("replication")
PRODUCE_TIMEOUT_MS = 1_000  # what the recording's requests asked for
PATIENCE_MS = 30_000


def settings_of(case: dict) -> Settings:
    topic, broker = case["topic_config"], case["broker_settings"]
    return Settings(
        release="4.3",
        min_insync_replicas=int(topic["min.insync.replicas"]),
        is_unclean_election_enabled=topic["unclean.leader.election.enable"] == "true",
        has_eligible_leader_replicas=case["elr"],
        assignment=tuple(case["replicas"]),
        replica_lag_time_max_ms=broker["replica.lag.time.max.ms"],
        fetch_wait_max_ms=broker["replica.fetch.wait.max.ms"],
    )


def events_of(entry: dict) -> list:
    """What an operator did, as events; the brokers do the rest by themselves."""
    kinds = {
        "freeze": [BrokerFrozen],
        "thaw": [BrokerThawed, BrokerReconnected],
        "kill": [BrokerCrashed],
        "stop": [BrokerStopped],
        "restart": [BrokerRestarted],
    }
    if entry["op"] == "produce":
        values = tuple(entry["told"]["values"])
        return [Produce(entry["n"], entry["acks"], values, PRODUCE_TIMEOUT_MS)]
    return [kind(broker_id) for broker_id in entry.get("brokers", []) for kind in kinds[entry["op"]]]


def carried_on(case: dict, settings: Settings, trace, entry: dict):
    """The run until all is quiet after one line of the recording."""
    let_time_pass = partial(
        pass_time, settings, session_timeout_ms=case["broker_settings"]["broker.session.timeout.ms"]
    )
    trace = extend(step, settings, trace, events_of(entry))
    if entry["op"] in ("kill", "thaw", "restart", "freeze") and entry.get("state") is None:
        return trace  # it was not waited for
    if entry["op"] == "pause":
        return let_time_pass(trace, ms=entry["ms"])
    trace = settle(settings, trace)
    if entry["op"] == "produce" and is_waiting(trace[-1].state):
        return let_time_pass(trace, ms=PRODUCE_TIMEOUT_MS)
    deadline_ms = trace[-1].state.now_ms + PATIENCE_MS
    while entry["op"] == "wait" and not is_reached(trace[-1].state, entry):
        assert trace[-1].state.now_ms < deadline_ms, entry
        trace = let_time_pass(trace, ms=100)
    return trace


def is_waiting(partition) -> bool:
    return partition.leader is not None and bool(partition.leader.waiting.produces)


def is_reached(partition, entry: dict) -> bool:
    controller = partition.controller
    leader = -1 if controller.leader is None else controller.leader
    return leader == entry.get("leader", leader) and list(controller.isr) == entry.get("isr", list(controller.isr))


def shown(partition) -> dict:
    """The state as the recording has it."""
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


def metadata(controller) -> dict:
    return {
        "leader": -1 if controller.leader is None else controller.leader,
        "leader_epoch": controller.leader_epoch,
        "isr": list(controller.isr),
        "elr": list(controller.elr),
        "last_known_elr": [] if controller.last_known_leader is None else [controller.last_known_leader],
        "offline": list(controller.fenced),
    }


def producer_answer(frames, leader: int | None) -> dict:
    """The answer to the producer, as the recording has it; empty if there was none."""
    for effect in (effect for frame in frames for effect in frame.state.effects):
        if isinstance(effect, NoReachableLeader):
            return {"broker": -1, "error": "no reachable leader", "base_offset": None}
        if isinstance(effect, ProduceAnswered):
            return {"broker": leader, "error": effect.error, "base_offset": effect.base_offset}
    return {}


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: f"{case['id']}-{case['name']}")
def test_a_recorded_run_comes_to_the_recorded_states_and_tells_the_producer_the_same(case):
    settings = settings_of(case)
    trace = settle(settings, simulate(settings, []))
    for entry in case["events"]:
        since, leader = len(trace), trace[-1].state.controller.leader
        trace = carried_on(case, settings, trace, entry)

        if entry.get("state") is not None:
            assert shown(trace[-1].state) == entry["state"], entry
        if "told" in entry:
            recorded_answer = {key: value for key, value in entry["told"].items() if key != "values"}
            assert producer_answer(trace[since:], leader) == recorded_answer, entry


def test_the_recorded_runs_are_all_there():
    answers = [entry["told"]["error"] for case in RECORDED["cases"] for entry in case["events"] if "told" in entry]

    assert len(RECORDED["cases"]) == 19
    assert set(answers) == {NONE, "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "no reachable leader"}
