"""The pictures of two stores of offsets and of the low-level consumer, and their words."""

from xml.etree import ElementTree

import pytest

from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store import StoreGroup
from kafkalearn.replication.events import BrokerCrashed as ReplicaCrashed
from kafkalearn.zookeeper import commits
from kafkalearn.zookeeper import simple_consumer as by_hand
from kafkalearn.zookeeper.commits import (
    AutoCommit,
    BackoffPassed,
    CommitOffsets,
    Crash,
    Produce,
    Read,
    Rewind,
    Shutdown,
    Start,
)
from kafkalearn.zookeeper.commits_picture import animate_offset_stores, describe_offset_stores, draw_offset_stores
from kafkalearn.zookeeper.fetching import (
    Append,
    BrokerCrashed,
    BrokerRestarted,
    LeaderMoved,
    LogTruncated,
    RecordsDeleted,
)
from kafkalearn.zookeeper.simple_consumer_picture import (
    animate_simple_consumer,
    describe_simple_consumer,
    draw_simple_consumer,
)

LONG = "x" * 200 + "<&>" + "\u202e"
STORES = commits.Settings(partition_count=2)
MOVE = [Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4), Start("new", "kafka")]
MOVE += [Read("new", 0, 2), Crash("new"), Start("newer", "kafka"), Read("newer", 0, 4), CommitOffsets("newer")]
MOVE += [Rewind(0, 3), Crash("newer"), Start("last", "kafka", False), AutoCommit("last")]
MEMBER = StoreGroup("billing", 1, 0, (Member("new-1"),), protocol="range", leader="new-1")
TROUBLE = [Start("c1", "kafka"), Produce(0, 1), MEMBER, CommitOffsets("c1"), ReplicaCrashed(1), AutoCommit("c1")]
TROUBLE += [BackoffPassed("c1")]
MANY = commits.Settings(LONG, LONG, partition_count=9)
CROWD = [Produce(each, 40) for each in range(9)]
CROWD += [Start(f"{LONG}{each}", "kafka", partitions=(each,)) for each in range(5)]
RUNS = {
    "a move": (STORES, commits.simulate(STORES, MOVE)),
    "trouble": (STORES, commits.simulate(STORES, TROUBLE)),
    "strange names": (MANY, commits.simulate(MANY, CROWD)),
}
HAND = by_hand.Settings(broker_ids=(1, 2, 3, 4, 5))
APPLICATION = [Append("orders", 0, 3), by_hand.FindLeader(1), by_hand.FindOffset("smallest"), by_hand.Fetch()]
APPLICATION += [
    by_hand.Save(),
    LeaderMoved("orders", 0, 2),
    by_hand.Fetch(),
    by_hand.FindLeader(1),
    Append("orders", 0),
]
APPLICATION += [by_hand.Fetch(), by_hand.Fetch(), BrokerCrashed(2), by_hand.Fetch(), by_hand.FindLeader(2)]
APPLICATION += [LeaderMoved("orders", 0, None), BrokerRestarted(2), by_hand.FindLeader(1), LeaderMoved("orders", 0, 2)]
APPLICATION += [
    by_hand.Restart(),
    by_hand.FindLeader(5),
    by_hand.Fetch(),
    RecordsDeleted("orders", 0, 4),
    by_hand.Seek(1),
]
APPLICATION += [by_hand.Fetch(), Append("orders", 0, 40), LogTruncated("orders", 0, 20), by_hand.FindOffset("largest")]
BY_HAND = by_hand.simulate(HAND, APPLICATION)


def frames(trace):
    return list(zip(trace, (None, *trace), strict=False))


def words_in(drawing):
    return [element.text for element in ElementTree.fromstring(drawing).iter() if element.text]


def assert_fits(drawing):
    width, height = drawing.size
    assert height <= 590
    for each in ElementTree.fromstring(drawing).iter():
        assert float(each.get("font-size", SMALL)) >= SMALL
        if each.get("x") and each.get("width"):
            assert 0 <= float(each.get("x")) <= float(each.get("x")) + float(each.get("width")) <= width
        if each.get("y"):
            assert 0 <= float(each.get("y")) <= height


