"""A cluster to read from: the one that `Kafka` has started, or your own.

What is read is in three parts: groups, of their coordinators; logs, of their leaders; the disk of a broker, which lies
on this machine. `Cluster` has all that is asked over the network, `connect` is the way to your own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.lag import ListedGroup
from kafkalearn.formats.batches import Batch
from kafkalearn.formats.disk import parse_segment, read_checkpoint
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Segment, read_segment
from kafkalearn.live.errors import NoAnswer, NotThere, Refused
from kafkalearn.live.reading import Asking, Brokers, ReadsPartitions, ReadsSettings, parse_addresses, refuse_error
from kafkalearn.live.requests import TIMEOUT_S, security_of
from kafkalearn.offsets import decode_assignment, decode_subscription

# Groups as their coordinators describe them, and what they have committed.
#
# Whoever asks for a coordinator has the offsets topic created where there is none. So it is looked for first, and
# without it there are no groups.

CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"
NEWEST_OFFSET_FETCH_WITH_NAMES = 9  # from 10 on it names topics by their ids
MANY_GROUPS_SINCE = 8  # the version of OffsetFetch that asks about several
OLDEST_WITH_TYPES = 5  # of ListGroups
GROUP = 0  # the kind of coordinator that is looked for
NOTHING = -1  # in place of an offset


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member of a group."""

    member_id: str
    instance_id: str | None
    client_id: str
    topics: tuple[str, ...]  # that it subscribes to
    assignment: tuple[TopicPartition, ...]
    target: tuple[TopicPartition, ...] | None = None  # of a consumer group: what it shall have
    member_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    """A group as its coordinator describes it."""

    group_id: str
    type: str
    state: str
    assignor: str
    members: tuple[GroupMember, ...]  # by member id
    group_epoch: int | None = None
    assignment_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A committed offset."""

    offset: int
    leader_epoch: int  # -1: not given with the commit
    metadata: str


@dataclass(frozen=True, slots=True)
class ShareOffset:
    """How far a share group is in a partition, as its share coordinator has it."""

    start_offset: int | None  # None: nobody has acknowledged, released or let anything time out there yet
    leader_epoch: int
    lag: int | None  # not acknowledged; None: not known, as the start, or the broker answers an older version


class ReadsGroups(Asking):
    """Groups, read."""

    def has_offsets_topic(self) -> bool:
        """Whether the cluster has ever had a group: whether its offsets topic exists."""
        return OFFSETS_TOPIC in self.topics()

    def coordinator(self, group_id: str) -> int:
        """The id of the broker that coordinates a group.

        Raises
        ------
        Refused
            If there is no offsets topic yet, or the coordinator is not known at the moment.
        """
        if not self.has_offsets_topic():
            raise Refused(
                f"this cluster has no {OFFSETS_TOPIC} yet, so no group has a coordinator; it was not asked for one, "
                "because that would create the topic",
                "COORDINATOR_NOT_AVAILABLE",
            )
        return self._find_coordinator(group_id)

    def _find_coordinator(self, group_id: str) -> int:
        answer = self._brokers.ask_any(
            self._askable(), "FindCoordinator", {"key": group_id, "keyType": GROUP}, version=2
        )
        refuse_error(answer, f"the coordinator of group {group_id!r}")
        return answer["nodeId"]

    def groups(self) -> tuple[ListedGroup, ...]:
        """Every group that a broker coordinates, by id; brokers that give no answer are left out."""
        if not self.has_offsets_topic():
            return ()
        found: dict[str, ListedGroup] = {}
        for broker_id in sorted(self.metadata().addresses):
            try:
                version = self._version(broker_id, "ListGroups", OLDEST_WITH_TYPES)
                answer = self._ask(broker_id, "ListGroups", _list_request(version), version)
                refuse_error(answer, f"the groups of broker {broker_id}")
            except NoAnswer:
                continue
            for each in answer["groups"]:
                found[each["groupId"]] = ListedGroup(
                    each["groupId"],
                    each.get("groupType", "").lower(),
                    each.get("groupState", ""),
                    each["protocolType"],
                )
        return tuple(found[group_id] for group_id in sorted(found))

    def group(self, group_id: str) -> DescribedGroup:
        """A group as its coordinator describes it.

        Raises
        ------
        Refused
            If there is no such group.
        """
        coordinator = self.coordinator(group_id)
        version = self._version(coordinator, "ListGroups", OLDEST_WITH_TYPES)
        answer = self._ask(coordinator, "ListGroups", _list_request(version), version)
        types = {each["groupId"]: each.get("groupType", CLASSIC).lower() for each in answer["groups"]}
        if group_id not in types:
            raise Refused(f"there is no group {group_id!r}", "GROUP_ID_NOT_FOUND")
        if types[group_id] == CONSUMER:
            return self._modern_group(coordinator, group_id, "ConsumerGroupDescribe", CONSUMER)
        if types[group_id] == SHARE:
            return self._modern_group(coordinator, group_id, "ShareGroupDescribe", SHARE)
        return self._classic_group(coordinator, group_id, types[group_id])

    def committed(
        self, group_id: str, places: Iterable[TopicPartition] | None = None, broker_id: int | None = None
    ) -> dict[TopicPartition, Committed]:
        """The offsets that a group has committed, by partition; of a group that does not exist none.

        Parameters
        ----------
        group_id : str
            Its name.
        places : iterable of TopicPartition, optional
            These partitions; None: all.
        broker_id : int, optional
            Whom to ask; None: the group's coordinator.

        Raises
        ------
        Refused
            If the coordinator answers with an error, for the group or for a partition.
        """
        asked = self.coordinator(group_id) if broker_id is None else broker_id
        return self._committed(asked, group_id, places)

    def _committed(
        self, coordinator: int, group_id: str, places: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, Committed]:
        version = self._version(coordinator, "OffsetFetch", NEWEST_OFFSET_FETCH_WITH_NAMES)
        wanted = {"groupId": group_id, "topics": _by_topic(places)}
        if version >= MANY_GROUPS_SINCE:
            (answer,) = self._ask(coordinator, "OffsetFetch", {"groups": [wanted]}, version)["groups"]
        else:
            answer = self._ask(coordinator, "OffsetFetch", wanted, version)
        refuse_error(answer, f"the offsets of group {group_id!r}")
        found = {}
        for topic in answer["topics"]:
            for each in topic["partitions"]:
                place = TopicPartition(topic["name"], each["partitionIndex"])
                refuse_error(each, f"the offset of group {group_id!r} in {place}")
                if each["committedOffset"] != NOTHING:
                    offset, leader_epoch = each["committedOffset"], each["committedLeaderEpoch"]
                    found[place] = Committed(offset, leader_epoch, each["metadata"] or "")
        return {place: found[place] for place in sorted(found)}

    def _classic_group(self, coordinator: int, group_id: str, group_type: str) -> DescribedGroup:
        found = self._described(coordinator, "DescribeGroups", {"groups": [group_id]})
        members = [_classic_member(each, found["protocolType"]) for each in found["members"]]
        return DescribedGroup(
            group_id,
            group_type,
            found["groupState"],
            found["protocolData"],
            tuple(sorted(members, key=lambda member: member.member_id)),
        )

    def share_offsets(self, group_id: str) -> dict[TopicPartition, ShareOffset]:
        """How far a share group is in each partition whose state is initialised.

        Raises
        ------
        Refused
            If the coordinator answers with an error; of a group that does not exist there is none.
        """
        asked = {"groups": [{"groupId": group_id, "topics": None}]}
        (answer,) = self._ask(self.coordinator(group_id), "DescribeShareGroupOffsets", asked)["groups"]
        refuse_error(answer, f"the offsets of share group {group_id!r}")
        found = {}
        for topic in answer["topics"]:
            for each in topic["partitions"]:
                place = TopicPartition(topic["topicName"], each["partitionIndex"])
                refuse_error(each, f"the start of share group {group_id!r} in {place}")
                start, lag = each["startOffset"], each.get("lag", NOTHING)
                is_known = start != NOTHING
                found[place] = ShareOffset(
                    start if is_known else None, each["leaderEpoch"], lag if is_known and "lag" in each else None
                )
        return {place: found[place] for place in sorted(found)}

    def _modern_group(self, coordinator: int, group_id: str, request: str, group_type: str) -> DescribedGroup:
        found = self._described(coordinator, request, {"groupIds": [group_id]})
        members = [
            GroupMember(
                each["memberId"],
                each.get("instanceId"),
                each["clientId"],
                tuple(each["subscribedTopicNames"]),
                _flat(each["assignment"]),
                _flat(each["targetAssignment"]) if "targetAssignment" in each else None,
                each["memberEpoch"],
            )
            for each in found["members"]
        ]
        return DescribedGroup(
            group_id,
            group_type,
            found["groupState"],
            found["assignorName"],
            tuple(sorted(members, key=lambda member: member.member_id)),
            found["groupEpoch"],
            found["assignmentEpoch"],
        )

    def _described(self, coordinator: int, name: str, values: dict[str, Any]) -> dict:
        (found,) = self._ask(coordinator, name, values)["groups"]
        refuse_error(found, f"group {found['groupId']!r}")
        return found


def _by_topic(places: Iterable[TopicPartition] | None) -> list[dict[str, Any]] | None:
    """Partitions as a request has them; None: all."""
    if places is None:
        return None
    numbers: dict[str, list[int]] = {}
    for place in places:
        numbers.setdefault(place.topic, []).append(place.partition)
    return [{"name": topic, "partitionIndexes": partitions} for topic, partitions in numbers.items()]


def _list_request(version: int) -> dict[str, Any]:
    """All groups, whatever their state and type."""
    return ({"statesFilter": []} if version >= 4 else {}) | ({"typesFilter": []} if version >= 5 else {})


def _classic_member(member: dict, protocol_type: str) -> GroupMember:
    topics: tuple[str, ...] = ()
    assignment: tuple[TopicPartition, ...] = ()
    if protocol_type == CONSUMER:
        try:
            topics = decode_subscription(member["memberMetadata"]).topics if member["memberMetadata"] else ()
            given = member["memberAssignment"]
            assignment = tuple(sorted(decode_assignment(given).partitions)) if given else ()
        except KafkaLearnError:  # a client may put there what it likes
            pass
    return GroupMember(
        member["memberId"], member.get("groupInstanceId"), member["clientId"], tuple(sorted(topics)), assignment
    )


def _flat(assignment: dict) -> tuple[TopicPartition, ...]:
    pairs = ((topic["topicName"], number) for topic in assignment["topicPartitions"] for number in topic["partitions"])
    return tuple(sorted(TopicPartition(*pair) for pair in pairs))


# The disk of one broker: the logs of its replicas and its checkpoints, read by our own reader.
#
# Files of a broker that runs can be read at any time: what it has written is there at once, flushed or not.

HIGH_WATERMARKS, LOG_STARTS = "replication-offset-checkpoint", "log-start-offset-checkpoint"
CLEANED, RECOVERY_POINTS = "cleaner-offset-checkpoint", "recovery-point-offset-checkpoint"
EPOCHS = "leader-epoch-checkpoint"
TRIES, PAUSE_S = 20, 0.05
FOLDER_TRIES = 100


class Disk:
    """The log folder of one broker."""

    def __init__(self, folder: Path) -> None:
        """As its ``log.dirs`` names it."""
        self.folder = folder

    def replicas(self) -> tuple[TopicPartition, ...]:
        """The partitions that have a replica here."""
        places = []
        for path in self.folder.iterdir():
            topic, _, number = path.name.rpartition("-")
            if path.is_dir() and topic and number.isdecimal():
                places.append(TopicPartition(topic, int(number)))
        return tuple(sorted(places))

    def segments(self, topic: str, partition: int) -> tuple[Segment, ...]:
        """The segments of a replica, by base offset; the last one is active.

        Raises
        ------
        NotThere
            If there is no such replica here, or a file of it cannot be read.
        """
        folder = self._folder_of(topic, partition)
        for attempt in range(TRIES):
            paths = sorted(folder.glob("*.log"))
            try:
                return tuple(read_segment(path, topic, partition, has_checksum=False) for path in paths)
            except KafkaLearnError as error:
                if attempt == TRIES - 1 or all(path.exists() for path in paths):
                    raise NotThere(str(error)) from None
            time.sleep(PAUSE_S)  # the cleaner puts other files in the place of these just now
        raise AssertionError("unreachable")

    def batches(self, topic: str, partition: int) -> tuple[Batch, ...]:
        """The batches of a replica, in order."""
        return tuple(batch for segment in self.segments(topic, partition) for batch in segment.batches)

    def records(self, topic: str, partition: int) -> tuple[Record, ...]:
        """The data records of a replica, in order."""
        return tuple(
            record for batch in self.batches(topic, partition) for record in batch.records if record.control is None
        )

    def log_end_offset(self, topic: str, partition: int) -> int:
        """The log end offset (LEO) of a replica: the offset that its next record will get."""
        active = self.segments(topic, partition)[-1]
        return active.batches[-1].last_offset + 1 if active.batches else active.base_offset

    def leader_epochs(self, topic: str, partition: int) -> tuple[tuple[int, int], ...]:
        """The leader epochs of a replica, each with the offset where it begins, as its file on disk has them."""
        path = self._folder_of(topic, partition) / EPOCHS
        lines = path.read_text(encoding="utf-8").split("\n")[2:] if path.exists() else []
        pairs = (line.split() for line in lines if line.strip())
        return tuple((int(epoch), int(start)) for epoch, start in pairs)

    def checkpoint(self, name: str) -> dict[TopicPartition, int]:
        """A checkpoint file of the broker: an offset for each partition; empty if it was not written yet.

        Parameters
        ----------
        name : str
            `HIGH_WATERMARKS`, `LOG_STARTS`, `CLEANED` or `RECOVERY_POINTS`.
        """
        return {TopicPartition(*place): offset for place, offset in read_checkpoint(self.folder / name).items()}

    def _folder_of(self, topic: str, partition: int) -> Path:
        folder = self.folder / f"{topic}-{partition}"
        for _ in range(FOLDER_TRIES):
            if any(folder.glob("*.log")):
                return folder
            time.sleep(PAUSE_S)  # a topic is created before its brokers have made the folder of each replica
        there = ", ".join(map(str, self.replicas())) or "nothing"
        raise NotThere(f"there is no replica of {topic}-{partition} in {self.folder}; there is {there}")


# The log of a partition, asked of its leader: offsets, epochs, batches and records. No group is involved.

LATEST, EARLIEST = -1, -2  # in place of a timestamp
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
NEWEST_FETCH_WITH_NAMES = 12  # from 13 on it names topics by their ids
NEWEST_WITHOUT_TIMEOUT = 9  # of ListOffsets: from 10 on, with Kafka 4.0, it says how long remote storage may take
FETCH_BYTES = 8 * 2**20
CONSUMER_REPLICA = -1  # in place of a replica's broker id


class ReadsLogs(ReadsPartitions):
    """Logs, read."""

    def high_watermark(self, topic: str, partition: int) -> int:
        """The high watermark (HW): the end of what consumers may read, exclusive."""
        return self._list_offset(topic, partition, LATEST, READ_UNCOMMITTED)

    def last_stable_offset(self, topic: str, partition: int) -> int:
        """The last stable offset (LSO): the end of what consumers that read committed records may read, exclusive."""
        return self._list_offset(topic, partition, LATEST, READ_COMMITTED)

    def log_start_offset(self, topic: str, partition: int) -> int:
        """Where the log begins."""
        return self._list_offset(topic, partition, EARLIEST, READ_UNCOMMITTED)

    def _list_offset(self, topic: str, partition: int, timestamp: int, isolation: int) -> int:
        asked = {"partitionIndex": partition, "timestamp": timestamp}
        answer = self._ask_leader(
            topic,
            partition,
            "ListOffsets",
            {
                "replicaId": CONSUMER_REPLICA,
                "isolationLevel": isolation,
                "topics": [{"name": topic, "partitions": [asked]}],
            },
            NEWEST_WITHOUT_TIMEOUT,
        )
        (found,) = answer["topics"][0]["partitions"]
        refuse_error(found, f"offsets of {topic}-{partition}")
        return found["offset"]

    def leader_epochs(self, topic: str, partition: int) -> tuple[tuple[int, int], ...]:
        """The leader epochs that the leader's log has, each with the offset where it begins.

        An epoch in which no record was written is not among them: its end is where it began.
        """
        newest, end = self.end_offset_for(topic, partition, self.partition(topic, partition).leader_epoch)
        found: list[tuple[int, int]] = []
        while newest >= 0:
            below, below_end = self.end_offset_for(topic, partition, newest - 1) if newest else (-1, -1)
            start = below_end if below >= 0 else self.log_start_offset(topic, partition)
            if start < end:
                found.append((newest, start))
            newest, end = below, start
        return tuple(reversed(found))

    def end_offset_for(self, topic: str, partition: int, leader_epoch: int) -> tuple[int, int]:
        """For a leader epoch the newest one not above it that the leader's log has, and where that ends; -1: none."""
        asked = {"partition": partition, "currentLeaderEpoch": -1, "leaderEpoch": leader_epoch}
        answer = self._ask_leader(
            topic,
            partition,
            "OffsetForLeaderEpoch",
            {"replicaId": CONSUMER_REPLICA, "topics": [{"topic": topic, "partitions": [asked]}]},
        )
        (found,) = answer["topics"][0]["partitions"]
        refuse_error(found, f"epochs of {topic}-{partition}")
        return found["leaderEpoch"], found["endOffset"]

    def batches(self, topic: str, partition: int, start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """The batches of a partition up to its high watermark, as they lie in the leader's log.

        Parameters
        ----------
        topic, partition : str, int
            Which log.
        start, stop : int or None
            Offsets: the first batch is the one that has `start`, or the next one; none begins at `stop` or behind it.
            None: from the log start, up to the high watermark as it is now.

        Raises
        ------
        NoAnswer, Refused
            If the leader gives no answer, or an error, such as OFFSET_OUT_OF_RANGE.
        """
        offset = self.log_start_offset(topic, partition) if start is None else start
        end = self.high_watermark(topic, partition)
        end = end if stop is None else min(stop, end)
        while offset < end:
            found = self._fetch(topic, partition, offset)
            if not found:
                return  # what is left was cleaned away
            for batch in found:
                if batch.base_offset >= end:
                    return
                yield batch
            offset = found[-1].last_offset + 1

    def records(
        self, topic: str, partition: int, start: int | None = None, stop: int | None = None
    ) -> Iterator[Record]:
        """The data records of a partition, by offset; arguments and errors as for `batches`."""
        for batch in self.batches(topic, partition, start, stop):
            for record in batch.records:
                is_wanted = (start is None or record.offset >= start) and (stop is None or record.offset < stop)
                if record.control is None and is_wanted:
                    yield record

    def _fetch(self, topic: str, partition: int, offset: int) -> tuple[Batch, ...]:
        asked = {"partition": partition, "fetchOffset": offset, "partitionMaxBytes": FETCH_BYTES}
        topics = [{"topic": topic, "partitions": [asked]}]
        values = {"replicaId": CONSUMER_REPLICA, "maxWaitMs": 100, "minBytes": 1, "topics": topics}
        leader = self.metadata([topic]).leaders.get((topic, partition))
        if leader is None:
            raise KafkaLearnError(f"{topic}-{partition} has no leader to read from, or does not exist")
        version = self._version(leader, "Fetch", NEWEST_FETCH_WITH_NAMES)
        answer = self._ask(leader, "Fetch", {**values, "forgottenTopicsData": []}, version)
        refuse_error(answer, f"records of {topic}-{partition}")
        (found,) = answer["responses"][0]["partitions"]
        refuse_error(found, f"records of {topic}-{partition}")
        segment = parse_segment(found["records"] or b"", topic, partition, offset)
        return tuple(batch for batch in segment.batches if batch.last_offset >= offset)


class Cluster(ReadsLogs, ReadsGroups, ReadsSettings):
    """A cluster to read from; to be closed, or used in a ``with`` block."""

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()

    def __enter__(self) -> Cluster:
        """The cluster itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def connect(addresses: str, config: Mapping[str, Any] | None = None, timeout_s: float = TIMEOUT_S) -> Cluster:
    """Your own cluster, to read from: strictly read-only.

    It sends requests that change nothing: no topic is created by asking for it, nothing joins or commits in a group,
    records are read by offset, and no coordinator is asked for before the offsets topic is seen to exist, because that
    would create it.

    Parameters
    ----------
    addresses : str
        As ``bootstrap.servers`` has them: ``"localhost:9092"``, several with commas between.
    config : mapping, optional
        The security settings of your clients, by the names of librdkafka and confluent-kafka: ``security.protocol``,
        ``sasl.mechanism``, ``ssl.ca.location`` and so on (`kafkalearn.live.requests.SETTINGS`). Others are
        not looked at, so a client's whole configuration will do.
    timeout_s : float
        How long to wait for each answer.

    Returns
    -------
    Cluster
        Connected: a broker has answered.

    Raises
    ------
    NoAnswer
        If none of the addresses answers.
    Refused
        If the broker does not believe who you are.
    KafkaLearnError
        If an address or a setting has no meaning.
    """
    brokers = Brokers(parse_addresses(addresses), security_of(config or {}), timeout_s)
    cluster = Cluster(brokers)
    try:
        cluster.metadata()
    except BaseException:
        cluster.close()
        raise
    return cluster
