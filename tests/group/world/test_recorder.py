"""What is kept of a run: a frame for each ms in which something happened, and the rebalances."""

from __future__ import annotations

from kafkalearn.scenarios.consumers import SCENARIO, Clock, GroupView, Rebalance, Recorder

QUIET = GroupView("Stable", 1)


def test_what_happens_in_one_ms_shares_a_frame_and_nothing_is_noted_twice():
    recorder = Recorder(Clock())
    recorder.keep(QUIET, (), {"orders": 1})
    for what in ("c1 leaves", "", "c2 leaves", "c1 leaves"):
        recorder.note(what)
    assert recorder.has_notes
    recorder.keep(QUIET, (), {"orders": 1})
    assert not recorder.has_notes
    assert [frame.event for frame in recorder.trace] == [None, "c1 leaves; c2 leaves"]


def test_a_note_without_words_makes_a_frame_only_if_something_looks_different():
    recorder = Recorder(Clock())
    recorder.keep(QUIET, (), {"orders": 1})
    for view in (QUIET, GroupView("Stable", 2)):
        recorder.note("")
        recorder.keep(view, (), {"orders": 1})
    assert [frame.state.generation for frame in recorder.trace] == [1, 2]


def test_a_rebalance_has_each_of_its_causes_once_and_an_end():
    clock = Clock()
    recorder = Recorder(clock)
    recorder.rebalance_ends(0)  # none is going on
    for cause in ("one", "another", "one"):
        clock.at(10, SCENARIO, recorder.rebalance_starts, cause)
    clock.at(30, SCENARIO, recorder.rebalance_ends, 7)
    clock.at(50, SCENARIO, recorder.rebalance_starts, "later")
    clock.run(100, lambda: None)
    assert recorder.rebalances == [Rebalance(10, 30, ("one", "another"), 7), Rebalance(50, None, ("later",), None)]
