"""The exercises of chapter 12b: how does a record reach the application, and where is its offset?"""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.compare import Value, as_events
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Open, Property
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.zookeeper import commits
from kafkalearn.zookeeper.commits import (
    Crash,
    Produce,
    Read,
    Rewind,
    Shutdown,
    Start,
)
from kafkalearn.zookeeper.commits.model import Began, CommittingEvent, OldGroup
from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    Fetch,
    FindLeaders,
    LeaderMoved,
    Next,
    Settings,
    StartConnections,
    broken,
    simulate,
    step,
)
from kafkalearn.zookeeper.fetching.simulator import FINDER_FREE

_FETCHERS, _STREAMS = (1, 2, 3, 4), 4


def stopped_by_the_first(fetcher_count: int) -> int:
    """How many other streams get nothing new while stream 0 of four is not read, all on one broker.

    >>> stopped_by_the_first(1)
    3
    """
    settings = Settings(
        topics=(("orders", _STREAMS),), broker_ids=(1,), stream_count=_STREAMS, num_consumer_fetchers=fetcher_count
    )
    owns = StartConnections(tuple(Assigned("orders", number, number, offset=0) for number in range(_STREAMS)))
    state = simulate(settings, [owns, FindLeaders()])[-1].state
    first = next(each for each in state.fetchers if ("orders", 0) in each.topic_partitions).key
    for _ in range(settings.queued_max_message_chunks + 1):
        state = simulate(settings, [Append("orders", 0), Fetch(*first)], state)[-1].state
    state = simulate(settings, [Append("orders", number) for number in range(1, _STREAMS)], state)[-1].state
    free = [each.key for each in state.fetchers if each.key not in state.blocked]
    state = simulate(settings, [Fetch(*key) for key in free], state)[-1].state
    return sum(not stream.queue for stream in state.streams[1:])


stand_still = Exercise(
    name="stand_still",
    asks=(
        "One broker leads `orders-0` to `orders-3`. A consumer reads them with four streams, partition n in stream n. "
        "The thread of stream 0 hangs; its queue is full, and records keep coming to all four partitions. **How many "
        "of the other three streams** get nothing new any more, with `num.consumer.fetchers` = 1, 2, 3 and 4?"
    ),
    start=(
        "stopped = {\n" + "".join(f'    "fetchers: {count}": ...,\n' for count in _FETCHERS) + "}\n"
        "exercises.stand_still.check(stopped)"
    ),
    judge=Value(lambda: {f"fetchers: {count}": stopped_by_the_first(count) for count in _FETCHERS}),
    hints=(
        "What waits is not the stream but the fetcher, and with it all that it serves.",
        '`kafkalearn.zookeeper.fetching.fetcher_id("orders", partition, count)` says who serves what.',
        "Who has the same id as partition 0?",
    ),
    reasoning=(
        "The fetcher of `orders-0` waits for room and asks for nothing. With one fetcher all three others wait with "
        "it. With two, the ids are 1, 0, 1, 0: `orders-2` shares the fetcher. With three, 2, 1, 0, 2: now `orders-3` "
        "does. With four everybody has its own.\n\n"
        "So the third fetcher brings nothing here. The cure is a thread that does not hang, or, with the new consumer, "
        "a partition that is paused."
    ),
    misconceptions=(
        Misconception(
            {"fetchers: 1": 0},
            "A queue belongs to one stream, but the fetcher that waits for room in it serves other partitions as well.",
        ),
        Misconception(
            {"fetchers: 3": 0},
            "More fetchers help only where the ids differ: the formula takes the remainder, and somebody still has the "
            "id of the hanging one's partition.",
        ),
        Misconception(
            {"fetchers: 4": 1},
            "Four partitions in a row, divided by four, leave four different remainders: nobody shares.",
        ),
    ),
    moral="A bounded queue passes the pressure on: ask who else is behind it.",
)

_SETTINGS = commits.Settings()
_WITH_BOTH = (Start("c1", "kafka"), Produce(0, 20), Read("c1", 0, 12), Shutdown("c1"))
_RESTARTS = {
    "zookeeper, node set to 3": (3, "zookeeper", None),
    "kafka, node set to 3": (3, "kafka", False),
    "dual commit, node set to 3": (3, "kafka", True),
    "dual commit, node set to 15": (15, "kafka", True),
}


def begins_at(rewound_to: int, storage: str, dual: bool | None) -> int:
    """Where a consumer begins after both stores had 12 and ZooKeeper's node was set by hand.

    >>> begins_at(3, "zookeeper", None)
    3
    """
    events = [*_WITH_BOTH, Rewind(0, rewound_to), Start("c2", storage, dual)]
    (began,) = (each for each in commits.simulate(_SETTINGS, events)[-1].state.effects if isinstance(each, Began))
    return began.offset


