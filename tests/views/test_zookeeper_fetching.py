"""The picture of the fetch pipeline, and its words."""

from typing import get_args
from xml.etree import ElementTree

import pytest

from kafkalearn.drawing.svg import MARK
from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    BrokerCrashed,
    BrokerRestarted,
    CommitOffsets,
    Fetch,
    FindLeaders,
    LeaderMoved,
    LogTruncated,
    Next,
    RecordsDeleted,
    Settings,
    Shutdown,
    StartConnections,
    StopConnections,
    simulate,
)
from kafkalearn.zookeeper.fetching import (
    cluster as effects,
)
from kafkalearn.zookeeper.fetching_picture import _WORDS, animate_fetching, describe_fetching, draw_fetching
from tests.contract.fetching import SIMULATOR

SETTINGS = Settings(topics=(("orders", 3),), stream_count=2, fetch_message_max_bytes=200)
OWNS = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, 0), Assigned("orders", 2, 0, 2)])
RUN = simulate(
    SETTINGS,
    [
        *(Append("orders", 0, 9), Append("orders", 1, 3), Append("orders", 2, 5), OWNS, FindLeaders()),
        *(Fetch(1), Fetch(2), Next(0), Fetch(1), BrokerCrashed(2), Fetch(2), LeaderMoved("orders", 1, 1)),
        *(FindLeaders(), Next(1), Next(0), BrokerRestarted(2), LogTruncated("orders", 2, 3), CommitOffsets()),
        *(RecordsDeleted("orders", 0, 6), StopConnections(), OWNS, Shutdown(), Next(0)),
    ],
)


def words_in(drawing):
    return [element.text for element in ElementTree.fromstring(drawing).iter() if element.text]


def test_every_moment_is_drawn_to_one_size_that_fits_a_window():
    sizes = {draw_fetching(RUN, frame).size for frame in RUN}
    assert len(sizes) == 1
    assert sizes.pop()[1] <= 590


def test_a_chunk_is_followed_from_the_log_to_the_application():
    fetched, read = draw_fetching(RUN, RUN[6]), draw_fetching(RUN, RUN[8])
    assert "orders-2: 2 to 3" in words_in(fetched)
    assert "left" in words_in(read)
    assert "read 2 of orders-2" in words_in(read)
    assert "fetched 4, consumed 3" in words_in(read)


def test_who_waits_is_marked_and_named():
    blocked, finder = RUN[9], RUN[13]
    assert "waits with" in words_in(draw_fetching(RUN, blocked))
    drawing = draw_fetching(RUN, finder)
    (said,) = [each for each in ElementTree.fromstring(drawing).iter() if "waits for the lock" in (each.text or "")]
    assert said.get("fill") == MARK


def test_what_does_not_fit_is_counted():
    many = Settings(topics=(("orders", 12),))
    drawing = draw_fetching(simulate(many, []), simulate(many, [])[0])
    assert "not drawn: 7 more partitions" in words_in(drawing)


def test_the_animation_has_a_sentence_for_every_moment():
    shown = animate_fetching(RUN)
    assert len(shown.captions) == len(RUN)
    assert all(each.endswith(".") for each in shown.captions)
    assert shown.captions[9] == (
        "A chunk is in the queue of stream 0: 4 of orders-2. "
        "Fetcher 0 of broker 1 waits: the queue of stream 0 is full."
    )


@pytest.mark.parametrize("one", SIMULATOR.runs, ids=str)
def test_every_frame_of_the_contracts_runs_has_words(one):
    for frame in simulate(one.settings, one.events):
        assert describe_fetching(frame)


def test_every_effect_has_words():
    assert set(get_args(effects.Effect)) == set(_WORDS)
