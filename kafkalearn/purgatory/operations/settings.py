"""What stays the same in a purgatory: how seldom it cleans its lists, and the wheels of its timer."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.fields import Checked, Index
from kafkalearn.purgatory.wheel.settings import Settings as WheelSettings


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """How many operations more than the timer holds may be listed before a purge, and the timer's wheels.

    Brokers have 1000, and 1 for DeleteRecords.

    Raises
    ------
    KafkaLearnError
        If `purge_interval` is no whole number of at least 0.
    """

    purge_interval: Index = 1000
    timer: WheelSettings = field(default_factory=WheelSettings)
