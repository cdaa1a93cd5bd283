"""What a real broker answered groups whose members subscribe by pattern, and what each request made it write."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, Settings, check, join, leave, simulate, start, step
from kafkalearn.groups.consumer.events import REGULAR_EXPRESSION, HeartbeatAnswered, RecordWritten
from tests.recorded import recorded

RECORDED = recorded("pattern-groups")


def name_of(case):
    return f"{case['id']}-{case['release']}"


def written(case):
    """For each step, whether the broker matched a pattern, and whether it forgot a match."""
    kinds = [set(each["records"]) for each in case["steps"]]
    return [
        "matched" * (REGULAR_EXPRESSION in each) + "forgotten" * (f"tombstone:{REGULAR_EXPRESSION}" in each)
        for each in kinds
    ]


def test_the_recording_has_every_way_in_which_a_match_begins_and_ends():
    found = {case["id"]: written(case) for case in RECORDED["cases"] if case["release"] == "4.4.0"}
    assert len(found) == sum(case["release"] == "4.0.2" for case in RECORDED["cases"]) == 24
    assert found["same-pattern"][:3] == ["matched", "", ""]  # the second member finds the match there
    assert found["another-pattern"][:3] == ["matched", "", ""]  # too soon after the last match
    assert found["changes-alone"][3:5] == ["forgotten", "matched"]
    assert found["changes-later"][3:5] == ["matchedforgotten", ""]
    assert found["old-result"].count("matched") == 3
    (old,) = (written(case) for case in RECORDED["cases"] if name_of(case) == "old-result-4.0.2")
    assert old.count("matched") == 1  # its interval was ten minutes, and not to be set
    errors = [each["answer"].get("error") for case in RECORDED["cases"] for each in case["steps"]]
    assert errors.count("INVALID_REGULAR_EXPRESSION") == 6


@pytest.mark.parametrize(("release", "held"), [("4.0.2", ["o1", "o2"]), ("4.1.2", ["o1"]), ("4.4.0", ["o1"])])
def test_4_0_leaves_a_member_what_the_pattern_had_matched_that_it_takes_back(release, held):
    (case,) = (each for each in RECORDED["cases"] if name_of(each) == f"taken-back-{release}")
    (place,) = (place for place, each in enumerate(case["steps"]) if each["step"].get("pattern") == "o2")
    group = case["steps"][place - 1]["group"]["members"]["a"]
    assert (group["topics"], sorted(group["target"])) == (["o1"], ["o1"])
    group = case["steps"][place + 3]["group"]["members"]["a"]
    assert (group["topics"], sorted(group["target"])) == (["o1"], held)


# What a reader should know of it, in the simulator.

SETTINGS = Settings(assignment_interval_ms=0, topics={"orders-eu": 2, "orders-us": 2, "clicks": 1})


def run(*events):
    trace = simulate(SETTINGS, events)
    for before, after in zip([frame.state for frame in trace], [frame.state for frame in trace][1:], strict=False):
        check(SETTINGS, after, before)
    return trace[-1].state


def given(group):
    """What each member has, as the coordinator counts it."""
    return {each.member_id: {place.topic for place in each.assigned_partitions} for each in group.members}


def test_a_pattern_that_says_more_takes_all_away_first():
    """Since 4.2 the member has to give up what both patterns match; 4.0 leaves it what it has."""
    lost = {}
    for release in ("4.0", "4.2", "4.4"):
        settings = Settings(release, topics={"orders-eu": 2, "clicks": 1})
        group = start(settings)
        for event in (
            join("A", (), pattern="orders-.*"),
            ConsumerGroupHeartbeat("A", 1),
            ConsumerGroupHeartbeat("A", 2, pattern="orders-.*|clicks"),
        ):
            group = step(settings, group, event)
        lost[release] = len(group.member("A").pending_partitions)
    assert lost == {"4.0": 0, "4.2": 2, "4.4": 2}


def test_names_and_a_pattern_add_up_and_an_empty_pattern_takes_it_back():
    group = run(join("A", ("clicks",), pattern="orders-.*"), ConsumerGroupHeartbeat("A", 2, owned=()))
    assert given(group) == {"A": {"clicks", "orders-eu", "orders-us"}}
    group = step(SETTINGS, group, ConsumerGroupHeartbeat("A", 3, pattern=""))
    assert given(group) == {"A": {"clicks"}}
    assert (group.matched, group.matched_at_ms) == ((), None)


def test_what_is_not_modelled_is_told_before_anything_is_asked():
    with pytest.raises(KafkaLearnError, match="is not modelled"):
        join("A", (), pattern="\\pL")


def test_a_wrong_pattern_is_refused_and_changes_nothing():
    group = run(join("A", (), pattern="orders-.*"), ConsumerGroupHeartbeat("A", 1))
    after = step(SETTINGS, group, ConsumerGroupHeartbeat("A", 2, pattern="(?!orders)"))
    assert after == group
    assert after.effects == (HeartbeatAnswered("A", "INVALID_REGULAR_EXPRESSION"),)


def test_the_match_of_a_pattern_goes_with_the_last_member_that_has_it():
    two = run(join("A", (), pattern="orders-.*"), join("B", (), pattern="orders-.*"))
    one = step(SETTINGS, two, leave("A"))
    none = step(SETTINGS, one, leave("B"))
    assert [len(each.matched) for each in (two, one, none)] == [1, 1, 0]
    gone = RecordWritten(f"tombstone:{REGULAR_EXPRESSION}")
    assert [gone in each.effects for each in (one, none)] == [False, True]
