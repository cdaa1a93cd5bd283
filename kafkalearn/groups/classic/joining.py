"""A rebalance of a classic group: JoinGroup, static members, delays and rebalance timeout, the generation at its end.

A rule works on a `GroupUpdate`: the group while one event is worked on, open to change.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, replace
from typing import TypedDict, Unpack

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.java import hash_order
from kafkalearn.groups.classic import model
from kafkalearn.groups.classic.model import JoinGroup, Member
from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE

_FIELDS = tuple(field.name for field in fields(model.Group))


class MemberChanges(TypedDict, total=False):
    """The fields of a member that change while its id stays."""

    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, Hashable], ...]
    is_new: bool
    join_waiter: str | None
    sync_waiter: str | None
    assignment: Hashable
    expires_ms: int | None


class GroupUpdate:
    """Made from a group, changed, and frozen into the next group; members are in a dict by id."""

    state: str
    generation: int
    leader: str | None
    protocol: str | None
    protocol_type: str | None
    now_ms: int
    join_deadline_ms: int | None
    delay_ms: int | None
    remaining_delay_ms: int
    has_newcomer: bool
    sync_deadline_ms: int | None
    id_count: int
    is_known: bool
    has_moved: bool

    def __init__(self, settings: model.Settings, group: model.Group) -> None:
        """Begin with the group as it is before the event."""
        for name in _FIELDS:
            setattr(self, name, getattr(group, name))
        self.settings = settings
        self.rules = settings.rules
        self.members: dict[str, Member] = {member.member_id: member for member in group.members}
        self.pending: dict[str, tuple[int, str]] = {each: (expires, client) for each, expires, client in group.pending}
        self.unsynced: dict[str, None] = dict.fromkeys(group.unsynced)
        self.effects: list[model.Effect] = []

    def freeze(self) -> model.Group:
        """The group after the event."""
        values = {name: getattr(self, name) for name in _FIELDS}
        values["members"] = tuple(self.members.values())
        values["pending"] = tuple((each, *rest) for each, rest in self.pending.items())
        values["unsynced"] = tuple(self.unsynced)
        values["effects"] = tuple(self.effects)
        return model.Group(**values)

    def emit(self, effect: model.Effect) -> None:
        """Add an effect."""
        self.effects.append(effect)

    def change_state(self, after: str, cause: str, who: str = "") -> None:
        """Change the state, if the table of transitions has it."""
        model.transition(self.state, after, cause)
        self.emit(model.StateChanged(self.now_ms, self.state, after, cause, who))
        self.state = after

    def change(self, member_id: str, **changes: Unpack[MemberChanges]) -> None:
        """Store a member with some fields changed."""
        self.members[member_id] = self.members[member_id]._replace(**changes)

    def restart_timer(self, member_id: str) -> None:
        """Begin the session of a member anew."""
        self.change(member_id, expires_ms=self.now_ms + self.members[member_id].session_timeout_ms)

    def new_id(self, prefix: str, drawn_id: str | None) -> str:
        """A member id that nobody has; Kafka puts a random UUID where this has a number, unless it is known."""
        if drawn_id is not None:
            if drawn_id in self.members:
                raise taken_id(drawn_id)
            return drawn_id
        self.id_count += 1
        return f"{prefix}-{self.id_count}"

    def static_id(self, instance_id: str | None) -> str | None:
        """The member id that an instance id stands for."""
        if instance_id is None:
            return None
        return next((each.member_id for each in self.members.values() if each.instance_id == instance_id), None)

    def error_of(self, member_id: str, instance_id: str | None) -> str | None:
        """The error that a request with this member id is refused with; None if it is not."""
        if instance_id is not None:
            holder = self.static_id(instance_id)
            if holder is not None and holder != member_id:
                return "FENCED_INSTANCE_ID"
            if holder is None:
                return "UNKNOWN_MEMBER_ID"
        return None if member_id in self.members else "UNKNOWN_MEMBER_ID"

    def remove(self, member_id: str, why: str) -> None:
        """Forget a member or a pending id; of the members that remain, the next leads if the leader is gone."""
        gone = self.members.pop(member_id, None)
        if gone is not None:
            self.emit(model.MemberRemoved(self.now_ms, member_id, gone.client, why))
        if self.leader == member_id:
            self.leader = next(iter(self.members_in_order), None)
        self.pending.pop(member_id, None)
        self.unsynced.pop(member_id, None)

    @property
    def members_in_order(self) -> list[str]:
        """The member ids as a broker walks its map of them, if it has drawn them; those that we number: as they came.

        References
        ----------
        Apache Kafka 4.0 to 4.3, ``ClassicGroup.members``, a HashMap.
        """
        return list(self.members) if self.id_count or not self.rules.is_java else hash_order(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of all members' rebalance timeouts."""
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    @property
    def waiting_count(self) -> int:
        """Members whose JoinGroup is parked."""
        return sum(each.join_waiter is not None for each in self.members.values())

    @property
    def have_all_joined(self) -> bool:
        """Whether nobody is missing: every member's JoinGroup is here, and no id is given out unused."""
        return not self.pending and self.waiting_count == len(self.members)

    @property
    def common_protocols(self) -> set[str]:
        """The assignors that every member can use."""
        names = {each.protocol_names for each in self.members.values()}  # most members name the same
        return set.intersection(*map(set, names)) if names else set()

    @property
    def elected_protocol(self) -> str:
        """Each member votes for the first of its assignors that all can use; most votes win.

        Of several with as many votes, the first that Java's hash map walks to.
        """
        common = self.common_protocols
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = next(name for name in member.protocol_names if name in common)
            votes[choice] = votes.get(choice, 0) + 1
        return next(name for name in hash_order(votes) if votes[name] == max(votes.values()))