@pytest.mark.parametrize("name", RUNS)
def test_every_moment_of_two_stores_is_drawn_to_one_size_with_all_in_it(name):
    settings, trace = RUNS[name]
    drawings = [draw_offset_stores(settings, frame, before) for frame, before in frames(trace)]
    assert len({each.size for each in drawings}) == 1
    for each in drawings:
        assert_fits(each)


def test_a_start_shows_which_store_was_asked_and_which_believed():
    trace = commits.simulate(STORES, MOVE)
    dual, rewound = words_in(draw_offset_stores(STORES, trace[6])), words_in(draw_offset_stores(STORES, trace[9]))
    assert {"asked, believed", "asked, not the larger"} <= set(dual)
    assert "not asked" not in rewound
    alone = words_in(draw_offset_stores(STORES, trace[14]))
    assert {"not asked", "asked, believed"} <= set(alone)
    lost = commits.simulate(STORES, [*MOVE[:5], Start("new", "kafka", False)])
    assert "asked, of no use" in words_in(draw_offset_stores(STORES, lost[-1]))


def test_what_is_written_is_marked_in_its_store_alone():
    trace = commits.simulate(STORES, MOVE)
    both = words_in(draw_offset_stores(STORES, trace[11], trace[10]))
    assert both.count("written") == 3  # of partition 1 ZooKeeper has the offset already
    by_hand_alone = words_in(draw_offset_stores(STORES, trace[12], trace[11]))
    assert by_hand_alone.count("written") == 1


def test_each_event_of_the_stores_has_words_of_its_own():
    said = {}
    for _, trace in RUNS.values():
        said |= {type(frame.event).__name__: describe_offset_stores(frame) for frame in trace[1:]}
    assert len(said) >= 10
    assert not any(name in words for name, words in said.items())
    assert describe_offset_stores(commits.simulate(STORES, MOVE)[15]).startswith("The timer of last commits.")


def test_what_does_not_fit_is_counted():
    settings, trace = RUNS["strange names"]
    assert "6 more partitions, 2 more consumers" in words_in(draw_offset_stores(settings, trace[-1]))
    assert "1 more brokers" in words_in(draw_simple_consumer(HAND, BY_HAND[0]))


def test_an_application_by_hand_is_drawn_to_one_size_with_all_in_it():
    drawings = [draw_simple_consumer(HAND, frame, before) for frame, before in frames(BY_HAND)]
    assert len({each.size for each in drawings}) == 1
    for each in drawings:
        assert_fits(each)


def test_a_request_goes_to_the_broker_that_was_asked_with_its_answer():
    frame, before = BY_HAND[7], BY_HAND[6]
    drawing = draw_simple_consumer(HAND, frame, before)
    (said,) = [each for each in ElementTree.fromstring(drawing).iter() if each.text == "NOT_LEADER_FOR_PARTITION"]
    assert said.get("fill") == MARK
    assert "takes for the leader: broker 1" in words_in(drawing)
    far = draw_simple_consumer(HAND, BY_HAND[20], BY_HAND[19])  # broker 5 is not drawn
    assert "who leads?" not in words_in(far)


def test_offsets_outside_of_the_log_are_said_to_be_so():
    assert "next: 1, out of range" in words_in(draw_simple_consumer(HAND, BY_HAND[23], BY_HAND[22]))


def test_each_moment_of_the_application_has_a_sentence():
    said = [describe_simple_consumer(frame) for frame in BY_HAND]
    assert all(each.endswith(".") and len(each) > 10 for each in said)
    assert said[12:15] == [
        "Broker 2 crashes.",
        "It fetches, and broker 2 cannot be reached.",
        "The application asks broker 2 who leads: it cannot be reached.",
    ]


def test_animations_have_a_picture_for_each_moment():
    assert len(animate_offset_stores(STORES, RUNS["a move"][1], stills=[6]).pictures) == len(MOVE) + 1
    assert len(animate_simple_consumer(HAND, BY_HAND, title="by hand").pictures) == len(APPLICATION) + 1
