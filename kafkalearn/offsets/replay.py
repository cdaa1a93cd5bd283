"""Every group, its members and its offsets, from the records of the offsets topic.

The groups are a function of the last value of every key. So the log says the same before and after the cleaner, and
the order of keys does not matter. This is what a broker does when it becomes coordinator. Commits of the record types
0 and 1 for one partition are one key here, as they are for the coordinator.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from kafkalearn.base.checks import iterable, mapping
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Segment
from kafkalearn.formats.wire import Undecodable
from kafkalearn.groups.defaults import ASSIGNING, EMPTY, NOT_READY, RECONCILING, STABLE
from kafkalearn.offsets.protocol import decode_assignment, decode_subscription
from kafkalearn.offsets.records import GROUP_TYPE, OFFSET_TYPES, Fields, OffsetsRecord, decode, state_key

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"  # kinds of groups, by their protocol


@dataclass(frozen=True, slots=True)
class Committed:
    """An offset that a group committed for one partition: the next one to read."""

    topic: str
    partition: int
    offset: int
    metadata: str = ""
    commit_ms: int = -1
    leader_epoch: int | None = None
    expire_ms: int | None = None  # carried by the record; None: the group's rule decides
    topic_id: str | None = None

    @property
    def at(self) -> TopicPartition:
        """Topic and partition."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group."""

    member_id: str
    client_id: str = ""
    client_host: str = ""
    instance_id: str | None = None  # of a static member
    epoch: int | None = None  # of the member; None in a classic group
    subscribed: tuple[str, ...] | None = None  # topics; None: the records do not say
    assigned: tuple[TopicPartition, ...] = ()
    target: tuple[TopicPartition, ...] | None = None  # None in a classic group
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A group as its coordinator knows it."""

    group_id: str
    kind: str = CLASSIC
    state: str = EMPTY
    protocol_type: str | None = None  # None: it never had members, only committed offsets
    protocol: str | None = None  # the assignor, among consumers
    epoch: int = 0  # the generation of a classic group, the group epoch of another
    target_epoch: int | None = None  # None in a classic group
    leader: str | None = None  # a member id; None but in a classic group with members
    state_ms: int | None = None  # since when it is in its state; None: not known
    members: tuple[Member, ...] = ()  # by member id
    offsets: tuple[Committed, ...] = ()  # by topic and partition

    @property
    def is_simple(self) -> bool:
        """Whether it has committed offsets and never had members."""
        return self.kind == CLASSIC and not self.protocol_type and self.state == EMPTY

    @property
    def is_blank(self) -> bool:
        """Whether it is only a name in memory: its offsets are gone, and it never had more."""
        return self.is_simple and not self.offsets

    def offset(self, topic: str, partition: int) -> Committed | None:
        """What the group committed for a partition; None: nothing."""
        return next((each for each in self.offsets if each.at == (topic, partition)), None)


# Keys and values, however they come: as pairs, as records of a segment, or as whole segments.

Pair: TypeAlias = tuple[bytes | None, bytes | None]


def key_values(records: Iterable[Pair | Record | Segment]) -> Iterator[Pair]:
    """Key and value of each record, in the same order; of segments the records that count.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Records as `kafkalearn.formats.disk.committed_records` gives them, segments as its `read_disk`.

    Raises
    ------
    KafkaLearnError
        If something else comes, or segments that do not make one log: several copies, or damage in the middle.

    Examples
    --------
    >>> list(key_values([Record(7, 1000, b"key", None), (b"key", b"value")]))
    [(b'key', None), (b'key', b'value')]
    """
    segments: list[Segment] = []
    for each in iterable("records", records, of="(key, value), of records or of segments"):
        match each:
            case Record():
                if each.control is None:
                    yield each.key, each.value
            case Segment():
                segments.append(each)
            case (key, value) if _is_bytes(key) and _is_bytes(value):
                yield key, value
            case _:
                came = f"{type(each).__name__} {shown(each)}"
                raise KafkaLearnError(f"records must be (key, value) in bytes, records or segments, got {came}")
    for record in committed_records(segments):
        yield record.key, record.value


def _is_bytes(value: object) -> bool:
    return value is None or isinstance(value, bytes | bytearray | memoryview)


_Held: TypeAlias = Mapping[str, Any]  # decoded: what each holds, the layout of its record type says

UNKNOWN_TIME = -1
NO_KEY = "key: it is null; every record of the offsets topic has one"
MOST_WAITING = 64  # values of one key that are held before all but the last readable one are dropped


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a set of records says."""

    groups: tuple[Group, ...]  # by group id
    problems: tuple[str, ...]  # records that could not be read, each with the reason

    def group(self, group_id: str) -> Group | None:
        """One group; None: no record is about it."""
        return next((group for group in self.groups if group.group_id == group_id), None)


