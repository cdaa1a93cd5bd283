"""Why a group rebalances: the names of the causes, and which of them a reason or an event says.

A name that stands for several causes says so: the log tells that a member left, and not whether it was closed. Nothing
is guessed beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs import protocol_errors as errors
from kafkalearn.oncall.logs.lines import BROKER, ERLANG, GO, JAVASCRIPT, LIBRDKAFKA, PYTHON, RUBY, LogEvent


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
INCONSISTENT, FOLLOWUP, INITIALISED = "inconsistent protocols", "followup rebalance", "partitions initialised"
UNAUTHORIZED, BAD_TIMEOUT, TOO_OLD = "not authorized", "session timeout refused", "version not supported"
FATAL = "fatal error"

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
        INCONSISTENT: Cause("was refused: it has no assignor in common with the group, or with its coordinator"),
        UNAUTHORIZED: Cause("was refused: it may not use this group; its principal needs READ on the group (an ACL)"),
        BAD_TIMEOUT: Cause(
            "was refused: its session.timeout.ms is not between the broker's group.min.session.timeout.ms and "
            "group.max.session.timeout.ms"
        ),
        TOO_OLD: Cause(
            "was refused: it is too old, or too new, for the broker, with no version of JoinGroup (of KIP-848: of "
            "ConsumerGroupHeartbeat) in common"
        ),
        FATAL: Cause(
            "got an error that ends its membership for good, and reads nothing until the program makes a new consumer; "
            "the error stands in a line before",
            (UNAUTHORIZED, BAD_TIMEOUT, TOO_OLD, INCONSISTENT, CAPACITY, FENCED),
        ),
        FOLLOWUP: Cause(
            "runs Kafka Streams, and joined again as planned, to move tasks or to ask whether it can",
            (SECOND_ROUND, OWN),
        ),
        INITIALISED: Cause("new share-partitions were initialised, and could be given out"),
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


# What one event says, of a broker or a client, and how much: every cause is decided by it, whoever asks.

NOTHING, SOMETHING, BROAD, NAMED = range(4)
"""How much an event says: nothing; that the group rebalances; one of several causes; one cause."""

FENCED_STATE, STALE_STATE, LEAVING_STATE = "FENCED", "STALE", "PREPARE_LEAVING"  # of a member of KIP-848
FATAL_STATES = ("FATAL", "fatal")  # as the change of its state says it, and the error
GIVEN = "need to re-join with the given member-id"
_LEAVES_WHEN_CLOSED = (GO, JAVASCRIPT, RUBY, PYTHON)
_HAS_NO_POLL_TIMER = (GO, JAVASCRIPT, ERLANG, RUBY)
_OF_THEM = ("kafka server: ", "afkajs", "KafkaJS", "Attempt to heart beat")  # sarama, kafkajs, Java before 0.10.1
_OF_ANOTHER_REQUEST = ("error while consuming", "onsumer error", "ommit")  # refused after a rebalance, too, without it
_WHILE_IT_JOINS = "Failing OffsetCommit request"  # Java's, of a client that is no member and of one that joins again
_FORCED = "Forcing rebalance"  # Connect's
_CONNECTION_GONE = ("connection_down", "tcp_closed", "sock_down")  # brod's


def _error_of(event: LogEvent) -> str | None:
    """The error that an event has: by its name, where a line of no known form was read by it, or in its words."""
    known = event.fields.get("error")
    if isinstance(known, str) and known in errors.KINDS:
        return known
    return errors.error_in(event.reason or "") or errors.error_in(event.text)


def _of_error(event: LogEvent, error: str | None) -> tuple[str, int]:
    if error == errors.UNKNOWN_MEMBER:
        is_silent = event.writer in _HAS_NO_POLL_TIMER or any(each in event.text for each in _OF_THEM)
        is_late = event.kind == kinds.JOIN_FAILED or any(each in event.text for each in _OF_ANOTHER_REQUEST)
        return (HEARTBEATS, NAMED) if is_silent and not is_late else (DROPPED, BROAD)
    if error == errors.NO_MEMBER and event.text.startswith(_WHILE_IT_JOINS):
        return UNKNOWN, SOMETHING
    return {
        errors.POLL: (POLL, NAMED),
        errors.SESSION: (HEARTBEATS, NAMED),
        errors.FENCED: (FENCED, NAMED),
        errors.TOO_MANY: (CAPACITY, NAMED),
        errors.INCONSISTENT: (INCONSISTENT, NAMED),
        errors.UNAUTHORIZED: (UNAUTHORIZED, NAMED),
        errors.BAD_TIMEOUT: (BAD_TIMEOUT, NAMED),
        errors.TOO_OLD: (TOO_OLD, NAMED),
        errors.NOT_COORDINATOR: (MOVED, NAMED),
        errors.NO_COORDINATOR: (NO_COORDINATOR, BROAD),
        errors.ILLEGAL_GENERATION: (DROPPED, BROAD),
        errors.NO_MEMBER: (DROPPED, BROAD),
        errors.FENCED_EPOCH: (DROPPED, BROAD),
    }.get(error or "", (UNKNOWN, SOMETHING))


def _of_leaving(event: LogEvent) -> tuple[str, int]:
    cause = cause_of_leaving(event.reason)
    if cause == LEFT and (event.writer in _LEAVES_WHEN_CLOSED or (event.reason or "") in ("shutdown", "normal")):
        cause = CLOSED
    if cause == LEFT and event.writer == ERLANG and (error := errors.error_in(event.reason or "")):
        return _of_error(event, error)
    return cause, BROAD if cause == LEFT else NAMED


def _of_rejoining(event: LogEvent) -> tuple[str, int]:
    reason = event.reason or ""
    cause = cause_of_rejoining(reason)
    if cause is not None:
        return cause, NAMED
    if reason.startswith(GIVEN):
        return UNKNOWN, NOTHING
    if "redistribute previously owned" in reason or "need to revoke" in reason or "cooperative move" in event.text:
        return SECOND_ROUND, NAMED
    if event.writer == LIBRDKAFKA and ("etadata" in reason or "metadata change" in event.text):
        state = event.fields.get("join_state") or event.fields.get("state")
        if state == "steady":
            return TOPICS, NAMED
        is_outside = state == "wait-metadata"  # it waits for its topics before it sends JoinGroup
        return (JOINED, NAMED) if is_outside and event.fields.get("count") in (0, "0") else (UNKNOWN, SOMETHING)
    if "etadata" in reason and ("changed" in reason or "new metadata" in reason):
        return TOPICS, NAMED
    if "ollowup rebalance" in event.text:
        return cause_of_rejoining("triggered followup rebalance") or UNKNOWN, NAMED
    if reason in ("unsubscribe", "unsubscribing"):
        return UNSUBSCRIBED, NAMED
    if _FORCED in event.text:
        return REJOINED, BROAD
    if event.writer == ERLANG and any(each in reason for each in _CONNECTION_GONE):
        return NO_COORDINATOR, BROAD
    return _of_error(event, _error_of(event))


def _of_revoking(event: LogEvent) -> tuple[str, int]:
    reason = event.reason or ""
    if reason == "unsubscribe":
        return UNSUBSCRIBED, NAMED
    if "(terminating)" in event.text:
        return CLOSED, NAMED
    if "because leaving group" in event.text:
        return CLOSED, NAMED
    if event.fields.get("partitions") in ("", "set()", "[]", "frozenset()"):
        return UNKNOWN, NOTHING
    return _of_error(event, errors.error_in(reason))


_BY_BROKER: Mapping[str, str] = MappingProxyType(
    {
        kinds.MEMBER_JOINED: JOINED,
        kinds.MEMBER_FAILED: HEARTBEATS,
        kinds.SYNC_MISSING: SYNC,
        kinds.SUBSCRIPTION_UPDATED: SUBSCRIPTION,
        kinds.TOPICS_UPDATED: EITHER,
        kinds.STATIC_REPLACED: STATIC,
        kinds.STATIC_FENCED: FENCED,
    }
)
"""What a broker's line about a member, or about topics, makes a group rebalance for."""


