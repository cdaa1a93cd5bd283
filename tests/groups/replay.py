"""A recorded trace of the protocol, played again: which request each step stands for, and what it came to."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, Settings, TimePassed, join, start
from kafkalearn.groups.consumer.events import ConsumerGroupEvent, HeartbeatAnswered, RecordWritten
from kafkalearn.groups.consumer.state import Group


@dataclass
class Replay:
    """The recorder left out what had not changed: the epoch a member was last answered, and all fields but these."""

    step: Callable[[Settings, Group, ConsumerGroupEvent], Group]
    settings: Settings
    group: Group
    epochs: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, step, trace, release):
        interval_ms = trace.get("assignment_interval_ms")
        settings = Settings(release=release, assignment_interval_ms=interval_ms, topics=trace["topics"])
        return cls(step, settings, start(settings))

    def play(self, recorded_step):
        self.group = self.step(self.settings, self.group, self.event(recorded_step))
        for answer in self.answers:
            if answer.error == "NONE":
                self.epochs[answer.member_id] = answer.member_epoch
        return self.outcome()

    def event(self, recorded_step):
        if recorded_step["op"] == "sleep":
            return TimePassed(recorded_step["ms"])
        member_id = recorded_step["m"]
        epoch = recorded_step.get("epoch", self.epochs.get(member_id, 0))
        instance_id = recorded_step.get("instance")
        if epoch == 0:
            rebalance_timeout_ms = recorded_step.get("rebalance", 300_000)
            return join(member_id, tuple(recorded_step["topics"]), instance_id, rebalance_timeout_ms)
        owned = recorded_step.get("owned")
        partitions = None if owned is None else tuple(TopicPartition(*each) for each in owned)
        return ConsumerGroupHeartbeat(member_id, epoch, owned=partitions, instance_id=instance_id)

    @property
    def answers(self):
        return [effect for effect in self.group.effects if isinstance(effect, HeartbeatAnswered)]

    def outcome(self):
        """Everything the recorder wrote down of a step, in its own form."""
        return {
            "response": [answer_in_their_form(answer) for answer in self.answers],
            "records": [effect.kind for effect in self.group.effects if isinstance(effect, RecordWritten)],
            "time_ms": self.group.now_ms,
            "group": group_in_their_form(self.group),
        }


def recorded_outcome(recorded_step):
    """The same of a recorded step."""
    return {
        "response": [recorded_step["response"]] if "response" in recorded_step else [],
        "records": recorded_step.get("records", []),
        "time_ms": recorded_step["time_ms"],
        "group": recorded_step["group"],
    }


def answer_in_their_form(answer):
    if answer.error != "NONE":
        return {"error": answer.error}
    form = {
        "error": answer.error,
        "member_epoch": answer.member_epoch,
        "heartbeat_interval_ms": answer.heartbeat_interval_ms,
    }
    return form if answer.assignment is None else form | {"assignment": [list(each) for each in answer.assignment]}


def group_in_their_form(group):
    return {
        "state": group.state,
        "group_epoch": group.group_epoch,
        "assignment_epoch": group.assignment_epoch,
        "members": {
            member.member_id: {
                "epoch": member.epoch,
                "state": member.state,
                "assigned": [list(each) for each in member.assigned_partitions],
                "pending_revocation": [list(each) for each in member.pending_partitions],
                "target": sorted(list(each) for each in group.target(member.member_id)),
            }
            for member in group.members
        },
    }


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
