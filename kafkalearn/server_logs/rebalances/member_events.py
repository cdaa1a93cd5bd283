"""What members do that makes a group rebalance, and how near to it that stands in a log."""

from __future__ import annotations

from kafkalearn.server_logs import events as kinds
from kafkalearn.server_logs.causes import (
    EITHER,
    HEARTBEATS,
    JOINED,
    LEFT,
    STATIC,
    SUBSCRIPTION,
    TOO_LATE,
)
from kafkalearn.server_logs.events import LogEvent

AT_ONCE_MS = 200  # what a coordinator writes about one request stands so near
SAME_REQUEST_MS = 2000  # and so near when it is slow

CAUSE_OF_EVENT = {
    kinds.MEMBER_JOINED: JOINED,
    kinds.MEMBER_LEFT: LEFT,
    kinds.MEMBER_FAILED: HEARTBEATS,
    kinds.MEMBER_FENCED: TOO_LATE,
    kinds.SUBSCRIPTION_UPDATED: SUBSCRIPTION,
    kinds.TOPICS_UPDATED: EITHER,
    kinds.STATIC_REPLACED: STATIC,
}


def gap_ms(before: LogEvent, event: LogEvent) -> int:
    """How far two events are apart; 0 where a line has no date."""
    if before.time_ms is None or event.time_ms is None:
        return 0
    return abs(event.time_ms - before.time_ms)
