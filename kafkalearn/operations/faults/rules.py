"""The helpers that find faults in a cluster's logs: one rule a kind, each sure only of what has lasted an hour.

The same rules as Spark queries are in `kafkalearn.spark.operations`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import median
from typing import NamedTuple

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.findings import Finding
from kafkalearn.operations.faults.planting import BatchRow, ClusterLogs, CommitRow, MemberRow, ReplicaRow

LASTING_MS = 3_600_000  # what has been so for an hour is no passing trouble
FAR_FUTURE_MS = 86_400_000  # a clock may be wrong by minutes; a day is a mistake in a program
HOT_RATIO = 4  # times the median of the topic
LEADER_RATIO = 2  # times the fair share


def find_faults(logs: ClusterLogs) -> tuple[Finding, ...]:
    """All that the rules find, by kind and time.

    >>> from kafkalearn.operations.faults import cluster_logs, judge, plant
    >>> judge(find_faults(cluster_logs(5)), plant(5)).is_perfect
    True
    >>> find_faults(cluster_logs(5, faults=[]))
    ()
    """
    if not isinstance(logs, ClusterLogs):
        raise KafkaLearnError(
            f"find_faults looks at ClusterLogs, as cluster_logs() gives them; got {type(logs).__name__}"
        )
    of_groups = progress(logs.batches, logs.commits)
    until_ms = max((row.appended_ms for row in logs.batches), default=0)
    return tuple(
        sorted(
            (
                *stopped_cleaners(logs.replicas),
                *future_records(logs.batches),
                *hot_partitions(logs.batches),
                *hanging_consumers(of_groups, logs.members, until_ms),
                *kept_groups(of_groups, logs.members, until_ms),
                *leaders_on_one_broker(logs.replicas),
                *frozen_followers(logs.replicas),
            )
        )
    )


def stopped_cleaners(replicas: Iterable[ReplicaRow]) -> Iterator[Finding]:
    """Brokers none of whose compacted logs is cleaned for an hour, though they grow; else the single logs.

    The sign is the line in ``cleaner-offset-checkpoint``: it stands still while the log's end goes on.
    """
    moved_ms: dict[tuple[int, TopicPartition], int] = {}
    last: dict[tuple[int, TopicPartition], tuple[ReplicaRow, int]] = {}  # with its cleaner offset
    for row in sorted(replicas, key=lambda row: row.at_ms):
        if row.cleaner_offset is None:
            continue
        key = row.broker, TopicPartition(row.topic, row.partition)
        if key not in last or row.cleaner_offset > last[key][1]:
            moved_ms[key] = row.at_ms
        last[key] = row, row.cleaner_offset
    until_ms = max((row.at_ms for row, _ in last.values()), default=0)
    by_broker = defaultdict(list)
    for (broker, at), (row, cleaner_offset) in last.items():
        is_stopped = until_ms - moved_ms[broker, at] >= LASTING_MS and row.log_end_offset > cleaner_offset
        by_broker[broker].append((at, moved_ms[broker, at], is_stopped))
    for broker, of_it in by_broker.items():
        if len(of_it) > 1 and all(is_stopped for _, _, is_stopped in of_it):
            yield Finding(kind.DEAD_CLEANER, max(at_ms for _, at_ms, _ in of_it), broker)
        else:
            yield from (Finding(kind.UNCLEANABLE, at_ms, broker, *at) for at, at_ms, is_stopped in of_it if is_stopped)


def future_records(batches: Iterable[BatchRow]) -> Iterator[Finding]:
    """Batches dated more than a day after they were appended; of a partition the first.

    Retention by time looks at the largest timestamp of a segment: this one, and all after it, are kept.
    """
    first: dict[TopicPartition, BatchRow] = {}
    for row in batches:
        if row.max_timestamp_ms - row.appended_ms > FAR_FUTURE_MS:
            at = TopicPartition(row.topic, row.partition)
            first[at] = min(first.get(at, row), row, key=lambda row: row.appended_ms)
    for at, row in first.items():
        yield Finding(kind.FUTURE_RECORD, row.appended_ms, row.leader, *at)


def hot_partitions(batches: Iterable[BatchRow]) -> Iterator[Finding]:
    """Partitions that get more than four times the median of their topic, for an hour up to the end."""
    counts: dict[tuple[str, int], dict[int, tuple[int, int]]] = defaultdict(dict)
    for row in batches:
        before, _ = counts[row.topic, row.appended_ms].get(row.partition, (0, row.leader))
        counts[row.topic, row.appended_ms][row.partition] = before + row.record_count, row.leader
    samples = sorted({at_ms for _, at_ms in counts})
    is_hot: dict[TopicPartition, dict[int, int]] = defaultdict(dict)  # the leader, by time
    for (topic, at_ms), of_it in counts.items():
        usual = median(count for count, _ in of_it.values())
        for partition, (count, leader) in of_it.items():
            if count > HOT_RATIO * usual:
                is_hot[TopicPartition(topic, partition)][at_ms] = leader
    for at, leaders in is_hot.items():
        since_ms = _lasting(samples, leaders)
        if since_ms is not None:
            yield Finding(kind.HOT_PARTITION, since_ms, leaders[since_ms], *at)


class Progress(NamedTuple):
    """How a group gets on in a partition: when it last got further, and whether something is left to read."""

    moved_ms: int
    has_lag: bool
    committed_ms: int  # the last commit, of whatever offset


def progress(batches: Iterable[BatchRow], commits: Iterable[CommitRow]) -> dict[tuple[str, TopicPartition], Progress]:
    """How each group gets on: a commit gets it further when it is larger than all before it."""
    ends: dict[TopicPartition, int] = {}
    for row in batches:
        at = TopicPartition(row.topic, row.partition)
        ends[at] = max(ends.get(at, 0), row.base_offset + row.record_count)
    largest: dict[tuple[str, TopicPartition], int] = {}
    moved_ms: dict[tuple[str, TopicPartition], int] = {}
    last_ms: dict[tuple[str, TopicPartition], int] = {}
    for row in sorted(commits, key=lambda row: (row.committed_ms, row.offset)):
        key = row.group_id, TopicPartition(row.topic, row.partition)
        last_ms[key] = row.committed_ms
        if row.offset > largest.get(key, -1):
            largest[key], moved_ms[key] = row.offset, row.committed_ms
    return {key: Progress(at_ms, ends.get(key[1], 0) > largest[key], last_ms[key]) for key, at_ms in moved_ms.items()}


def hanging_consumers(
    of_groups: dict[tuple[str, TopicPartition], Progress], members: Iterable[MemberRow], until_ms: int
) -> Iterator[Finding]:
    """Members that own partitions to the end, and for an hour got no further in any, with something left to read."""
    for (group_id, member_id), owned in _owners(members).items():
        of_it = [of_groups[group_id, at] for at in owned if (group_id, at) in of_groups]
        last_ms = max((each.moved_ms for each in of_it), default=until_ms)
        if until_ms - last_ms >= LASTING_MS and any(each.has_lag for each in of_it):
            yield Finding(kind.HANGING_CONSUMER, last_ms, None, None, None, group_id, member_id)


def kept_groups(
    of_groups: dict[tuple[str, TopicPartition], Progress], members: Iterable[MemberRow], until_ms: int
) -> Iterator[Finding]:
    """Groups without members that somebody commits for to the end, for an hour without getting further.

    Each commit begins the retention time of a group anew that never had members: so its offsets stay for ever, and
    their partition of the offsets topic with them.
    """
    with_members = {group_id for group_id, _ in _owners(members)}
    by_group: dict[str, list[Progress]] = defaultdict(list)
    for (group_id, _), each in of_groups.items():
        if group_id not in with_members:
            by_group[group_id].append(each)
    for group_id, of_it in by_group.items():
        last_ms = max(each.moved_ms for each in of_it)
        is_committed = until_ms - max(each.committed_ms for each in of_it) < LASTING_MS
        if until_ms - last_ms >= LASTING_MS and is_committed and any(each.has_lag for each in of_it):
            yield Finding(kind.KEPT_GROUP, last_ms, group_id=group_id)


def leaders_on_one_broker(replicas: Iterable[ReplicaRow]) -> Iterator[Finding]:
    """Brokers that lead more than twice their fair share, for an hour up to the end."""
    led: dict[int, dict[int, set[tuple[str, int]]]] = defaultdict(lambda: defaultdict(set))
    partitions, brokers, samples = defaultdict(set), set(), set()
    for row in replicas:
        led[row.leader][row.at_ms].add((row.topic, row.partition))
        partitions[row.at_ms].add((row.topic, row.partition))
        brokers.add(row.broker)
        samples.add(row.at_ms)
    for broker, by_time in led.items():
        above = {
            at_ms: broker for at_ms, of_it in by_time.items()
            if len(of_it) * len(brokers) > LEADER_RATIO * len(partitions[at_ms])
        }  # fmt: skip
        since_ms = _lasting(sorted(samples), above)
        if since_ms is not None:
            yield Finding(kind.ONE_LEADER, since_ms, broker)


def frozen_followers(replicas: Iterable[ReplicaRow]) -> Iterator[Finding]:
    """Replicas that are out of sync for an hour up to the end, their log's end standing still."""
    out: dict[tuple[int, TopicPartition], dict[int, int]] = defaultdict(dict)
    samples = set()
    for row in replicas:
        samples.add(row.at_ms)
        if not row.is_in_sync:
            out[row.broker, TopicPartition(row.topic, row.partition)][row.at_ms] = row.log_end_offset
    for (broker, at), ends in out.items():
        since_ms = _lasting(sorted(samples), ends)
        if since_ms is not None and ends[since_ms] == ends[max(ends)]:
            yield Finding(kind.FROZEN_FOLLOWER, since_ms, broker, *at)


def _owners(members: Iterable[MemberRow]) -> dict[tuple[str, str], set[TopicPartition]]:
    """What each member owns at the last sample."""
    rows = list(members)
    until_ms = max((row.at_ms for row in rows), default=0)
    found: dict[tuple[str, str], set[TopicPartition]] = defaultdict(set)
    for row in rows:
        if row.at_ms == until_ms:
            found[row.group_id, row.member_id].add(TopicPartition(row.topic, row.partition))
    return found


def _lasting(samples: list[int], when: dict[int, int]) -> int | None:
    """Since when something has been so at every sample up to the last, if that is an hour; None: it is not."""
    if not samples:
        return None
    since_ms = None
    for at_ms in reversed(samples):
        if at_ms not in when:
            break
        since_ms = at_ms
    return since_ms if since_ms is not None and samples[-1] - since_ms >= LASTING_MS else None