def replay(records: Iterable[Pair | Record | Segment], topic_names: Mapping[str, str] | None = None) -> Replayed:
    """The groups that some records of the offsets topic describe.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Keys and values in the order of their offsets, without those of aborted transactions; partitions one after
        the other, as from `kafkalearn.formats.disk.committed_records`. Of segments those are taken, too.
    topic_names : mapping of str to str, optional
        Topic ids to names, for the assignments of groups that do not speak the classic protocol. Those that committed
        offsets hold need not be given; an id without a name stands for itself.

    Returns
    -------
    Replayed
        Records of an unknown type, and records that cannot be decoded, are left out and named in ``problems``; what
        came before them for their key counts. A record that a later one of its key replaced may go unread.

    Examples
    --------
    >>> from kafkalearn.offsets.records import encode_key, encode_value
    >>> key = encode_key("OFFSET_COMMIT", {"group": "billing", "topic": "orders", "partition": 0})
    >>> value = encode_value("OFFSET_COMMIT", 4, {"offset": 7, "metadata": "", "commitTimestamp": 1000})
    >>> replay([(key, value)]).group("billing").offset("orders", 0).offset
    7
    >>> replay([(key, value), (key, None)]).groups
    ()

    References
    ----------
    Apache Kafka: ``GroupMetadataManager.loadGroupsAndOffsets`` (to 4.0), ``CoordinatorLoaderImpl`` and the
    ``replay`` methods of ``GroupMetadataManager`` and ``OffsetMetadataManager`` (since 3.7).
    """
    decoded, problems = _last_records(records)
    no_names: Mapping[str, str] = {}
    given = mapping("topic_names", no_names if topic_names is None else topic_names, of="topic id to name")
    names = _topic_names(decoded) | dict(given)
    by_group: dict[str, list[OffsetsRecord]] = defaultdict(list)
    for record in decoded:
        by_group[record.group].append(record)
    groups = tuple(_group(group_id, by_group[group_id], names) for group_id in sorted(by_group))
    return Replayed(groups, tuple(problems))


def _last_records(records: Iterable[Pair | Record | Segment]) -> tuple[list[OffsetsRecord], list[str]]:
    """The last record of each key that can be read and is not a tombstone, and what could not be read.

    Decoding is what takes time, so a key's values wait, and are decoded from the last one backwards.
    """
    waiting: dict[bytes, list[tuple[bytes, bytes | None]]] = defaultdict(list)
    problems: list[str] = []
    for key, value in key_values(records):
        if key is None:
            problems.append(NO_KEY)
            continue
        of_key = waiting[state_key(key)]
        of_key.append((key, value))
        if len(of_key) == MOST_WAITING:
            index, _ = _last_readable(of_key, problems)
            of_key[:] = of_key[index : index + 1]
    last = (_last_readable(of_key, problems)[1] for of_key in waiting.values())
    return [record for record in last if record is not None and not record.is_tombstone], problems


def _last_readable(
    pairs: Sequence[tuple[bytes, bytes | None]], problems: list[str]
) -> tuple[int, OffsetsRecord | None]:
    """The index of the last record that can be read, and the record; behind the end, and None, if there is none."""
    for index in reversed(range(len(pairs))):
        try:
            return index, decode(*pairs[index])
        except Undecodable as error:
            problems.append(str(error))
    return len(pairs), None


def _topic_names(records: Iterable[OffsetsRecord]) -> dict[str, str]:
    """Topic ids and names as in commits since 4.1: the name is in the key, the id in the value."""
    return {
        str(record.fields["topicId"]): str(record.key["topic"])
        for record in records
        if record.type.number in OFFSET_TYPES and "topicId" in record.fields
    }


def _group(group_id: str, records: list[OffsetsRecord], names: Mapping[str, str]) -> Group:
    by_number: dict[int, list[OffsetsRecord]] = defaultdict(list)
    for record in records:
        by_number[record.type.number].append(record)
    offsets = [committed(record) for number in OFFSET_TYPES for record in by_number[number]]
    group = _without_offsets(group_id, by_number, names)
    return replace(group, offsets=tuple(sorted(offsets, key=lambda each: each.at)))


def committed(record: OffsetsRecord) -> Committed:
    """The committed offset in a record of type 0 or 1."""
    key: _Held = record.key
    values: _Held = record.fields
    return Committed(
        key["topic"],
        key["partition"],
        values["offset"],
        values["metadata"],
        values["commitTimestamp"],
        _unless(-1, values.get("leaderEpoch", -1)),
        _unless(UNKNOWN_TIME, values.get("expireTimestamp", UNKNOWN_TIME)),
        values.get("topicId"),
    )


def _unless(nothing: int, value: int) -> int | None:
    return None if value == nothing else value


