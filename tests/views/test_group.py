"""The pictures and words of a consumer group in a scenario, and of the states of a classic group."""

import re
from functools import partial
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.groups import classic
from kafkalearn.groups.classic import (
    TRANSITIONS,
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    PartitionMoved,
    Settings,
    SyncGroup,
    TimePassed,
)
from kafkalearn.groups.picture import DOING_FILLS, STATE_FILLS
from kafkalearn.scenarios import simulate
from kafkalearn.views import (
    animation,
    coordinator_text,
    describe_coordinator,
    describe_group,
    draw_coordinator,
    draw_group,
    draw_group_states,
    draw_timeline,
    group_text,
)
from tests.views.golden import expected

STORY = """
topic orders has 6 partitions
at 0 s: c1, c2 and c3 join
at 61 s: c2 pauses for 50 s
at 150 s: c3 works 320 s on one poll
at 480 s: c1 crashes and returns after 5 s
the end is at 10 min
"""
OUTCOMES = {
    "default": simulate(STORY),
    "cooperative": simulate(STORY + "\nat 550 s: c4 joins", assignor="cooperative-sticky", session_timeout_ms=10_000),
    "many": simulate(
        "topic orders has 40 partitions\nat 0 s: c1 to c12 join\nat 60 s: c9 leaves", group_instance_id=True
    ),
}
CLASSIC = classic.simulate(Settings("2.1"), [JoinGroup("a"), TimePassed(3000), LeaveGroup("a", "a-1")])
REQUESTS = classic.simulate(
    Settings(group_initial_rebalance_delay_ms=3000),
    [
        JoinGroup("c1"),
        JoinGroup("c1", "c1-1"),
        JoinGroup("c2", instance_id="i2"),
        TimePassed(6000),
        SyncGroup("c2", "i2-2", 1, instance_id="i2"),
        SyncGroup("c1", "c1-1", 1, (("c1-1", "orders-0 orders-1"), ("i2-2", "orders-2"))),
        TimePassed(4000),
        Heartbeat("c1", "c1-1", 1),
        JoinGroup("c2/2", instance_id="i2"),
        Heartbeat("c2", "i2-2", 1, "i2"),
        JoinGroup("c3"),
        JoinGroup("c3", "c3-4"),
        TimePassed(10_000),
        JoinGroup("c1", "c1-1"),
        TimePassed(1_000_000),
        GroupDeleted(),
    ],
)


def frames(outcome):
    return list(zip(outcome.trace, (None, *outcome.trace), strict=False))


def drawn(outcome):
    return [draw_group(outcome, frame, before) for frame, before in frames(outcome)]


@pytest.mark.parametrize("name", ["default", "cooperative"])
def test_a_scenario_reads_as_expected(name):
    outcome = OUTCOMES[name]
    actual = "\n\n".join(group_text(outcome, frame, before) for frame, before in frames(outcome))
    assert actual == expected(f"group-{name}.txt", actual)


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_drawing_is_xml_without_ids_and_with_no_text_too_small(name):
    for drawing in [*drawn(OUTCOMES[name]), draw_timeline(OUTCOMES[name]), draw_group_states()]:
        elements = list(ElementTree.fromstring(drawing).iter())
        sizes = [float(each.get("font-size")) for each in elements if each.get("font-size")]
        assert not any(each.get("id") or each.get("href") for each in elements)
        assert min(sizes) >= SMALL


@pytest.mark.parametrize("name", OUTCOMES)
def test_all_frames_of_a_run_have_the_same_size_and_each_looks_different(name):
    pictures = drawn(OUTCOMES[name])
    assert len({drawing.size for drawing in pictures}) == 1
    assert all(one != other for one, other in pairwise(pictures))


@pytest.mark.parametrize("name", OUTCOMES)
def test_nothing_is_drawn_outside_of_the_picture(name):
    for drawing in [*drawn(OUTCOMES[name]), draw_timeline(OUTCOMES[name])]:
        width, height = drawing.size
        for each in ElementTree.fromstring(drawing).iter():
            if each.get("x") and each.get("width"):
                assert 0 <= float(each.get("x")) <= float(each.get("x")) + float(each.get("width")) <= width
            if each.get("y"):
                assert 0 <= float(each.get("y")) <= height


def test_what_a_member_has_just_lost_and_gained_is_marked():
    outcome = OUTCOMES["default"]
    frame = next(frame for frame in outcome.trace if "c3 rejoins" in (frame.event or ""))
    drawing = draw_group(outcome, frame, outcome.trace[frame.index - 1])
    assert "stroke-dasharray" in drawing
    assert MARK in drawing
    assert "loses" in drawing.label


def test_of_many_members_those_that_change_are_shown_and_the_rest_is_counted():
    outcome = OUTCOMES["many"]
    frame = next(frame for frame in outcome.trace if frame.event == "c9 leaves")
    words = re.findall(r">([^<>]+)</text>", draw_group(outcome, frame, outcome.trace[frame.index - 1]))
    assert "c9" in words
    assert any("4 more members are not shown" in each for each in words)


def test_a_moment_is_told_in_one_sentence_a_line():
    for outcome in OUTCOMES.values():
        for frame, before in frames(outcome):
            assert "\n" not in describe_group(outcome, frame, before)


