"""What Kafka's own unit tests expect, asked of the simulators: settings, where it begins, events, what is seen then.

The files have one form, whatever the mechanism. A case names the test that it is from, the releases whose test says
so, where it begins, and steps; a step has an event, and under ``expect`` what is seen after it, by name. A player takes
a case: it makes the beginning, plays events, and says what is seen.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.mechanisms.consumer_groups import answer_of, by_topic, event_of, partitions_of
from kafkalearn.groups import consumer
from kafkalearn.groups.consumer import heartbeats
from kafkalearn.groups.consumer.events import MemberFenced, RecordWritten
from kafkalearn.groups.consumer.state import CONSUMER, STABLE, Held, Matched, Member
from tests.every import every_case
from tests.recorded import recorded

GROUPS = recorded("kafkas-tests-of-groups")

SINCE = " since "  # "foo since 10": partitions of foo, given at epoch 10


def held_of(by_name, epoch):
    """Partitions by topic as a member holds them; where no epoch is named it is the member's."""
    found = []
    for name, numbers in by_name.items():
        topic, _, since = name.partition(SINCE)
        found += [Held(topic, number, int(since) if since else epoch) for number in numbers]
    return tuple(sorted(found))


def shown_held(held, form):
    """What a member holds, in the form in which it is expected: with the epochs, or without."""
    if not any(SINCE in name for name in form):
        return by_topic(held_as_partitions(held))
    found = {}
    for topic, number, epoch in held:
        found.setdefault(f"{topic}{SINCE}{epoch}", []).append(number)
    return found


def held_as_partitions(held):
    return consumer.state.partitions_of(held)


FIELDS = {"topics": "topics", "instance": "instance_id", "assignor": "assignor", "rebalance_ms": "rebalance_timeout_ms"}
FIELDS |= {"pattern": "pattern", "epoch": "epoch", "previous_epoch": "previous_epoch", "state": "state"}
HELD = {"assigned": "assigned", "pending": "pending_revocation"}


def member_of(member_id, told):
    fields = {FIELDS[name]: value for name, value in told.items() if name in FIELDS}
    fields["topics"] = tuple(fields.get("topics", ()))
    epoch = fields.get("epoch", 0)
    fields |= {HELD[name]: held_of(told[name], epoch) for name in HELD if name in told}
    return Member(member_id, **fields)


def shown_member(member, form):
    """The fields of a member that are expected."""
    seen = {}
    for name, expected in form.items():
        value = getattr(member, HELD.get(name) or FIELDS[name])
        if name in HELD:
            value = shown_held(value, expected)
        seen[name] = sorted(value) if name == "topics" else value
    return seen


def group_of(settings, told):
    """A group as it stands in the records that a test begins with."""
    group = consumer.start(settings)
    for member_id, each in told.get("members", {}).items():
        group = group.with_written(member_of(member_id, each))
    if "matched" in told:
        matched = tuple(Matched(pattern, tuple(topics)) for pattern, topics in told["matched"].items())
        group = replace(group, matched=matched, matched_at_ms=0)
    seen = dict(told.get("seen", group.partition_counts))
    return replace(
        group,
        group_epoch=told["group_epoch"],
        assignment_epoch=told["assignment_epoch"],
        targets=tuple((member_id, partitions_of(each)) for member_id, each in told.get("targets", {}).items()),
        seen_topics=tuple(
            topic._replace(partition_count=seen[topic.name]) for topic in group.subscribed_topics if topic.name in seen
        ),
        group_type=CONSUMER,
    )


class AGroup:
    """A group of the consumer protocol, whose assignor answers what the case says."""

    def __init__(self, case, release):
        self.settings = consumer.Settings(release, **case["settings"])
        begin = case.get("begin")
        self.group = consumer.start(self.settings) if begin is None else group_of(self.settings, begin)
        self.assigns = None

    def play(self, event):
        event = dict(event)
        if event["op"] == "records":  # a coordinator reads them from its log
            self.group = group_of(self.settings, event)
            return
        if event["op"] == "sleep":
            self.group = consumer.step(self.settings, self.group, consumer.TimePassed(event["ms"]))
            return
        assigns = event.pop("assigns", None)
        if assigns is not None:
            self.assigns = {member_id: partitions_of(each) for member_id, each in assigns.items()}
        with pytest.MonkeyPatch.context() as patched:
            if self.assigns is not None:
                patched.setattr(heartbeats, "find_assignor", lambda name, side: self)
            self.group = consumer.step(self.settings, self.group, event_of(event))

    def rule(self, spec):
        return self.assigns

    def seen(self, name, form):
        group = self.group
        match name:
            case "answer":
                return answer_of(group)
            case "member_epoch":
                return answer_of(group)["epoch"]
            case "error":
                return answer_of(group)["error"]
            case "records":
                return [each.kind for each in group.effects if isinstance(each, RecordWritten)]
            case "fenced":
                return [[each.member_id, each.reason] for each in group.effects if isinstance(each, MemberFenced)]
            case "members":
                known = {each: group.find(each) for each in form}
                return {each: member and shown_member(member, form[each] or {}) for each, member in known.items()}
            case "targets":
                return {each: by_topic(group.target(each)) for each in form}
            case "timers":
                return {each: self.timers(each) for each in form}
            case "assignor":
                return heartbeats.standing_assignor(self.settings, group)
        return getattr(group, name)

    def timers(self, member_id):
        member = self.group.find(member_id)
        ends = [member and member.session_ends_at_ms, member and member.revocation_ends_at_ms]
        return [None if each is None else each - self.group.now_ms for each in ends]


class AMember:
    """One step of a member to its target, with nobody else in sight but who holds what."""

    def __init__(self, case, release):
        self.settings = consumer.Settings(release, **case["settings"])
        self.case, self.member = case, member_of("member", case["begin"])

    def play(self, event):
        others = Member("other", assigned=held_of(event.get("others", {}), 1), state=STABLE)
        group = consumer.start(self.settings).with_member(self.member).with_member(others)
        if "matched" in event:
            matched = tuple(Matched(pattern, tuple(topics)) for pattern, topics in event["matched"].items())
            group = replace(group, matched=matched)
        owned = event.get("owned")
        self.member = heartbeats.reconcile(
            self.settings,
            group,
            self.member,
            heartbeats.Aim(event["epoch"], partitions_of(event["target"]), None),
            None if owned is None else partitions_of(owned),
            event.get("is_new_subscription", False),
        )

    def seen(self, name, form):
        assert name == "member"
        return shown_member(self.member, form)


def name_of(row):
    case, release = row
    return f"{case['test']} {release}"


def in_releases(cases):
    return [(case, release) for case in cases for release in case["releases"]]


def assert_seen(player, case):
    """Play a case, and compare all that it expects."""
    for number, step in enumerate(case["steps"]):
        if "event" in step:
            player.play(step["event"])
        for name, expected in step["expect"].items():
            assert (number, name, player.seen(name, expected)) == (number, name, expected)


@every_case("row", in_releases(GROUPS["steps to a target"]), ids=name_of)
def test_a_member_comes_nearer_to_its_target_as_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AMember(case, release), case)


@every_case("row", in_releases(GROUPS["groups"]), ids=name_of)
def test_a_kip_848_group_answers_and_writes_what_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AGroup(case, release), case)
