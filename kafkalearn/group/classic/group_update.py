"""A group while one event is worked on: the same fields, open to change, and the effects so far."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import TypedDict, Unpack

from kafkalearn.group.classic.effects import Effect, MemberRemoved, StateChanged
from kafkalearn.group.classic.settings import Settings
from kafkalearn.group.classic.state import Group, Member
from kafkalearn.group.classic.transitions import transition
from kafkalearn.group_states import PREPARING
from kafkalearn.java_collections import hash_order

_FIELDS = tuple(field.name for field in fields(Group))


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

    def __init__(self, settings: Settings, group: Group) -> None:
        """Begin with the group as it is before the event."""
        for name in _FIELDS:
            setattr(self, name, getattr(group, name))
        self.settings = settings
        self.rules = settings.rules
        self.members: dict[str, Member] = {member.member_id: member for member in group.members}
        self.pending: dict[str, tuple[int, str]] = {each: (expires, client) for each, expires, client in group.pending}
        self.unsynced: dict[str, None] = dict.fromkeys(group.unsynced)
        self.effects: list[Effect] = []

    def freeze(self) -> Group:
        """The group after the event."""
        values = {name: getattr(self, name) for name in _FIELDS}
        values["members"] = tuple(self.members.values())
        values["pending"] = tuple((each, *rest) for each, rest in self.pending.items())
        values["unsynced"] = tuple(self.unsynced)
        values["effects"] = tuple(self.effects)
        return Group(**values)

    def emit(self, effect: Effect) -> None:
        """Add an effect."""
        self.effects.append(effect)

    def change_state(self, after: str, cause: str, who: str = "") -> None:
        """Change the state, if the table of transitions has it."""
        transition(self.state, after, cause)
        self.emit(StateChanged(self.now_ms, self.state, after, cause, who))
        self.state = after

    def put(self, member: Member) -> None:
        """Store a changed member."""
        self.members[member.member_id] = member

    def change(self, member_id: str, **changes: Unpack[MemberChanges]) -> Member:
        """Store a member with some fields changed."""
        member = self.members[member_id]._replace(**changes)
        self.members[member_id] = member
        return member

    def restart_timer(self, member_id: str) -> None:
        """Begin the session of a member anew."""
        self.change(member_id, expires_ms=self.now_ms + self.members[member_id].session_timeout_ms)

    def new_id(self, prefix: str, drawn_id: str | None) -> str:
        """A member id that nobody has; Kafka puts a random UUID where this has a number, unless it is known."""
        if drawn_id is not None:
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
            self.emit(MemberRemoved(self.now_ms, member_id, gone.client, why))
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

    @property
    def is_preparing(self) -> bool:
        """Whether JoinGroup requests are being collected."""
        return self.state == PREPARING
