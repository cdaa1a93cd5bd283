"""What Kafka's own unit tests expect, asked of the simulators: settings, where it begins, events, what is seen then.

The files have one form, whatever the mechanism. A case names the test that it is from, the releases whose test says
so, where it begins, and steps; a step has an event, and under ``expect`` what is seen after it, by name. A player takes
a case: it makes the beginning, plays events, and says what is seen.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.mechanisms.consumer_groups import answer_of, by_topic, event_of, partitions_of
from kafkalearn.groups import classic, consumer, mixed
from kafkalearn.groups.consumer import heartbeats
from kafkalearn.groups.consumer.events import HeartbeatAnswered, MemberFenced, RecordWritten
from kafkalearn.groups.consumer.state import CONSUMER, STABLE, ClassicSide, Held, Matched, Member
from kafkalearn.groups.mixed.model import assigned_of
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
    if "protocols" in told:  # it speaks the classic protocol
        sent = mixed.Subscription(fields["topics"])
        protocols = tuple((name, sent) for name in told["protocols"])
        fields["classic"] = ClassicSide(member_id, told["session_ms"], protocols)
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
        look_at_ms=told.get("look_at_ms", 0),
        group_type=CONSUMER,
    )


def records_of(effects, is_after_answer=False):
    """The kinds of the records that are written with an answer; or of those that come after it."""
    answers = [number for number, each in enumerate(effects) if isinstance(each, HeartbeatAnswered)]
    answered = answers[-1] if answers else len(effects)
    counted = effects[answered:] if is_after_answer else effects[:answered]
    kinds = []
    for each in counted:
        if isinstance(each, RecordWritten):
            kinds.append(each.kind)
        elif isinstance(each, classic.model.GroupWritten):
            kinds.append("tombstone:" * each.is_tombstone + consumer.events.CLASSIC_GROUP)
    return kinds


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
            case "errors":
                return [error for *_, error in answer_of(group)["errors"]]
            case "records" | "matched_records":
                return records_of(group.effects, name == "matched_records")
            case "subscribed":
                return sorted(group.subscribed_names)
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


SUCCESS = "NONE"


class AMixedGroup(AGroup):
    """A group with members of both protocols, or a classic one that a new member finds."""

    def __init__(self, case, release):
        told = dict(case["settings"])
        policy, sizes = told.pop("policy", None), told.pop("classic", {})
        own = {} if policy is None else {"policy": policy}
        self.settings = mixed.Settings(
            release,
            classic=classic.Settings(release, group_min_session_timeout_ms=0, **sizes),
            consumer=consumer.Settings(release, **told),
            **own,
        )
        self.group = mixed.start(self.settings)
        begin = case["begin"]
        if "generation" in begin:
            self.group = mixed.model.with_classic(self.group, classic_group_of(begin))
        else:
            self.group = replace(self.group, consumer=group_of(self.settings.consumer, begin))
        self.assigns = None

    def play(self, event):
        event = dict(event)
        assigns = event.pop("assigns", None)
        if assigns is not None:
            self.assigns = {member_id: partitions_of(each) for member_id, each in assigns.items()}
        with pytest.MonkeyPatch.context() as patched:
            if self.assigns is not None:
                patched.setattr(heartbeats, "find_assignor", lambda name, side: self)
            self.group = mixed.step(self.settings, self.group, mixed_event_of(event))

    def seen(self, name, form):
        group = self.group
        match name:
            case "records":
                return records_of(group.effects)
            case "first_records":
                return records_of(group.effects)[: len(form)]
            case "answers":
                return [shown_answer(each) for each in group.effects if hasattr(each, "error")]
            case "type":
                return group.group_type
            case "epoch" | "state":
                return getattr(group, name)
            case "classic":
                return shown_classic(group.classic)
            case "timers":
                return {each: self.timers(each) for each in form}
        inside = AGroup.__new__(AGroup)
        inside.settings, inside.group = self.settings.consumer, replace(group.consumer, effects=group.effects)
        return inside.seen(name, form)

    def timers(self, member_id):
        """What is left of a classic member's session, and of its time to join and to sync."""
        member = self.group.consumer.find(member_id)
        if member is None:
            return [None, None, None]
        ends = (member.session_ends_at_ms, member.join_ends_at_ms, member.sync_ends_at_ms)
        return [None if each is None else each - self.group.now_ms for each in ends]


def classic_group_of(told):
    """A classic group as it stands in its record."""
    members = tuple(
        classic.model.Member(
            member_id,
            member_id,
            each.get("instance"),
            each["session_ms"],
            each["rebalance_ms"],
            ((told["protocol"], mixed.Subscription(tuple(each["topics"]))),),
            assignment=mixed.Assigned(partitions_of(each["assigned"]), each.get("has_user_data", False)),
        )
        for member_id, each in told["members"].items()
    )
    leader = members[0].member_id if members else None
    kind = "consumer" if members else None
    return classic.model.Group(
        told["state"], told["generation"], leader, told.get("protocol"), kind, members, is_known=True
    )


def shown_classic(group):
    return {
        "state": group.state,
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
        "assignments": {each.member_id: by_topic(assigned_of(each.assignment).partitions) for each in group.members},
    }


def mixed_event_of(event):
    fields = {name: value for name, value in event.items() if name != "op"}
    member_id = fields.pop("member", "")
    match event["op"]:
        case "JoinGroup":
            sent = mixed.Subscription(tuple(fields.pop("topics")), partitions_of(fields.pop("owned", {})))
            protocols = tuple((name, sent) for name in fields.pop("protocols", ["range"]))
            label = member_id or fields.get("drawn_id", "somebody")
            return classic.JoinGroup(label, member_id, protocols=protocols, **fields)
        case "SyncGroup" | "Heartbeat":
            return getattr(classic, event["op"])(member_id, member_id, **fields)
        case "LeaveGroup":
            first, *others = [tuple(each) for each in event["members"]]
            return classic.LeaveGroup("somebody", *first, tuple(others))
        case "sleep":
            return consumer.TimePassed(event["ms"])
    return event_of(event)


def shown_answer(answer):
    """An answer of either protocol: its error, or what else it says."""
    if isinstance(answer, classic.model.LeaveAnswered):
        return [answer.error, *answer.of_others]
    if answer.error != SUCCESS:
        return answer.error
    match answer:
        case classic.model.JoinAnswered():
            return [answer.member_id, answer.generation, answer.protocol]
        case classic.model.SyncAnswered():
            return by_topic(assigned_of(answer.assignment).partitions)
        case HeartbeatAnswered():
            found = [answer.member_id, answer.member_epoch]
            return found if answer.assignment is None else [*found, by_topic(answer.assignment)]
    return answer.error


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


@every_case("row", in_releases(GROUPS["patterns"]), ids=name_of)
def test_a_group_with_patterns_answers_and_writes_what_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AGroup(case, release), case)


@every_case("row", in_releases(GROUPS["commits"]), ids=name_of)
def test_commits_and_fetches_are_taken_and_refused_as_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AGroup(case, release), case)


@every_case("row", in_releases(GROUPS["mixed groups"]), ids=name_of)
def test_a_group_of_both_protocols_answers_and_writes_what_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AMixedGroup(case, release), case)


@every_case("row", in_releases(GROUPS["groups"]), ids=name_of)
def test_a_kip_848_group_answers_and_writes_what_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AGroup(case, release), case)
