"""Real brokers and the simulator: the same requests, the same answers, observations and logs."""

import base64
import copy
import json
import zlib
from dataclasses import replace
from functools import cache

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.transactions import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    EndTxn,
    InitProducerId,
    Produce,
    Settings,
    TxnOffsetCommit,
    start,
    step,
)
from kafkalearn.transactions.history import replay
from kafkalearn.transactions.model import CoordinatorCrashed, Transaction
from kafkalearn.transactions.simulator import settled
from tests.every import every_case
from tests.recorded import recorded

# The recorded histories of transactions, unpacked, and where a replay differs from one.
FOREIGN_GROUP_RECORDS = {
    "overflow_ongoing_at_the_last tv0",
    "overflow_ongoing_at_the_last tv1",
    "overflow_ongoing_at_the_last tv2",
    "random 18 tv1",
    "random 19 tv1",
}
"""While these were recorded, a member of another history's group expired: one record more in ``__consumer_offsets``."""


@cache
def histories() -> dict[str, dict]:
    """Each history by its name."""
    packed = recorded("transaction-histories")
    unpacked = json.loads(zlib.decompress(base64.b85decode(packed["packed"])))
    assert [each["name"] for each in unpacked] == packed["names"]
    return {each["name"]: each for each in unpacked}


def differences(history: dict) -> list[object]:
    """The first step, and the first entry of each log, where the simulator says other than the broker; none: equal."""
    played = replay(history)
    if played["start"] != history["start"]:
        return ["start"]
    for number, (real, ours) in enumerate(zip(history["steps"], played["steps"], strict=True)):
        if (real["a"], real["now"]) != (ours["a"], ours["now"]):
            return [number, real, ours["a"], ours["now"]]
    return [
        (name, number, real, ours)
        for name, entries in history["logs"].items()
        for number, (real, ours) in enumerate(_pairs(entries, _without_foreign(history, name, played["logs"][name])))
        if real != ours
    ]


def _without_foreign(history: dict, name: str, entries: list) -> list:
    """The simulator's log with a hole where only the record of somebody else's group can have been."""
    if name != "__consumer_offsets" or history["name"] not in FOREIGN_GROUP_RECORDS:
        return entries
    found = list(entries)
    for number, real in enumerate(history["logs"][name]):
        if real.get("records") == [[2, 3]]:
            found.insert(number, real)
            found[number + 1 :] = [
                {**each, "offset": each["offset"] + 1, "last": each["last"] + 1} for each in found[number + 1 :]
            ]
    return found


def _pairs(real: list, ours: list) -> list:
    longest = max(len(real), len(ours))
    return list(zip([*real, *[None] * (longest - len(real))], [*ours, *[None] * (longest - len(ours))], strict=True))


def test_every_answer_observation_and_log_is_what_the_broker_gave():
    """But for those that take seconds each, which are below."""
    names = [each for each in recorded("transaction-histories")["names"] if not each.startswith("overflow")]
    assert len(names) == 276
    found = {name: differences(histories()[name]) for name in names}
    assert {name: each for name, each in found.items() if each} == {}


def empty_id(case):
    """The event of a request with an empty transactional id."""
    version = case["v"]
    match case["do"]:
        case "InitProducerId":
            return InitProducerId("", version, timeout_ms=case["timeout_ms"])
        case "AddPartitionsToTxn":
            return AddPartitionsToTxn("", 0, 0, ("t-0",), version, verify_only=case.get("verify_only", False))
        case "AddOffsetsToTxn":
            return AddOffsetsToTxn("", 0, 0, "g", version)
        case "EndTxn":
            return EndTxn("", 0, 0, case["commit"], version)
        case "Produce":
            return Produce("", "t-0", 0, 0, 0, version=version)
        case "TxnOffsetCommit":
            return TxnOffsetCommit("", 0, 0, "g", (("t-0", 7),), version)
    raise AssertionError(case)


@every_case("case", recorded("empty-id")["cases"], ids=lambda each: f"{each['release']} {each['do']} {each['v']}")
def test_an_empty_id_is_no_id_and_nothing_comes_of_it(case):
    """It comes before all else: a time-out that is too long, a broker that coordinates nothing."""
    settings = Settings(case["release"])
    cluster = step(settings, start(settings), InitProducerId("x"))
    for state in (cluster, step(settings, cluster, CoordinatorCrashed())):
        after = step(settings, state, empty_id(case))
        (answer,) = after.effects
        assert {answer.error, *dict(answer.partitions).values()} - {"NONE"} == {case["a"]}
        assert (after.transactions, after.rows) == (state.transactions, state.rows)


def test_the_comparison_sees_one_changed_answer_observation_and_log():
    history = histories()["end_retried tv2"]
    for change in (
        lambda each: each["steps"][3]["a"].update(epoch=7),
        lambda each: each["steps"][2]["now"].pop("txn x1"),
        lambda each: each["logs"]["t-0"].pop(),
        lambda each: each["logs"]["__transaction_state"][1].update(clientTransactionVersion=1),
    ):
        changed = copy.deepcopy(history)
        change(changed)
        assert differences(changed) != []


def test_a_history_without_its_release_is_refused():
    history = {key: value for key, value in histories()["end_retried tv2"].items() if key != "kafka"}
    with pytest.raises(KafkaLearnError, match="a history has kafka, and this one has not"):
        replay(history)


def test_a_step_that_nobody_knows_is_refused():
    history = copy.deepcopy(histories()["end_retried tv2"])
    history["steps"][0]["do"] = "EndTransaction"
    with pytest.raises(KafkaLearnError, match="EndTransaction"):
        replay(history)


# Epochs that run out: histories with 32,765 epochs of one id, on real brokers and in the simulator.
OVERFLOWS = [each for each in recorded("transaction-histories")["names"] if each.startswith("overflow")]


@pytest.mark.long
@every_case("name", OVERFLOWS)
def test_an_id_goes_on_under_a_new_producer_id_as_the_broker_s_did(name):
    assert differences(histories()[name]) == []


REQUESTS = {
    "Produce": Produce("x1", "t-0", 0, 32766, 0),
    "InitProducerId": InitProducerId("x1"),
    "late EndTxn": EndTxn("x1", 0, 32766, commit=False),
    "late InitProducerId": InitProducerId("x1", 5, 60_000, 0, 32766),
    "late Produce": Produce("x1", "t-0", 0, 32766, 1),
}


def test_at_the_last_epoch_each_release_fences_as_its_broker_did():
    for release, steps in recorded("last-epoch")["releases"].items():
        settings = Settings(release.rpartition(".")[0])
        held = Transaction("x1", 0, epoch=32766, previous_producer_id=0)
        state = replace(start(settings).with_transaction(held), next_producer_id=1)
        for request, error, described in steps:
            state = settled(settings, step(settings, state, REQUESTS[request]))
            held = state.transaction("x1")
            assert (release, request, state.effects[0].error) == (release, request, error)
            assert [held.status, held.producer_id, held.epoch] == described


def test_a_setting_that_the_simulator_does_not_know_is_refused():
    history = copy.deepcopy(recorded("silent-producers")["histories"][0])
    history["config"]["producer.id.expiry.ms"] = 1
    with pytest.raises(KafkaLearnError, match=r"producer\.id\.expiry\.ms.*producer\.id\.expiration\.ms"):
        replay(history)
