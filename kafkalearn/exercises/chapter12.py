"""The exercises of chapter 12: how did a group agree before there was a coordinator?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kafkalearn.assignors import Member, OldConsumer, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.compare import Value, as_events, as_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Open, Property
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.scenarios.text import scenario
from kafkalearn.zookeeper import commits, connector
from kafkalearn.zookeeper.commits import (
    Crash,
    Produce,
    Read,
    Rewind,
    Shutdown,
    Start,
)
from kafkalearn.zookeeper.commits.model import Began, CommittingEvent, OldGroup
from kafkalearn.zookeeper.eras import play_old_consumers
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
from kafkalearn.zookeeper.layout import WHITE_LIST
from kafkalearn.zookeeper.subscriptions import TopicFilter

__all__ = [
    "all_exercises",
    "block_the_finder",
    "move_the_group",
    "no_glob",
    "patient_settings",
    "score",
    "stand_still",
    "which_offset",
    "who_owns",
    "worse_about_the_topic",
]

_REGEX, _TOPICS = "orders-*,refund.", ("orders", "orders-eu", "my-orders", "refund", "refunds")


def _lets_through() -> dict[str, bool]:
    white_list = TopicFilter(WHITE_LIST, _REGEX)
    return {topic: white_list.covers(topic) for topic in _TOPICS}


no_glob = Exercise(
    name="no_glob",
    asks=(
        f"A prediction. An old consumer gets the white list `{_REGEX}`. Which of these topics does it let through? "
        "Answer yes or no for each."
    ),
    start=(
        "lets_through = {\n" + "".join(f'    "{topic}": ...,\n' for topic in _TOPICS) + "}\n"
        "exercises.no_glob.check(lets_through)"
    ),
    judge=Value(_lets_through),
    solve=_lets_through,
    hints=(
        "A comma becomes `|`. What does `*` repeat in a regular expression, and what does a dot stand for?",
        "The expression has to fit the whole name, from its first to its last letter.",
        "`orders-*` is `orders` and any number of hyphens, none included.",
    ),
    reasoning=(
        "`orders-*|refund.`: either `orders` followed by hyphens only, or `refund` followed by exactly one more "
        "character. So `orders` and `refunds` pass. `orders-eu` has letters behind its hyphen, `my-orders` something "
        "in front, and `refund` lacks the one more character. Meant was probably `orders-.*,refund.*`."
    ),
    misconceptions=(
        Misconception(
            {"orders-eu": True},
            "In a glob the star stands for anything; in a regular expression it repeats what is before it, here the "
            "hyphen.",
        ),
        Misconception({"orders": False}, "Any number of hyphens may also be none at all."),
        Misconception({"my-orders": True}, "The whole name must fit; it is not enough that a part of it does."),
        Misconception({"refund": True}, "A dot stands for one character, and one has to be there."),
    ),
    moral="Write `.*` where you mean anything, and try a filter on the real names before a group gets it.",
)

_COUNTS = {"orders": 3, "refunds": 3}
_THREADS = ("c1-0", "c2-0")


def _dealt(assignor: str = "roundrobin") -> dict[str, set[str]]:
    """What each thread gets in a group of old consumers."""
    group = [OldConsumer(name, dict.fromkeys(_COUNTS, 1)) for name in ("c1", "c2")]
    assignment = assign(assignor, _COUNTS, group, side="old-consumer")
    return {thread: {str(each) for each in assignment[thread]} for thread in _THREADS}


def _dealt_by_the_new() -> dict[str, set[str]]:
    """What members of these names get by the round robin of the classic protocol."""
    assignment = assign("roundrobin", _COUNTS, [Member(thread, tuple(_COUNTS)) for thread in _THREADS])
    return {thread: {str(each) for each in assignment[thread]} for thread in _THREADS}


who_owns = Exercise(
    name="who_owns",
    asks=(
        "c1 and c2 are old consumers of Kafka 1.1, each with one stream of `orders` and one of `refunds`; both topics "
        "have three partitions. `partition.assignment.strategy` is `roundrobin`. It puts the partitions into the order "
        "of the Java hash codes of their texts (`orders-0`, ...; `kafkalearn.java_string_hash` computes them), "
        "smallest first, and deals them to the threads in turn, `c1-0` first. Who owns what? Give a set of texts for "
        "each thread."
    ),
    start=(
        "from kafkalearn import java_string_hash\n\n"
        'owned = {"c1-0": ..., "c2-0": ...}  # as {"orders-0", "refunds-1"}\n'
        "exercises.who_owns.check(owned)"
    ),
    judge=Value(_dealt),
    solve=_dealt,
    hints=(
        '`sorted(["orders-0", ...], key=java_string_hash)` is the row that is dealt.',
        "Hash codes are ints with a sign: some are below zero, and come first.",
        "Which topic comes first in the row? Then count off: one for c1, one for c2.",
    ),
    reasoning=(
        "The hash codes of `refunds-0` to `refunds-2` are below zero, so they are dealt first: to c1, c2, c1; then the "
        "three of `orders`, to c2, c1, c2. So c1 owns `refunds-0`, `refunds-2` and `orders-1`, and c2 the others.\n\n"
        "The order has no meaning; it was chosen so that not all partitions of one topic go to one consumer. What "
        "counts is that everybody computes the same row: with 1.0 the text became another, so two releases in a group "
        "disagree."
    ),
    misconceptions=(
        Misconception(
            _dealt_by_the_new(),
            "That deals topic by topic in the order of their names, as the round robin of the classic protocol does.",
        ),
        Misconception(_dealt("range"), "That cuts each topic into pieces, which is what the default, range, does."),
    ),
)

_FETCHERS, _STREAMS = (1, 2, 3, 4), 4


def stopped_by_the_first(fetcher_count: int) -> int:
    """How many other streams get nothing new while stream 0 of four is not read, all on one broker.

    >>> stopped_by_the_first(1)
    3
    """
    settings = Settings(
        topics=(("orders", _STREAMS),), broker_ids=(1,), stream_count=_STREAMS, num_consumer_fetchers=fetcher_count
    )
    owns = StartConnections([Assigned("orders", number, number, offset=0) for number in range(_STREAMS)])
    state = simulate(settings, [owns, FindLeaders()])[-1].state
    first = next(each for each in state.fetchers if ("orders", 0) in each.topic_partitions).key
    for _ in range(settings.queued_max_message_chunks + 1):
        state = simulate(settings, [Append("orders", 0), Fetch(*first)], state)[-1].state
    state = simulate(settings, [Append("orders", number) for number in range(1, _STREAMS)], state)[-1].state
    free = [each.key for each in state.fetchers if each.key not in state.blocked]
    state = simulate(settings, [Fetch(*key) for key in free], state)[-1].state
    return sum(not stream.queue for stream in state.streams[1:])


def _stopped() -> dict[str, int]:
    return {f"fetchers: {count}": stopped_by_the_first(count) for count in _FETCHERS}


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
    judge=Value(_stopped),
    solve=_stopped,
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


def _believed() -> dict[str, int]:
    return {name: begins_at(*chosen) for name, chosen in _RESTARTS.items()}


which_offset = Exercise(
    name="which_offset",
    asks=(
        "A group with dual commit has read 12 of 20 records and was shut down: both stores say 12. To read some orders "
        "again, somebody writes another offset into ZooKeeper's node by hand. Then a consumer starts. With "
        '"zookeeper", its `offsets.storage` is zookeeper; with "kafka", it is kafka and dual commit is off; with "dual '
        'commit", it is kafka and dual commit is on. At which offset does it begin?'
    ),
    start=(
        "begins = {\n" + "".join(f'    "{name}": ...,\n' for name in _RESTARTS) + "}\n"
        "exercises.which_offset.check(begins)"
    ),
    judge=Value(_believed),
    solve=_believed,
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
    counts, offset = _end(events).reads[0], _began(events).offset
    return counts == (1,) * offset + (0,) * (len(counts) - offset)


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

LATENCY_MS = 2
SOON_MS = 30_000
PAUSE = """
topic orders has 6 partitions
at 0 s: c1, c2, c3 join
at 60 s: c3 pauses for 12 s
at 61 s: a1 joins
the end is at 150 s
"""
CRASH = """
topic orders has 6 partitions
at 0 s: c1, c2 join
at 60 s: c2 crashes and returns after 2 s
the end is at 150 s
"""
_NAMES = {
    "zookeeper.session.timeout.ms": "zookeeper_session_timeout_ms",
    "rebalance.max.retries": "rebalance_max_retries",
    "rebalance.backoff.ms": "rebalance_backoff_ms",
}
Chosen = dict[str, int]


def settings_of(chosen: Chosen) -> connector.Settings:
    """The settings of the group.

    Raises
    ------
    KafkaLearnError
        If one of the three is missing, or another is there, or Kafka refuses one.
    """
    if set(chosen) != set(_NAMES):
        raise KafkaLearnError(f"the settings are {', '.join(_NAMES)}, all three of them and no other")
    return connector.Settings(**{_NAMES[name]: value for name, value in chosen.items()})


@lru_cache(maxsize=64)
def _played(story: str, settings: connector.Settings) -> tuple[int, bool, int]:
    """How many consumers gave up, whether a session expired, and when the group came to rest for the last time."""
    outcome, protocol = play_old_consumers(scenario(story), settings, LATENCY_MS)
    causes = " ".join(row["cause"] for row in outcome.rebalances)
    return protocol.given_up_count, "expires" in causes, outcome.rebalances[-1]["to_ms"]


def survives_pause(chosen: Chosen) -> bool:
    """Whether a pause of twelve seconds ends no session.

    >>> survives_pause({"zookeeper.session.timeout.ms": 6000, "rebalance.max.retries": 4, "rebalance.backoff.ms": 2000})
    False
    """
    return not _played(PAUSE, settings_of(chosen))[1]


def nobody_gives_up(chosen: Chosen) -> bool:
    """Whether in both stories every consumer reads in the end."""
    settings = settings_of(chosen)
    return not any(_played(story, settings)[0] for story in (PAUSE, CRASH))


def is_soon_replaced(chosen: Chosen) -> bool:
    """Whether the group is at rest again soon after a consumer crashed."""
    return _played(CRASH, settings_of(chosen))[2] - 60_000 <= SOON_MS


def _has_too_few_tries(chosen: object) -> bool:
    """Whether all tries are over before a session can be; of settings that can be played."""
    formed = as_settings(chosen)
    tries_ms = formed["rebalance.max.retries"] * formed["rebalance.backoff.ms"]
    return tries_ms <= formed["zookeeper.session.timeout.ms"] and not nobody_gives_up(formed)


patient_settings = Exercise(
    name="patient_settings",
    asks=(
        "**Find the bug.** The shop's old group runs with `zookeeper.session.timeout.ms=30000`, "
        "`rebalance.max.retries=4`, `rebalance.backoff.ms=2000`. Give better values for the three, so that\n\n"
        "1. a consumer may stand still for 12 seconds, while another one joins, and its session does not end,\n"
        "2. nobody gives up, neither then nor when a consumer crashes and is started again two seconds later,\n"
        "3. after such a crash the whole group reads again within 30 seconds.\n\n"
        "Six partitions, three consumers. (Both stories are played; ZooKeeper's tick is 2 s, a third of the timeout "
        "lies between two signs of life.)"
    ),
    start=(
        "values = {\n" + "".join(f'    "{name}": ...,\n' for name in _NAMES) + "}\n"
        "exercises.patient_settings.check(values)"
    ),
    judge=Having(
        {},
        (
            Property(
                survives_pause, lambda chosen: "A pause of twelve seconds ends a session: two consumers read the same."
            ),
            Property(nobody_gives_up, lambda chosen: "A consumer gives up, and lives on without reading anything."),
            Property(
                is_soon_replaced, lambda chosen: "After a crash it takes longer than half a minute until all is read."
            ),
        ),
        form=as_settings,
    ),
    solve=lambda: {
        "zookeeper.session.timeout.ms": 20_000,
        "rebalance.max.retries": 15,
        "rebalance.backoff.ms": 2_000,
    },
    hints=(
        "Three clocks: the pause, the session, and all tries with their pauses. In which order must they run out?",
        "The last sign of life may be a third of the timeout old when the pause begins.",
        "Tries times backoff must be longer than the session and a tick; and the session shorter than half a minute.",
    ),
    reasoning=(
        "The pause must fit into the session, also when the last sign of life is a third of it old: 12 s and 6.7 s are "
        "less than 20 s. A crashed consumer's nodes stay until its session is over, up to 22 s later; whoever is to "
        "get its partitions must still be trying then: 15 tries of 2 s are 30 s. And 22 s, with the try after it, is "
        "within half a minute.\n\n"
        "The bug was 4 × 2 s = 8 s of tries against 30 s of session. Kafka's FAQ had the rule: `rebalance.max.retries "
        "* rebalance.backoff.ms` must be larger than `zookeeper.session.timeout.ms`."
    ),
    misconceptions=(
        Misconception(
            {
                "zookeeper.session.timeout.ms": 25_000,
                "rebalance.max.retries": 4,
                "rebalance.backoff.ms": 2000,
            },
            "All tries are over before the session is: who waits for somebody dead or asleep gives up too early.",
            _has_too_few_tries,
        ),
        Misconception(
            {
                "zookeeper.session.timeout.ms": 10_000,
                "rebalance.max.retries": 15,
                "rebalance.backoff.ms": 2000,
            },
            "The session counts from the last sign of life, and that may be some seconds old when the pause begins.",
            lambda chosen: not survives_pause(as_settings(chosen)),
        ),
        Misconception(
            {
                "zookeeper.session.timeout.ms": 40_000,
                "rebalance.max.retries": 40,
                "rebalance.backoff.ms": 2000,
            },
            "A long session keeps the nodes of the dead as well: nobody can have their partitions until it ends.",
            lambda chosen: not is_soon_replaced(as_settings(chosen)),
        ),
    ),
    moral="Settings that are compared with each other by nobody have to be compared by you.",
)

_SMALL = Settings(stream_count=2, fetch_message_max_bytes=100)
_BEGUN = simulate(
    _SMALL, [StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, 0)]), FindLeaders()]
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
    solve=lambda: _GAME.best,
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

_CHAPTER = Chapter(
    "12 zookeeper consumer",
    (
        no_glob,
        who_owns,
        stand_still,
        which_offset,
        move_the_group,
        patient_settings,
        block_the_finder,
        worse_about_the_topic,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
