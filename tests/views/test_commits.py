"""A group that reads a partition, in words and as a picture."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import (
    ACCIDENTS,
    STRATEGIES,
    Append,
    Assign,
    CommitSync,
    Delete,
    Poll,
    Rebalance,
    Settings,
    Start,
    Wait,
    Workload,
    shortest,
    simulate,
    sweep,
    undisturbed,
)
from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.views import commits_text, describe_commits, draw_commit_costs, draw_commits
from tests.every import every_case
from tests.views.golden import expected

LATEST = simulate(
    Settings(40, committed=None, max_poll_records=2),
    [Assign(), Append(3), Poll(), CommitSync(), Start("B"), CommitSync(), Delete(43), Poll("B"), Wait(1500)],
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
    "metadata": simulate(
        Settings(6),
        [Start(), Poll(), CommitSync(offset=2, metadata="shelf 7"), CommitSync(metadata="x" * 4097), CommitSync()],
    ),
}


def pairs(trace):
    return zip(trace, (None, *trace), strict=False)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_as_expected(name):
    actual = "\n\n".join(commits_text(frame, before) for frame, before in pairs(RUNS[name]))

    assert actual == expected(f"commits-{name}.txt", actual)


@pytest.mark.parametrize("name", RUNS)
def test_a_drawing_is_xml_of_one_size_with_no_text_too_small_and_each_frame_differs(name):
    drawings = [draw_commits(frame, before) for frame, before in pairs(RUNS[name])]

    for drawing in drawings:
        sizes = [
            float(each.get("font-size")) for each in ElementTree.fromstring(drawing).iter() if each.get("font-size")
        ]
        assert min(sizes) >= SMALL
    assert len({drawing.size for drawing in drawings}) == 1
    assert all(one != other for one, other in pairwise(drawings))


@every_case("accident", ACCIDENTS)
@every_case("strategy", STRATEGIES)
def test_every_end_of_every_sweep_can_be_drawn_and_described_in_one_line(strategy, accident):
    for outcome in sweep(strategy, Workload(4, 2), accident):
        ElementTree.fromstring(draw_commits(outcome.trace[-1], outcome.trace[-2]))
        assert all("\n" not in describe_commits(*pair) for pair in pairs(outcome.trace))
        assert f"lost {len(outcome.lost)}, doubled {len(outcome.doubled)}" in draw_commits(outcome.trace[-1])


def test_what_has_just_been_committed_has_the_marks_colour_and_a_crash_a_frame():
    trace = RUNS["crash"]
    assert "crashed" in draw_commits(trace[4], trace[3])
    assert MARK not in draw_commits(trace[2], trace[1]).replace(f'stroke="{MARK}" stroke-width="1.5"', "")


def test_nobody_starts_where_the_reset_is_none():
    settings = Settings(4, committed=None, auto_offset_reset="none")
    assert describe_commits(simulate(settings, [Start()])[-1]) == "A cannot start: NoOffsetForPartitionException."


def test_nobody_takes_over_in_a_rebalance_where_the_reset_is_none():
    settings = Settings(4, auto_offset_reset="none")
    trace = simulate(settings, [Start(), Append(), Poll(), Delete(5), Rebalance("B")])
    assert describe_commits(trace[-1], trace[-2]) == (
        "Rebalance: A gives the partition up; B cannot start: OffsetOutOfRangeException."
    )


def test_costs_are_one_mark_for_each_strategy_and_those_that_lose_say_how_much():
    ax = Figure().add_subplot()
    draw_commit_costs(ax, {"each batch": (18, 74, 0), "before the batch": (18, 0, 75)})

    assert [note.get_text() for note in ax.texts] == ["each batch", "before the batch: 75 lost"]
    assert [list(line.get_ydata()) for line in ax.lines[:2]] == [[74], [75]]
    assert ax.get_ylim()[1] > 75


@pytest.mark.parametrize("costs", [{}, {"never": (0, 0, 0)}])
def test_costs_without_a_commit_cannot_be_drawn(costs):
    with pytest.raises(KafkaLearnError, match="that commit something"):
        draw_commit_costs(Figure().add_subplot(), costs)
