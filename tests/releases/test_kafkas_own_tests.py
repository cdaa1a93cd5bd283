"""What Kafka's own unit tests expect, asked of the simulators: settings, where it begins, events, what is seen then.

The files have one form, whatever the mechanism. A case names the test that it is from, the releases whose test says
so, where it begins, and steps; a step has an event, and under ``expect`` what is seen after it, by name. A player takes
a case: it makes the beginning, plays events, and says what is seen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from conformance.mechanisms.consumer_groups import answer_of, by_topic, event_of, partitions_of
from kafkalearn import replication
from kafkalearn.base.trace import Parts
from kafkalearn.groups import classic, consumer, mixed
from kafkalearn.groups.consumer import heartbeats
from kafkalearn.groups.consumer.events import HeartbeatAnswered, MemberFenced, RecordWritten
from kafkalearn.groups.consumer.state import CONSUMER, STABLE, ClassicSide, Held, Matched, Member
from kafkalearn.groups.mixed.model import assigned_of
from kafkalearn.log import SetHighWatermark
from kafkalearn.log import check as check_log
from kafkalearn.log import start as empty_log
from kafkalearn.log import step as log_step
from kafkalearn.log.index import index_of, list_offset
from kafkalearn.log.model import AppendRefused, DeleteRecordsRefused, SegmentsDeleted
from kafkalearn.log.model import Settings as LogSettings
from kafkalearn.replication import leader as leaders_side
from kafkalearn.replication import replica_log
from kafkalearn.replication.events import ConsumerRead, ProduceAnswered
from kafkalearn.replication.processing import Processing, partition_of, parts_of
from kafkalearn.replication.state import Log as ReplicaLog
from kafkalearn.replication.state import Record, assign, blank, cut_from_end, cut_from_start
from tests.every import every_case
from tests.log import scripts as log_scripts
from tests.log.schedules import last_effect
from tests.recorded import recorded

GROUPS = recorded("kafkas-tests-of-groups")
LOGS = recorded("kafkas-tests-of-logs")
REPLICAS = recorded("kafkas-tests-of-replicas")

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


class ALog:
    """A log on one broker. Its high watermark stands at 0 until a test moves it, as that of Kafka's class does."""

    def __init__(self, case, release):
        self.settings = LogSettings(release=release, **case["settings"])
        self.log = log_step(self.settings, empty_log(self.settings), SetHighWatermark(0))

    def play(self, event):
        batches = [
            {**each, "records": [[key, value and value.format(number), at_ms] for key, value, at_ms in each["records"]]}
            for number in range(event.get("count", 1))
            for each in event.get("batches", ())
        ]
        whole = {**event, "batches": batches}
        if event.get("offset") == "end":
            whole["offset"] = self.log.log_end_offset
        # The tests have no broker before the class, which asks for the policy first.
        is_past_broker = event["op"] == "delete_records" and not event.get("asks_for_policy")
        policy = "delete" if is_past_broker else self.settings.cleanup_policy
        for each in log_scripts.events_of(whole, self.log):
            before = self.log
            self.log = log_step(replace(self.settings, cleanup_policy=policy), before, each)
            check_log(self.settings, self.log, before)

    def seen(self, name, form):
        log = self.log
        bases = [each.base_offset for each in log.segments]
        match name:
            case "error":
                refused = last_effect(log, (AppendRefused, DeleteRecordsRefused))
                return refused and refused.error
            case "segment_count":
                return len(bases)
            case "some_deleted":
                return last_effect(log, (SegmentsDeleted,)) is not None
            case "starts_beyond_high_watermark":
                return log.log_start_offset > log.high_watermark
            case "only_the_first_segment_begins_at_most_at_the_high_watermark":
                return [base <= log.high_watermark for base in bases] == [True] + [False] * (len(bases) - 1)
            case "size_bytes":
                return sum(each.size_bytes for each in log.segments)
            case "active_bytes":
                return log.active.size_bytes
            case "active_base_offset":
                return log.active.base_offset
            case "aborted":
                ended = [each for each in log.transactions if each.is_aborted]
                return [[each.producer_id, each.first_offset, each.last_offset] for each in ended]
            case "open":
                return {
                    str(each.producer_id): each.first_offset for each in log.transactions if each.last_offset is None
                }
            case "producers":
                return {str(each.producer_id): [each.epoch, each.entry.last_sequence] for each in log.producers}
            case "producer_ids":
                return sorted(each.producer_id for each in log.producers)
            case "time_index_entries":
                indexes = [index_of(self.settings, each, each is not log.active) for each in log.segments]
                return sum(len(each.times) for each in indexes)
            case "found":
                return {time: list(list_offset(log, int(time) if time.isdigit() else time)) for time in form}
            case "high_watermark" | "last_stable_offset" | "first_unstable_offset":
                return getattr(log, name)
        return log_scripts.observed(self.settings, log, [name])[name]


