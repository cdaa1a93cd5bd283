"""The offsets topic on its brokers, in words and as a picture."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from kafkalearn.drawing.svg import SMALL
from kafkalearn.offsets import replicated as stories
from kafkalearn.offsets.replicated import Settings, simulate
from kafkalearn.offsets.store import Commit
from kafkalearn.replication import TimePassed
from kafkalearn.views import commit_path_text, describe_commit_path, draw_commit_path
from tests.views.golden import expected

BEGUN = stories.group_with_an_offset()
STORIES = {
    "path": BEGUN + stories.commit_path(),
    "takeover": stories.takeover(),
    "foreign": stories.foreign_record(None),
    "end": stories.end_of_a_group(),
    "deletions": stories.deletions(),
}
RUNS = {name: simulate(Settings(), events) for name, events in STORIES.items()}


def pairs(trace):
    return zip(trace, (None, *trace), strict=False)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_as_expected(name):
    actual = "\n\n".join(commit_path_text(frame, before) for frame, before in pairs(RUNS[name]))

    assert actual == expected(f"commit-path-{name}.txt", actual)


@pytest.mark.parametrize("name", RUNS)
def test_a_drawing_is_xml_of_one_size_that_fits_a_screen_with_no_text_too_small_and_each_frame_differs(name):
    drawings = [draw_commit_path(frame, before) for frame, before in pairs(RUNS[name])]

    for drawing in drawings:
        sizes = [
            float(each.get("font-size")) for each in ElementTree.fromstring(drawing).iter() if each.get("font-size")
        ]
        assert min(sizes) >= SMALL
        assert drawing.size[1] <= 590
    assert len({drawing.size for drawing in drawings}) == 1
    assert all(one != other for one, other in pairwise(drawings))


def test_long_names_make_cells_wider_and_none_reaches_beyond_the_row():
    group_id = "a-group-whose-name-is-long-as-names-in-companies-are"
    commits = [Commit(group_id, "orders", number, 7, 0) for number in range(8)]
    trace = simulate(Settings(), commits)
    drawing = draw_commit_path(trace[-1], trace[-2])

    assert group_id in drawing
    xs = [float(each.get("x")) for each in ElementTree.fromstring(drawing).iter() if each.get("x")]
    assert max(xs) <= 1000


def test_who_has_waited_too_long_is_said_to_be_told_so():
    trace = simulate(Settings(), [Commit("billing", "orders", 0, 7, 0), TimePassed(5000)])

    assert describe_commit_path(trace[-1], trace[-2]) == (
        "5,000 ms pass. Answer to billing's commit of 7: COORDINATOR_NOT_AVAILABLE."
    )