def _of_broker(event: LogEvent) -> tuple[str, int]:
    if event.kind == kinds.MEMBER_LEFT:
        cause = cause_of_leaving(event.reason)
        return cause, BROAD if cause == LEFT else NAMED
    if event.kind == kinds.MEMBER_FENCED:  # a reason beside it is new, or was cut off
        return (TOO_LATE, NAMED) if event.reason is None else (UNKNOWN, SOMETHING)
    cause = _BY_BROKER.get(event.kind)
    return (UNKNOWN, NOTHING) if cause is None else (cause, BROAD if CAUSES[cause].covers else NAMED)


def said_by(event: LogEvent) -> tuple[str, int]:
    """The cause that an event says, of a broker or a client, and how much it says.

    >>> from kafkalearn.oncall.logs import read
    >>> (event,) = read(["Heartbeat session expired, marking coordinator dead"]).events
    >>> said_by(event) == ("heartbeats lost", NAMED)
    True
    """
    if event.writer == BROKER:
        return _of_broker(event)
    kind = event.kind
    if kind == kinds.POLL_EXPIRED:
        return POLL, NAMED
    if kind == kinds.HEARTBEAT_EXPIRED:
        return HEARTBEATS, NAMED
    if kind == kinds.CLIENT_CLOSING:  # a static member of librdkafka then sends no LeaveGroup
        return CLOSED, SOMETHING if event.writer == LIBRDKAFKA else NAMED
    if kind == kinds.CLIENT_UNSUBSCRIBING:
        return UNSUBSCRIBED, BROAD
    if kind == kinds.CLIENT_FENCED:
        return (FENCED, NAMED) if "nstance" in event.text else (DROPPED, BROAD)
    if kind == kinds.CLIENT_EPOCH:  # a state of KIP-848
        state = event.fields.get("state")
        said = {FENCED_STATE: (DROPPED, BROAD), STALE_STATE: (POLL, NAMED), LEAVING_STATE: (LEFT, BROAD)}
        said |= dict.fromkeys(FATAL_STATES, (FATAL, BROAD))
        return said.get(str(state), (UNKNOWN, NOTHING))
    if kind == kinds.SUBSCRIPTION_UPDATED:
        return (UNKNOWN, NOTHING) if event.fields.get("join_state") == "init" else (SUBSCRIPTION, NAMED)
    if kind == kinds.CLIENT_LEAVING:
        return _of_leaving(event)
    if kind in (kinds.HEARTBEAT_FAILED, kinds.JOIN_FAILED, kinds.SYNC_FAILED, kinds.CLIENT_LOST):
        return _of_error(event, _error_of(event))
    if kind == kinds.COORDINATOR_LOST:
        if event.text.startswith("Requesting disconnect"):
            return UNKNOWN, NOTHING
        cause, weight = _of_error(event, _error_of(event))
        return (NO_COORDINATOR, BROAD) if weight == SOMETHING else (cause, weight)
    if kind == kinds.REJOIN_REQUESTED:
        return _of_rejoining(event)
    if kind == kinds.CLIENT_REVOKED:
        return _of_revoking(event)
    if kind == "GenerationReset" and "encountered" in (event.reason or ""):
        return _of_error(event, errors.error_in(event.reason or ""))
    if kind == kinds.TOPICS_UPDATED:
        is_first = str(event.fields.get("before", "")) in ("0", "{}", "None")
        return (UNKNOWN, NOTHING) if is_first else (TOPICS, NAMED)
    if kind in (kinds.HEARTBEAT_REBALANCING, kinds.DISCONNECTED):
        return UNKNOWN, SOMETHING
    return UNKNOWN, NOTHING
