"""What clients call the errors of the group protocol, each in its own words, and what each means for a member.

A coordinator answers a heartbeat, a join or a commit with a code. Java, librdkafka, sarama, franz-go, kafka-go,
kafkajs, brod and the clients in Python print its name or a sentence of their own. A line of a client that has no
known form is still understood if one of these words stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs.lines import ANY_CLIENT, Line, LogEvent

UNKNOWN_MEMBER, ILLEGAL_GENERATION, REBALANCING = "unknown member", "illegal generation", "rebalance in progress"
NOT_COORDINATOR, NO_COORDINATOR = "not coordinator", "coordinator not available"
FENCED, TOO_MANY, INCONSISTENT = "fenced instance", "group max size", "inconsistent protocol"
POLL, SESSION, NO_MEMBER = "poll interval", "session timeout", "no member"
UNAUTHORIZED, BAD_TIMEOUT, TOO_OLD = "not authorized", "session timeout refused", "version not supported"
FENCED_EPOCH, STALE_EPOCH = "fenced member epoch", "stale member epoch"  # of KIP-848

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        POLL: r"MAX_POLL_EXCEEDED|MaxPollExceeded|PollExceeded|[Mm]aximum (?:application )?poll interval"
        r"|poll interval.{0,30}exceeded|longer than the configured max[._]poll[._]interval[._]ms"
        r"|poll timeout has expired",
        SESSION: r"longer than the configured session\.timeout\.ms|session timed out (?:\(in join|without receiving)"
        r"|[Hh]eartbeat session (?:has )?expired|SESSTMOUT",
        FENCED: r"FENCED_INSTANCE_ID|[Ff]enced_?[Ii]nstance_?[Ii]d|fenced by (?:an)?other (?:consumer|instance)"
        r"|another consumer with the same group\.instance\.id|group\.instance\.id gets fenced|UNRELEASED_INSTANCE_ID"
        r"|UnreleasedInstanceId\w*"
        r"|fenced_instance_id|consumer has been fenced|instance ?id.{0,80} has been fenced",
        TOO_MANY: r"GROUP_MAX_SIZE_REACHED|GroupMaxSizeReached\w*|group_max_size_reached|reached its max(?:imum)? size"
        r"|configured maximum number of members|[Cc]onsumer group has reached max",
        INCONSISTENT: r"INCONSISTENT_GROUP_PROTOCOL|InconsistentGroupProtocol\w*|inconsistent_group_protocol"
        r"|[Ii]nconsistent group protocol|protocol type is incompatible|protocols are incompatible with those of"
        r"|Inconsistent Protocol|not compatible with the current group|UNSUPPORTED_ASSIGNOR|UnsupportedAssignor\w*",
        UNAUTHORIZED: r"GROUP_AUTHORIZATION_FAILED|GroupAuthorization\w*|group_authorization_failed"
        r"|[Gg]roup [Aa]uthorization [Ff]ailed|[Nn]ot authorized to access (?:this )?group",
        BAD_TIMEOUT: r"INVALID_SESSION_TIMEOUT|InvalidSessionTimeout\w*|invalid_session_timeout|Invalid session timeout"
        r"|session timeout is (?:not within the range allowed|outside the allowed range)",
        TOO_OLD: r"does not support the new CONSUMER group protocol"
        r"|node does not support (?:JOIN_GROUP|SYNC_GROUP|CONSUMER_GROUP_HEARTBEAT)|unsupported_vsn_range"
        r"|(?:JoinGroup|ConsumerGroupHeartbeat).{0,80}(?:UNSUPPORTED_VERSION|version of API is not supported"
        r"|[Uu]nsupported ?[Vv]ersion)",
        FENCED_EPOCH: r"FENCED_MEMBER_EPOCH|FencedMemberEpoch\w*|member epoch is fenced",
        STALE_EPOCH: r"STALE_MEMBER_EPOCH|StaleMemberEpoch\w*|member epoch is stale",
        UNKNOWN_MEMBER: r"UNKNOWN_MEMBER_ID|UnknownMemberId\w*|unknown_member_id"
        r"|coordinator is not aware of this member"
        r"|not known in the current generation|Unknown Member ID|Broker: Unknown member|unknown member id(?! join)"
        r"|member[_ -]?id.{0,120}(?:is not valid|not recognized)",
        NO_MEMBER: r"not part of an active group|dropped out of the consumer group|kicked out of the group",
        ILLEGAL_GENERATION: r"ILLEGAL_GENERATION|IllegalGeneration\w*|illegal_generation|Illegal Generation"
        r"|generation id is not|generation.{0,20} is not (?:current|valid|legal)|group generation id",
        REBALANCING: r"REBALANCE_IN_PROGRESS|RebalanceInProgress\w*|rebalance_in_progress"
        r"|[Gg]roup is (?:already )?rebalancing"
        r"|[Gg]roup rebalance in progress|A rebalance for the group is in progress|Rebalance In Progress"
        r"|coordinator has begun rebalancing|began another rebalance|rejoin is needed|group rebalance"
        r"|coordinator rebalance|it is rebalancing|rebalance in progress",
        NOT_COORDINATOR: r"NOT_COORDINATOR\w*|NotCoordinator\w*|not_coordinator\w*|not coordinated by this broker"
        r"|not the correct coordinator|Broker: Not coordinator|Not Coordinator For Group|not a coordinator for",
        NO_COORDINATOR: r"COORDINATOR_NOT_AVAILABLE|CoordinatorNotAvailable\w*|coordinator_not_available"
        r"|[Cc]oordinator (?:is )?not available|COORDINATOR_LOAD_IN_PROGRESS|[Cc]oordinator is loading"
        r"|[Cc]oordinator unknown|coordinator (?:is )?unavailable|coordinator.{0,60} dead|is loading the group",
    }
)
_PATTERNS = {name: re.compile(words) for name, words in _WORDS.items()}
_ANY = re.compile("|".join(_WORDS.values()))
_LATE_COMMIT = re.compile(
    r"already rebalanced and assigned the partitions to another member|[Oo]ffset ?[Cc]ommit|[Cc]ommit(?:Failed| cannot)"
)

KINDS: Mapping[str, str] = MappingProxyType(
    {
        POLL: kinds.POLL_EXPIRED,
        SESSION: kinds.HEARTBEAT_EXPIRED,
        FENCED: kinds.CLIENT_FENCED,
        TOO_MANY: kinds.JOIN_FAILED,
        INCONSISTENT: kinds.JOIN_FAILED,
        UNAUTHORIZED: kinds.JOIN_FAILED,
        BAD_TIMEOUT: kinds.JOIN_FAILED,
        TOO_OLD: kinds.JOIN_FAILED,
        FENCED_EPOCH: kinds.HEARTBEAT_FAILED,
        STALE_EPOCH: kinds.CLIENT_ALIVE,
        UNKNOWN_MEMBER: kinds.HEARTBEAT_FAILED,
        NO_MEMBER: kinds.HEARTBEAT_FAILED,
        ILLEGAL_GENERATION: kinds.HEARTBEAT_FAILED,
        REBALANCING: kinds.HEARTBEAT_REBALANCING,
        NOT_COORDINATOR: kinds.COORDINATOR_LOST,
        NO_COORDINATOR: kinds.COORDINATOR_LOST,
    }
)
"""The event that an error is, where a line of no known form has it."""


def error_in(words: str) -> str | None:
    """The error of the group protocol that stands in words, by one name for all clients; None: there is none.

    Examples
    --------
    >>> error_in("[25] Unknown Member ID: the member id is not in the current generation")
    'unknown member'
    >>> error_in("kafka server: A rebalance for the group is in progress. Please re-join the group.")
    'rebalance in progress'
    >>> error_in("all is well") is None
    True
    """
    if _ANY.search(words) is None:
        return None
    return next(name for name, pattern in _PATTERNS.items() if pattern.search(words))


def event_of_error(line: Line, source: str, number: int) -> LogEvent | None:
    """The event of a line that has no known form, by the error that stands in it."""
    error = error_in(line.message)
    if error is None:
        return None
    if error == POLL and _LATE_COMMIT.search(line.message):
        error = (
            NO_MEMBER  # CommitFailedException speaks of slow polls whatever the reason was, a removal by an admin too
        )
    fields: dict[str, object] = {"error": error}
    if line.client is not None:
        fields["client"] = line.client
    if line.host is not None:
        fields["host"] = line.host
    return LogEvent(
        line.time_ms, KINDS[error], ANY_CLIENT, line.group, None, None, error, fields, source, number, line.message
    )