# From the start of a rebalance to the join answers: the join phase, its delays, and its end.


def rebalance_or_complete(group: GroupUpdate, cause: str, who: str) -> None:
    """Start a rebalance; if the group is in one already, see whether everybody is there."""
    if group.state in (EMPTY, STABLE, COMPLETING):
        prepare(group, cause, who)
    else:
        complete_if_all_joined(group)


def prepare(group: GroupUpdate, cause: str, who: str) -> None:
    """Ask everybody for a JoinGroup; the members that wait for an assignment have to join again."""
    if group.state == COMPLETING:
        for member_id in tuple(group.members):
            group.change(member_id, assignment=None)
        answer_syncs(group, "REBALANCE_IN_PROGRESS")
    group.unsynced = {}
    group.sync_deadline_ms = None
    was_empty = group.state == EMPTY
    group.change_state(PREPARING, cause, who)
    if was_empty:
        group.delay_ms = group.settings.group_initial_rebalance_delay_ms
        group.remaining_delay_ms = max(group.rebalance_timeout_ms - group.delay_ms, 0)
        group.join_deadline_ms = group.now_ms + group.delay_ms
    elif group.have_all_joined:
        complete(group)
    else:
        group.join_deadline_ms = group.now_ms + group.rebalance_timeout_ms


def complete_if_all_joined(group: GroupUpdate) -> None:
    """End the join phase early; the initial delay is always waited for."""
    if group.state == PREPARING and group.delay_ms is None and group.have_all_joined:
        complete(group)


def complete_after_removal(group: GroupUpdate) -> None:
    """The same after a timer has removed a member; the Java coordinator then forgets the initial delay."""
    if group.rules.is_java and group.state == PREPARING and group.have_all_joined:
        complete(group)
    else:
        complete_if_all_joined(group)


def taken_id(drawn_id: str) -> IllegalEvent:
    """The error for an id that a broker is said to draw, and that a member has."""
    return IllegalEvent(
        f"drawn_id {drawn_id!r} is the id of a member: a broker draws one that nobody has; leave it out"
    )


