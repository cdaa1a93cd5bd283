"""Histories of real groups on a real broker, replayed step by step from the assignments of the steps before.

Ids that share a bucket are walked in the order in which the broker put them there. For topics that follows from
their names and from the records of the targets, and one of these histories would tell if it were wrong. For members
it follows from the broker's own map (`TimelineHashSet`); two pairs of members share a bucket here, but no step would
have come out otherwise.
"""

from dataclasses import replace

import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.assignors.registry import BROKER_ASSIGNORS, CLIENT_ASSIGNORS
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import TimelineHashSet
from tests.assignors.groups import as_sets
from tests.every import every_case
from tests.recorded import recorded
from tests.replay.values import decoded

SNAPSHOT = {case["id"]: case for case in recorded("groups-assignors")["vectors"]}
ANSWERS = recorded("assignor-answers")["cases"]
RACKS = [case for case in recorded("racks")["cases"] if case["assignor"] == "range"]
BROKERS = {"uniform": "uniform", "server-range": "range"}
"""The assignors of the broker: by their names in the recordings, and by Kafka's."""


def members_of(case):
    return decoded(case["members"], tuple[Member, ...])


def test_racks_change_most_of_the_recorded_answers_and_count_since_3_5_only():
    groups = [("range", case["partition_counts"], members_of(case)) for case in RACKS]
    changed, ignored = 0, 0
    for group, case in zip(groups, RACKS, strict=True):
        changed += assign(*group) != assign(*group, replica_racks=case["replica_racks"])
        ignored += assign(*group, release="3.4", replica_racks=case["replica_racks"]) == assign(*group)
    assert (changed, ignored, len(groups)) == (60, 66, 66)


@pytest.mark.parametrize("name", ["roundrobin", "uniform", "server-range"])
def test_other_assignors_do_not_look_at_racks(name):
    side, name = ("broker", BROKERS[name]) if name in BROKERS else ("client", name)
    for case in RACKS:
        counts, members = case["partition_counts"], [replace(member, owned=()) for member in members_of(case)]
        with_racks = assign(name, counts, members, side=side, replica_racks=case["replica_racks"])
        assert with_racks == assign(name, counts, members, side=side)


@pytest.mark.parametrize("racks", [{"t": [["a"]]}, {"t": ["a", "b"]}, {"t": 2}])
def test_racks_that_do_not_fit_are_refused(racks):
    with pytest.raises(KafkaLearnError, match=r"replica_racks of 't'"):
        assign("range", {"t": 2}, [Member("m", ["t"], rack="a")], replica_racks=racks)


def test_a_static_member_comes_first_since_2_4_only():
    case = SNAPSHOT["range-05"]
    by_release = {
        release: assign("range", case["topics"], members_of(case), release=release).counts()
        for release in ("2.3", "2.4", "4.3")
    }
    assert by_release == {
        "2.3": {"m-a": 3, "m-b": 2, "m-c": 2},  # by member id
        "2.4": {"m-a": 2, "m-b": 3, "m-c": 2},  # by instance id: m-b is "a", m-a is "z"
        "4.3": {"m-a": 2, "m-b": 3, "m-c": 2},
    }


def test_the_recordings_hold_what_these_tests_claim_to_cover():
    assert {case["assignor"] for case in ANSWERS} == {*CLIENT_ASSIGNORS, *BROKERS}
    assert {case["assignor"] for case in SNAPSHOT.values()} == {*CLIENT_ASSIGNORS, *BROKERS, "legacy"}
    assert set(BROKERS.values()) == set(BROKER_ASSIGNORS)
    assert sum("error" in case for case in ANSWERS) == 1
    assert sum("assignment_4_0_0" in case for case in ANSWERS) == 18
    assert len(SNAPSHOT) == 113


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_a_member_without_topics_that_the_map_has_first_is_given_partitions_unless_the_defect_is_fixed(assignor):
    members = [Member("m0", []), Member("m1", []), Member("m3", ["t"])]  # found by conform, on the classes of 4.3
    assert assign(assignor, {"t": 1}, members).counts() == {"m0": 1, "m1": 0, "m3": 0}
    assert assign(assignor, {"t": 1}, members, fix_defects=True).counts() == {"m0": 0, "m1": 0, "m3": 1}
    last = [Member("m0", ["t"]), Member("m1", []), Member("m3", [])]
    assert assign(assignor, {"t": 1}, last).counts() == {"m0": 1, "m1": 0, "m3": 0}


