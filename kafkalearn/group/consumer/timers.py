"""Time passes: sessions end, and members that do not give up partitions in time are removed."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.consumer.effects import Effect, MemberFenced
from kafkalearn.group.consumer.events import TimePassed
from kafkalearn.group.consumer.heartbeats.heartbeat import remove
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group

SESSION_TIMEOUT, REBALANCE_TIMEOUT = "session timeout", "rebalance timeout"


def pass_time(settings: Settings, group: Group, event: TimePassed) -> Group:
    """The group after a time, with each timer that ran out on the way.

    A timer runs out when its time has come, not only when it is over.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.scheduleConsumerGroupSessionTimeout`` and
    ``scheduleConsumerGroupRebalanceTimeout``.
    """
    end_ms = group.now_ms + event.ms
    effects: tuple[Effect, ...] = ()
    while (first := next_timer(group)) is not None and first[0] <= end_ms:
        at_ms, reason, member_id = first
        group, records = remove(settings, group, member_id)
        effects += (MemberFenced(member_id, reason, at_ms), *records)
    return replace(group, now_ms=end_ms, effects=effects)


def next_deadline_ms(group: Group) -> int | None:
    """When the next timer of a group is due; None if none is running."""
    due = next_timer(group)
    return None if due is None else due[0]


def next_timer(group: Group) -> tuple[int, str, str] | None:
    """The timer that runs out next: when, why, and whose; None if no timer runs."""
    first: tuple[int, str, str] | None = None
    for member in group.members:  # after every event of a scenario: no list is made
        ends_at_ms = member.session_ends_at_ms
        if ends_at_ms is not None and (first is None or ends_at_ms < first[0]):
            first = ends_at_ms, SESSION_TIMEOUT, member.member_id
        ends_at_ms = member.revocation_ends_at_ms
        if ends_at_ms is not None and (first is None or ends_at_ms < first[0]):
            first = ends_at_ms, REBALANCE_TIMEOUT, member.member_id
    return first