SHORTEST_ROUND_MS = 1  # between two tries to end a join phase: with a rebalance timeout of 0 the timer runs on and on


def join_deadline_passed(group: GroupUpdate) -> None:
    """The window of the initial delay, or the rebalance timeout, is over."""
    if group.delay_ms is not None and group.has_newcomer and group.remaining_delay_ms:
        group.has_newcomer = False
        window_ms = min(group.settings.group_initial_rebalance_delay_ms, group.remaining_delay_ms)
        group.remaining_delay_ms = max(group.remaining_delay_ms - group.delay_ms, 0)
        group.delay_ms = window_ms
        group.join_deadline_ms = group.now_ms + window_ms
    else:
        complete(group)


def complete(group: GroupUpdate) -> None:
    """End the join phase: the next generation has the members that joined, and static members that did not."""
    group.join_deadline_ms = None
    for member in tuple(group.members.values()):
        if member.join_waiter is None and not member.is_static:
            group.remove(member.member_id, "did not rejoin in time")
    if not group.members:
        _end_without_members(group)
    elif _elect_leader(group):
        _end_with_members(group)
    else:  # only static members are left, and none has rejoined: wait for their sessions to end
        group.remaining_delay_ms = 0
        group.join_deadline_ms = group.now_ms + max(group.rebalance_timeout_ms, SHORTEST_ROUND_MS)


def _elect_leader(group: GroupUpdate) -> bool:
    """Whether there is a leader: the old one if it has rejoined, else the next member that has."""
    if group.leader is None or group.members[group.leader].join_waiter is None:
        rejoined = [each for each in group.members_in_order if group.members[each].join_waiter is not None]
        if not rejoined:
            return False
        group.leader = rejoined[0]
    return True


def _end_without_members(group: GroupUpdate) -> None:
    group.generation += 1
    group.protocol = None
    group.delay_ms = None
    group.change_state(EMPTY, model.NOBODY_JOINED)
    group.emit(model.GroupWritten())


def _end_with_members(group: GroupUpdate) -> None:
    group.generation += 1
    group.delay_ms = None
    group.protocol = group.elected_protocol
    group.change_state(COMPLETING, model.JOINED)
    for member in tuple(group.members.values()):
        answer_join(group, member)
        group.change(member.member_id, is_new=False)
        group.restart_timer(member.member_id)
    group.unsynced = dict.fromkeys(group.members)
    if group.rules.sync_expires:
        group.sync_deadline_ms = group.now_ms + group.rebalance_timeout_ms


def answer_join(group: GroupUpdate, member: Member) -> None:
    """Answer a parked JoinGroup with the present generation."""
    if member.join_waiter is not None:
        group.emit(present_generation(group, member, member.join_waiter))
        group.change(member.member_id, join_waiter=None)


def present_generation(group: GroupUpdate, member: Member, client: str) -> model.JoinAnswered:
    """The answer to JoinGroup with the generation; for the leader, also with its members."""
    is_leader = group.leader == member.member_id
    return model.JoinAnswered(
        client,
        model.NONE,
        member.member_id,
        group.generation,
        group.protocol,
        group.leader,
        members=metadata(group) if is_leader else (),
    )


def metadata(group: GroupUpdate) -> tuple[tuple[str, str | None, object], ...]:
    """What the leader needs to assign: each member's id, instance id and metadata for the chosen protocol."""
    chosen = group.protocol
    assert chosen is not None  # there is a generation, or there is nothing to assign
    return tuple((each.member_id, each.instance_id, dict(each.protocols)[chosen]) for each in group.members.values())


