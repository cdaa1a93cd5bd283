"""How long old consumers take to agree when one more joins, some of them slow; and what is read twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkalearn.arguments import sequence, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.scenario.durations import play_newcomer
from kafkalearn.group.scenario.parse import scenario as parsed
from kafkalearn.zookeeper.connector.effects import RecordsRead
from kafkalearn.zookeeper.connector.events import (
    BrokerStarted,
    CommitOffsets,
    CreateMessageStreams,
    Produce,
    Read,
    TopicCreated,
)
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.simulator import step
from kafkalearn.zookeeper.eras.playing import play_old_consumers
from kafkalearn.zookeeper.schedules import play
from kafkalearn.zookeeper.subscriptions import Streams

MOST_MEMBERS = 99
LONGEST_PAUSE_MS = 20_000  # well below the session time-out that is taken here
SESSION_TIMEOUT_MS = 40_000
NEWCOMER_MS = 60_000  # when the newcomer starts, and the pauses begin
LATENCY_MS = 2
HEARTBEAT_INTERVAL_MS = 3000


class NewcomerCost(NamedTuple):
    """What it costs a group of old consumers that one more joins."""

    agreement_ms: int  # from its start until nobody has anything left to do
    failed_attempt_count: int  # tries of all consumers that found another owner
    given_up_count: int  # consumers that failed in all their tries, and read nothing from then on


def newcomer(
    pause_ms: Sequence[int], partition_count: int, backoff_ms: int = 2000, max_retries: int = 4
) -> NewcomerCost:
    """What it costs that one more consumer joins a group, some of whose members stand still at this moment.

    Nobody commits: with ``auto.commit.enable`` each write takes a request's time more.

    Parameters
    ----------
    pause_ms : sequence of int
        For each member of the group, in the order of their ids, how long it stands still from the moment on at which
        the newcomer starts; 0: not at all. At most 20 s, so that no session expires.
    partition_count : int
        Of the one topic.
    backoff_ms, max_retries : int
        ``rebalance.backoff.ms`` and ``rebalance.max.retries``.

    Raises
    ------
    KafkaLearnError
        If there are no members, or more than 99, or a number is out of its bounds.

    Examples
    --------
    >>> newcomer([0, 0, 0], 6)
    NewcomerCost(agreement_ms=88, failed_attempt_count=0, given_up_count=0)
    >>> newcomer([0, 0, 3001], 6).failed_attempt_count, newcomer([0, 0, 15_001], 6).given_up_count
    (2, 1)
    """
    pauses = [whole_number("pause_ms", each, 0, LONGEST_PAUSE_MS) for each in sequence("pause_ms", pause_ms)]
    whole_number("the number of members", len(pauses), at_least=1, at_most=MOST_MEMBERS)
    whole_number("partition_count", partition_count, at_least=1, at_most=10_000)
    names = [f"m{at:02}" for at in range(1, len(pauses) + 1)]
    story = [f"topic orders has {partition_count} partitions", f"at 0 s: {', '.join(names)} join"]
    story += [f"at {NEWCOMER_MS} ms: {name} pauses for {ms} ms" for name, ms in zip(names, pauses, strict=True) if ms]
    last_ms = NEWCOMER_MS + LONGEST_PAUSE_MS + (backoff_ms + 10_000) * (max_retries + 1)
    story += [f"at {NEWCOMER_MS} ms: newcomer joins", f"the end is at {last_ms} ms"]
    settings = Settings(
        rebalance_max_retries=max_retries,
        rebalance_backoff_ms=backoff_ms,
        auto_commit_enable=False,
        zookeeper_session_timeout_ms=SESSION_TIMEOUT_MS,
    )
    outcome, protocol = play_old_consumers(parsed("\n".join(story)), settings, LATENCY_MS)
    return NewcomerCost(outcome.rebalances[-1]["duration_ms"], protocol.failed_attempt_count, protocol.given_up_count)


class ClassicCost(NamedTuple):
    """What it costs a group of the classic protocol, eager, that one more joins."""

    rebalance_ms: int  # from the newcomer's JoinGroup until the group is Stable
    thrown_out_count: int  # members whose poll took longer than max.poll.interval.ms meanwhile
    read_twice: int  # records


def classic_newcomer(
    work_ms: Sequence[int], uncommitted: Sequence[int], max_poll_interval_ms: int = 300_000, auto_commit: bool = True
) -> ClassicCost:
    """What the same newcomer costs a group of the classic protocol, eager (``range``), with long polls for pauses.

    Parameters
    ----------
    work_ms : sequence of int
        For each member how long the poll takes that it is working on, in ms, as
        `kafkalearn.group.scenario.durations.newcomer_ms` takes it.
    uncommitted : sequence of int
        For each member the records that it has read since its last commit.
    max_poll_interval_ms : int
        ``max.poll.interval.ms``.
    auto_commit : bool
        ``enable.auto.commit``: whether everybody commits before it gives its partitions up. Who was thrown out cannot.

    Raises
    ------
    KafkaLearnError
        If there are fewer than two members, or not as many numbers of records, or a number is out of its bounds.

    Examples
    --------
    >>> classic_newcomer([0, 0, 20_000], [5, 0, 7])
    ClassicCost(rebalance_ms=19000, thrown_out_count=0, read_twice=0)
    >>> classic_newcomer([0, 0, 20_000], [5, 0, 7], max_poll_interval_ms=10_000)
    ClassicCost(rebalance_ms=9000, thrown_out_count=1, read_twice=7)
    """
    records = [whole_number("uncommitted", each, at_least=0) for each in sequence("uncommitted", uncommitted)]
    works = [whole_number("work_ms", each, at_least=0) for each in sequence("work_ms", work_ms)]
    if len(records) != len(works):
        raise KafkaLearnError(
            f"work_ms and uncommitted have a number for each member, got {len(works)} and {len(records)}"
        )
    outcome = play_newcomer(works, HEARTBEAT_INTERVAL_MS, max_poll_interval_ms)
    rebalance = outcome.rebalances[1]
    ended_ms = rebalance["from_ms"] + rebalance["duration_ms"]
    members = outcome.at(ended_ms + 2 * LATENCY_MS).state.members  # the answer to SyncGroup is there
    is_in = {each.name: bool(each.owned) for each in members}
    stays = [is_in[f"m{at}"] for at in range(1, len(works) + 1)]
    again = sum(count for count, is_member in zip(records, stays, strict=True) if not (auto_commit and is_member))
    return ClassicCost(rebalance["duration_ms"], stays.count(False), again)


def read_twice(uncommitted: Sequence[int], auto_commit: bool = True) -> int:
    """How many records are read a second time when one more consumer joins.

    Parameters
    ----------
    uncommitted : sequence of int
        For each member, which has one partition, the records that it has read since its last commit.
    auto_commit : bool
        ``auto.commit.enable``: whether everybody commits before it gives its partitions up.

    Examples
    --------
    >>> read_twice([5, 0, 7]), read_twice([5, 0, 7], auto_commit=False)
    (0, 12)
    """
    counts = [whole_number("uncommitted", each, at_least=0) for each in sequence("uncommitted", uncommitted)]
    whole_number("the number of members", len(counts), at_least=1, at_most=MOST_MEMBERS)
    settings = Settings(auto_commit_enable=auto_commit, auto_offset_reset="smallest")
    names = [f"m{at:02}" for at in range(1, len(counts) + 1)]
    joins = [CreateMessageStreams(name, Streams({"orders": 1})) for name in names]
    group = play(settings, [BrokerStarted(), TopicCreated("orders", len(counts)), *joins])[-1].state
    for name in names:
        group = step(settings, group, CommitOffsets(name))
    for at, count in enumerate(counts):
        if count:
            group = step(settings, group, Produce("orders", at, count))
            group = step(settings, group, Read(names[at]))
    group = play(settings, [CreateMessageStreams("newcomer", Streams({"orders": 1}))], group)[-1].state
    again = 0
    for connector in group.connectors:
        group = step(settings, group, Read(connector.name))
        again += sum(each.to_offset - each.from_offset for each in group.effects if isinstance(each, RecordsRead))
    return again