class AnEpochCache:
    """The leader epoch cache of a log."""

    def __init__(self, case, release):
        self.epochs = tuple(map(tuple, case.get("begin", ())))

    def play(self, event):
        match event["op"]:
            case "assign":
                self.epochs = assign(self.epochs, event["epoch"], event["start_offset"])
            case "truncate_from_end":
                self.epochs = cut_from_end(self.epochs, event["offset"])
            case "truncate_from_start":
                self.epochs = cut_from_start(self.epochs, event["offset"])

    def seen(self, name, form):
        return len(self.epochs) if name == "count" else [list(each) for each in self.epochs]


LEADER = 1


class APartition:
    """A partition on brokers 1, 2, ..., of which the test plays the controller, and all that followers ask."""

    def __init__(self, case, release):
        self.settings = replication.Settings(release=release, fetch_wait_max_ms=0, **case["settings"])
        begin = case["begin"]
        log, partition = ReplicaLog(), blank(self.settings)
        for epoch, count in begin.get("records", ()):
            epochs = assign(log.epochs, epoch, log.log_end_offset)
            log = log._replace(records=log.records + (Record("m", epoch),) * count, epochs=epochs)
        if "checkpointed" in begin:
            log = replica_log.found_again(log._replace(checkpointed_high_watermark=begin["checkpointed"]))
        first = partition.replicas[0]._replace(log=log)
        controller = partition.controller._replace(leader_epoch=begin.get("leader_epoch", 0) - 1, partition_epoch=0)
        self.partition = replace(partition, controller=controller, replicas=(first, *partition.replicas[1:]))
        self.answer = None
        if "isr" in begin:
            self.take(replication.LeaderElected(begin.get("leader", LEADER), tuple(begin["isr"])))

    def take(self, event):
        self.partition = replication.step(self.settings, self.partition, event)

    def play(self, event):
        match event["op"]:
            case "fetch":
                self.fetch(event)
            case "elect":
                self.take(replication.LeaderElected(event["leader"], tuple(event["isr"])))
            case "metadata":  # the same leader epoch, another partition epoch
                self.take(replication.IsrSet(tuple(event["isr"])))
            case "mark":  # what the metadata of the brokers says
                marked = {name: tuple(event.get(name, ())) for name in ("fenced", "stopping")}
                controller = self.partition.controller._replace(**marked)
                self.partition = replace(self.partition, controller=controller)
            case "produce":
                self.take(replication.Produce(event["count"], event.get("acks", "all"), to_broker=event.get("to")))
            case "consume":
                self.take(replication.Consume(event["offset"]))
            case "delete_records":
                self.take(replication.DeleteRecords(event["offset"]))
            case "isr_check":
                self.take(replication.IsrChecked())
            case "answer":
                self.take(replication.AlterPartitionAnswered(event.get("error")))
            case "sleep":
                self.take(replication.TimePassed(event["ms"]))
            case "high_watermark":
                partition, offset = self.partition, event["offset"]
                first = partition.replicas[0]
                first = first._replace(log=first.log._replace(high_watermark=offset))
                self.partition = replace(partition, replicas=(first, *partition.replicas[1:]))

    def fetch(self, event):
        """A follower's fetch of any offset, as the test sends it, whatever the follower has."""
        request = leaders_side.FetchRequest(
            event["from"], event["offset"], event.get("log_start", 0), event.get("epoch"), event.get("last_epoch")
        )
        processing = Processing(self.settings, Parts(parts_of(self.partition)))
        self.answer = leaders_side.handle(processing, event.get("to", LEADER), request)
        self.partition = partition_of(processing.parts.all(), tuple(processing.effects))

    def seen(self, name, form):
        partition, first = self.partition, self.partition.replica(LEADER)
        leading, min_isr = first.leading, self.settings.effective_min_isr
        proposal = leading and leading.proposal
        match name:
            case "error":
                return self.answer.error
            case "diverging":
                return self.answer.diverging and list(self.answer.diverging)
            case "record_count":
                return len(self.answer.records)
            case "answered_high_watermark":
                return self.answer.high_watermark
            case "produce_errors":
                return [each.error for each in partition.effects if isinstance(each, ProduceAnswered)]
            case "consumed":
                (read,) = [each for each in partition.effects if isinstance(each, ConsumerRead)]
                return [read.error, len(read.records)]
            case "leads":
                return leading is not None
            case "leader":
                return first.broker.leader
            case "isr":
                return [] if leading is None else sorted(leading.isr)
            case "maximal_isr":
                return sorted(leading.maximal_isr)
            case "proposed":
                return sorted(proposal.isr)
            case "is_in_flight":
                return proposal is not None
            case "waits_for_controller":
                return proposal is not None and not proposal.is_refused
            case "is_under_min_isr":
                return leading is not None and len(leading.isr) < min_isr
            case "is_at_min_isr":
                return leading is not None and len(leading.isr) == min_isr
            case "is_under_replicated":
                return len(leading.isr) < len(partition.controller.assignment.replicas)
            case "followers":
                known = enumerate(first.remotes, start=1)
                states = {str(other): each for other, each in known if each is not None}
                return {
                    other: [each.log_end_offset, each.log_start_offset, each.last_caught_up_ms][
                        : len(form.get(other, ()))
                    ]
                    for other, each in states.items()
                }
            case "epoch_end":
                return list(replication.state.end_offset_for(first.log.epochs, *form[:1], first.log_end_offset))
            case "leader_epoch":
                return first.broker.leader_epoch
            case "partition_epoch":
                return partition.controller.partition_epoch
            case "epoch_start_offset":
                return leading.epoch_start_offset
            case "newest_epoch":
                return list(first.log.epochs[-1])
            case "high_watermark" | "log_end_offset":
                return getattr(first, name)
        raise AssertionError(f"nothing is called {name!r}")


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


