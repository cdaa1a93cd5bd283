"""Every way from one state of a classic group to another: the table that `step` obeys and pictures draw."""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.group_states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE

MEMBER_ADDED = "a member is added"
MEMBER_LEFT = "a member leaves"
MEMBER_EXPIRED = "a member's session expires"
METADATA_CHANGED = "a member rejoins with other metadata"
LEADER_REJOINED = "the leader rejoins"
STATIC_REPLACED = "a static member comes back"
VOTE_CHANGED = "a static member's return changes the protocol"
SYNC_EXPIRED = "a member sends no SyncGroup in time"
NOT_STORED = "the assignment cannot be stored"
JOINED = "the join phase ends"
NOBODY_JOINED = "the join phase ends without members"
LAST_ONE_GONE = "the join phase ends without members (0.9 and 0.10.0)"
STORED = "the leader's assignment is stored"
EXPIRED = "the last offset expires"
DELETED = "the group is deleted"
MOVED = "the partition moves to another broker"


class Transition(NamedTuple):
    """One way from a state to another."""

    before: str
    after: str
    cause: str


TRANSITIONS: tuple[Transition, ...] = (
    Transition(EMPTY, PREPARING, MEMBER_ADDED),
    *(
        Transition(before, PREPARING, cause)
        for before in (STABLE, COMPLETING)
        for cause in (MEMBER_ADDED, MEMBER_LEFT, MEMBER_EXPIRED, METADATA_CHANGED, SYNC_EXPIRED)
    ),
    Transition(STABLE, PREPARING, LEADER_REJOINED),
    Transition(STABLE, PREPARING, VOTE_CHANGED),
    Transition(COMPLETING, PREPARING, STATIC_REPLACED),
    Transition(COMPLETING, PREPARING, NOT_STORED),
    Transition(PREPARING, COMPLETING, JOINED),
    Transition(PREPARING, EMPTY, NOBODY_JOINED),
    Transition(PREPARING, DEAD, LAST_ONE_GONE),
    Transition(COMPLETING, STABLE, STORED),
    Transition(EMPTY, DEAD, EXPIRED),
    Transition(EMPTY, DEAD, DELETED),
    *(Transition(before, DEAD, MOVED) for before in (EMPTY, PREPARING, COMPLETING, STABLE)),
)
"""All of them; `kafkalearn.group.classic.step` makes no other."""

_KNOWN = frozenset(TRANSITIONS)


def transition(before: str, after: str, cause: str) -> Transition:
    """The transition of that name; AssertionError if the table has none.

    >>> transition("Empty", "PreparingRebalance", MEMBER_ADDED).cause
    'a member is added'
    """
    made = Transition(before, after, cause)
    assert made in _KNOWN, f"no transition {made}"
    return made
