"""What waited in a real broker's purgatories: see tests/vectors/purgatory/delayed-operations.json."""

import pytest

from kafkalearn.purgatory.operations import (
    BY_EVENT,
    BY_TIME,
    CheckAndComplete,
    Completed,
    FactChanged,
    Settings,
    TimePassed,
    TryCompleteElseWatch,
    delayed_delete_records,
    delayed_fetch,
    delayed_produce,
    start,
    step,
)
from tests.recorded import recorded

CASES = recorded("delayed-operations")["cases"]
PLACES = ("t-0", "t-1")
ERRORS = {BY_EVENT: "NONE", BY_TIME: "REQUEST_TIMED_OUT"}


def operations_of(case):
    """The three requests as operations, and the facts that end each by an event."""
    ends = dict(zip(PLACES, case["before"], strict=True))
    last = {place: offset for place, (offset, _) in ends.items()}
    sizes = {place: size for place, (_, size) in ends.items()}
    return {
        "Produce": (
            delayed_produce("Produce", last, case["timeout"]),
            {f"HW {place}": offset + 1 for place, offset in last.items()},
        ),
        "Fetch": (
            delayed_fetch("Fetch", sizes, case["min_bytes"], case["timeout"]),
            {f"HW bytes {place}": size + case["batch"] for place, size in sizes.items()},
        ),
        "DeleteRecords": (
            delayed_delete_records("DeleteRecords", {PLACES[0]: case["delete_before"]}, case["timeout"]),
            {f"low watermark {PLACES[0]}": case["delete_before"]},
        ),
    }


def facts_before(case):
    return {
        f"{name} {place}": value
        for place, (offset, size) in zip(PLACES, case["before"], strict=True)
        for name, value in (("HW", offset), ("HW bytes", size))
    }


@pytest.mark.parametrize("kind", ["Produce", "Fetch", "DeleteRecords"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_it_waits_on_as_many_lists_ends_in_the_same_way_and_leaves_as_much(case, kind):
    settings = Settings(purge_interval=1 if kind == "DeleteRecords" else 1000)
    operation, ending = operations_of(case)[kind]
    purgatory = start(settings)
    for fact in facts_before(case).items():
        purgatory = step(settings, purgatory, FactChanged(*fact))
    purgatory = step(settings, purgatory, TryCompleteElseWatch(operation))
    assert [purgatory.watched_count, purgatory.delayed_count] == case["waiting"].get(kind, [2, 1])

    how = BY_EVENT if case["ended_by"] == "event" else BY_TIME
    moved = zip(ending.items(), operation.keys, strict=True)  # one partition after the other
    events = [each for fact, key in moved for each in (FactChanged(*fact), CheckAndComplete(key))]
    ended = []
    for event in events if how == BY_EVENT else [TimePassed(case["timeout"])]:
        purgatory = step(settings, purgatory, event)
        ended += [each for each in purgatory.effects if isinstance(each, Completed)]
    assert ended == [Completed(kind, how)]
    assert set(case["answers"][kind]) == {"NONE" if kind == "Fetch" else ERRORS[how]}
    if kind in case["left"]:
        assert [purgatory.watched_count, purgatory.delayed_count] == case["left"][kind]