def _without_offsets(group_id: str, by_number: Mapping[int, list[OffsetsRecord]], names: Mapping[str, str]) -> Group:
    if by_number[GROUP_TYPE]:
        return classic_group(group_id, by_number[GROUP_TYPE][0].fields)
    kind = next((kind for kind, number in (*GROUP_RECORDS.items(), MAKES_ONE_TOO) if by_number[number]), None)
    return Group(group_id) if kind is None else protocol_group(kind, group_id, by_number, names)


def classic_group(group_id: str, values: Fields) -> Group:
    """The group in a value of record type 2, without its offsets.

    The record does not hold the state: with members the group is Stable, else it is Empty.
    """
    held: _Held = values
    is_consumer = held["protocolType"] == "consumer"
    members = [_classic_member(each, is_consumer) for each in held["members"]]
    return Group(
        group_id,
        CLASSIC,
        STABLE if members else EMPTY,
        held["protocolType"],
        held["protocol"],
        held["generation"],
        leader=held["leader"],
        state_ms=_unless(UNKNOWN_TIME, held.get("currentStateTimestamp", UNKNOWN_TIME)),
        members=tuple(sorted(members, key=lambda member: member.member_id)),
    )


def _classic_member(values: _Held, is_consumer: bool) -> Member:
    subscribed, assigned = _consumer_protocol(values) if is_consumer else (None, ())
    session_timeout_ms = values["sessionTimeout"]
    return Member(
        values["memberId"],
        values["clientId"],
        values["clientHost"],
        values.get("groupInstanceId"),
        subscribed=subscribed,
        assigned=assigned,
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=values.get("rebalanceTimeout", session_timeout_ms),  # version 0 has only the other
    )


def _consumer_protocol(values: _Held) -> tuple[tuple[str, ...] | None, tuple[TopicPartition, ...]]:
    """What the member subscribes to and is assigned; a client may put anything into these two blobs."""
    try:
        subscribed = decode_subscription(values["subscription"]).topics
    except Undecodable:
        subscribed = None
    try:
        assigned = decode_assignment(values["assignment"]).partitions
    except Undecodable:
        assigned = ()
    return subscribed, assigned


# Groups of the newer protocols, whose members, targets and assignments have records of their own. The state is not
# written down: it follows from three counters. A group epoch above the assignment epoch means that an assignment is
# due; a member below the assignment epoch has not taken its new one yet. A subscription may be in another record than
# its member: a KIP-848 member may name a regular expression, whose topics have a record of their own; the members of a
# streams group read the source topics of its topology.

DEFAULT_ASSIGNOR = "uniform"  # the first of group.consumer.assignors
MEMBER_IS_STABLE = {CONSUMER: 0, SHARE: 0, STREAMS: 1}

GROUP_RECORDS = {CONSUMER: 3, SHARE: 11, STREAMS: 17}  # the record type that makes a group one of its kind
MEMBER_RECORDS = {CONSUMER: 5, SHARE: 10, STREAMS: 19}
MAKES_ONE_TOO = CONSUMER, MEMBER_RECORDS[CONSUMER]
"""Since 4.3 a KIP-848 group begins at epoch 1. While its members subscribe to nothing, they are all that is written."""
FIRST_EPOCH = 1  # of such a group, and of its assignment
TARGET_EPOCHS, TARGETS, CURRENTS = (6, 12, 20), (7, 13, 21), (8, 14, 22)
EXPRESSIONS, TOPOLOGY = 16, 23


def protocol_group(
    kind: str, group_id: str, by_number: Mapping[int, list[OffsetsRecord]], names: Mapping[str, str]
) -> Group:
    """A group of a newer protocol from its records, by record type; `names` are those of topic ids."""
    group_records, member_records = by_number[GROUP_RECORDS[kind]], by_number[MEMBER_RECORDS[kind]]
    of_group: _Held = group_records[0].fields if group_records else {"epoch": FIRST_EPOCH}
    targets, currents = _by_member(by_number, TARGETS), _by_member(by_number, CURRENTS)
    members = []
    for each in member_records:
        member_id, subscribed = _member_id(each), _subscribed(each, by_number)
        members.append(_member(each, subscribed, targets.get(member_id), currents.get(member_id), names))
    epochs = (_held(each)["assignmentEpoch"] for number in TARGET_EPOCHS for each in by_number[number])
    target_epoch = next(epochs, None if group_records else FIRST_EPOCH)
    group = Group(
        group_id,
        kind,
        EMPTY,
        "consumer" if kind == CONSUMER else kind,
        _assignor(member_records) if kind == CONSUMER else None,
        of_group["epoch"],
        target_epoch,
        members=tuple(sorted(members, key=lambda member: member.member_id)),
    )
    is_stable = MEMBER_IS_STABLE[kind]
    are_stable = all(each.get("state", is_stable) == is_stable for each in currents.values())
    topology_epoch = _held(by_number[TOPOLOGY][0])["epoch"] if by_number[TOPOLOGY] else None
    is_ready = kind != STREAMS or topology_epoch == of_group.get("validatedTopologyEpoch", -1)
    return replace(group, state=_state(group, are_stable) if is_ready or not members else NOT_READY)


