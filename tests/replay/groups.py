"""Plays recorded cases of groups: of the consumer protocol, of the classic one, of both, and one member's steps.

The assignor answers what the case says, where it does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from conformance.mechanisms.consumer_groups import answer_of, by_topic, event_of, partitions_of
from kafkalearn.groups import classic, consumer, mixed
from kafkalearn.groups.consumer import heartbeats
from kafkalearn.groups.consumer.events import HeartbeatAnswered, MemberFenced, RecordWritten
from kafkalearn.groups.consumer.state import CONSUMER, STABLE, ClassicSide, Held, Matched, Member
from kafkalearn.groups.mixed.model import assigned_of

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


def matched_of(told):
    """The topics that each pattern matches."""
    return tuple(Matched(pattern, tuple(topics)) for pattern, topics in told["matched"].items())


def group_of(settings, told):
    """A group as it stands in the records that a test begins with."""
    group = consumer.start(settings)
    for member_id, each in told.get("members", {}).items():
        group = group.with_written(member_of(member_id, each))
    if "matched" in told:
        group = replace(group, matched=matched_of(told), matched_at_ms=0)
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
        if event["op"] == "records":  # a coordinator reads them from its log
            self.group = group_of(self.settings, event)
            return
        if event["op"] == "sleep":
            self.group = consumer.step(self.settings, self.group, consumer.TimePassed(event["ms"]))
            return
        self.step(consumer.step, event_of, event)

    def step(self, step, made, event):
        """A step whose assignor answers what the event, or the last that said so, says."""
        assigns = event.get("assigns")
        if assigns is not None:
            self.assigns = {member_id: partitions_of(each) for member_id, each in assigns.items()}
        asked = {name: value for name, value in event.items() if name != "assigns"}
        with pytest.MonkeyPatch.context() as patched:
            if self.assigns is not None:
                patched.setattr(heartbeats, "find_assignor", lambda name, side: self)
            self.group = step(self.settings, self.group, made(asked))

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
            case "heartbeat_interval_ms":
                return [each.heartbeat_interval_ms for each in group.effects if isinstance(each, HeartbeatAnswered)]
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
            case "member_ids":
                return list(group.member_ids)
            case "targets":
                return {each: by_topic(group.target(each)) for each in form}
            case "timers":
                return {each: self.timers(each) for each in form}
            case "static_members":
                return dict(group.static_ids)
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
        begin = case.get("begin")
        if begin is not None and "generation" in begin:
            self.group = mixed.model.with_classic(self.group, classic_group_of(begin))
        elif begin is not None:
            self.group = replace(self.group, consumer=group_of(self.settings.consumer, begin))
        self.assigns = None

    def play(self, event):
        self.step(mixed.step, mixed_event_of, event)

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
                shown = shown_classic(group.classic)
                return {each: shown[each] for each in form}
            case "answer_errors":
                return [each.error for each in group.effects if hasattr(each, "error")]
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


class AClassicGroup:
    """A group of the classic protocol. Who has no member id yet gets the client's name for one."""

    def __init__(self, case, release):
        self.settings = classic.Settings(release, group_min_session_timeout_ms=0, **case["settings"])
        self.group, self.effects, self.round = replace(classic.start(self.settings), **case["begin"]), [], Counter()

    def play(self, event):
        self.effects = []
        if "count" in event:
            self.round = Counter()
        for number in range(event.get("count", 1)):
            self.group = classic.step(self.settings, self.group, classic_event_of(event, number))
            classic.check(self.settings, self.group)
            self.effects += self.group.effects
        self.round.update(each.error for each in self.answers)

    @property
    def answers(self):
        return [each for each in self.effects if hasattr(each, "client") and hasattr(each, "error")]

    def seen(self, name, form):
        group, by_client = self.group, {each.client: each for each in self.answers}
        match name:
            case "answers":
                return {client: each.error for client, each in by_client.items()}
            case "round":  # all answers since many clients have sent the same
                return dict(self.round)
            case "joined":
                return {client: {each: joined(by_client[client], each) for each in form[client]} for client in form}
            case "assigned":
                return {client: by_client[client].assignment for client in form}
            case "leave_errors":
                (answer,) = [each for each in self.answers if isinstance(each, classic.model.LeaveAnswered)]
                return [answer.error, *answer.of_others]
            case "records":
                return sum(isinstance(each, classic.model.GroupWritten) for each in self.effects)
            case "members":
                return sorted(each.member_id for each in group.members)
            case "instances":
                return {each.instance_id: each.member_id for each in group.members if each.is_static}
            case "timeouts":
                members = map(group.member, form)
                return {each.member_id: [each.session_timeout_ms, each.rebalance_timeout_ms] for each in members}
            case "protocols":
                return {member_id: list(group.member(member_id).protocol_names) for member_id in form}
            case "join_phase_left_ms":
                return group.join_deadline_ms - group.now_ms
            case "state" | "generation" | "leader":
                return getattr(group, name)
        return {
            "member_count": len(group.members),
            "waiting_count": sum(each.join_waiter is not None for each in group.members),
            "pending_count": len(group.pending),
            "new_count": sum(each.is_new for each in group.members),
        }[name]


def joined(answer, name):
    """What an answer to JoinGroup says under a name."""
    if name == "instances":
        return sorted(instance_id for _, instance_id, _ in answer.members)
    return len(answer.members) if name == "member_count" else getattr(answer, name)


def classic_event_of(event, number):
    fields = {name: value for name, value in event.items() if name not in ("op", "count")}
    client = fields.pop("c", "").format(number)
    member_id = fields.pop("member", "").format(number)
    if "instance_id" in fields:
        fields["instance_id"] = fields["instance_id"].format(number)
    match event["op"]:
        case "join":
            protocols = tuple((name, ()) for name in fields.pop("protocols"))
            drawn = {} if member_id else {"drawn_id": client}
            return classic.JoinGroup(client, member_id, protocols=protocols, **drawn, **fields)
        case "sync":
            assignments = tuple(fields.pop("assignments", {}).items())
            return classic.SyncGroup(client, member_id, assignments=assignments, **fields)
        case "heartbeat":
            return classic.Heartbeat(client, member_id, **fields)
        case "leave":
            first, *others = [tuple(each) for each in event["members"]]
            return classic.LeaveGroup("tool", *first, tuple(others))
        case "partition_moved":
            return classic.PartitionMoved()
        case "delete":
            return classic.GroupDeleted()
        case "expire":
            return classic.OffsetsExpired()
    return classic.TimePassed(event["ms"])


class AMember:
    """One step of a member to its target, with nobody else in sight but who holds what."""

    def __init__(self, case, release):
        self.settings = consumer.Settings(release, **case["settings"])
        self.case, self.member = case, member_of("member", case["begin"])

    def play(self, event):
        others = Member("other", assigned=held_of(event.get("others", {}), 1), state=STABLE)
        group = consumer.start(self.settings).with_member(self.member).with_member(others)
        if "matched" in event:
            group = replace(group, matched=matched_of(event))
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