def answer_syncs(group: GroupUpdate, error: str = model.NONE) -> None:
    """Answer every parked SyncGroup; the sessions of those who waited begin anew."""
    for member in tuple(group.members.values()):
        if member.sync_waiter is not None:
            assignment = member.assignment if error == model.NONE else None
            group.emit(model.SyncAnswered(member.sync_waiter, error, assignment))
            group.change(member.member_id, sync_waiter=None)
            group.restart_timer(member.member_id)


# JoinGroup: newcomers, members that come again, static members that come back under a new id.

NEW_MEMBER_TIMEOUT_MS = 300_000  # how long a member may wait for its first answer
FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4
FIRST_VERSION_THAT_SKIPS_THE_ASSIGNMENT = 9


def join(group: GroupUpdate, request: JoinGroup) -> None:
    """Work on a JoinGroup request; IllegalEvent if the release does not know its version."""
    version = model.join_version(group.settings, request)
    if (error := session_error(group, request)) is not None:
        return _refuse(group, request, error, request.member_id)
    if not group.is_known and request.member_id != model.UNKNOWN:
        return _refuse(group, request, "UNKNOWN_MEMBER_ID", request.member_id)
    is_created = not group.is_known
    group.is_known = True
    if not _has_room(group, request.member_id):
        group.remove(request.member_id, "the group is full")
        _refuse(group, request, "GROUP_MAX_SIZE_REACHED", model.UNKNOWN)
    elif not _supports(group, request):
        _refuse(group, request, "INCONSISTENT_GROUP_PROTOCOL", request.member_id)
    elif request.member_id == model.UNKNOWN:
        _join_without_id(group, request, version)
    else:
        _join_with_id(group, request)
    if is_created and group.rules.is_java:
        group.emit(model.GroupWritten())  # the first JoinGroup, even a refused one, writes the group as empty


def session_error(group: GroupUpdate, request: JoinGroup) -> str | None:
    """The error of a session timeout that the broker does not allow."""
    low, high = group.settings.group_min_session_timeout_ms, group.settings.group_max_session_timeout_ms
    return None if low <= request.session_timeout_ms <= high else "INVALID_SESSION_TIMEOUT"


def _refuse(group: GroupUpdate, request: JoinGroup, error: str, member_id: str) -> None:
    group.emit(model.JoinAnswered(request.client, error, member_id))


def _has_room(group: GroupUpdate, member_id: str) -> bool:
    """Whether the group may have this member as well; while members join, those count that have joined."""
    most = group.settings.group_max_size
    if group.state == EMPTY:
        return True
    if group.state == PREPARING:
        member = group.members.get(member_id)
        return (member is not None and member.join_waiter is not None) or group.waiting_count < most
    return member_id in group.members or len(group.members) < most


def _supports(group: GroupUpdate, request: JoinGroup) -> bool:
    """Whether the type is the group's, and one of the assignors is known to all its members."""
    if group.state == EMPTY:
        return bool(request.protocol_type and request.protocols)
    if request.protocol_type != group.protocol_type:
        return False
    if not group.members:
        return bool(request.protocols)
    return any(name in group.common_protocols for name, _ in request.protocols)


def _join_without_id(group: GroupUpdate, request: JoinGroup, version: int) -> None:
    if request.instance_id is not None:
        old_id = group.static_id(request.instance_id)
        new_id = group.new_id(request.instance_id, request.drawn_id)
        if old_id is None:
            return _add(group, request, new_id)
        return _replace_static(group, request, old_id, new_id)
    new_id = group.new_id(request.client, request.drawn_id)
    if version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED:
        group.pending[new_id] = (group.now_ms + request.session_timeout_ms, request.client)
        return _refuse(group, request, "MEMBER_ID_REQUIRED", new_id)
    return _add(group, request, new_id)


def _join_with_id(group: GroupUpdate, request: JoinGroup) -> None:
    if request.member_id in group.pending:
        if request.instance_id is not None:
            raise IllegalEvent(f"{request}: the id was given to a dynamic member, it cannot come as a static one")
        return _add(group, request, request.member_id)
    error = group.error_of(request.member_id, request.instance_id)
    if error is None and group.state == EMPTY:
        error = "UNKNOWN_MEMBER_ID"
    if error is not None:
        return _refuse(group, request, error, request.member_id)
    return _rejoin(group, request, group.members[request.member_id])


