"""The pictures and words of old consumers and their ZooKeeper, and of one scenario in three eras."""

from dataclasses import fields, replace
from functools import partial
from typing import get_args
from xml.etree import ElementTree

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame
from kafkalearn.drawing.svg import MARK
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store import StoreGroup
from kafkalearn.replication.events import BrokerCrashed as ReplicaCrashed
from kafkalearn.views import animate
from kafkalearn.zookeeper import commits, connector, fetching
from kafkalearn.zookeeper import simple_consumer as by_hand
from kafkalearn.zookeeper.commits import AutoCommit, BackoffPassed, Rewind, Start
from kafkalearn.zookeeper.commits_picture import describe_offset_stores, draw_offset_stores
from kafkalearn.zookeeper.eras import play_eras
from kafkalearn.zookeeper.eras_picture import draw_eras
from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    BrokerCrashed,
    BrokerStarted,
    Fetch,
    FindLeaders,
    LeaderMoved,
    LogTruncated,
    Next,
    RecordsDeleted,
    StartConnections,
    StopConnections,
)
from kafkalearn.zookeeper.fetching_picture import describe_fetching, draw_fetching
from kafkalearn.zookeeper.picture import describe_zookeeper, draw_zookeeper, zookeeper_text
from kafkalearn.zookeeper.schedules import play
from kafkalearn.zookeeper.simple_consumer_picture import describe_simple_consumer, draw_simple_consumer
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter
from tests.drawing.drawn import words_of
from tests.recorded import expected, with_before

SETTINGS = connector.Settings(consumer_timeout_ms=100)
LIFE = play(
    SETTINGS,
    [
        connector.BrokerStarted(0),
        connector.TopicCreated("orders", 3),
        connector.CreateMessageStreams("c1", Streams({"orders": 1})),
        connector.Produce("orders", 0, 4),
        connector.Read("c1"),
        connector.CommitOffsets("c1"),
        connector.CreateMessageStreams("c2", Filtered(TopicFilter("white_list", "orders|new"), 2)),
        connector.TopicCreated("new", 2),
        connector.TopicGrown("orders", 4),
        connector.WaitForRecord("c2"),
        connector.Ping("c1"),
        connector.TimePassed(1000),
        connector.SessionExpired("c1"),
        connector.Crash("c2"),
        connector.SessionExpired("c2"),
        connector.TopicDeleted("new"),
        connector.Shutdown("c1"),
        connector.BrokerStopped(0),
    ],
)
LONG = "x" * 200 + "<&>" + "\u202e"
STORY = """
topic orders has 6 partitions
at 0 s: c1, c2 and c3 join
at 20 s: c2 pauses for 50 s
at 100 s: c1 crashes
the end is at 160 s
"""


def test_a_run_reads_as_expected():
    actual = "\n\n".join(zookeeper_text(frame, before) for frame, before in with_before(LIFE))
    assert actual == expected("zookeeper-life.txt", actual)


def test_what_changes_is_marked_and_what_is_gone_is_struck_through():
    before, frame = LIFE[2], LIFE[3]
    assert "billing_c1" in draw_zookeeper(SETTINGS, frame, before)
    assert MARK in draw_zookeeper(SETTINGS, frame, before)
    gone = next(each for each in LIFE if each.event == connector.SessionExpired("c1"))
    drawing = draw_zookeeper(SETTINGS, gone, LIFE[gone.index - 1])
    assert "billing_c1" in drawing
    assert drawing.label.startswith("ZooKeeper ends the session c1.")


def test_every_event_has_words_of_its_own():
    said = {
        type(frame.event).__name__: describe_zookeeper(frame, before) for frame, before in list(with_before(LIFE))[1:]
    }
    assert len(said) > 14
    assert not any(name in words for name, words in said.items())


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
    trace = connector.simulate(SETTINGS, [connector.BrokerStarted(0)])
    assert draw_zookeeper(SETTINGS, trace[0]).label == "Nothing has happened yet."


