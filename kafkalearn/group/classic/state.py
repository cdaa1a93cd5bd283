"""The state of a classic group on its coordinator: its members, the members it waits for, and its timers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.group.classic.effects import Answer, Effect
from kafkalearn.group.classic.settings import Settings
from kafkalearn.group_states import EMPTY


class Member(NamedTuple):
    """One member, as the coordinator knows it."""

    member_id: str
    client: str  # the label of the client that got the member id
    instance_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, Hashable], ...]
    is_new: bool = False  # it waits for its first answer
    join_waiter: str | None = None  # the client whose JoinGroup is parked
    sync_waiter: str | None = None  # the client whose SyncGroup is parked
    assignment: Hashable = None
    expires_ms: int | None = None  # its session ends then; None: the timer ran out while it was waiting

    @property
    def is_static(self) -> bool:
        """Whether it has a ``group.instance.id``."""
        return self.instance_id is not None

    @property
    def protocol_names(self) -> tuple[str, ...]:
        """The assignors it can use, the preferred first."""
        return next(zip(*self.protocols, strict=True), ())  # each JoinGroup asks every member


@dataclass(frozen=True, slots=True)
class Group:
    """A classic group on its coordinator, at one moment."""

    state: str = EMPTY
    generation: int = 0
    leader: str | None = None
    protocol: str | None = None
    protocol_type: str | None = None
    members: tuple[Member, ...] = ()  # in the order in which they came
    pending: tuple[tuple[str, int, str], ...] = ()  # (member id, expires_ms, client): given out, not used yet
    unsynced: tuple[str, ...] = ()  # member ids that have not sent SyncGroup in this generation
    now_ms: int = 0
    join_deadline_ms: int | None = None  # when the join phase ends at the latest
    delay_ms: int | None = None  # of the running window of the initial delay; None: no initial delay
    remaining_delay_ms: int = 0  # what further windows may take
    has_newcomer: bool = False  # a member was added in the window
    sync_deadline_ms: int | None = None
    id_count: int = 0  # member ids given out so far
    is_known: bool = False  # the coordinator has heard of it
    has_moved: bool = False  # Dead, because another broker has it now
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # what the last event led to

    def member(self, member_id: str) -> Member | None:
        """The member of that id, if it is one."""
        for each in self.members:
            if each.member_id == member_id:
                return each
        return None

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that the last event led to, in order."""
        return tuple(effect for effect in self.effects if isinstance(effect, Answer))

    @property
    def assignment(self) -> dict[str, Hashable]:
        """What each member has been given in this generation."""
        return {each.member_id: each.assignment for each in self.members}


def start(settings: Settings) -> Group:
    """A group that nobody has asked for yet."""
    return Group()
