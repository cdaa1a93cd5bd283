"""The pictures and words of a consumer group in a scenario, and of the states of a classic group."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from kafkalearn import commits, views
from kafkalearn.assignors import Assignment, Member, assign, compare, rebalance
from kafkalearn.assignors.registry import CLIENT_ASSIGNORS
from kafkalearn.base import events
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import (
    ACCIDENTS,
    STRATEGIES,
    Assign,
    CommitSync,
    Delete,
    Poll,
    Produce,
    Rebalance,
    Start,
    Workload,
    shortest,
    sweep,
    undisturbed,
)
from kafkalearn.drawing.group_figures import MEASURES
from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.groups import classic, consumer
from kafkalearn.groups.classic import TRANSITIONS, JoinGroup, LeaveGroup, Settings, TimePassed
from kafkalearn.groups.picture import DOING_FILLS, STATE_FILLS
from kafkalearn.scenarios import simulate
from tests.assignors.groups import TODAY
from tests.drawing.drawn import assert_a_run_well_drawn, assert_well_drawn, elements_of, words_of
from tests.every import every_case
from tests.recorded import expected, with_before

TEN = [Member(f"m{number:02}", ["orders"]) for number in range(10)]
NINE = [member for member in TEN if member.member_id != "m03"]
COMPARED = compare(["range", "roundrobin", "sticky", "cooperative-sticky"], {"orders": 50}, TEN, NINE)
FEEDS = [f"feed-{number:02}" for number in range(40)]


def font_sizes(drawing):
    return [float(size) for size in re.findall(r'font-size="([\d.]+)"', drawing)]


def by_range(members):
    return assign("range", {"orders": 50}, members)


def told(trace):
    return "\n\n".join(views.rebalance_text(frame, before) for frame, before in with_before(trace))


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
def test_a_rebalance_reads_as_expected(assignor):
    three, four = ([Member(f"billing-{number}", ["orders", "payments"]) for number in range(n)] for n in (3, 4))
    counts = {"orders": 4, "payments": 3}
    actual = "\n\n----\n\n".join(
        told(rebalance(assignor, counts, *change)) for change in ((four, three), (three, four))
    )
    assert actual == expected(f"rebalance-{assignor}.txt", actual)


def test_an_assignment_is_counted_by_member():
    pile = assign("range", dict.fromkeys(FEEDS, 1), [Member(f"search-{number}", FEEDS) for number in range(4)])
    assert views.describe_assignment(pile) == (
        "40 partitions on 4 members: search-0 40, search-1 0, search-2 0, search-3 0; 3 idle."
    )


def test_every_partition_is_a_cell_and_what_moved_is_marked():
    drawing = views.draw_assignment(by_range(NINE), by_range(TEN))
    assert set(map(str, range(50))) <= set(words_of(drawing))
    assert "gone: m03" in words_of(drawing)
    marked = [each.get("d") for each in elements_of(drawing, "path") if each.get("stroke") == MARK]
    assert "".join(marked).count("M") == 9  # the moved ones
    assert MARK not in views.draw_assignment(by_range(TEN))


def test_partitions_of_several_topics_have_their_topics_names_and_wrap():
    pile = assign("range", dict.fromkeys(FEEDS, 1), [Member(f"search-{number}", FEEDS) for number in range(4)])
    drawing = views.draw_assignment(pile)
    assert {f"{feed}-0" for feed in FEEDS} <= set(words_of(drawing))
    assert words_of(drawing).count("nothing") == 3


def test_several_assignors_stand_below_each_other_topic_by_topic_and_say_who_has_what():
    trio = [Member(f"billing-{number}", ["orders", "payments"]) for number in range(3)]
    dealt = {name: assign(name, {"orders": 7, "payments": 7}, trio) for name in ("range", "roundrobin")}
    drawing = views.draw_assignments(dealt)

    assert_well_drawn([drawing])
    names = [each for each in words_of(drawing) if "," in each]
    assert names == ["range, orders", "range, payments", "roundrobin, orders", "roundrobin, payments"]
    assert "billing-2 orders-5 orders-6 payments-5 payments-6. roundrobin:" in drawing.label
    lonely = views.draw_assignments({"range": assign("range", {"orders": 1}, trio[:2])})
    assert lonely.label == "range: billing-0 0; billing-1 nothing"


@pytest.mark.parametrize(("partition_count", "member_count"), [(25, 1), (1, 7)])
def test_what_has_no_room_in_the_picture_of_several_assignors_is_refused(partition_count, member_count):
    members = [Member(f"m{number}", ["orders"]) for number in range(member_count)]
    with pytest.raises(KafkaLearnError, match="room for 6 members, 24 partitions of a topic and 12 rows"):
        views.draw_assignments({"range": assign("range", {"orders": partition_count}, members)})
    with pytest.raises(KafkaLearnError, match="at least one assignment"):
        views.draw_assignments({})


@pytest.mark.parametrize(("side", "assignor"), TODAY)
def test_an_assignment_of_every_assignor_can_be_drawn(side, assignor):
    ElementTree.fromstring(views.draw_assignment(assign(assignor, {"orders": 50}, TEN, side=side)))
    ElementTree.fromstring(views.draw_assignment(Assignment({})))


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
@pytest.mark.parametrize("partition_count", [1, 15, 40])
def test_a_rebalance_of_eight_members_fits_the_window(assignor, partition_count):
    eight = [Member(f"billing-{number}", ["orders"]) for number in range(8)]
    drawn = views.animate(rebalance(assignor, {"orders": partition_count}, eight, eight[1:]), title="Who?")
    assert max(picture.size[1] for picture in drawn.pictures) <= 590
    assert drawn.title == "Who?"


def test_a_long_member_id_has_room_beside_its_lane():
    name = "consumer-billing-1-6f1e09ab-a9"
    assert name in words_of(views.draw_assignment(assign("range", {"orders": 30}, [Member(name, ["orders"])])))


def test_nobody_reads_anything_while_an_eager_group_stops():
    trace = rebalance("sticky", {"orders": 50}, TEN, NINE)
    words = words_of(views.draw_rebalance(trace, trace[2], trace[1]))
    assert "0 of 50 partitions are read" in words
    assert "has left" in words
    assert words.count("nothing") == 9


@pytest.mark.parametrize("rows", [COMPARED, {f"producer {n}": dict.fromkeys("abcd", n) for n in range(1, 8)}])
def test_the_numbers_of_many_bars_stand_apart(rows):
    measures = ("a", "b", "c", "d") if isinstance(rows, dict) else MEASURES
    drawing = views.figure(views.draw_measures, rows, measures, alt="what a change costs", size=(10, 5.8))
    drawing.canvas.draw()
    height = {each.get_fontsize() for each in drawing.axes[0].texts}.pop() * drawing.dpi / 72
    middles = sorted(each.get_window_extent().y0 + each.get_window_extent().y1 for each in drawing.axes[0].texts)
    assert min(other - one for one, other in pairwise(middles)) / 2 > 0.75 * height, "digits are 0.73 of it high"


def test_measures_are_bars_for_each_assignor_with_their_numbers():
    rows = compare(["range", "sticky"], {"orders": 50}, TEN, NINE)
    drawing = views.figure(views.draw_measures, rows, alt="what a change costs")
    (ax,) = drawing.axes
    assert [each.get_text() for each in ax.get_yticklabels()] == ["range", "sticky"]
    assert sorted(int(each.get_text()) for each in ax.texts) == sorted([50, 9, 9, 5, 1, 50, 5, 5, 5, 1])
    with pytest.raises(KafkaLearnError, match="rows is empty"):
        views.figure(views.draw_measures, [], alt="")
    with pytest.raises(KafkaLearnError, match="a row lacks 'revoked, eager'"):
        views.figure(views.draw_measures, [{"assignor": "range"}], alt="")


def test_one_measure_of_anything_by_name_is_bars_without_a_legend_on_whole_numbers():
    rows = {"range": {"cross": 1}, "sticky": {"cross": 0}}
    drawing = views.figure(views.draw_measures, rows, ("cross",), what="partitions that cross", alt="which cross")
    (ax,) = drawing.axes
    assert [each.get_text() for each in ax.get_yticklabels()] == ["range", "sticky"]
    assert not drawing.legends
    assert all(float(each).is_integer() for each in ax.get_xticks())


def test_shares_are_counted_in_twentieths_and_the_mean_is_written():
    drawing = views.small_multiples(views.draw_shares, {"a": [0.0, 0.01, 1.0, 1.0], "b": [0.5]}, alt="shares")
    heights = [bar.get_height() for bar in drawing.axes[0].patches]
    assert (heights[0], heights[-1], sum(heights)) == (0.5, 0.5, 1.0)
    assert [ax.texts[0].get_text() for ax in drawing.axes] == ["mean 50%", "mean 50%"]
    for wrong in ([], [1.5], [-0.1]):
        with pytest.raises(KafkaLearnError, match="shares must be numbers from 0 to 1"):
            views.figure(views.draw_shares, wrong, alt="")


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
CLASSIC = classic.simulate(Settings(), [JoinGroup("a", version=3), TimePassed(3000), LeaveGroup("a", "a-1")])


def frames(outcome):
    return list(with_before(outcome.trace))


@pytest.mark.parametrize("name", ["default", "cooperative"])
def test_a_scenario_reads_as_expected(name):
    outcome = OUTCOMES[name]
    actual = "\n\n".join(views.group_text(outcome, frame, before) for frame, before in frames(outcome))
    assert actual == expected(f"group-{name}.txt", actual)


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_run_its_timeline_and_the_states_are_well_drawn(name):
    assert_a_run_well_drawn(views.animate(OUTCOMES[name]).pictures)
    assert_well_drawn([views.draw_timeline(OUTCOMES[name])])
    assert_well_drawn([views.draw_group_states()])


def test_what_a_member_has_just_lost_and_gained_is_marked():
    outcome = OUTCOMES["default"]
    frame = next(frame for frame in outcome.trace if "c3 rejoins" in (frame.event or ""))
    drawing = views.draw_group(outcome, frame, outcome.trace[frame.index - 1])
    assert "stroke-dasharray" in drawing
    assert MARK in drawing
    assert "loses" in drawing.label


def test_of_many_members_those_that_change_are_shown_and_the_rest_is_counted():
    outcome = OUTCOMES["many"]
    frame = next(frame for frame in outcome.trace if frame.event == "c9 leaves")
    words = re.findall(r">([^<>]+)</text>", views.draw_group(outcome, frame, outcome.trace[frame.index - 1]))
    assert "c9" in words
    assert any("4 more members are not shown" in each for each in words)


def test_a_moment_is_told_in_one_sentence_a_line():
    for outcome in OUTCOMES.values():
        for frame, before in frames(outcome):
            assert "\n" not in views.describe_group(outcome, frame, before)


def test_the_time_line_says_how_long_each_stood_still():
    outcome = OUTCOMES["default"]
    label = views.draw_timeline(outcome).label
    assert label.startswith(f"{outcome.rebalance_count} rebalances in 600 s; c1 stood still for ")
    for row in outcome.standstill:
        assert f"{row['standstill_ms'] / 1000:g} s" in label


def test_a_stretch_of_the_time_line_can_be_looked_at_closely():
    outcome = OUTCOMES["default"]
    words = re.findall(r">([^<>]+)</text>", views.draw_timeline(outcome, 100_000, 112_000))
    assert {"100 s", "106 s", "112 s"} <= set(words)


@pytest.mark.parametrize(("from_ms", "to_ms"), [(-1, 5), (5, 5), (0, 600_001)])
def test_a_stretch_outside_of_the_scenario_is_refused(from_ms, to_ms):
    with pytest.raises(KafkaLearnError, match="the stretch must lie from 0 to 600000 ms"):
        views.draw_timeline(OUTCOMES["default"], from_ms, to_ms)


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

    whole, close = views.draw_timeline(outcome), views.draw_timeline(outcome, ends_ms[1] - 20, ends_ms[1] + 20)
    assert boxes(whole, "CompletingRebalance") == 0
    assert boxes(whole, "PreparingRebalance") == len(ends_ms)
    assert boxes(close, "CompletingRebalance") == 1


def test_a_long_name_shows_both_its_ends():
    outcome = simulate("at 0 s: consumer-billing-1 joins")
    words = re.findall(r">([^<>]+)</text>", views.draw_timeline(outcome))
    assert any(each.startswith("consum") and each.endswith("ling-1") for each in words)


def test_the_names_of_all_lanes_begin_under_each_other():
    """Those of members began ten pixels left of the group's, where a lane is low."""
    outcome = simulate("at 0 s: c1, c2, c3, c4 and consumer-billing-1 join")
    drawings = [views.draw_timeline(outcome), views.draw_group(outcome, outcome.trace[3], outcome.trace[2])]

    for drawing in drawings:
        names = {each.text: each for each in elements_of(drawing, "text") if each.text in ("the group", "c1", "c4")}
        assert len({each.get("x") for each in names.values()}) == 1
        assert {"the group", "c1"} <= names.keys()


