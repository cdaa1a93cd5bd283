"""What the protocol promises, by name, and which promises a state breaks."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from kafkalearn.group.consumer.state import LEAVE_FOR_A_WHILE, UNREVOKED_PARTITIONS, Group

OWNED_ONCE = "a partition is never held by two members"
TARGETED_ONCE = "a partition is in one target at most"
EPOCHS_IN_ORDER = "member epoch <= assignment epoch <= group epoch"
REVOKING_HAS_AN_END = "a member that has to give up partitions has a time to do so"
HELD_IS_KNOWN = "what is held was given at an epoch the member has reached"

PROMISES = (OWNED_ONCE, TARGETED_ONCE, EPOCHS_IN_ORDER, REVOKING_HAS_AN_END, HELD_IS_KNOWN)
"""All names. Two more hold of runs, not of states: no epoch falls while its member stays, and a group whose members
go on sending heartbeats becomes Stable."""


def broken(group: Group) -> tuple[str, ...]:
    """The names of the promises that a state breaks; none if all is well.

    >>> from kafkalearn.group.consumer.settings import Settings
    >>> from kafkalearn.group.consumer.state import start
    >>> broken(start(Settings(), {"orders": 6}))
    ()
    """
    judged = {
        OWNED_ONCE: _is_once(chain.from_iterable(_held(group))),
        TARGETED_ONCE: _is_once(chain.from_iterable(target for _, target in group.targets)),
        EPOCHS_IN_ORDER: _epochs_are_in_order(group),
        REVOKING_HAS_AN_END: all(
            (member.state == UNREVOKED_PARTITIONS) == (member.revocation_ends_at_ms is not None)
            for member in group.members
            if member.epoch != LEAVE_FOR_A_WHILE
        ),
        HELD_IS_KNOWN: all(
            held.epoch <= max(member.epoch, 0)
            for member in group.members
            for held in (*member.assigned, *member.pending_revocation)
        ),
    }
    return tuple(name for name in PROMISES if not judged[name])


def check(group: Group) -> None:
    """Pass in silence if the state keeps the promises; else AssertionError names the broken ones."""
    found = broken(group)
    assert not found, f"broken: {'; '.join(found)}"


def _held(group: Group) -> list[tuple]:
    return [member.assigned_partitions + member.pending_partitions for member in group.members]


def _is_once(partitions: object) -> bool:
    return all(count == 1 for count in Counter(partitions).values())


def _epochs_are_in_order(group: Group) -> bool:
    epochs = [member.epoch for member in group.members]
    return max(epochs, default=0) <= group.assignment_epoch <= group.group_epoch
