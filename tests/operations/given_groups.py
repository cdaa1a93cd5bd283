"""The groups and topics of the recorded clusters, as our own nouns."""

from __future__ import annotations

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.offsets.replay import CLASSIC, CONSUMER, Committed, Group, Member
from kafkalearn.operations.groups import Coordinator, PartitionLog

FIRST_MS, MINUTE_MS, LATER_MS = 1_700_000_000_000, 60_000, 1_800_000_000_000
PLAN = "payments,0,7\npayments,2,70\norders,1,1\n"


def topics_of(cluster):
    """The logs of its topics; only payments has records of times that somebody asks for."""
    ends = {topic: [of_it[str(number)] for number in range(len(of_it))] for topic, of_it in cluster["ends"].items()}
    logs = {topic: [PartitionLog(end) for end in of_it] for topic, of_it in ends.items()}
    times = [(offset, FIRST_MS + MINUTE_MS * offset) for offset in range(10)]
    return logs | {"payments": [PartitionLog(10, times=times)] * 3}


def group_of(cluster, group_id):
    """A group as its brokers described it; one that they did not know is Dead."""
    if group_id not in cluster["groups"]:
        return Group(group_id, state="Dead")
    found = cluster["groups"][group_id]
    is_new = found["type"] == "CONSUMER"
    epoch = 3 if cluster["brokers"].startswith("4.3") else 2  # of both members: see the verbose descriptions
    members = tuple(
        Member(
            each["member_id"],
            each["client_id"],
            each["host"],
            each["instance_id"],
            epoch if is_new else None,
            subscribed=tuple({topic for topic, _ in each["assigned"]}),
            assigned=places(each["assigned"]),
            target=places(each["target"]) if is_new else None,
        )
        for each in found["members"]
    )
    offsets = [Committed(topic, number, offset) for topic, number, offset, _ in sorted(found["offsets"])]
    return Group(
        group_id,
        CONSUMER if is_new else CLASSIC,
        found["state"].capitalize(),
        "consumer" if members else None,
        found["assignor"] or None,
        epoch,
        epoch if is_new else None,
        members=members,
        offsets=tuple(offsets),
    )


def fresh_group(group_id):
    """The group that each release reset and deleted."""
    orders = tuple(Committed("orders", number, number) for number in range(6))
    return Group(group_id, offsets=(*orders, Committed("payments", 1, 4)))


def coordinator_of(cluster, group_id):
    """Of a group that nobody knows it does not matter."""
    return Coordinator(*cluster["groups"][group_id]["coordinator"]) if group_id in cluster["groups"] else Coordinator(1)


def places(pairs):
    return tuple(TopicPartition(*each) for each in pairs)
