"""``__consumer_offsets`` on its brokers: created by the first group that asks, and led, as long as somebody can."""

from kafkalearn.operations.offsets_topic.creation import Creation, create_offsets_topic
from kafkalearn.operations.offsets_topic.events import BrokerDied, BrokerStarted, FindCoordinator, Reassigned
from kafkalearn.operations.offsets_topic.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.operations.offsets_topic.settings import Settings
from kafkalearn.operations.offsets_topic.simulator import (
    groups_by_coordinator,
    groups_without_coordinator,
    simulate,
    step,
)
from kafkalearn.operations.offsets_topic.state import OffsetsTopic, start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerDied",
    "BrokerStarted",
    "Creation",
    "FindCoordinator",
    "OffsetsTopic",
    "Reassigned",
    "Settings",
    "broken",
    "check",
    "create_offsets_topic",
    "groups_by_coordinator",
    "groups_without_coordinator",
    "simulate",
    "start",
    "step",
]
