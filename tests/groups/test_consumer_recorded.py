"""What real coordinators of KIP-848 groups answered and wrote, and where their groups came to rest."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from conformance.mechanisms.consumer_groups import answer_of, by_topic, description_of, event_of
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, Settings, TimePassed, check, join, leave, start, step
from kafkalearn.groups.consumer.events import ConsumerGroupEvent, HeartbeatAnswered, RecordWritten
from kafkalearn.groups.consumer.state import Group
from tests.every import every_case
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


REQUESTS = recorded("kip848-requests")


def name_of(case):
    return f"{case['id']}-{case['release']}"


def assert_same(case):
    settings = settings_of(case)
    group = start(settings)
    description = {"error": "GROUP_ID_NOT_FOUND"}
    for place, each in enumerate(case["trace"]):
        group = step(settings, group, event_of(each["step"]))
        description = changed(description, each.get("group", {}))
        assert (place, answer_of(group)) == (place, each.get("answer"))
        assert (place, description_of(group, case["release"])) == (place, description)
    assert by_topic(group.committed) == case["committed"]


def changed(description, change):
    """The description of a group after a step, of which the recorder wrote down only what changed."""
    if "error" in change or not change:
        return change or description
    fields = {name: value for name, value in {**description, **change}.items() if name not in ("error", "gone")}
    members = {**description.get("members", {}), **change.get("members", {})}
    gone = change.get("gone", ())
    return fields | {"members": {name: value for name, value in members.items() if name not in gone}}


@every_case("case", REQUESTS["cases"], ids=name_of)
def test_a_real_broker_answered_every_request_like_this(case):
    assert_same(case)


@pytest.mark.parametrize("case", REQUESTS["random"], ids=name_of)
def test_it_did_so_in_histories_that_were_drawn_at_random(case):
    assert_same(case)


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
SINCE = recorded("groups-kip848-since")


def id_of(trace):
    return trace["id"]


def assert_replayed(trace, release, outcomes=lambda outcome: outcome):
    replay = Replay.of(step, trace, release)
    for recorded_step in trace["trace"]:
        assert replay.play(recorded_step["step"]) == outcomes(recorded_outcome(recorded_step)), recorded_step["step"]


@pytest.mark.parametrize("trace", FIRST["vectors"], ids=id_of)
def test_the_coordinator_of_4_0_answers_and_writes_what_the_real_one_did(trace):
    assert_replayed(trace, release="4.0")


@pytest.mark.parametrize("release", ["4.1", "4.2"])
@pytest.mark.parametrize("trace", FIRST["vectors"], ids=id_of)
def test_since_4_1_only_the_record_of_the_topics_partitions_is_gone(trace, release):
    def without_topics(outcome):
        records = [record for record in outcome["records"] if record != "consumer-group-partition-metadata"]
        return outcome | {"records": records}

    assert_replayed(trace, release, without_topics)


@pytest.mark.parametrize("trace", SINCE["vectors"], ids=id_of)
def test_the_coordinator_of_4_3_answers_and_writes_what_the_real_one_did(trace):
    assert_replayed(trace, release="4.3")


# A recorded trace of the protocol, played again: which request each step stands for, and what it came to.


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