STREAMS = fetching.Settings(topics=(("orders", 3),), stream_count=2, fetch_message_max_bytes=200)
OWNS = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, 0), Assigned("orders", 2, 0, 2)])
RUN = fetching.simulate(
    STREAMS,
    [
        *(Append("orders", 0, 9), Append("orders", 1, 3), Append("orders", 2, 5), OWNS, FindLeaders()),
        *(Fetch(1), Fetch(2), Next(0), Fetch(1), BrokerCrashed(2), Fetch(2), LeaderMoved("orders", 1, 1)),
        *(FindLeaders(), Next(1), Next(0), BrokerStarted(2), LogTruncated("orders", 2, 3), fetching.CommitOffsets()),
        *(RecordsDeleted("orders", 0, 6), StopConnections(), OWNS, fetching.Shutdown(), Next(0)),
    ],
)


def test_a_chunk_is_followed_from_the_log_to_the_application():
    fetched, read = draw_fetching(RUN, RUN[6]), draw_fetching(RUN, RUN[8])
    assert "orders-2: 2 to 3" in words_of(fetched)
    assert "left" in words_of(read)
    assert "read 2 of orders-2" in words_of(read)
    assert "fetched 4, consumed 3" in words_of(read)


def test_who_waits_is_marked_and_named():
    blocked, finder = RUN[9], RUN[13]
    assert "waits with" in words_of(draw_fetching(RUN, blocked))
    drawing = draw_fetching(RUN, finder)
    (said,) = [each for each in ElementTree.fromstring(drawing).iter() if "waits for the lock" in (each.text or "")]
    assert said.get("fill") == MARK


def test_what_does_not_fit_is_counted():
    many = fetching.Settings(topics=(("orders", 12),))
    drawing = draw_fetching(fetching.simulate(many, []), fetching.simulate(many, [])[0])
    assert "not drawn: 7 more partitions" in words_of(drawing)


def test_the_animation_has_a_sentence_for_every_moment():
    shown = animate(RUN)
    assert all(each.endswith(".") for each in shown.captions)
    assert shown.captions[9] == (
        "A chunk is in the queue of stream 0: 4 of orders-2. "
        "Fetcher 0 of broker 1 waits: the queue of stream 0 is full."
    )


FILLED = {
    "int": 4,
    "str": "no connection",
    "tuple[int, ...]": (4,),
    "TopicPartition": TopicPartition("orders", 0),
    "tuple[TopicPartition, ...]": (TopicPartition("orders", 0),),
    "tuple[tuple[TopicPartition, int], ...]": ((TopicPartition("orders", 0), 4),),
}


@pytest.mark.parametrize("kind", get_args(fetching.cluster.Effect))
def test_every_effect_has_words(kind):
    effect = kind(*(FILLED[each.type] for each in fields(kind)))
    state = replace(fetching.start(fetching.Settings()), effects=(effect,))
    assert describe_fetching(Frame(1, Next(), state))