which_offset = Exercise(
    name="which_offset",
    asks=(
        "A group with dual commit has read 12 of 20 records and was shut down: both stores say 12. To read some orders "
        "again, somebody writes another offset into ZooKeeper's node by hand. Then a consumer starts. With "
        '"zookeeper", its `offsets.storage` is zookeeper; with "kafka", it is kafka and dual commit is off; with "dual '
        'commit", it is kafka and dual commit is on. At which offset does it begin?'
    ),
    start=(
        "begins_at = {\n" + "".join(f'    "{name}": ...,\n' for name in _RESTARTS) + "}\n"
        "exercises.which_offset.check(begins_at)"
    ),
    judge=Value(lambda: {name: begins_at(*chosen) for name, chosen in _RESTARTS.items()}),
    hints=(
        "Which stores are asked at all? Only with dual commit it is both.",
        "An offset in ZooKeeper has no date; nobody can compare which of the two was written last.",
        "With dual commit the larger of the two is taken.",
    ),
    reasoning=(
        "A consumer asks the store that its settings name: ZooKeeper says 3, the topic 12. With dual commit "
        "both are asked and the **larger** is taken: 12 against 3, and 15 against 12.\n\n"
        "So with dual commit a group can be sent forward by hand, and not back: the larger offset is right after a "
        "crash between the two writes, and wrong where somebody wanted to read again. (To go back: turn dual commit "
        "off and use ZooKeeper, or commit the smaller offset to the topic.)"
    ),
    misconceptions=(
        Misconception(
            {"dual commit, node set to 3": 3},
            "Not the newest counts: nobody knows which was written last. Look at the two numbers.",
        ),
        Misconception(
            {"dual commit, node set to 15": 12},
            "With dual commit both stores are asked, and the topic is not believed before ZooKeeper.",
        ),
        Misconception(
            {"kafka, node set to 3": 3}, "Without dual commit a consumer of the topic does not ask ZooKeeper at all."
        ),
    ),
)

_BEGINS = (Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4))
_NEW = Start("new", "kafka", dual_commit_enabled=False)


def _end(events: Sequence[CommittingEvent]) -> OldGroup:
    """The group after it has come from ZooKeeper to wherever these events lead it."""
    try:
        return commits.simulate(_SETTINGS, [*_BEGINS, *events])[-1].state
    except (TypeError, AttributeError) as error:
        raise KafkaLearnError(f"these are no events that can happen one after the other: {error}") from error


def _began(events: Sequence[CommittingEvent]) -> Began | None:
    """How the new consumer began, if the last event was its start."""
    end = _end(events)
    return next((each for each in end.effects if isinstance(each, Began) and each.consumer == _NEW.consumer), None)


def _ends_with_the_new(events: list[CommittingEvent]) -> bool:
    return _began(events) is not None and events[-1] == _NEW


def _goes_on_where_the_group_is(events: list[CommittingEvent]) -> bool:
    """Whether everything before the new consumer's offset was read once, and nothing from there on."""
    counts, began = _end(events).reads[0], _began(events)
    return began is not None and counts == (1,) * began.offset + (0,) * (len(counts) - began.offset)


def _by_reset(events: object) -> bool:
    """Whether the new consumer found nothing in the topic."""
    began = _began(events) if isinstance(events, list) else None
    return began is not None and began.is_reset


move_the_group = Exercise(
    name="move_the_group",
    asks=(
        "The group has read 8 records of `orders-0` and committed 8 to ZooKeeper; its consumer is shut down, and four "
        'orders have come since. Move it to the topic: give a list of events that **ends with** `Start("new", '
        '"kafka", dual_commit_enabled=False)`, so that no order is passed over and none is read twice. You may use '
        '`Start("dual", "kafka")`, `Read(name, 0, count)`, `CommitOffsets(name)`, `Shutdown(name)`, `Crash(name)`.'
    ),
    start=(
        "from kafkalearn.zookeeper.commits import CommitOffsets, Crash, Read, Shutdown, Start\n\n"
        "events = [...]\nexercises.move_the_group.check(events)"
    ),
    judge=Having(
        [],
        (
            Property(
                _ends_with_the_new,
                lambda events: "The last event must be the start of the new one, as in the question.",
            ),
            Property(
                lambda events: not _by_reset(events),
                lambda events: "The new consumer finds no offset in the topic, and auto.offset.reset decides.",
            ),
            Property(
                _goes_on_where_the_group_is,
                lambda events: (
                    "The new consumer does not go on where the group was: it passes over records, or reads some twice."
                ),
            ),
        ),
        form=as_events,
    ),
    solve=lambda: [Start("dual", "kafka"), Shutdown("dual"), _NEW],
    hints=(
        "The topic has nothing of this group yet. Who can bring ZooKeeper's offset there?",
        "A consumer with dual commit begins at 8, as ZooKeeper says. When is that in the topic?",
        "Only when it has committed, and a shutdown commits.",
    ),
    reasoning=(
        '`[Start("dual", "kafka"), Shutdown("dual"), Start("new", "kafka", dual_commit_enabled=False)]`. The consumer '
        "with dual commit asks both stores, begins at 8, and commits 8 to the topic when it is shut down. With a "
        "`Read` in between it commits what it has read; what it must not do is crash before its first commit.\n\n"
        "In a real group *every* partition must have been committed so, also those that get no records."
    ),
    misconceptions=(
        Misconception(
            [Start("dual", "kafka"), Crash("dual"), _NEW],
            "That dual commit has been switched on is not enough: nothing was committed to the topic before it was "
            "switched off again.",
            lambda events: _by_reset(events) and any(each == Start("dual", "kafka") for each in events),
        ),
        Misconception(
            [_NEW],
            "The topic has nothing for this group, ZooKeeper is not asked, and auto.offset.reset says: largest.",
            lambda events: _by_reset(events) and len(events) == 1,
        ),
    ),
    moral="A store that has been switched on knows nothing until each partition has been committed to it.",
)

