"""Why a group rebalances: the names of the causes, and which of them a coordinator's reason says.

A name that stands for several causes says so: the log tells that a member left, and not whether it was closed. Nothing
is guessed beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Cause(NamedTuple):
    """A cause in words, and what else it may be."""

    words: str  # follows the member's name, or stands alone
    covers: tuple[str, ...] = ()  # the causes between which the log does not decide; empty: it is this one


JOINED, CLOSED, LEFT, REMOVED, UNSUBSCRIBED = (
    "member joined",
    "member closed",
    "member left",
    "member removed",
    "member unsubscribed",
)
POLL, HEARTBEATS, SYNC, TOO_LATE = "poll interval exceeded", "heartbeats lost", "sync lost", "revoked too late"
TOPICS, SUBSCRIPTION, EITHER = "topics changed", "subscription changed", "topics or subscription changed"
SECOND_ROUND, LEADER, REJOINED, OWN = "second round", "leader rejoined", "member rejoined", "nothing changed"
STATIC, CAPACITY, STORE, UNKNOWN = "static member changed", "over capacity", "store failed", "unknown"
FENCED, MOVED, NO_COORDINATOR, DROPPED = "static fenced", "coordinator moved", "coordinator lost", "member dropped"
INCONSISTENT, FOLLOWUP = "inconsistent protocols", "followup rebalance"
UNAUTHORIZED, BAD_TIMEOUT, TOO_OLD = "not authorized", "session timeout refused", "version not supported"

CAUSES: Mapping[str, Cause] = MappingProxyType(
    {
        JOINED: Cause("came, or came back"),
        CLOSED: Cause("was closed, as in a deployment"),
        LEFT: Cause("left; the log does not say why", (CLOSED, POLL, REMOVED, UNSUBSCRIBED)),
        REMOVED: Cause("was taken out of the group by an admin"),
        UNSUBSCRIBED: Cause("gave up its subscription"),
        POLL: Cause("did not call poll() within max.poll.interval.ms, and left by itself"),
        HEARTBEATS: Cause("was not heard of for its session timeout: dead, paused or cut off"),
        SYNC: Cause("did not fetch its assignment in time"),
        TOO_LATE: Cause("did not give up its partitions within its rebalance timeout"),
        TOPICS: Cause("topics or partitions changed"),
        SUBSCRIPTION: Cause("changed its subscription or its assignors"),
        EITHER: Cause("topics or a subscription changed", (TOPICS, SUBSCRIPTION)),
        SECOND_ROUND: Cause("gave up partitions, and joined again for the others to get them"),
        LEADER: Cause(
            "leads the group and joined again; the log does not say why", (TOPICS, SUBSCRIPTION, SECOND_ROUND, OWN)
        ),
        REJOINED: Cause("joined again; the log does not say why", (SUBSCRIPTION, TOPICS, SECOND_ROUND, OWN)),
        OWN: Cause("joined again of its own accord, and nothing had changed"),
        STATIC: Cause("came back as a static member with other assignors or topics"),
        CAPACITY: Cause("the group has more members than group.max.size allows"),
        FENCED: Cause("was fenced: another member has its group.instance.id"),
        MOVED: Cause("asked a broker that is the coordinator of its group no longer"),
        NO_COORDINATOR: Cause("lost its coordinator; the log does not say why", (MOVED, HEARTBEATS)),
        DROPPED: Cause(
            "was no member any more when it asked: the group had gone on without it",
            (HEARTBEATS, POLL, SYNC, TOO_LATE, REMOVED),
        ),
        INCONSISTENT: Cause("was refused: it has no assignor in common with the group"),
        UNAUTHORIZED: Cause("was refused: it may not use this group; its principal needs READ on the group (an ACL)"),
        BAD_TIMEOUT: Cause(
            "was refused: its session.timeout.ms is not between the broker's group.min.session.timeout.ms and "
            "group.max.session.timeout.ms"
        ),
        TOO_OLD: Cause("was refused: it and the broker have no version of the request for this group in common"),
        FOLLOWUP: Cause(
            "runs Kafka Streams, and joined again as planned, to move tasks or to ask whether it can",
            (SECOND_ROUND, OWN),
        ),
        STORE: Cause("the assignment could not be written to the offsets topic"),
        UNKNOWN: Cause("the log does not say why"),
    }
)
"""Every cause. Names that `kafkalearn.spark.group_logs` has mean the same there."""

_MEMBER = {
    "Adding new member ": (JOINED, " with group instance", "; client reason: "),
    "Updating metadata for static member ": (STATIC, " with instance id "),
    "Updating metadata for member ": (REJOINED, " during ", "; client reason: "),
    "Leader ": (LEADER, " re-joining group", "; client reason: "),
    "leader ": (LEADER, " re-joining group"),
    "removing member ": (LEFT, " on heartbeat expiration", " on LeaveGroup"),
    "Removing member ": (LEFT, " on heartbeat expiration", " on LeaveGroup"),
    "explicit `LeaveGroup` request for (": (LEFT, ") members"),
    "Removing ": (SYNC, " on pending sync request expiration"),
    "Member ": (JOINED, " is joining group during"),
}
"""How a coordinator's reason begins, what it stands for, and what ends the member id."""

