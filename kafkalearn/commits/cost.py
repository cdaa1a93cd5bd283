"""What commits cost: the bytes that each one adds to ``__consumer_offsets``, and what an idle consumer writes."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import whole_number
from kafkalearn.offsets.store.entries import commit_entry
from kafkalearn.offsets.store.events import Commit
from kafkalearn.offsets.store.settings import Settings as StoreSettings
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES, record_bytes
from kafkalearn.versions.defaults import whole_default
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least

HOUR_MS = 3_600_000
SOME_TOPIC_ID = "AAAAAAAAAAEAAAAAAAAAAQ"  # any: all have 16 bytes


def commit_bytes(
    group_id: str = "billing",
    topic: str = "orders",
    partition: int = 0,
    release: str = DEFAULT_RELEASE,
    metadata: str = "",
) -> int:
    """The bytes that one commit of one partition adds to the offsets topic, on each replica.

    A batch header and one record. A request that commits several partitions has them in one batch, and they share the
    header; so may several requests since 4.0. The offset does not matter: it always takes eight bytes.

    Since 4.3 the record has the id of the topic; brokers of 4.1 and 4.2 write it only where the request names topics by
    their ids, which is not counted here.

    Examples
    --------
    >>> commit_bytes(), commit_bytes(release="4.2"), commit_bytes(group_id="a-rather-long-name-of-a-group")
    (134, 115, 156)

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``OffsetCommitKey``, ``OffsetCommitValue``, ``DefaultRecord``.
    """
    topic_id = SOME_TOPIC_ID if at_least("4.3", release) else None
    commit = Commit(group_id, topic, partition, offset=0, now_ms=0, metadata=metadata, topic_id=topic_id)
    entry = commit_entry(StoreSettings(release), commit)
    return BATCH_HEADER_BYTES + record_bytes(len(entry.key or b""), len(entry.value or b""))


@dataclass(frozen=True, slots=True)
class IdleCost:
    """What a group that polls and gets nothing writes."""

    commit_count: int  # records in __consumer_offsets
    byte_count: int  # on each replica, before the cleaner comes


def idle_cost(
    partition_count: int,
    hours: int = 24,
    interval_ms: int | None = None,
    member_count: int = 1,
    group_id: str = "billing",
    topic: str = "orders",
    release: str = DEFAULT_RELEASE,
) -> IdleCost:
    """What auto commit writes for a group that polls all the time and gets no record.

    Each auto commit covers every partition the group owns, whether or not its position moved.

    Parameters
    ----------
    partition_count : int
        Partitions that the group's members own together.
    hours : int
        For how long.
    interval_ms : int or None
        ``auto.commit.interval.ms``; None: the default of the release.
    member_count : int
        Each member commits its partitions in a request of its own, which becomes a batch.

    Examples
    --------
    >>> idle_cost(12, hours=24)
    IdleCost(commit_count=207360, byte_count=16191360)
    """
    whole_number("partition_count", partition_count, at_least=0)
    whole_number("hours", hours, at_least=0)
    if interval_ms is None:
        interval_ms = whole_default("auto.commit.interval.ms", release, side="consumer")
    rounds = hours * HOUR_MS // whole_number("interval_ms", interval_ms, at_least=1)
    requests = min(whole_number("member_count", member_count, at_least=1), partition_count)
    each = commit_bytes(group_id, topic, release=release) - BATCH_HEADER_BYTES
    return IdleCost(rounds * partition_count, rounds * (requests * BATCH_HEADER_BYTES + partition_count * each))
