"""A recorded history of requests: which event each step stands for, and what a group looks like from outside."""

from kafkalearn.group.consumer import (
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    TopicChanged,
)
from kafkalearn.group.consumer.effects import CommitAnswered, DeleteAnswered, HeartbeatAnswered
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import at_least

MAX_SIZE = 14  # of the brokers that were asked


def settings_of(case):
    interval_ms = case.get("assignment_interval_ms", 0)
    return Settings(
        release=case["release"],
        assignment_interval_ms=interval_ms,
        max_size=MAX_SIZE,
        topics={name: topic["partitions"] for name, topic in case["topics"].items()},
        topic_ids={name: topic["id"] for name, topic in case["topics"].items()},
    )


def event_of(recorded_step):
    fields = dict(recorded_step)
    match fields.pop("op"):
        case "heartbeat":
            owned = fields.get("owned")
            return ConsumerGroupHeartbeat(
                fields["member"],
                fields["epoch"],
                fields.get("topics"),
                None if owned is None else partitions_of(owned),
                fields.get("instance"),
                fields.get("rebalance_ms"),
                fields.get("assignor"),
            )
        case "commit":
            return OffsetCommit(fields["member"], fields["epoch"], fields["partitions"], fields["version"])
        case "topic":
            return TopicChanged(fields["topic"], fields["partitions"], fields.get("id"))
        case "delete":
            return GroupDeleted()
        case "expire":
            return OffsetsExpired()
        case "move":
            return PartitionMoved()


def partitions_of(by_topic):
    return tuple(TopicPartition(topic, number) for topic, numbers in by_topic.items() for number in numbers)


def by_topic(partitions):
    return {
        topic: sorted(each.partition for each in partitions if each.topic == topic)
        for topic in sorted({each.topic for each in partitions})
    }


def answer_of(group):
    """The answer to the last request, as it was recorded; None: there was none."""
    for effect in group.effects:
        match effect:
            case HeartbeatAnswered(error="NONE"):
                answer = {"error": "NONE", "epoch": effect.member_epoch}
                is_told = effect.assignment is not None
                return answer | {"assignment": by_topic(effect.assignment)} if is_told else answer
            case HeartbeatAnswered() | DeleteAnswered():
                return {"error": effect.error}
            case CommitAnswered():
                return {"errors": sorted([*partition, error] for partition, error in effect.errors)}
    return None


def description_of(group, release):
    """What ConsumerGroupDescribe says of a group: topics that are gone are left out."""
    if group.group_type != "Consumer":
        return {"error": "GROUP_ID_NOT_FOUND"}
    return {
        "state": group.state,
        "group_epoch": group.group_epoch,
        "assignment_epoch": group.assignment_epoch,
        "members": {member.member_id: description_of_member(group, member, release) for member in group.members},
    }


def description_of_member(group, member, release):
    also_pending = member.pending_partitions if at_least("4.3", release) else ()
    held = [each for each in member.assigned_partitions + also_pending if each.topic in group.partition_counts]
    target = [each for each in group.target(member.member_id) if each.topic in group.partition_counts]
    description = {"epoch": member.epoch, "topics": sorted(member.topics)}
    if member.instance_id is not None:
        description["instance"] = member.instance_id
    return description | {"assigned": by_topic(held), "target": by_topic(target)}