_CLIENT_REASON = "client reason: "
_LEAVE_REASONS = (
    ("the consumer is being closed", CLOSED),
    ("consumer poll timeout has expired", POLL),
    ("worker poll timeout has expired", POLL),
    ("the consumer unsubscribed from all topics", UNSUBSCRIBED),
    ("member was removed by an admin", REMOVED),
)
_REJOIN_REASONS = (
    ("need to revoke partitions", SECOND_ROUND),
    ("cached metadata has changed", TOPICS),
    ("the subscription has changed", SUBSCRIPTION),
    ("subscription has changed", SUBSCRIPTION),
    ("Assignment Done: rejoining group to redistribute", SECOND_ROUND),
    ("triggered followup rebalance", FOLLOWUP),
    ("received assignment does not match the current subscription", SUBSCRIPTION),
)
_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")


def cause_of_reason(reason: str) -> tuple[str, str | None]:
    """The cause that a coordinator's reason says, and the member that it names.

    >>> cause_of_reason("removing member c1-7 on heartbeat expiration.")
    ('heartbeats lost', 'c1-7')
    >>> cause_of_reason("Leader c1-7 re-joining group during Stable; client reason: cached metadata has changed")
    ('topics changed', 'c1-7')
    >>> cause_of_reason("explicit `LeaveGroup` request for (c1-7) members.")
    ('member left', 'c1-7')
    >>> cause_of_reason("something new")
    ('unknown', None)
    """
    if reason.startswith("Freshly-loaded group"):
        return CAPACITY, None
    if reason[:5] in ("error", "Error") and "when storing group assignment" in reason:
        return STORE, None
    if reason.startswith("Group's selectedProtocol will change"):
        _, _, rest = reason.partition("static member ")
        return STATIC, rest.partition(" with instance id ")[0] or None
    for begin, (cause, *ends) in _MEMBER.items():
        if reason.startswith(begin):
            rest = reason[len(begin) :]
            ended = [at for at in (rest.find(end) for end in ends) if at >= 0]
            if not ended and (cut := _cut_off(rest, ends)) is not None:
                at, end = cut
                ended, rest = [at], f"{rest[:at]}{end}"
            if not ended:
                if begin == "Updating metadata for member " or begin == "Adding new member ":
                    return cause, rest.strip(" .") or None  # as 2.1 to 2.7 wrote it: the id is last
                if begin.startswith("explicit `LeaveGroup`"):
                    return cause, None  # the line was cut off
                continue
            member = rest[: min(ended)].removeprefix("Set").strip("([])")
            if " on heartbeat expiration" in rest and cause == LEFT:
                cause = HEARTBEATS
            client = rest.partition(_CLIENT_REASON)[2]
            if cause == LEFT:
                cause = cause_of_leaving(client)
            elif cause in (LEADER, REJOINED):
                cause = cause_of_rejoining(client) or cause
            return cause, member or None
    return UNKNOWN, None


SHORTEST_END = 5  # characters, as of `` on heartbeat expiration``: they show which end it is


def _cut_off(rest: str, ends: list[str]) -> tuple[int, str] | None:
    """Where a reason ends in the beginning of one of the ends, for a screen has cut it off; None: it does not.

    >>> _cut_off("c1-7 on heart", [" on heartbeat expiration", " on LeaveGroup"])
    (4, ' on heartbeat expiration')
    """
    for end in ends:
        for length in range(len(end) - 1, SHORTEST_END - 1, -1):
            if rest.endswith(end[:length]):
                return len(rest) - length, end
    return None


def cause_of_leaving(client_reason: str | None) -> str:
    """Why a member left, in its own words; `LEFT` if they say nothing.

    >>> cause_of_leaving("consumer poll timeout has expired."), cause_of_leaving("not provided")
    ('poll interval exceeded', 'member left')
    """
    words = client_reason or ""
    return next((cause for begin, cause in _LEAVE_REASONS if _begins(words, begin)), LEFT)


def cause_of_rejoining(client_reason: str | None) -> str | None:
    """Why a member joined again, in its own words; None if they say nothing."""
    words = client_reason or ""
    return next((cause for begin, cause in _REJOIN_REASONS if _begins(words, begin)), None)


SHORTEST_REASON = 12  # characters that tell one reason from another, where a line was cut


def _begins(words: str, begin: str) -> bool:
    """Whether a reason is this one; a screen may have cut it off."""
    return words.startswith(begin) or (len(words) >= SHORTEST_REASON and begin.startswith(words.rstrip()))


def own_reason(reason: str | None) -> str | None:
    """What a client itself gave as its reason; None: nothing.

    >>> own_reason("Leader c1-7 re-joining group during Stable; client reason: tired.")
    'tired'
    >>> own_reason("Adding new member c1-7; client reason: not provided") is None
    True
    """
    said = (reason or "").partition(_CLIENT_REASON)[2].strip().rstrip(".")
    return None if said in ("", "not provided", "null") else said


def members_of(member: str | None) -> tuple[str, ...]:
    """The member ids that a coordinator names together, as those that left by one request.

    >>> members_of("c1-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11, c2-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a12")[1][:3]
    'c2-'
    """
    named = (member or "").split(", ")
    return tuple(named) if len(named) > 1 and all(map(_UUID.search, named)) else ()


def client_of(member: str) -> str:
    """The ``client.id`` in a classic member id, or the ``group.instance.id`` of a static one.

    >>> client_of("orders-7-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11"), client_of("AP97UdfoSga2XXQPLnI4zw")
    ('orders-7', 'AP97UdfoSga2XXQPLnI4zw')
    """
    return _UUID.sub("", member)
