"""The pictures and words of old consumers and their ZooKeeper, and of one scenario in three eras."""

from functools import partial
from xml.etree import ElementTree

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.zookeeper.connector import (
    BrokerStarted,
    BrokerStopped,
    CommitOffsets,
    Crash,
    CreateMessageStreams,
    Ping,
    Produce,
    Read,
    SessionExpired,
    Settings,
    Shutdown,
    TimePassed,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
    WaitForRecord,
    simulate,
)
from kafkalearn.zookeeper.connector.simulator import NOBODY_GIVES_UP
from kafkalearn.zookeeper.eras import play_eras
from kafkalearn.zookeeper.eras_picture import draw_eras
from kafkalearn.zookeeper.picture import animate_zookeeper, describe_zookeeper, draw_zookeeper, zookeeper_text
from kafkalearn.zookeeper.schedules import play
from kafkalearn.zookeeper.search import find, herd
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter
from tests.views.golden import expected

SETTINGS = Settings(consumer_timeout_ms=100)
LIFE = play(
    SETTINGS,
    [
        BrokerStarted(),
        TopicCreated("orders", 3),
        CreateMessageStreams("c1", Streams({"orders": 1})),
        Produce("orders", 0, 4),
        Read("c1"),
        CommitOffsets("c1"),
        CreateMessageStreams("c2", Filtered(TopicFilter("white_list", "orders|new"), 2)),
        TopicCreated("new", 2),
        TopicGrown("orders", 4),
        WaitForRecord("c2"),
        Ping("c1"),
        TimePassed(1000),
        SessionExpired("c1"),
        Crash("c2"),
        SessionExpired("c2"),
        TopicDeleted("new"),
        Shutdown("c1"),
        BrokerStopped(),
    ],
)
LONG = "x" * 200 + "<&>" + "\u202e"
HOSTILE = play(
    Settings(LONG),
    [
        BrokerStarted(),
        *[TopicCreated(f"{LONG}{number}", 40) for number in range(2)],
        *[CreateMessageStreams(f"{LONG}{number}", Streams({f"{LONG}0": 2})) for number in range(6)],
    ],
)
RUNS = {
    "life": (SETTINGS, LIFE),
    "four tries": (Settings(auto_commit_enable=False), find(promises=[NOBODY_GIVES_UP]).trace),
    "herd": (Settings(auto_commit_enable=False), herd(6)),
    "strange names": (Settings(LONG), HOSTILE),
}
STORY = """
topic orders has 6 partitions
at 0 s: c1, c2 and c3 join
at 20 s: c2 pauses for 50 s
at 100 s: c1 crashes
the end is at 160 s
"""


def frames(trace):
    return list(zip(trace, (None, *trace), strict=False))


def test_a_run_reads_as_expected():
    actual = "\n\n".join(zookeeper_text(frame, before) for frame, before in frames(LIFE))
    assert actual == expected("zookeeper-life.txt", actual)


@pytest.mark.parametrize("name", RUNS)
def test_all_drawings_are_xml_of_one_size_with_all_in_them_and_no_text_too_small(name):
    settings, trace = RUNS[name]
    drawings = [draw_zookeeper(settings, frame, before) for frame, before in frames(trace)]
    assert len({drawing.size for drawing in drawings}) == 1
    for drawing in drawings:
        width, height = drawing.size
        assert height <= 590
        for each in ElementTree.fromstring(drawing).iter():
            assert not each.get("id")
            assert float(each.get("font-size", SMALL)) >= SMALL
            if each.get("x") and each.get("width"):
                assert 0 <= float(each.get("x")) <= float(each.get("x")) + float(each.get("width")) <= width
            if each.get("y"):
                assert 0 <= float(each.get("y")) <= height


def test_what_changes_is_marked_and_what_is_gone_is_struck_through():
    before, frame = LIFE[2], LIFE[3]
    assert "billing_c1" in draw_zookeeper(SETTINGS, frame, before)
    assert MARK in draw_zookeeper(SETTINGS, frame, before)
    gone = next(each for each in LIFE if each.event == SessionExpired("c1"))
    drawing = draw_zookeeper(SETTINGS, gone, LIFE[gone.index - 1])
    assert "billing_c1" in drawing
    assert drawing.label.startswith("ZooKeeper ends the session c1.")


def test_every_event_has_words_of_its_own():
    said = {type(frame.event).__name__: describe_zookeeper(frame, before) for frame, before in frames(LIFE)[1:]}
    assert len(said) > 14
    assert not any(name in words for name, words in said.items())


def test_an_animation_has_a_picture_for_each_moment():
    shown = animate_zookeeper(SETTINGS, LIFE[:6], title="two nodes", stills=[3])
    assert len(shown.pictures) == 6


def test_the_eras_are_drawn_below_each_other_on_one_axis():
    outcomes = play_eras(STORY)
    drawing = draw_eras(outcomes)
    assert [each in drawing for each in ("ZooKeeper", "classic protocol", "KIP-848")] == [True] * 3
    assert drawing.size[1] <= 590
    zoomed = partial(draw_eras, outcomes, 60_000, 80_000)
    assert zoomed() != drawing
    with pytest.raises(KafkaLearnError, match="must lie from 0"):
        draw_eras(outcomes, 5, 5)
    with pytest.raises(KafkaLearnError, match="at least one era"):
        draw_eras({})


def test_many_members_are_counted():
    outcomes = play_eras("at 0 s: c1 to c9 join")
    assert "3 more members are not shown" in draw_eras(outcomes)


def test_a_simulated_run_without_consumers_is_drawn_too():
    trace = simulate(SETTINGS, [BrokerStarted()])
    assert draw_zookeeper(SETTINGS, trace[0]).label == "Nothing has happened yet."
