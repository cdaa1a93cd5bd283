"""Histories of real groups on a real broker, replayed step by step from the assignments of the steps before.

Ids that share a bucket are walked in the order in which the broker put them there. For topics that follows from
their names and from the records of the targets, and one of these histories would tell if it were wrong. For members
it follows from the broker's own map (`TimelineHashSet`); two pairs of members share a bucket here, but no step would
have come out otherwise.
"""

from dataclasses import replace

from kafkalearn.assignors import Member, assign
from kafkalearn.base.java import TimelineHashSet
from tests.assignor.groups import as_sets
from tests.every import every_case
from tests.recorded import recorded

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