STORES = commits.Settings(partition_count=2)
MOVE = [
    Start("old"),
    commits.Produce(0, 8),
    commits.Read("old", 0, 8),
    commits.Shutdown("old"),
    commits.Produce(0, 4),
    Start("new", "kafka"),
]
MOVE += [
    commits.Read("new", 0, 2),
    commits.Crash("new"),
    Start("newer", "kafka"),
    commits.Read("newer", 0, 4),
    commits.CommitOffsets("newer"),
]
MOVE += [Rewind(0, 3), commits.Crash("newer"), Start("last", "kafka", False), AutoCommit("last")]
MEMBER = StoreGroup("billing", 1, 0, (Member("new-1"),), protocol="range", leader="new-1")
TROUBLE = [
    Start("c1", "kafka"),
    commits.Produce(0, 1),
    MEMBER,
    commits.CommitOffsets("c1"),
    ReplicaCrashed(1),
    AutoCommit("c1"),
]
TROUBLE += [BackoffPassed("c1")]
MANY = commits.Settings(LONG, LONG, partition_count=9)
CROWD = [commits.Produce(each, 40) for each in range(9)]
CROWD += [Start(f"{LONG}{each}", "kafka", partitions=(each,)) for each in range(5)]
STORE_RUNS = {
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
APPLICATION += [LeaderMoved("orders", 0, None), BrokerStarted(2), by_hand.FindLeader(1), LeaderMoved("orders", 0, 2)]
APPLICATION += [
    by_hand.Restart(),
    by_hand.FindLeader(5),
    by_hand.Fetch(),
    RecordsDeleted("orders", 0, 4),
    by_hand.Seek(1),
]
APPLICATION += [by_hand.Fetch(), Append("orders", 0, 40), LogTruncated("orders", 0, 20), by_hand.FindOffset("largest")]
BY_HAND = by_hand.simulate(HAND, APPLICATION)


def test_a_start_shows_which_store_was_asked_and_which_believed():
    trace = commits.simulate(STORES, MOVE)
    dual, rewound = words_of(draw_offset_stores(STORES, trace[6])), words_of(draw_offset_stores(STORES, trace[9]))
    assert {"asked, believed", "asked, not the larger"} <= set(dual)
    assert "not asked" not in rewound
    alone = words_of(draw_offset_stores(STORES, trace[14]))
    assert {"not asked", "asked, believed"} <= set(alone)
    lost = commits.simulate(STORES, [*MOVE[:5], Start("new", "kafka", False)])
    assert "asked, of no use" in words_of(draw_offset_stores(STORES, lost[-1]))


def test_what_is_written_is_marked_in_its_store_alone():
    trace = commits.simulate(STORES, MOVE)
    both = words_of(draw_offset_stores(STORES, trace[11], trace[10]))
    assert both.count("written") == 3  # of partition 1 ZooKeeper has the offset already
    by_hand_alone = words_of(draw_offset_stores(STORES, trace[12], trace[11]))
    assert by_hand_alone.count("written") == 1


def test_each_event_of_the_stores_has_words_of_its_own():
    said = {}
    for _, trace in STORE_RUNS.values():
        said |= {type(frame.event).__name__: describe_offset_stores(frame) for frame in trace[1:]}
    assert len(said) >= 10
    assert not any(name in words for name, words in said.items())
    assert describe_offset_stores(commits.simulate(STORES, MOVE)[15]).startswith("The timer of last commits.")


def test_what_does_not_fit_is_counted__zookeeper_offsets():
    settings, trace = STORE_RUNS["strange names"]
    assert "6 more partitions, 2 more consumers" in words_of(draw_offset_stores(settings, trace[-1]))
    assert "1 more brokers" in words_of(draw_simple_consumer(HAND, BY_HAND[0]))


def test_a_request_goes_to_the_broker_that_was_asked_with_its_answer():
    frame, before = BY_HAND[7], BY_HAND[6]
    drawing = draw_simple_consumer(HAND, frame, before)
    (said,) = [each for each in ElementTree.fromstring(drawing).iter() if each.text == "NOT_LEADER_FOR_PARTITION"]
    assert said.get("fill") == MARK
    assert "takes for the leader: broker 1" in words_of(drawing)
    far = draw_simple_consumer(HAND, BY_HAND[20], BY_HAND[19])  # broker 5 is not drawn
    assert "who leads?" not in words_of(far)


def test_offsets_outside_of_the_log_are_said_to_be_so():
    assert "next: 1, out of range" in words_of(draw_simple_consumer(HAND, BY_HAND[23], BY_HAND[22]))


def test_each_moment_of_the_application_has_a_sentence():
    said = [describe_simple_consumer(frame) for frame in BY_HAND]
    assert all(each.endswith(".") and len(each) > 10 for each in said)
    assert said[12:15] == [
        "Broker 2 crashes.",
        "It fetches, and broker 2 cannot be reached.",
        "The application asks broker 2 who leads: it cannot be reached.",
    ]
