"""The fetch pipeline in chapter 12's exercises: what stands still beside a stream that nobody reads, and the game."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.exercises.kit.values import Value
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
from kafkalearn.zookeeper.fetching.promises import FINDER_FREE

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