def _held(record: OffsetsRecord) -> _Held:
    return record.fields


def _member_id(record: OffsetsRecord) -> str:
    return str(record.key["memberId"])


def _by_member(by_number: Mapping[int, list[OffsetsRecord]], numbers: tuple[int, ...]) -> dict[str, _Held]:
    return {_member_id(record): record.fields for number in numbers for record in by_number[number]}


def _member(
    record: OffsetsRecord,
    subscribed: tuple[str, ...],
    target: _Held | None,
    current: _Held | None,
    names: Mapping[str, str],
) -> Member:
    values = _held(record)
    return Member(
        _member_id(record),
        values["clientId"],
        values["clientHost"],
        values.get("instanceId"),
        None if current is None else current["memberEpoch"],
        subscribed,
        _partitions(current, "assignedPartitions", names),
        _partitions(target, "topicPartitions", names),
        rebalance_timeout_ms=values.get("rebalanceTimeoutMs"),
    )


def _subscribed(member: OffsetsRecord, by_number: Mapping[int, list[OffsetsRecord]]) -> tuple[str, ...]:
    """The topics that a member subscribes to, by name or otherwise."""
    if "subscribedTopicNames" not in member.fields:
        return source_topics(by_number[TOPOLOGY][0].fields) if by_number[TOPOLOGY] else ()
    names, expression = _held(member)["subscribedTopicNames"], member.fields.get("subscribedTopicRegex")
    resolved = [_held(each)["topics"] for each in by_number[EXPRESSIONS] if each.key["regularExpression"] == expression]
    return tuple(dict.fromkeys((*names, *(topic for topics in resolved for topic in topics))))


def source_topics(topology: Fields) -> tuple[str, ...]:
    """The topics that a topology reads, its own repartition topics among them, sorted."""
    held: _Held = topology
    parts = held["subtopologies"]
    repartition = {each["name"] for part in parts for each in part["repartitionSourceTopics"]}
    return tuple(sorted(repartition.union(*(part["sourceTopics"] for part in parts))))


def _partitions(values: _Held | None, name: str, names: Mapping[str, str]) -> tuple[TopicPartition, ...]:
    """Topic partitions by name; none for a streams group, whose records hold tasks."""
    topics = values.get(name, ()) if values else ()
    named = ((names.get(each["topicId"], each["topicId"]), each["partitions"]) for each in topics)
    return tuple(sorted(TopicPartition(topic, each) for topic, partitions in named for each in partitions))


def _assignor(members: Iterable[OffsetsRecord]) -> str:
    """The assignor that most members ask for, or the broker's default."""
    asked = Counter(_held(each)["serverAssignor"] for each in members if each.fields["serverAssignor"])
    return asked.most_common(1)[0][0] if asked else DEFAULT_ASSIGNOR


def _state(group: Group, are_stable: bool) -> str:
    if not group.members:
        return EMPTY
    if group.kind == SHARE:
        return STABLE
    if group.epoch > (group.target_epoch or 0):
        return ASSIGNING
    reached = all(member.epoch == group.target_epoch for member in group.members)
    return STABLE if reached and are_stable else RECONCILING


def read_groups(
    directory: str | Path,
    topic_names: Mapping[str, str] | None = None,
    *,
    log_dir: str | None = None,
    has_checksum: bool = True,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
) -> Replayed:
    """The groups that the partitions of ``__consumer_offsets`` below a folder describe.

    Commits of aborted and of unfinished transactions do not count. A group is there if its partition is; the folder
    of one broker has those that the broker keeps.

    Parameters
    ----------
    directory : str or Path
        A log dir, the folder of one partition, or a folder above several log dirs.
    topic_names : mapping of str to str, optional
        As in `replay`.
    log_dir : str, optional
        Of which broker, as a path below the folder, if a partition lies there several times.
    has_checksum, skip_damaged, batch_limit_bytes : bool, bool, int
        As in `kafkalearn.formats.disk.read_disk`.

    Raises
    ------
    KafkaLearnError
        If there is no such folder or no segment of the topic, if a partition lies in several log dirs and none is
        chosen, or if a batch is damaged and `skip_damaged` is False.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
    >>> found = read_groups(data_directory("offsets-topic") / "disk")
    >>> len(found.groups), found.problems
    (22, ())
    """
    segments = read_disk(
        directory,
        OFFSETS_TOPIC,
        has_checksum,
        log_dir=log_dir,
        skip_damaged=skip_damaged,
        batch_limit_bytes=batch_limit_bytes,
    )
    return replay(committed_records(segments), topic_names)
