"""Groups as their coordinators describe them, and what they have committed.

Whoever asks for a coordinator has the offsets topic created where there is none. So it is looked for first, and
without it there are no groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.consuming.listing import ListedGroup
from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.reading.asking import Asking
from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.offsets import decode_assignment, decode_subscription
from kafkalearn.topic_partition import TopicPartition

OFFSETS_TOPIC = "__consumer_offsets"
CLASSIC, CONSUMER = "classic", "consumer"
NEWEST_WITH_NAMES = 9  # from 10 on an OffsetFetch names topics by their ids
MANY_GROUPS_SINCE = 8
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
            return self._consumer_group(coordinator, group_id)
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
        version = self._version(coordinator, "OffsetFetch", NEWEST_WITH_NAMES)
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
        answer = self._ask(coordinator, "DescribeGroups", {"groups": [group_id]})
        (found,) = answer["groups"]
        refuse_error(found, f"group {group_id!r}")
        members = [_classic_member(each, found["protocolType"]) for each in found["members"]]
        return DescribedGroup(
            group_id,
            group_type,
            found["groupState"],
            found["protocolData"],
            tuple(sorted(members, key=lambda member: member.member_id)),
        )

    def _consumer_group(self, coordinator: int, group_id: str) -> DescribedGroup:
        answer = self._ask(
            coordinator,
            "ConsumerGroupDescribe",
            {"groupIds": [group_id], "includeAuthorizedOperations": False},
        )
        (found,) = answer["groups"]
        refuse_error(found, f"group {group_id!r}")
        members = [
            GroupMember(
                each["memberId"],
                each["instanceId"],
                each["clientId"],
                tuple(each["subscribedTopicNames"]),
                _flat(each["assignment"]),
                _flat(each["targetAssignment"]),
                each["memberEpoch"],
            )
            for each in found["members"]
        ]
        return DescribedGroup(
            group_id,
            CONSUMER,
            found["groupState"],
            found["assignorName"],
            tuple(sorted(members, key=lambda member: member.member_id)),
            found["groupEpoch"],
            found["assignmentEpoch"],
        )


def _by_topic(places: Iterable[TopicPartition] | None) -> list[dict[str, object]] | None:
    """Partitions as a request has them; None: all."""
    if places is None:
        return None
    numbers: dict[str, list[int]] = {}
    for place in places:
        numbers.setdefault(place.topic, []).append(place.partition)
    return [{"name": topic, "partitionIndexes": partitions} for topic, partitions in numbers.items()]


def _list_request(version: int) -> dict[str, object]:
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
