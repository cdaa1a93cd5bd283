"""A simulated scenario as the rows of a coordinator's log, so that the queries over real logs can be held to it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.classic.transitions import (
    LEADER_REJOINED,
    MEMBER_ADDED,
    MEMBER_EXPIRED,
    MEMBER_LEFT,
    METADATA_CHANGED,
    SYNC_EXPIRED,
)
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.group_states import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.spark.group_logs import standstill as logs

Row = tuple[str, str, datetime, str, str | None, int, str | None]

_CHANGE = re.compile(rf"({'|'.join((PREPARING, COMPLETING, STABLE, EMPTY))}): (.*?)(?: \((.*)\))?")
_TOPIC_CHANGE = re.compile(r" (?:grows to \d+|is created with \d+ partitions?|is deleted)")
_REASONS = {
    MEMBER_ADDED: "Adding new member {who} with group instance id null; client reason: not provided",
    MEMBER_LEFT: "explicit `LeaveGroup` request for ({who}) members.",
    MEMBER_EXPIRED: "removing member {who} on heartbeat expiration.",
    METADATA_CHANGED: "Updating metadata for member {who} during Stable; client reason: {client}",
    LEADER_REJOINED: "Leader {who} re-joining group during Stable; client reason: {client}",
    SYNC_EXPIRED: "Removing [{who}] on pending sync request expiration",
}
_FIRST = {
    MEMBER_ADDED: logs.MEMBER_JOINED,
    MEMBER_LEFT: logs.MEMBER_LEFT,
    MEMBER_EXPIRED: logs.MEMBER_FAILED,
}
START = datetime(2026, 3, 1, tzinfo=UTC)


def log_rows(outcome: Outcome, group_id: str, cluster: str = "shop", start: datetime = START) -> list[Row]:
    """What the coordinator of a simulated group writes into its log, with the texts of Kafka 4.3.

    Parameters
    ----------
    outcome : Outcome
        Of a scenario, played with the classic protocol.
    group_id, cluster : str
        Under which names.
    start : datetime
        The moment 0 of the scenario.

    Returns
    -------
    list of tuple
        In the order of the log, with the columns of `kafkalearn.spark.group_logs.standstill.EVENT_SCHEMA`.

    Raises
    ------
    KafkaLearnError
        If it was played with another protocol: its log has other lines.

    Examples
    --------
    >>> from kafkalearn.group import simulate
    >>> for row in log_rows(simulate("at 0 s: c1 joins"), "billing"):
    ...     print(row[2].time(), *row[3:6])
    00:00:00.006000 MemberJoined c1 0
    00:00:00.006000 PreparingRebalance c1 0
    00:00:03.006000 CompletingRebalance None 1
    00:00:03.010000 Stable None 1
    """
    if outcome.protocol != "classic":
        raise KafkaLearnError(f"the outcome is of protocol {outcome.protocol!r}; this is the log of classic groups")
    rows: list[Row] = []
    generation, expired, has_new_topics, has_subscribed = 0, set(), False, False
    for frame in outcome.trace:
        timestamp = start + timedelta(milliseconds=frame.state.time_ms)
        for note in (frame.event or "").split("; "):
            if note.endswith(" exceeds max.poll.interval.ms"):
                expired.add(note.partition(" ")[0])
            has_new_topics = has_new_topics or _TOPIC_CHANGE.search(note) is not None
            has_subscribed = has_subscribed or " subscribes to " in note
            if (change := _CHANGE.fullmatch(note)) is None:
                continue
            state, cause, who = change.groups()
            generation += state in (COMPLETING, EMPTY)
            if state != PREPARING:
                rows.append((cluster, group_id, timestamp, state, None, generation, None))
                continue
            client = _client_reason(cause, has_new_topics, has_subscribed)
            reason = _REASONS.get(cause, cause).format(who=who, client=client)
            if cause in _FIRST:
                left = logs.POLL_EXPIRED if who in expired else logs.CLOSED
                why = left if cause == MEMBER_LEFT else None
                rows.append((cluster, group_id, timestamp, _FIRST[cause], who, generation, why))
                expired.discard(who)
            rows.append((cluster, group_id, timestamp, state, who, generation, reason))
            has_new_topics = has_subscribed = False
    return rows


def _client_reason(cause: str, has_new_topics: bool, has_subscribed: bool) -> str:
    """What a consumer says when it joins again; only a leader compares partition counts."""
    if has_subscribed:
        return "subscription has changed"
    if has_new_topics:
        return "cached metadata has changed" if cause == LEADER_REJOINED else "subscription has changed"
    return "need to revoke partitions and re-join"
