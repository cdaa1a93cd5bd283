"""Histories of real groups on a real broker, replayed step by step from the assignments of the steps before.

Ids that share a bucket are walked in the order in which the broker put them there. For topics that follows from
their names and from the records of the targets, and one of these histories would tell if it were wrong. For members
it follows from the broker's own map (`TimelineHashSet`); two pairs of members share a bucket here, but no step would
have come out otherwise.
"""

from dataclasses import replace

import pytest

from kafkalearn.assignors import Member, OldConsumer, assign
from kafkalearn.assignors.registry import BROKER_ASSIGNORS, CLIENT_ASSIGNORS
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import TimelineHashSet
from tests.assignors.groups import as_lists, as_sets, recorded_members
from tests.every import every_case
from tests.recorded import recorded

SNAPSHOT = {case["id"]: case for case in recorded("groups-assignors")["vectors"]}
ANSWERS = recorded("assignor-answers")["cases"]

BROKERS = {"uniform": "uniform", "server-range": "range"}
"""The assignors of the broker: by their names in the recordings, and by Kafka's."""


def ask(case, **options):
    side = "broker" if case["assignor"] in BROKERS else "client"
    name = BROKERS.get(case["assignor"], case["assignor"])
    racks = {topic: count for topic, count in case["topics"].items() if isinstance(count, list)}
    return assign(name, counts_of(case), recorded_members(case), side=side, replica_racks=racks, **options)


def counts_of(case):
    return {topic: len(count) if isinstance(count, list) else count for topic, count in case["topics"].items()}


@every_case("case", recorded("groups-assignors")["vectors"], ids=lambda case: case["id"])
def test_every_assignor_answers_as_kafkas_own(case):
    if case["assignor"] in CLIENT_ASSIGNORS:
        assert as_lists(ask(case)) == case["assignment"]
    elif case["assignor"] in BROKERS:
        assert as_sets(ask(case, release="4.0.0", topic_ids=case["topic_ids"])) == as_sets(case["assignment"])
    else:
        check_old_consumers(case)


def check_old_consumers(case):
    consumers = [OldConsumer(name, streams) for name, streams in case["consumers"].items()]
    of_its_time = {"side": "old-consumer", "release": case["version"]}
    if "error" in case:
        with pytest.raises(KafkaLearnError, match="refuses roundrobin unless all topics"):
            assign(case["strategy"], case["topics"], consumers, **of_its_time)
        return
    assignment = assign(case["strategy"], case["topics"], consumers, **of_its_time)
    assert {thread: owned for thread, owned in as_sets(assignment).items() if owned} == as_sets(case["assignment"])


@pytest.mark.parametrize(
    "case", recorded("groups-assignors-since")["groups-assignors uniform"], ids=lambda case: case["id"]
)
def test_uniform_passes_the_extra_partition_on_since_4_0_1(case):
    answers = {
        release: as_sets(assign("uniform", case["topics"], recorded_members(case), release=release, topic_ids=ids))
        for release in ("4.0.0", "4.0.1", "4.1", "4.3")
        for ids in [case["topic_ids"]]
    }
    now = as_sets(case["assignment"])
    assert answers == {"4.0.0": as_sets(SNAPSHOT[case["of"]]["assignment"]), "4.0.1": now, "4.1": now, "4.3": now}


@every_case("case", recorded("assignor-answers")["cases"], ids=lambda case: case["id"])
def test_random_groups_are_assigned_as_by_the_released_classes(case):
    topic_ids = case.get("topic_ids")
    if "error" in case:
        with pytest.raises(KafkaLearnError, match=r"Kafka's own assignor fails here with a NullPointerException"):
            ask(case)
    elif case["assignor"] == "server-range":
        assert as_sets(ask(case, topic_ids=topic_ids)) == as_sets(case["assignment"])
    else:
        assert as_lists(ask(case, topic_ids=topic_ids)) == case["assignment"]


@every_case("case", [case for case in ANSWERS if case["assignor"] == "uniform"], ids=lambda c: c["id"])
def test_random_groups_are_assigned_as_by_uniform_of_4_0_0(case):
    members, topic_ids = recorded_members(case), case["topic_ids"]
    assignment = assign("uniform", case["topics"], members, release="4.0.0", topic_ids=topic_ids)
    assert as_lists(assignment) == case.get("assignment@4.0.0", case["assignment"])


def told(group: str) -> tuple:
    """A recorded group in one line, as `assign` takes it: what it says is told in its file."""
    name, topics, *members = group.split("|")
    counts, racks = {}, {}
    for each in topics.split(","):
        topic, _, count = each.partition("=")
        count, _, where = count.partition("@")
        counts[topic] = int(count)
        if where:
            racks[topic] = [list(filter(None, partition.split("+"))) for partition in where.split(";")]
    return name, counts, [told_member(*each.split(":")) for each in members], racks


def told_member(member_id, topics, owned, generation, instance_id, rack) -> Member:
    pairs = [each.rsplit("-", 1) for each in owned.split()]
    owned = [(topic, int(number)) for topic, number in pairs]
    return Member(member_id, topics.split(), owned, int(generation) if generation else None, instance_id or None, rack)


@every_case("case", recorded("racks")["cases"])
def test_random_groups_with_racks_are_assigned_as_by_the_released_classes(case):
    group, answer = case
    name, counts, members, racks = told(group)
    if answer == "NullPointerException":
        with pytest.raises(KafkaLearnError, match=r"Kafka's own assignor fails here with a NullPointerException"):
            assign(name, counts, members, replica_racks=racks)
        return
    assignment = assign(name, counts, members, replica_racks=racks)
    assert "|".join(f"{each}:{' '.join(map(str, owned))}" for each, owned in assignment.items()) == answer


def test_racks_change_most_of_the_recorded_answers_and_count_since_3_5_only():
    groups = [told(group) for group, _ in recorded("racks")["cases"] if group.startswith("range")]
    changed = sum(assign(*group[:3]) != assign(*group[:3], replica_racks=group[3]) for group in groups)
    assert (changed, len(groups)) == (60, 66)
    assert all(assign(*each[:3], release="3.4", replica_racks=each[3]) == assign(*each[:3]) for each in groups)


@pytest.mark.parametrize("name", ["roundrobin", "uniform", "server-range"])
def test_other_assignors_do_not_look_at_racks(name):
    side, name = ("broker", BROKERS[name]) if name in BROKERS else ("client", name)
    groups = [told(group) for group, _ in recorded("racks")["cases"] if group.startswith("range")]
    for _, counts, reported, racks in groups:
        members = [replace(member, owned=()) for member in reported]
        assert assign(name, counts, members, side=side, replica_racks=racks) == assign(name, counts, members, side=side)


@pytest.mark.parametrize("racks", [{"t": [["a"]]}, {"t": ["a", "b"]}, {"t": 2}])
def test_racks_that_do_not_fit_are_refused(racks):
    with pytest.raises(KafkaLearnError, match=r"replica_racks of 't'"):
        assign("range", {"t": 2}, [Member("m", ["t"], rack="a")], replica_racks=racks)


def test_a_static_member_comes_first_since_2_4_only():
    case = SNAPSHOT["range-05"]
    by_release = {
        release: assign("range", case["topics"], recorded_members(case), release=release).counts()
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
    assert sum("assignment@4.0.0" in case for case in ANSWERS) == 18
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