_SMALL = Settings(stream_count=2, fetch_message_max_bytes=100)
_BEGUN = simulate(
    _SMALL, [StartConnections((Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, 0))), FindLeaders()]
)[-1].state
_GAME = Game(
    step,
    broken,
    _SMALL,
    _BEGUN,
    FINDER_FREE,
    moves_of(
        Append("orders", 0, 3),
        Append("orders", 1),
        Fetch(1),
        Fetch(2),
        Next(),
        Next(1),
        FindLeaders(),
        LeaderMoved("orders", 0, 2),
        LeaderMoved("orders", 1, 1),
    ),
    "Append('orders', 0, 3) > Fetch(1) > Fetch(1) > Fetch(1) > LeaderMoved('orders', 1, 1) > Fetch(2) > FindLeaders",
)

block_the_finder = Exercise(
    name="block_the_finder",
    asks=(
        "A game. Two brokers, two streams: broker 1 leads `orders-0` (stream 0), broker 2 `orders-1` (stream 1). Both "
        "fetchers run, nothing was produced yet. A queue holds two chunks, and a fetch brings one record. Users hope "
        f"that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. Give a line "
        "with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.block_the_finder.check(run)',
    judge=_GAME,
    hints=(
        "The leader finder waits for the lock of a fetcher. When does a fetcher keep its lock?",
        "How many fetches of `orders-0` does it take until there is no room for the next chunk?",
        "The finder must have something to do with that very fetcher: a partition that has just come to its broker.",
    ),
    reasoning=(
        f"`{_GAME.best}`. Three records, three fetches: two chunks fill the queue, with the third the fetcher of "
        "broker "
        "1 waits, its lock in hand. Then `orders-1` moves to broker 1; the fetcher of broker 2 learns it from the "
        "error and gives the partition back. The leader finder finds the new leader, wants to hand the partition to "
        "the fetcher that waits, and waits too: with it every partition that has no leader yet."
    ),
    misconceptions=(
        Misconception(
            "Append('orders', 0, 3) > Fetch(1) > Fetch(1) > LeaderMoved('orders', 1, 1) > Fetch(2) > FindLeaders",
            "The queue is full, but no fetcher waits yet: it notices with the next chunk that it wants to put in.",
        ),
        Misconception(
            "Append('orders', 0, 3) > Fetch(1) > Fetch(1) > Fetch(1)",
            "The fetcher waits, and the leader finder sleeps: every partition has a leader, so it needs no lock.",
        ),
    ),
    moral="A lock that is held while one waits joins queues that have nothing to do with each other.",
)

worse_about_the_topic = Exercise(
    name="worse_about_the_topic",
    asks=(
        "**Open question.** The topic takes thousands of commits where ZooKeeper takes one write after the other. So "
        "is it simply better? Say what is *worse* about `__consumer_offsets` as a store of offsets, compared with "
        "nodes in ZooKeeper: at least four points."
    ),
    start='worse = """\n"""\nexercises.worse_about_the_topic.check(worse)',
    judge=Open(),
    solve=lambda: "It writes what has not changed, must be cleaned and loaded, forgets by itself, and is one topic.",
    hints=(
        "What is written when nothing has changed? How large does it get, and who makes it smaller?",
        "What does a new coordinator have to do before it can answer? And a group that was away for a month?",
        "What did people do with a shell and ZooKeeper's tree that they cannot do with a log?",
    ),
    reasoning=(
        "- **Unchanged offsets are written too**: each commit is a record for each partition.\n"
        "- It is a **log that grows until it is cleaned**; a dead cleaner fills the disk (chapter 08).\n"
        "- A new coordinator has to **load** the whole partition before it answers; a node can be read at once.\n"
        "- Offsets **expire** (`offsets.retention.minutes`), nodes stay for ever. That cuts both ways: ZooKeeper never "
        "forgot dead groups.\n"
        "- All groups depend on **one topic's replication factor**; created with one replica, it is lost with one "
        "disk.\n"
        "- **Nobody can set an offset by hand** with a shell: it takes a tool that speaks the protocol, and for long "
        "there was none.\n"
        "- A commit needs a **coordinator**: found, elected, loaded; ZooKeeper was there as long as the cluster "
        "was.\n\n"
        "All of it can be lived with, and chapter 13 is about how. None of it weighs as much as one flushed write for "
        "each partition at each commit, in a store with one leader."
    ),
)

_CHAPTER = Chapter("12b fetching", (stand_still, which_offset, move_the_group, block_the_finder, worse_about_the_topic))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
