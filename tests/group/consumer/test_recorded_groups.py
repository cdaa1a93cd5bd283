"""Histories of KIP-848 groups on a real broker, gone through by the coordinator with heartbeats until nothing moves."""

import pytest

from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, Settings, check, join, leave, start, step
from tests.recorded import recorded

RECORDED = recorded("assignments")
COUNTS = {name: topic["partitions"] for name, topic in RECORDED["topics"].items()}
IDS = {name: topic["id"] for name, topic in RECORDED["topics"].items()}
CASES = [case for case in RECORDED["cases"] if case["protocol"] == "consumer"]


class Members:
    """The clients of the recording: each follows its assignment at once, until nothing changes any more."""

    def __init__(self, case):
        self.settings = Settings(assignment_interval_ms=0, topics=COUNTS, topic_ids=IDS)
        self.group = start(self.settings)
        self.assignor = case["assignor"]
        self.instances, self.owned = {}, {}

    def take(self, recorded_step):
        member_id, topics = recorded_step["member"], tuple(recorded_step.get("subscription", ()))
        match recorded_step["op"]:
            case "join" | "static-rejoin":
                instance_id = recorded_step.get("instance")
                self.instances[member_id], self.owned[member_id] = instance_id, ()
                self.send(join(member_id, topics, instance_id, assignor=self.assignor))
            case "leave":
                self.send(leave(member_id, self.instances[member_id]))
            case "static-leave":
                self.send(leave(member_id, self.instances[member_id], comes_back=True))
            case "subscribe":
                self.beat(member_id, topics)
        self.settle()

    def settle(self):
        before = None
        while before != (self.group.members, self.owned):
            before = self.group.members, dict(self.owned)
            for member in self.group.members:
                if member.epoch > 0:
                    self.beat(member.member_id)

    def beat(self, member_id, topics=None):
        epoch, instance_id = self.group.member(member_id).epoch, self.instances[member_id]
        self.send(ConsumerGroupHeartbeat(member_id, epoch, topics, self.owned[member_id], instance_id))

    def send(self, heartbeat):
        self.group = step(self.settings, self.group, heartbeat)
        check(self.settings, self.group)
        answer = self.group.effects[-1]
        assert answer.error == "NONE"
        if answer.assignment is not None:
            self.owned[heartbeat.member_id] = answer.assignment


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_group_comes_to_rest_as_on_the_real_broker_at_every_step(case):
    members = Members(case)
    for recorded_step in case["steps"]:
        members.take(recorded_step)
        state = recorded_step["state"]
        assert {each.member_id: set(each.assigned_partitions) for each in members.group.members} == {
            each["member"]: {(topic, number) for topic, numbers in each["assignment"].items() for number in numbers}
            for each in state["members"]
        }, recorded_step["op"]
        assert max(each.epoch for each in members.group.members) == state["epoch"]


def test_the_recording_has_every_kind_of_step():
    assert sum(len(case["steps"]) for case in CASES) == 169
    ops = {each["op"] for case in CASES for each in case["steps"]}
    assert ops == {"join", "leave", "subscribe", "static-leave", "static-rejoin"}
