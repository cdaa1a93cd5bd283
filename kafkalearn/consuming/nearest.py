"""From which replica a consumer reads (KIP-392), how far that one lets it read, and which bytes cross zones.

A consumer asks the leader first, and says its ``client.rack``. Where the broker's ``replica.selector.class`` is
``RackAwareReplicaSelector``, the leader may answer with a *preferred read replica* and no records: `preferred_replica`.
The consumer then reads from that follower, until ``metadata.max.age.ms`` (5 minutes) have passed, the follower answers
with an error, or the leader changes: `read_steps`. Without a selector, and that is the default, all read from the
leader, whatever ``client.rack`` says.

A follower gives a consumer what lies below its *own* high watermark, which it learns with the answer to its next fetch:
what the leader has shown for some milliseconds is not there yet. A consumer that comes from the leader asks for an
offset above it, waits, and gets nothing until the next HW arrives; an offset above the follower's LEO is out of range,
and sends the consumer back to its leader without a reset.

`zone_traffic` counts the bytes that a group's consumers read from another zone.

References
----------
Apache Kafka 2.4 to 4.4, ``RackAwareReplicaSelector``, ``ReplicaView``, ``ReplicaManager.findPreferredReadReplica``,
``FetchCollector``, ``SubscriptionState.updatePreferredReadReplica``; KIP-392.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafkalearn.base.checks import iterable, mapping, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted, shown
from kafkalearn.base.topic_partition import TopicPartition

METADATA_MAX_AGE_MS = 300_000
GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """A replica as the leader knows it when a consumer asks.

    Parameters
    ----------
    broker_id : int
        Where it is.
    rack : str or None
        The broker's ``broker.rack``.
    log_end_offset, high_watermark : int
        Its LEO, and its own HW.
    log_start_offset : int
        The first offset that it still has.
    is_in_sync : bool
        Whether it is in the ISR.
    behind_ms : int
        How long ago it had all that the leader has; 0 for the leader itself.
    """

    broker_id: int
    rack: str | None
    log_end_offset: int
    high_watermark: int = 0
    log_start_offset: int = 0
    is_in_sync: bool = True
    behind_ms: int = 0


def preferred_replica(
    leader: ReplicaView,
    followers: Iterable[ReplicaView],
    fetch_offset: int,
    client_rack: str | None,
    *,
    has_selector: bool = True,
) -> int | None:
    """The broker to which the leader sends a consumer; None: the leader answers itself.

    It sends it to a follower in the consumer's rack, if the leader is not there too. Followers out of the ISR, and
    those that do not have the offset, are left out. Of several the one with the highest LEO, then the one that was
    caught up last, then the highest id.

    Parameters
    ----------
    leader, followers : ReplicaView
        All replicas of the partition.
    fetch_offset : int
        What the consumer asks for.
    client_rack : str or None
        What it says; None or empty: nothing.
    has_selector : bool
        Whether the leader's ``replica.selector.class`` is ``RackAwareReplicaSelector``; by default it is none.

    Examples
    --------
    >>> leader, near = ReplicaView(1, "a", 120), ReplicaView(2, "b", 118)
    >>> preferred_replica(leader, [near], 100, "b"), preferred_replica(leader, [near], 119, "b")
    (2, None)
    >>> preferred_replica(leader, [near], 100, "b", has_selector=False)
    """
    whole_number("fetch_offset", fetch_offset, at_least=0)
    if not client_rack or not has_selector or leader.rack == client_rack:
        return None
    near = [
        each
        for each in iterable("followers", followers, of="ReplicaView")
        if each.rack == client_rack and each.is_in_sync and each.log_start_offset <= fetch_offset <= each.log_end_offset
    ]
    if not near:
        return None
    return max(near, key=lambda each: (each.log_end_offset, -each.behind_ms, each.broker_id)).broker_id


class Moment(NamedTuple):
    """The replicas of a partition when a consumer fetches."""

    at_ms: int
    leader: ReplicaView
    followers: tuple[ReplicaView, ...]


class ReadStep(NamedTuple):
    """One fetch of a consumer."""

    at_ms: int
    asked: int  # the broker
    fetch_offset: int
    answer: str
    next_offset: int


SENT_ON, RECORDS, NOTHING, OUT_OF_RANGE = "preferred read replica", "records", "nothing yet", "OFFSET_OUT_OF_RANGE"


def read_steps(
    moments: Iterable[Moment],
    client_rack: str | None,
    *,
    fetch_offset: int = 0,
    metadata_max_age_ms: int = METADATA_MAX_AGE_MS,
    has_selector: bool = True,
) -> tuple[ReadStep, ...]:
    """What a consumer is answered by whom, one fetch a moment; each answer with records goes up to the replica's HW.

    Parameters
    ----------
    moments : iterable of Moment
        In the order of time; the broker that it last read from must be in each of them.
    client_rack : str or None
        ``client.rack``.
    fetch_offset : int
        Where it begins.
    metadata_max_age_ms : int
        How long it stays with a follower before it asks the leader again.
    has_selector : bool
        As for `preferred_replica`.

    Examples
    --------
    >>> leader, near = ReplicaView(1, "a", 120, 120), ReplicaView(2, "b", 120, 110)
    >>> for step in read_steps([Moment(at_ms, leader, (near,)) for at_ms in (0, 10, 500)], "b", fetch_offset=100):
    ...     print(step.at_ms, step.asked, step.answer, step.next_offset)
    0 1 preferred read replica 100
    10 2 records 110
    500 2 nothing yet 110
    """
    whole_number("fetch_offset", fetch_offset, at_least=0)
    whole_number("metadata_max_age_ms", metadata_max_age_ms, at_least=0)
    steps: list[ReadStep] = []
    preferred: int | None = None
    until_ms = leader_id = -1
    for moment in iterable("moments", moments, of="Moment"):
        if not isinstance(moment, Moment):
            raise KafkaLearnError(f"moments must be a collection of Moment, and one of them is {shown(moment)}")
        replicas = {each.broker_id: each for each in (moment.leader, *moment.followers)}
        if moment.at_ms > until_ms or moment.leader.broker_id != leader_id:
            preferred = None
        leader_id = moment.leader.broker_id
        if preferred is not None and preferred not in replicas:
            raise KafkaLearnError(f"broker {preferred} is read from, but no replica at {moment.at_ms} ms is there")
        asked = moment.leader if preferred is None else replicas[preferred]
        sent_to = None
        if preferred is None:
            sent_to = preferred_replica(
                moment.leader, moment.followers, fetch_offset, client_rack, has_selector=has_selector
            )
        before = fetch_offset
        if sent_to is not None:
            answer, preferred, until_ms = SENT_ON, sent_to, moment.at_ms + metadata_max_age_ms
        elif not asked.log_start_offset <= fetch_offset <= asked.log_end_offset:
            answer, preferred = OUT_OF_RANGE, None
        elif asked.high_watermark > fetch_offset:
            answer, fetch_offset = RECORDS, asked.high_watermark
        else:
            answer = NOTHING
        steps.append(ReadStep(moment.at_ms, asked.broker_id, before, answer, fetch_offset))
    return tuple(steps)


# What crosses zones.


@dataclass(frozen=True, slots=True)
class Traffic:
    """The bytes that consumers read: from their own zone, and from another one."""

    near_bytes: int
    crossing_bytes: int

    def price(self, per_gigabyte: float) -> float:
        """What the crossing ones cost, at so much for 1,000,000,000 of them.

        >>> Traffic(0, 5_000_000_000).price(0.02)
        0.1
        """
        return self.crossing_bytes / GIGABYTE * per_gigabyte


def zone_traffic(
    assignment: Mapping[str, Sequence[TopicPartition]],
    rack_of: Mapping[str, str],
    replica_racks: Mapping[str, Sequence[Sequence[str]]],
    bytes_of: Mapping[TopicPartition, int] | int,
    *,
    reads_nearest: bool,
) -> Traffic:
    """The bytes that a group reads, by whether they cross zones.

    Parameters
    ----------
    assignment : mapping of str to sequence of TopicPartition
        Who reads what.
    rack_of : mapping of str to str
        The zone that each member runs in, whether it says so in ``client.rack`` or not.
    replica_racks : mapping of str to sequence of sequences of str
        For each topic the racks of each partition's replicas, the leader's first.
    bytes_of : mapping of TopicPartition to int, or int
        What is read of each partition, or of every one.
    reads_nearest : bool
        Whether members name their rack and brokers have the selector; False: all read from leaders.

    Raises
    ------
    KafkaLearnError
        If a member, a topic or a partition that is read is not named in one of the others.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> racks = {"t": [["a", "b"], ["b", "c"], ["c", "a"]]}
    >>> zones = {"C0": "b", "C1": "c", "C2": "a"}
    >>> members = [Member(name, ["t"]) for name in zones]
    >>> for reads_nearest in (False, True):
    ...     owned = assign("range", {"t": 3}, members)
    ...     print(zone_traffic(owned, zones, racks, 1000, reads_nearest=reads_nearest))
    Traffic(near_bytes=0, crossing_bytes=3000)
    Traffic(near_bytes=3000, crossing_bytes=0)
    """
    mapping("rack_of", rack_of, of="member to zone")
    mapping("replica_racks", replica_racks, of="topic to racks by partition")
    near = crossing = 0
    for member_id, partitions in mapping("assignment", assignment, of="member to partitions").items():
        if member_id not in rack_of:
            raise _unnamed("rack_of", f"a member {member_id!r}", rack_of)
        for place in sequence(f"the partitions of {member_id}", partitions, of="TopicPartition"):
            racks = _racks_of(place, replica_racks)
            size = _bytes_of(place, bytes_of)
            from_where = racks if reads_nearest else racks[:1]
            if rack_of[member_id] in from_where:
                near += size
            else:
                crossing += size
    return Traffic(near, crossing)


def _racks_of(place: TopicPartition, replica_racks: Mapping[str, Sequence[Sequence[str]]]) -> tuple[str, ...]:
    """The racks of a partition's replicas, the leader's first."""
    if not isinstance(place, TopicPartition):
        raise KafkaLearnError(f"assignment must give each member TopicPartitions, got {shown(place)}")
    if place.topic not in replica_racks:
        raise _unnamed("replica_racks", f"a topic {place.topic!r}", replica_racks)
    partitions = sequence(f"replica_racks of {place.topic}", replica_racks[place.topic], of="racks by partition")
    if not 0 <= place.partition < len(partitions):
        raise KafkaLearnError(
            f"replica_racks has {counted(len(partitions), 'partition')} of {place.topic}, and {place} is read; "
            "name the racks of each of its replicas"
        )
    racks = sequence(f"the racks of {place}", partitions[place.partition], of="racks, the leader's first")
    if not racks:
        raise KafkaLearnError(f"the racks of {place} must begin with the leader's, and there are none")
    return racks


def _bytes_of(place: TopicPartition, bytes_of: Mapping[TopicPartition, int] | int) -> int:
    """What is read of a partition."""
    if isinstance(bytes_of, int):
        return whole_number("bytes_of", bytes_of, at_least=0)
    if place not in mapping("bytes_of", bytes_of, of="TopicPartition to bytes, or one number for all"):
        raise _unnamed("bytes_of", f"a partition {place}", bytes_of)
    return whole_number(f"bytes_of[{place}]", bytes_of[place], at_least=0)


def _unnamed(what: str, missing: str, known: Mapping[Any, Any]) -> KafkaLearnError:
    names = shown([str(each) if isinstance(each, TopicPartition) else each for each in known])
    return KafkaLearnError(f"{what} must name {missing}, and has {names if known else 'nothing'}")
