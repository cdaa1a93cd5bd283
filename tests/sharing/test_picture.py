"""The picture of share groups and its words, for runs of every kind."""

from xml.etree import ElementTree

from kafkalearn.sharing import work
from kafkalearn.sharing.picture import describe_sharing, draw_sharing, sharing_text
from kafkalearn.sharing.work import Accept, Arrive, Hang, Keep, Poll, Release, TimePassed, settings
from tests.contract.sharing import SIMULATORS
from tests.recorded import with_before


def test_every_moment_of_every_run_is_drawn_within_the_page_and_said():
    for simulator in SIMULATORS.values():
        for one in simulator.runs:
            for frame, before in with_before(simulator.part("simulate")(one.settings, one.events)):
                shown = draw_sharing(one.settings, frame, before)
                root = ElementTree.fromstring(shown)
                height = float(root.get("viewBox").split()[3])
                assert height <= 590
                for each in root.iter():
                    x, y = float(each.get("x", 0)), float(each.get("y", 0))
                    assert 0 <= x <= 1000
                    assert 0 <= y <= height
                assert shown.label == describe_sharing(one.settings, frame, before)
                assert sharing_text(one.settings, frame, before).startswith(shown.label)


def test_a_lock_runs_down_and_who_does_not_know_that_it_has_is_told_of():
    chosen = settings(lock_ms=30_000)
    trace = work.simulate(chosen, [Arrive(), Poll("c1"), TimePassed(24_000), TimePassed(6_000)])
    bars = [draw_sharing(chosen, frame).count('height="6"') for frame in trace]
    assert bars == [0, 0, 2, 2, 0]
    assert "its lock on 0 has run out: it does not know" in draw_sharing(chosen, trace[-1])


def test_words_say_what_is_given_back_and_how_far_the_start_has_come():
    chosen = settings()
    trace = work.simulate(
        chosen, [Arrive(2), Poll("c1"), Accept("c1", [0]), Release("c1"), Poll("c2"), Keep("c2", 9_000), Hang("c2")]
    )
    said = [describe_sharing(chosen, frame, before) for frame, before in with_before(trace)]
    assert said[3] == "c1 has processed what it has, and accepts it. The start offset of t-0 goes from 0 to 1."
    assert said[5] == "c2 polls: it gets 1, delivered for the 2nd time."
    assert said[6] == "c2 works on for 9 s and renews its locks in time."
    assert said[7] == "c2 forgets what it has, and its connection lives on."