def _rejoin(group: GroupUpdate, request: JoinGroup, member: Member) -> None:
    has_changed = member.protocols != request.protocols
    is_forced = group.state == STABLE and group.leader == member.member_id
    if group.state == PREPARING:
        _update(group, request, member)
        complete_if_all_joined(group)
    elif has_changed or is_forced:
        _update(group, request, member)
        rebalance_or_complete(group, model.LEADER_REJOINED if is_forced else model.METADATA_CHANGED, member.client)
    else:  # its answer must have been lost: send it again
        group.emit(present_generation(group, member, request.client))


def _add(group: GroupUpdate, request: JoinGroup, member_id: str) -> None:
    if group.state == PREPARING and group.delay_ms is not None and (group.rules.is_java or group.generation == 0):
        group.has_newcomer = True
    if not group.members:
        group.protocol_type = request.protocol_type
    group.leader = group.leader or member_id
    group.pending.pop(member_id, None)
    group.members[member_id] = Member(
        member_id,
        request.client,
        request.instance_id,
        request.session_timeout_ms,
        model.rebalance_timeout_ms(group.settings, request),
        request.protocols,
        is_new=True,
        join_waiter=request.client,
        expires_ms=group.now_ms + NEW_MEMBER_TIMEOUT_MS,
    )
    rebalance_or_complete(group, model.MEMBER_ADDED, request.client)


def _update(group: GroupUpdate, request: JoinGroup, member: Member) -> None:
    group.change(
        member.member_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=model.rebalance_timeout_ms(group.settings, request),
        protocols=request.protocols,
        join_waiter=request.client,
    )


def _replace_static(group: GroupUpdate, request: JoinGroup, old_id: str, new_id: str) -> None:
    """A new process takes the place of a static member; a request that still waits under the old id is fenced."""
    old_leader, old = group.leader, group.members[old_id]
    if old.join_waiter is not None:
        group.emit(model.JoinAnswered(old.join_waiter, "FENCED_INSTANCE_ID", old_id))
    if old.sync_waiter is not None:
        group.emit(model.SyncAnswered(old.sync_waiter, "FENCED_INSTANCE_ID"))
    new = old._replace(member_id=new_id, client=request.client, is_new=False, join_waiter=None, sync_waiter=None)
    group.members = {each.member_id: each for each in (new if it is old else it for it in group.members.values())}
    if group.leader == old_id:
        group.leader = new_id
    group.restart_timer(new_id)  # of the old session timeout still
    _update(group, request, group.members[new_id])
    if group.state == STABLE and group.elected_protocol == group.protocol:
        _answer_static(group, request, new_id, old_leader)
    elif group.state in (STABLE, COMPLETING):
        cause = model.VOTE_CHANGED if group.state == STABLE else model.STATIC_REPLACED
        rebalance_or_complete(group, cause, request.client)
    else:
        complete_if_all_joined(group)


def _answer_static(group: GroupUpdate, request: JoinGroup, new_id: str, old_leader: str | None) -> None:
    """No rebalance: the new id is written down, and the member goes on in the present generation."""
    group.emit(model.GroupWritten())
    member = group.members[new_id]
    if model.join_version(group.settings, request) >= FIRST_VERSION_THAT_SKIPS_THE_ASSIGNMENT:
        answer = replace(
            present_generation(group, member, request.client), is_assignment_skipped=group.leader == new_id
        )
    else:  # it gets the old leader, so that it does not assign
        answer = model.JoinAnswered(request.client, model.NONE, new_id, group.generation, group.protocol, old_leader)
    group.emit(answer)
    group.change(new_id, join_waiter=None)