RECORDED = recorded("assignments")
COUNTS = {name: topic["partitions"] for name, topic in RECORDED["topics"].items()}
IDS = {name: topic["id"] for name, topic in RECORDED["topics"].items()}
CONSUMER = [case for case in RECORDED["cases"] if case["protocol"] == "consumer"]
CLASSIC = [case for case in RECORDED["cases"] if case["protocol"] == "classic"]


def recorded_sets(step: dict, key: str) -> dict[str, set]:
    return {
        each[key]: {(topic, number) for topic, numbers in each["assignment"].items() for number in numbers}
        for each in step["state"]["members"]
    }


class Broker:
    """A KIP-848 group as the broker keeps it: the members in its map, each with its target."""

    def __init__(self, assignor: str) -> None:
        self.assignor = assignor
        self.members: dict[str, Member] = {}
        self.order = TimelineHashSet()

    def take(self, step: dict) -> None:
        member_id = step["member"]
        if step["op"] == "leave":
            self.forget(member_id)
            self.assign(list(self.order))
        elif step["op"] == "join":
            # The assignor is asked before the new member is in the broker's map: it is listed last.
            self.members[member_id] = Member(member_id, step["subscription"], instance_id=step.get("instance"))
            self.assign([*self.order, member_id])
            self.order.add(member_id)
        elif step["op"] == "subscribe":
            self.members[member_id] = replace(self.members[member_id], topics=step["subscription"])
            self.assign(list(self.order))
        elif step["op"] == "static-rejoin":
            # The new one takes over the target of the old one; nothing is assigned anew.
            old = next(each for each in self.members.values() if each.instance_id == step["instance"])
            self.forget(old.member_id)
            self.members[member_id] = replace(old, member_id=member_id)
            self.order.add(member_id)

    def forget(self, member_id: str) -> None:
        del self.members[member_id]
        self.order.discard(member_id)

    def assign(self, listed: list[str]) -> None:
        members = [self.members[member_id] for member_id in listed]
        assignment = assign(self.assignor, COUNTS, members, side="broker", topic_ids=IDS)
        self.members = {each.member_id: replace(each, owned=assignment[each.member_id]) for each in members}


@every_case("case", recorded("assignments")["cases"], ids=lambda case: case["id"])
def test_a_group_is_assigned_as_on_the_real_broker_at_every_step(case):
    check_history = {"consumer": check_consumer, "classic": check_classic}[case["protocol"]]
    check_history(case)


def check_consumer(case):
    broker = Broker(case["assignor"])
    for step in case["steps"]:
        broker.take(step)
        targets = {member_id: member.owned for member_id, member in broker.members.items()}
        assert as_sets(targets) == recorded_sets(step, "member"), step["op"]


def check_classic(case):
    """The leader was a client of librdkafka, which does not put static members first: it sorts all by member id."""
    for step in case["steps"]:
        members = [Member(each["member_id"], each["subscription"]) for each in step["state"]["members"]]
        assignment = assign(case["assignor"], COUNTS, members)
        assert as_sets(assignment) == recorded_sets(step, "member_id"), step["op"]


def test_the_recorded_histories_hold_what_a_simpler_model_gets_wrong():
    ops = {step["op"] for case in CONSUMER for step in case["steps"]}
    assert ops == {"join", "leave", "subscribe", "static-leave", "static-rejoin"}
    assert sum(len(case["steps"]) for case in CONSUMER) == 169
    assert sum(len(case["steps"]) for case in CLASSIC) == 82
    assert any(case["topic_bucket_collision"] for case in CONSUMER if case["assignor"] == "uniform")
    assert any(case["member_bucket_collision"] for case in CONSUMER if case["assignor"] == "uniform")
    mixed = [case for case in CONSUMER if case["assignor"] == "uniform" and case["kind"] == "mixed"]
    assert len(mixed) == 5