@every_case("row", in_releases(GROUPS["classic groups"]), ids=name_of)
def test_a_classic_group_answers_and_changes_as_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AClassicGroup(case, release), case)


@every_case("row", in_releases(LOGS["segments"]), ids=name_of)
def test_a_log_rolls_and_is_deleted_as_kafkas_tests_expect(row):
    case, release = row
    assert_seen(ALog(case, release), case)


@every_case("row", in_releases(LOGS["producers and transactions"]), ids=name_of)
def test_a_log_knows_producers_and_transactions_as_kafkas_tests_expect(row):
    case, release = row
    assert_seen(ALog(case, release), case)


@every_case("row", in_releases(LOGS["appends and offsets"]), ids=name_of)
def test_a_log_takes_batches_and_finds_offsets_as_kafkas_tests_expect(row):
    case, release = row
    assert_seen(ALog(case, release), case)


@every_case("row", in_releases(LOGS["leader epochs"]), ids=name_of)
def test_a_log_keeps_the_leader_epochs_that_kafkas_tests_expect(row):
    case, release = row
    assert_seen(AnEpochCache(case, release), case)


@every_case("row", in_releases(REPLICAS["isr and high watermark"]), ids=name_of)
def test_isr_and_high_watermark_are_what_kafkas_tests_expect(row):
    case, release = row
    assert_seen(APartition(case, release), case)


@every_case("row", in_releases(REPLICAS["fetches and elections"]), ids=name_of)
def test_fetches_and_elections_lead_to_what_kafkas_tests_expect(row):
    case, release = row
    assert_seen(APartition(case, release), case)