def test_the_diagram_numbers_every_way_of_the_table_and_says_its_causes():
    words = words_of(views.draw_group_states())
    ways = {(before, after) for before, after, _ in TRANSITIONS}
    assert [each for each in words if each.isdecimal()][: len(ways)] == [str(at + 1) for at in range(len(ways))]
    said = " ".join(words)
    assert [each.cause for each in TRANSITIONS if each.cause not in said] == []


def test_the_diagram_marks_where_the_group_is_and_how_it_came():
    assert MARK not in views.draw_group_states()
    pictures = [views.draw_group_states(frame, before) for frame, before in with_before(CLASSIC)]
    assert [each.label.partition("; ")[2] for each in pictures] == [
        "it is Empty now",
        "it is PreparingRebalance now, and came from Empty",
        "it is CompletingRebalance now, and came from PreparingRebalance",
        "it is Empty now, and came from CompletingRebalance",
    ]


def test_the_diagram_changes_with_the_table():
    fewer = [each for each in TRANSITIONS if each.after != "Dead"]
    assert "10" in words_of(views.draw_group_states())
    assert "7" not in words_of(views.draw_group_states(transitions=fewer))


LATEST = commits.simulate(
    commits.Settings(40, committed=None, max_poll_records=2),
    [
        Assign(),
        Produce(3),
        Poll(),
        CommitSync(),
        Start("B"),
        CommitSync(),
        Delete(43),
        Poll("B"),
        events.TimePassed(1500),
    ],
)
RUNS = {
    "crash": shortest(sweep("each batch"), "doubled").trace,
    "close": sweep("auto", accident="close")[3].trace,
    "zombie": sweep("offset in the sink", accident="pause")[3].trace,
    "lock": sweep("offset as a lock", accident="pause")[3].trace,
    "rebalance": sweep("auto", accident="rebalance")[1].trace,
    "retried": undisturbed("async, retried", Workload(refused=(1,))),
    "latest": LATEST,
    "checkpoints": sweep("checkpoints", Workload(6, 3, 2000), accident="pause")[6].trace,
    "metadata": commits.simulate(
        commits.Settings(6),
        [Start(), Poll(), CommitSync(offset=2, metadata="shelf 7"), CommitSync(metadata="x" * 4097), CommitSync()],
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_as_expected(name):
    actual = "\n\n".join(views.commits_text(frame, before) for frame, before in with_before(RUNS[name]))

    assert actual == expected(f"commits-{name}.txt", actual)


@every_case("accident", ACCIDENTS)
@every_case("strategy", STRATEGIES)
def test_every_end_of_every_sweep_can_be_drawn_and_described_in_one_line(strategy, accident):
    for outcome in sweep(strategy, Workload(4, 2), accident):
        ElementTree.fromstring(views.draw_commits(outcome.trace[-1], outcome.trace[-2]))
        assert all("\n" not in views.describe_commits(*pair) for pair in with_before(outcome.trace))
        assert f"lost {len(outcome.lost)}, doubled {len(outcome.doubled)}" in views.draw_commits(outcome.trace[-1])


def test_what_has_just_been_read_committed_or_left_has_the_marks_colour():
    marked = [
        [each.text for each in elements_of(drawn, "text") if each.get("fill") == MARK]
        for drawn in (views.draw_commits(*pair) for pair in with_before(RUNS["crash"]))
    ]
    assert (marked[1], marked[2], marked[10]) == ([], ["position 3"], ["committed 3"])
    assert marked[4] == ["A", "crashed", "1", "2"], "what it had polled stays as ghosts"


def test_nobody_starts_where_the_reset_is_none():
    settings = commits.Settings(4, committed=None, auto_offset_reset="none")
    assert (
        views.describe_commits(commits.simulate(settings, [Start()])[-1])
        == "A cannot start: NoOffsetForPartitionException."
    )


def test_nobody_takes_over_in_a_rebalance_where_the_reset_is_none():
    settings = commits.Settings(4, auto_offset_reset="none")
    trace = commits.simulate(settings, [Start(), Produce(), Poll(), Delete(5), Rebalance("B")])
    assert views.describe_commits(trace[-1], trace[-2]) == (
        "Rebalance: A gives the partition up; B cannot start: OffsetOutOfRangeException."
    )


def test_costs_are_one_mark_for_each_strategy_and_those_that_lose_say_how_much():
    ax = Figure().add_subplot()
    views.draw_commit_costs(ax, {"each batch": (18, 74, 0), "before the batch": (18, 0, 75)})

    assert [note.get_text() for note in ax.texts] == ["each batch", "before the batch: 75 lost"]
    assert [list(line.get_ydata()) for line in ax.lines[:2]] == [[74], [75]]
    assert ax.get_ylim()[1] > 75


@pytest.mark.parametrize("costs", [{}, {"never": (0, 0, 0)}])
def test_costs_without_a_commit_cannot_be_drawn(costs):
    with pytest.raises(KafkaLearnError, match="that commit something"):
        views.draw_commit_costs(Figure().add_subplot(), costs)


def test_shares_of_commits_are_a_line_for_what_was_counted_and_rings_for_what_was_said():
    ax = Figure().add_subplot()
    views.draw_commit_shares(ax, [24, 96], {"night": [1, 0.9], "day": [0.8, 0.1]}, {"day": [0.8, 0.2]})

    drawn = [(line.get_label(), list(line.get_ydata())) for line in ax.lines]
    assert drawn == [("night, counted", [1, 0.9]), ("day, counted", [0.8, 0.1]), ("day, simulator", [0.8, 0.2])]
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize(
    ("counted", "said", "wrong"),
    [
        ({}, {}, "said must have names of counted"),
        ({"day": [1, 0]}, {"night": [1, 0]}, "said must have names of counted"),
        ({"day": [1]}, {}, "day has 1 shares, but there are 2 paces"),
    ],
)
def test_shares_of_other_paces_cannot_be_drawn(counted, said, wrong):
    with pytest.raises(KafkaLearnError, match=wrong):
        views.draw_commit_shares(Figure().add_subplot(), [24, 96], counted, said)


def test_epochs_are_drawn_heartbeat_by_heartbeat():
    two = consumer.Settings(topics={"orders": 4})
    beats = [consumer.join("A", ["orders"]), consumer.TimePassed(1000), consumer.join("B", ["orders"])]
    beats += [consumer.ConsumerGroupHeartbeat("A", 2)]
    shown = views.animate(consumer.simulate(two, beats), title="Epochs")

    for drawing in shown.pictures:
        assert min(font_sizes(drawing)) >= SMALL
        assert drawing.size[1] <= 590
    assert len({drawing.size for drawing in shown.pictures}) == 1
    assert "B: epoch 3" in shown.captions[3]
    assert "no partition" in shown.captions[3]
    assert shown.pictures[3].count("...") > shown.pictures[1].count("...")


def test_epochs_of_several_topics_are_refused():
    several = consumer.Settings(topics={"orders": 2, "clicks": 2})
    with pytest.raises(KafkaLearnError, match="2 topics"):
        views.animate(consumer.simulate(several, [consumer.join("A", ["clicks", "orders"])]))
