"""What Kafka's own delayed fetches and produces waited for: see tests/vectors/purgatory/log-purgatory.json."""

import pytest

from kafkalearn.purgatory.operations import (
    CheckAndComplete,
    Completed,
    FactChanged,
    ForceComplete,
    Parked,
    Settings,
    TimePassed,
    TryCompleteElseWatch,
    delayed_fetch,
    delayed_produce,
    start,
    step,
)
from tests.recorded import recorded
from tests.replication.scripts import lines_of

PLACE = "t-0"
FOLLOWERS_WAIT_MS = 500
NOT_FOUND = "OFFSET_OUT_OF_RANGE"


class Leader:
    """A purgatory beside a log: what the scripts say of the log are its facts, what comes are its operations."""

    def __init__(self):
        self.settings = Settings()
        self.purgatory = start(self.settings)
        self.sizes = []  # of each batch: (first offset, bytes)
        self.fetch_count = 0

    def bytes_before(self, offset):
        return sum(size for first, size in self.sizes if first < offset)

    def play(self, entry):
        """What is completed, and whether the request that came waits (None: there was none that could)."""
        effects = []

        def happen(event):
            self.purgatory = step(self.settings, self.purgatory, event)
            effects.extend(self.purgatory.effects)

        expect = entry["expect"]
        if entry["op"] == "produce":
            self.sizes.append((expect["base_offset"], entry.get("bytes", 100)))
        state = expect["state"]
        own = state["replicas"][str(state["leader"])]
        if entry["op"] == "elect":
            for operation in self.purgatory.waiting:
                happen(ForceComplete(operation.name))
        happen(FactChanged(f"HW {PLACE}", own["hw"]))
        for end in ("leo", "hw"):
            happen(FactChanged(f"{end.upper()} bytes {PLACE}", self.bytes_before(own[end])))
        happen(CheckAndComplete(PLACE))
        operation = self.operation(entry, expect)
        if operation is not None:
            happen(TryCompleteElseWatch(operation))
        elif entry["op"] == "tick":
            happen(TimePassed(entry["ms"]))
        waits = None if operation is None else Parked(operation.name) in effects and self.is_waiting(operation.name)
        return {each.name for each in effects if isinstance(each, Completed)}, waits

    def is_waiting(self, name):
        return self.purgatory.is_waiting(name)

    def operation(self, entry, expect):
        match entry:
            case {"op": "produce", "acks": -1}:
                return delayed_produce(
                    expect["request"], {PLACE: expect["last_offset"]}, entry.get("timeout_ms", 30_000)
                )
            case {"op": "consumer_fetch", "id": name, "offset": offset} if NOT_FOUND not in str(expect):
                before = {PLACE: self.bytes_before(offset)}
                return delayed_fetch(name, before, entry["min_bytes"], entry["max_wait_ms"])
            case {"op": "fetch"}:
                self.fetch_count += 1
                (handled,) = (each for each in expect["effects"] if each["event"] == "fetch_handled")
                before = {PLACE: self.bytes_before(handled["fetch_offset"])}
                return delayed_fetch(f"fetch {self.fetch_count}", before, 1, FOLLOWERS_WAIT_MS, up_to="LEO")
        return None


@pytest.mark.parametrize("case", recorded("log-purgatory")["cases"], ids=lambda case: case["id"])
def test_each_operation_waits_as_long_as_kafkas_own(case):
    leader = Leader()
    for entry in lines_of(case):
        completed, waits = leader.play(entry)
        effects = entry["expect"].get("effects", [])
        answered = {each["id"] for each in effects if each["event"] == "consumer_response" and "error" not in each}
        produced = {each["request"] for each in effects if each["event"] == "produce_response"}
        if entry["op"] == "produce":
            produced -= {entry["expect"]["request"]}  # with acks=1 it never waits
        if entry["op"] == "elect":  # whatever waits is answered with an error
            answered = {each["id"] for each in effects if each["event"] == "consumer_response"}
        assert {each for each in completed if not each.startswith("fetch ")} == answered | produced, entry
        fetched = sum(each["event"] == "fetch_response" for each in effects)
        assert sum(each.startswith("fetch ") for each in completed) == fetched, entry
        parked = {each.get("outcome") for each in effects} | {entry["expect"].get("outcome")}
        if waits is not None:
            assert waits == ("parked" in parked or any(each["event"] == "produce_parked" for each in effects)), entry
