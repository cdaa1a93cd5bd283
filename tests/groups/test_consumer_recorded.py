"""What real coordinators of KIP-848 groups answered and wrote, and where their groups came to rest."""

from copy import deepcopy

import pytest

from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, Settings, check, join, leave, start, step
from tests.recorded import recorded
from tests.replay.scripts import differences

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


REQUESTS = recorded("kip848-requests")


def test_the_recording_has_every_case_in_four_lines_and_every_error_that_a_group_can_answer():
    releases = {}
    for case in REQUESTS["cases"]:
        releases.setdefault(case["id"], set()).add(case["release"])
    assert len(releases) == 31
    assert all(found >= {"4.0.2", "4.1.2", "4.2.1", "4.3.1"} for found in releases.values())
    assert releases["taken-back"] >= {"4.0.1", "4.1.1"}
    histories = REQUESTS["cases"] + REQUESTS["random"]
    answers = [each["answer"] for case in histories for each in case["trace"] if "answer" in each]
    told = {answer["error"] for answer in answers if "error" in answer}
    told |= {error for answer in answers for *_, error in answer.get("errors", ())}
    assert told == {
        "NONE",
        "FENCED_INSTANCE_ID",
        "FENCED_MEMBER_EPOCH",
        "GROUP_ID_NOT_FOUND",
        "GROUP_MAX_SIZE_REACHED",
        "ILLEGAL_GENERATION",
        "INVALID_REQUEST",
        "NON_EMPTY_GROUP",
        "STALE_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "UNKNOWN_TOPIC_ID",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "UNRELEASED_INSTANCE_ID",
        "UNSUPPORTED_ASSIGNOR",
        "UNSUPPORTED_VERSION",
    }


FIRST = recorded("groups-kip848")


@pytest.mark.parametrize("release", ["4.1", "4.2"])
@pytest.mark.parametrize("case", FIRST["vectors"], ids=lambda case: case["id"])
def test_since_4_1_only_the_record_of_the_topics_partitions_is_gone(case, release):
    case = deepcopy(case)
    for each in case["steps"]:
        kept = [record for record in each["expect"]["records"] if record != "consumer-group-partition-metadata"]
        each["expect"]["records"] = kept
    for found, expected in differences({"player": "tests.replay.groups.AGroup"}, case, release):
        assert found == expected
