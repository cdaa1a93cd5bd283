"""The fields of the requests that no client sends by itself: chosen member ids, deprecated fields, single batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafkalearn.live.requests.record_batches import NewRecord, encode_batch
from kafkalearn.topic_partition import TopicPartition

NO_GENERATION, NO_MEMBER = -1, ""
NEWEST_PRODUCE_WITH_NAMES = 12  # from 13 on topics are named by their ids
NEWEST_COMMIT_WITH_NAMES = 9
COMMIT_WITH_RETENTION = 2  # the oldest version that 4.x takes; up to 4 it says how long to keep the offset


def produce(
    place: TopicPartition, records: Sequence[NewRecord], acks: int = -1, timeout_ms: int = 1000, **producer: object
) -> dict[str, object]:
    """One batch for one partition; further words are those of `encode_batch`."""
    batch = encode_batch(records, **producer)
    partitions = [{"index": place.partition, "records": batch}]
    return {
        "transactionalId": None,
        "acks": acks,
        "timeoutMs": timeout_ms,
        "topicData": [{"name": place.topic, "partitionData": partitions}],
    }


def commit(
    group_id: str,
    offsets: Mapping[TopicPartition, int],
    member_id: str = NO_MEMBER,
    generation: int = NO_GENERATION,
    retention_ms: int | None = None,
    instance_id: str | None = None,
) -> dict[str, object]:
    """Offsets of a group; `retention_ms` can be sent in versions 2 to 4, `instance_id` from 7 on."""
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partitionIndex": place.partition, "committedOffset": offset, "committedMetadata": ""}
                for place, offset in offsets.items()
                if place.topic == topic
            ],
        }
        for topic in dict.fromkeys(place.topic for place in offsets)
    ]
    return {
        "groupId": group_id,
        "generationIdOrMemberEpoch": generation,
        "memberId": member_id,
        "topics": topics,
        **({} if retention_ms is None else {"retentionTimeMs": retention_ms}),
        **({} if instance_id is None else {"groupInstanceId": instance_id}),
    }


def reassign(
    place: TopicPartition, replicas: Sequence[int] | None, may_change_factor: bool = True
) -> dict[str, object]:
    """Other replicas for a partition; None: what is under way is cancelled. The flag can be sent from version 1 on."""
    partition = {"partitionIndex": place.partition, "replicas": None if replicas is None else list(replicas)}
    topics = [{"name": place.topic, "partitions": [partition]}]
    return {"topics": topics, **({} if may_change_factor else {"allowReplicationFactorChange": False})}


def elect(place: TopicPartition, is_unclean: bool = False) -> dict[str, object]:
    """An election for a partition: of its preferred leader, or of anyone who lives if there is no leader."""
    return {
        "electionType": int(is_unclean),
        "topicPartitions": [{"topic": place.topic, "partitions": [place.partition]}],
    }


def delete_offsets(group_id: str, places: Iterable[TopicPartition]) -> dict[str, object]:
    """Committed offsets to be deleted."""
    places = list(places)
    topics = [
        {
            "name": topic,
            "partitions": [{"partitionIndex": place.partition} for place in places if place.topic == topic],
        }
        for topic in dict.fromkeys(place.topic for place in places)
    ]
    return {"groupId": group_id, "topics": topics}


def join_group(
    group_id: str,
    member_id: str,
    protocols: Mapping[str, bytes],
    session_timeout_ms: int,
    rebalance_timeout_ms: int,
    instance_id: str | None = None,
    protocol_type: str = "consumer",
) -> dict[str, object]:
    """A member of a classic group that wants to join, with the assignors it knows in its own order."""
    return {
        "groupId": group_id,
        "sessionTimeoutMs": session_timeout_ms,
        "rebalanceTimeoutMs": rebalance_timeout_ms,
        "memberId": member_id,
        "protocolType": protocol_type,
        "protocols": [{"name": name, "metadata": metadata} for name, metadata in protocols.items()],
        **({} if instance_id is None else {"groupInstanceId": instance_id}),
    }


def sync_group(
    group_id: str,
    member_id: str,
    generation: int,
    assignments: Mapping[str, bytes] | None = None,
    instance_id: str | None = None,
) -> dict[str, object]:
    """A member that asks for its assignment; the leader brings those of all."""
    given = [{"memberId": name, "assignment": assignment} for name, assignment in (assignments or {}).items()]
    values = {"groupId": group_id, "generationId": generation, "memberId": member_id, "assignments": given}
    return values | ({} if instance_id is None else {"groupInstanceId": instance_id})


def heartbeat(group_id: str, member_id: str, generation: int, instance_id: str | None = None) -> dict[str, object]:
    """A member of a classic group that is alive."""
    values = {"groupId": group_id, "generationId": generation, "memberId": member_id}
    return values | ({} if instance_id is None else {"groupInstanceId": instance_id})


def leave_group(group_id: str, members: Mapping[str, str | None]) -> dict[str, object]:
    """Members that leave a classic group, each with its instance id or None, from version 3 on."""
    left = [{"memberId": member_id, "groupInstanceId": instance_id} for member_id, instance_id in members.items()]
    return {"groupId": group_id, "members": left}


def consumer_heartbeat(
    group_id: str,
    member_id: str,
    member_epoch: int,
    topics: Sequence[str] | None = None,
    owned: Mapping[str, Sequence[int]] | None = None,
    assignor: str | None = None,
    rebalance_timeout_ms: int = -1,
    instance_id: str | None = None,
) -> dict[str, object]:
    """The one request of a KIP-848 member; None: as in the heartbeat before. `owned` is by topic id."""
    partitions = owned and [{"topicId": each, "partitions": list(numbers)} for each, numbers in owned.items()]
    return {
        "groupId": group_id,
        "memberId": member_id,
        "memberEpoch": member_epoch,
        "instanceId": instance_id,
        "rebalanceTimeoutMs": rebalance_timeout_ms,
        "subscribedTopicNames": None if topics is None else list(topics),
        "serverAssignor": assignor,
        "topicPartitions": [] if owned == {} else partitions,
    }
