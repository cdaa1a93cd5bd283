"""What is lost and what is doubled, against the six cases worked out from Kafka's definitions."""

import pytest

from kafkalearn.commits import Poll, Process, check, doubled, lost, simulate
from tests.commits.scripts import script_of
from tests.recorded import recorded

CASES = recorded("log-consumer-dedup")["cases"]


def test_every_recorded_crash_loses_and_doubles_what_it_should():
    for case in recorded("log-consumer-dedup")["cases"]:
        settings, events = script_of(case)
        trace = simulate(settings, events)
        end, expected = trace[-1].state, case["expect"]
        for frame in trace:
            check(settings, frame.state)

        applied = {each.offset: end.sink.times(each.offset) for each in end.sink.writes}
        assert doubled(end) == tuple(expected["duplicated"]), case["id"]
        assert "lost" not in expected or lost(end) == tuple(expected["lost"]), case["id"]
        assert "committed" not in expected or end.committed == expected["committed"], case["id"]
        assert "stored_offset" not in expected or end.sink.stored == expected["stored_offset"], case["id"]
        if "applied_times" in expected:
            assert applied == {int(offset): times for offset, times in expected["applied_times"].items()}, case["id"]
        if "applied_by" in expected:
            by = {str(offset): end.sink.appliers(offset) for offset in applied}
            assert by == {offset: (name,) for offset, name in expected["applied_by"].items()}, case["id"]
            refused = [[each.by, each.offset] for each in end.sink.writes if each.answer == "refused"]
            assert refused == expected["refused"], case["id"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_poll_of_a_script_returns_the_offsets_it_names_and_every_record_was_polled(case):
    trace = simulate(*script_of(case))
    named = [tuple(op["offsets"]) for op in case["events"] if op["op"] == "poll"]
    polled = [frame.state.effects[-1].offsets for frame in trace if isinstance(frame.event, Poll)]
    processed = [frame.event.offset for frame in trace if isinstance(frame.event, Process)]

    assert polled[: len(named)] == named
    assert processed == [op["offset"] for op in case["events"] if op["op"] == "process"]
