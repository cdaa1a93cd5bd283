"""Defaults of the settings that a group has to do with, also in releases that do not have a setting yet."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError
from kafkalearn.versions import default
from kafkalearn.versions.settings import Value

BEFORE_IT_CAME: Mapping[str, Value] = MappingProxyType(
    {
        "group.initial.rebalance.delay.ms": 0,
        "group.max.size": 2147483647,
        "group.consumer.assignment.interval.ms": 0,
        "group.instance.id": None,
        "max.poll.interval.ms": None,
        "max.poll.records": None,
    }
)
"""What stands for a setting in releases that do not have it yet."""


@cache
def default_of(setting: str, release: str, side: str) -> Value:
    """The value that a setting of a broker or a consumer has if nobody sets it.

    Parameters
    ----------
    setting : str
        By Kafka's name.
    release : str
        Any; in one without the setting it is the value of `BEFORE_IT_CAME`.
    side : str
        ``"broker"`` or ``"consumer"``.

    Raises
    ------
    KafkaLearnError
        If there is no such setting, or this release does not have it and nothing can stand for it.

    Examples
    --------
    >>> [default_of("group.initial.rebalance.delay.ms", release, "broker") for release in ("0.10.2", "4.3")]
    [0, 3000]
    """
    try:
        return default(setting, release, side=side)
    except KafkaLearnError:
        if setting in BEFORE_IT_CAME:
            return BEFORE_IT_CAME[setting]
        raise
