"""What a log says about groups: one event for each line that is known, by the same names for every writer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.group_states import COMPLETING, EMPTY, PREPARING, STABLE

MEMBER_JOINED, MEMBER_LEFT, MEMBER_FAILED, MEMBER_FENCED = "MemberJoined", "MemberLeft", "MemberFailed", "MemberFenced"
STATIC_REPLACED, STATIC_FENCED, STATIC_UNRELEASED = "StaticReplaced", "StaticFenced", "StaticUnreleased"
STATIC_LEFT_FOR_A_WHILE = "StaticLeftForAWhile"
NOT_REJOINED, SYNC_MISSING = "NotRejoined", "SyncMissing"
GROUP_LOADED, GROUP_UNLOADED = "GroupLoaded", "GroupUnloaded"
EPOCH_BUMPED, TARGET_COMPUTED = "EpochBumped", "TargetComputed"
SUBSCRIPTION_UPDATED, TOPICS_UPDATED = "SubscriptionUpdated", "TopicsUpdated"
CLIENT_JOINING, CLIENT_JOINED, CLIENT_MEMBER_ID = "ClientJoining", "ClientJoined", "ClientMemberId"
CLIENT_SUBSCRIBED, CLIENT_EPOCH, CLIENT_CONFIG = "ClientSubscribed", "ClientEpoch", "ClientConfig"
CLIENT_LEAVING, CLIENT_CLOSING = "ClientLeaving", "ClientClosing"
POLL_EXPIRED, REJOIN_REQUESTED = "PollExpired", "RejoinRequested"
HEARTBEAT_REBALANCING, HEARTBEAT_FAILED, HEARTBEAT_EXPIRED = (
    "HeartbeatRebalancing",
    "HeartbeatFailed",
    "HeartbeatExpired",
)
COORDINATOR_LOST, DISCONNECTED = "CoordinatorLost", "Disconnected"

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        PREPARING: "a rebalance of a classic group begins; the reason is the coordinator's, since 2.1",
        COMPLETING: "all have joined a classic group; its leader is to assign",
        STABLE: "the leader's assignment is there: the rebalance is over",
        EMPTY: "the last member of a classic group has gone",
        MEMBER_JOINED: "a member was added to a group",
        MEMBER_LEFT: "a member said that it leaves, or an admin said so for it",
        MEMBER_FAILED: "a member was not heard of for its session timeout",
        MEMBER_FENCED: "a member was removed from a group of KIP-848, the reason beside it",
        "MemberIdRequired": "a member is to join again with the id that it was given (KIP-394)",
        "PendingLeft": "a member left before it had joined with its id",
        "PendingExpired": "a member did not come back with the id that it was given",
        STATIC_REPLACED: "a static member came back, and took the place of its old member id",
        "StaticWithoutRebalance": "a static member came back, and nothing else has changed",
        STATIC_FENCED: "another member has the group.instance.id of the one that asks",
        STATIC_UNRELEASED: "a member of KIP-848 wants a group.instance.id that is in use",
        STATIC_LEFT_FOR_A_WHILE: "a static member of KIP-848 left, and keeps its place for the session timeout",
        NOT_REJOINED: "members were removed because they did not join again in time",
        SYNC_MISSING: "members were removed because they did not fetch their assignment in time",
        "NobodyRejoined": "no member joined again in time; the join phase goes on",
        GROUP_LOADED: "a broker has become the group's coordinator, and has read it from the offsets topic",
        GROUP_UNLOADED: "a broker is no longer the group's coordinator",
        "GroupDead": "the group is gone",
        "GroupConverted": "the group changed its protocol, classic or KIP-848",
        "CoordinatorElected": "a broker leads a partition of the offsets topic now",
        "CoordinatorResigned": "a broker leads a partition of the offsets topic no longer",
        "CoordinatorLoaded": "a partition of the offsets topic has been read",
        "CoordinatorUnloaded": "a partition of the offsets topic was given up",
        "StoreFailed": "the group could not be written to the offsets topic",
        EPOCH_BUMPED: "a rebalance of a group of KIP-848 begins",
        TARGET_COMPUTED: "its new assignment is known; each member takes it over by itself",
        SUBSCRIPTION_UPDATED: "a member has changed its subscription",
        TOPICS_UPDATED: "topics or partitions have changed",
        "MemberReconciled": "a member of KIP-848 has taken over a step of its assignment",
        CLIENT_JOINING: "a client sends JoinGroup",
        CLIENT_JOINED: "a client has its generation",
        "ClientSynced": "a client has its assignment",
        CLIENT_MEMBER_ID: "a client has another member id",
        "ClientNewMember": "a client of KIP-848 will join",
        CLIENT_EPOCH: "a client of KIP-848 is at an epoch, in a state",
        CLIENT_SUBSCRIBED: "the topics that a subscription stands for have changed",
        "ClientAssigned": "a client was given partitions",
        "ClientRevoked": "a client gives up partitions",
        "ClientLost": "a client lost its partitions: it is no member any more",
        CLIENT_LEAVING: "a client leaves the group",
        CLIENT_CLOSING: "the application closes its client",
        "ClientFenced": "a client was removed from the group",
        CLIENT_CONFIG: "the settings of a Java client",
        POLL_EXPIRED: "a client did not call poll() within max.poll.interval.ms",
        "PollReturned": "it calls poll() again",
        REJOIN_REQUESTED: "a client joins again of its own will, the reason beside it",
        "GenerationReset": "a client forgets its generation",
        HEARTBEAT_REBALANCING: "a client hears that the group rebalances",
        HEARTBEAT_FAILED: "a client hears that it is no member, or not of this generation",
        HEARTBEAT_EXPIRED: "a client has had no answer for its session timeout",
        "JoinFailed": "JoinGroup was refused",
        "SyncFailed": "SyncGroup was refused",
        "CoordinatorFound": "a client knows its coordinator",
        COORDINATOR_LOST: "a client has lost its coordinator",
        DISCONNECTED: "a client has had no connection to its coordinator for a while",
    }
)
"""Every kind of event, and what it says."""

BROKER, JAVA, LIBRDKAFKA, PYTHON = "broker", "java", "librdkafka", "python"
WRITERS = (BROKER, JAVA, LIBRDKAFKA, PYTHON)
"""Who writes lines: a broker, and the three families of clients."""


class LogEvent(NamedTuple):
    """What one line says."""

    time_ms: int | None  # since 1970, UTC; None: the line has no date
    kind: str  # a name in `EVENTS`
    writer: str  # one of `WRITERS`
    group: str | None
    member: str | None  # the member id
    generation: int | None  # or the epoch of a group of KIP-848
    reason: str | None
    fields: Mapping[str, object]  # whatever else the line has: client, host, instance, state, count, ...
    source: str  # the file, or what stands for it
    line: int  # from 1
    text: str  # the message, without time and logger

    @property
    def place(self) -> str:
        """Where it stands, as ``server.log:12``."""
        return f"{self.source}:{self.line}"