def test_the_time_line_says_how_long_each_stood_still():
    outcome = OUTCOMES["default"]
    label = draw_timeline(outcome).label
    assert label.startswith(f"{outcome.rebalance_count} rebalances in 600 s; c1 stood still for ")
    for row in outcome.standstill:
        assert f"{row['standstill_ms'] / 1000:g} s" in label


def test_a_stretch_of_the_time_line_can_be_looked_at_closely():
    outcome = OUTCOMES["default"]
    words = re.findall(r">([^<>]+)</text>", draw_timeline(outcome, 100_000, 112_000))
    assert {"100 s", "106 s", "112 s"} <= set(words)


@pytest.mark.parametrize(("from_ms", "to_ms"), [(-1, 5), (5, 5), (0, 600_001)])
def test_a_stretch_outside_of_the_scenario_is_refused(from_ms, to_ms):
    with pytest.raises(KafkaLearnError, match="the stretch must lie from 0 to 600000 ms"):
        draw_timeline(OUTCOMES["default"], from_ms, to_ms)


def test_no_colour_and_no_hatch_stands_for_a_state_and_for_what_a_member_does():
    states, doings = STATE_FILLS.values(), DOING_FILLS.values()
    assert not {each.colour for each in states} & {each.colour for each in doings}
    assert not {each.hatch for each in states} & {each.hatch for each in doings} - {""}


def test_where_two_states_are_too_short_to_be_seen_the_longer_one_is_drawn():
    """A rebalance of seconds ends in 4 ms of another state; from close by both are there."""
    outcome = OUTCOMES["default"]
    ends_ms = [row["from_ms"] for row in outcome.timeline if row["state"] == "CompletingRebalance"]
    colours = {name: STATE_FILLS[name].colour for name in ("PreparingRebalance", "CompletingRebalance")}

    def boxes(drawing, state):
        paths = re.findall(rf'<path d="([^"]+)" fill="{colours[state]}"', drawing)
        return sum(path.count("M") for path in paths) - 1  # one is the legend's

    whole, close = draw_timeline(outcome), draw_timeline(outcome, ends_ms[1] - 20, ends_ms[1] + 20)
    assert boxes(whole, "CompletingRebalance") == 0
    assert boxes(whole, "PreparingRebalance") == len(ends_ms)
    assert boxes(close, "CompletingRebalance") == 1


def test_every_picture_fits_a_window():
    for outcome in OUTCOMES.values():
        assert all(each.size[1] <= 590 for each in [*drawn(outcome), draw_timeline(outcome), draw_group_states()])


def test_a_long_name_shows_both_its_ends():
    outcome = simulate("at 0 s: consumer-billing-1 joins")
    words = re.findall(r">([^<>]+)</text>", draw_timeline(outcome))
    assert any(each.startswith("consume") and each.endswith("ling-1") for each in words)


def test_the_diagram_names_every_transition_of_the_table():
    words = " ".join(re.findall(r">([^<>]+)</text>", draw_group_states()))
    words = re.sub(r"\s+", " ", words).replace("&#x27;", "'")
    for before, after, cause in TRANSITIONS:
        assert re.search(rf"{before} → {after}:[^→]*{re.escape(cause)}", words)


def test_the_diagram_marks_where_the_group_is_and_how_it_came():
    assert MARK not in draw_group_states()
    pictures = [draw_group_states(frame, before) for frame, before in zip(CLASSIC, (None, *CLASSIC), strict=False)]
    assert [each.label.partition("; ")[2] for each in pictures] == [
        "it is Empty now",
        "it is PreparingRebalance now, and came from Empty",
        "it is CompletingRebalance now, and came from PreparingRebalance",
        "it is Empty now, and came from CompletingRebalance",
    ]


def test_the_diagram_changes_with_the_table():
    fewer = [each for each in TRANSITIONS if each.after != "Dead"]
    assert "Stable → Dead" in draw_group_states()
    assert "Stable → Dead" not in draw_group_states(transitions=fewer)


def test_a_run_becomes_an_animation():
    outcome = OUTCOMES["default"]
    assert len(animation(outcome.trace, partial(draw_group, outcome)).pictures) == len(outcome.trace) < 80


def test_the_coordinator_reads_as_expected_request_by_request():
    actual = "\n\n".join(map(coordinator_text, REQUESTS))
    assert actual == expected("group-coordinator.txt", actual)


def test_the_coordinator_is_drawn_in_one_size_each_frame_another():
    pictures = [draw_coordinator(frame, before) for frame, before in zip(REQUESTS, (None, *REQUESTS), strict=False)]
    assert len({drawing.size for drawing in pictures}) == 1
    assert all(one != other for one, other in pairwise(pictures))
    assert [each.label for each in pictures] == [describe_coordinator(frame) for frame in REQUESTS]
    for drawing in pictures:
        sizes = [each.get("font-size") for each in ElementTree.fromstring(drawing).iter() if each.get("font-size")]
        assert min(map(float, sizes)) >= SMALL


def test_more_members_and_effects_than_fit_are_counted():
    joins = [JoinGroup(f"c{number}", version=3) for number in range(7)]
    trace = classic.simulate(Settings(), [*joins, TimePassed(6000), PartitionMoved()])
    words = re.findall(r">([^<>]+)</text>", draw_coordinator(trace[8], trace[7]))
    assert "and 3 more" in words
    assert any(each.startswith("→ and ") for each in words)
    assert "moves to another broker" in draw_coordinator(trace[-1], trace[-2])
