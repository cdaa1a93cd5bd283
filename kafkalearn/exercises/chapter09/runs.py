"""Runs of a partition that students put together: where they end, and in words what they cannot be."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.errors import KafkaLearnError
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import simulate
from kafkalearn.replication.state import Partition

SETTINGS = Settings(fetch_wait_max_ms=0)


def end_of(events: Sequence[ReplicationEvent], settings: Settings = SETTINGS) -> Partition:
    """The last moment of a run.

    Raises
    ------
    KafkaLearnError
        If an event is none, or makes no sense where it comes.
    """
    try:
        return simulate(settings, events)[-1].state
    except (TypeError, AttributeError) as error:
        raise KafkaLearnError(f"these are no events that can happen one after the other: {error}") from error


def marks_of(events: Sequence[ReplicationEvent], settings: Settings = SETTINGS) -> tuple[int, int, tuple[int, ...]]:
    """LEO, HW and ISR at the end of a run; -1 for both marks where nobody leads."""
    end = end_of(events, settings)
    if end.leader is None:
        return -1, -1, end.controller.isr
    return end.leader.log_end_offset, end.leader.high_watermark, end.controller.isr
