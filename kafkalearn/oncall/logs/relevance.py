"""Which lines may say something of consumer groups: by their words, for most lines of a broker say nothing."""

from __future__ import annotations

import re


def speaks_of_groups(text: str) -> bool:
    """Whether a line has one of the words without which none says something of a group.

    >>> speaks_of_groups("Rolled new log segment"), speaks_of_groups("Stabilized group billing")
    (False, True)
    """
    if "roup" in text or "oordinator" in text or "ebalanc" in text or "eartbeat" in text:
        return True
    # One letter is sought four times as fast as a word: most lines have no U, G, B or Z.
    if "poll" in text or ("P" in text and ("POLL" in text or "Poll" in text)):
        return (
            "poll interval" in text
            or "poll timeout" in text
            or "PollExceeded" in text
            or "_POLL" in text
            or ("MAXPOLL" in text)
        )
    if "ubscription" in text or "COORDINATOR" in text or ("U" in text and "ROUP" in text):
        return True
    if ("G" in text and "GENERATION" in text) or ("B" in text and "MEMBER_" in text):
        return True
    if "ember" in text and ("member " in text or "emberI" in text):
        return True
    if "SESS" in text and ("SESSTMOUT" in text or "SESSION_TIMEOUT" in text):
        return True
    if "ession" in text and ("session timeout is " in text or "SessionTimeout" in text):
        return True
    if "Z" in text and ("ZKConsumerConnector" in text or "ZK expired" in text):
        return True
    return "registering consumer" in text


NO_NEWS = re.compile(
    r"balanc(?:e group member|ing group as leader)|group manage backoff"
    r"|ThreadGroup|thread ?group|background|(?:partitions (?:revoked|assigned|lost): \[)|ConsumerConfig|groupId=org\."
    r"|[Rr]outing ?[Gg]roup|security group|Setting offset for|Resetting offset|group_id varchar|log[Gg]roup"
    r"|(?:Pre|Post) rebalance (?:Assign|Revoke)\(|client nodes and \d+ consumers participating"
    r"|client/coordinator retrying after|Decided on assignment: \{|\[Consumer clientId=[^\]]{0,300}+\]\s*$"
)
"""Words that speak of other groups, or that say again what a client has said."""

_PARTS = re.compile(
    r"\[(?:(?:NodeToController|BrokerToController)ChannelManager|BrokerLifecycleManager|QuorumController|ControllerServer"
    r"|ControllerRegistrationManager|MetadataLoader|KRaftMigrationDriver|RaftManager|ShareCoordinator|AssignmentsManager"
    r"|SnapshotGenerator|MetadataPublisher|DynamicConfigPublisher|FeatureControlManager)\b"
    r"|\]: (?:Starting(?: up)?|Startup complete|Stopped|Shutdown completed|Shutting down)\.? \("
    r"|\] (?:Scheduling|Started|Ignored|Already) (?:un)?loading (?:of )?(?:offsets and group )?(?:metadata )?"
    r"(?:from|for) (?:partition )?__consumer_offsets-\d"
)
_EVENT_PROCESSOR = re.compile(r"coordinator-event-processor-\d{1,6}\]: ")


def is_of_others(text: str) -> bool:
    """Whether another part of a broker wrote it, with heartbeats, groups or coordinators that are no consumer's.

    Of the offsets topic's partitions too, that one will be read or given up: that it was is an event of its own.
    Words are looked for one by one: an expression that may begin with any of them takes five times as long.
    """
    if "eartbeat" in text and (
        "broker heartbeat" in text or "controller heartbeat" in text or "heartbeat from broker" in text
    ):
        return True
    if "ShareGroup" in text and ("Starting ShareGroup" in text or "Started ShareGroup" in text):
        return True
    if "marker queue for txn partition" in text or "RaftClient" in text or "BROKER_HEARTBEAT" in text:
        return True
    if "BrokerToControllerRequestThread" in text or _PARTS.search(text) is not None:
        return True
    return "coordinator-event-processor-" in text and _EVENT_PROCESSOR.search(text) is not None


_HANDED_ON = re.compile(r"(?:Pre|Post)[ -]rebalance:? (?:Assign|Revoke)\(|partitions (?:revoked|assigned|lost): \[")
"""An application's own words for what its client gave or took in a rebalance: not why, and of which group."""


def is_handed_on(text: str) -> bool:
    """Whether a line has an application's own words for what it was given, or lost, in a rebalance."""
    return ("ebalance" in text or ": [" in text) and _HANDED_ON.search(text) is not None
