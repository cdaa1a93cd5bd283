"""The settings of a share group: their names, what each may be, what a broker answers to another value.

Source: `GroupConfig` and `ShareGroupConfig` of 4.4.0, and what brokers of 4.2.1, 4.3.1 and 4.4.0 answer, recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import at_least


class Settings(Protocol):
    """What of a broker's settings bounds those of a group, and is their default."""

    @property
    def release(self) -> str:
        """The release."""
        ...

    @property
    def record_lock_duration_ms(self) -> int:
        """The default of a lock's duration."""
        ...

    @property
    def session_timeout_ms(self) -> int:
        """The default time-out of a member."""
        ...

    @property
    def heartbeat_interval_ms(self) -> int:
        """The default interval of heartbeats."""
        ...

    @property
    def delivery_count_limit(self) -> int:
        """The default limit of deliveries."""
        ...

    @property
    def max_record_locks(self) -> int:
        """The default limit of records in flight."""
        ...

    @property
    def assignment_interval_ms(self) -> int:
        """The default interval of assignments."""
        ...

    @property
    def min_record_lock_duration_ms(self) -> int:
        """The least duration of a lock."""
        ...

    @property
    def min_session_timeout_ms(self) -> int:
        """The least time-out of a member."""
        ...

    @property
    def min_heartbeat_interval_ms(self) -> int:
        """The least interval of heartbeats."""
        ...


_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,9})?)S)?)?", re.ASCII)


def duration_ms(text: str) -> int:
    """The milliseconds of a duration as ``share.auto.offset.reset`` has it.

    >>> duration_ms("PT1H30M"), duration_ms("P1DT0.5S")
    (5400000, 86400500)
    """
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()) or text.endswith("T"):
        raise KafkaLearnError(f"a duration is as PnDTnHnMn.nS, got {text!r}")
    days, hours, minutes, seconds = (float(each or 0) for each in found.groups())
    return round(((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000)


def _is_reset(value: str) -> bool:
    if value in ("earliest", "latest"):
        return True
    kind, _, duration = value.partition(":")
    try:
        return kind == "by_duration" and duration_ms(duration) > 0
    except KafkaLearnError:
        return False


@dataclass(frozen=True)
class GroupSetting:
    """A setting of a group: since when, its default, and how a value is checked.

    A number has the bounds of its definition and those that the broker sets; `broker` names the broker's settings as
    4.2 does in its errors.
    """

    since: str
    default: Callable[[Settings], str]
    least: int | None = None
    bounds: Callable[[Settings], tuple[int, int]] | None = None
    allowed: tuple[str, ...] = ()


def _fixed(value: str) -> Callable[[Settings], str]:
    return lambda settings: value


SETTINGS: Mapping[str, GroupSetting] = MappingProxyType(
    {
        "share.record.lock.duration.ms": GroupSetting(
            "4.2", lambda settings: str(settings.record_lock_duration_ms), 1000,
            lambda settings: (settings.min_record_lock_duration_ms, 60_000),
        ),
        "share.session.timeout.ms": GroupSetting(
            "4.2", lambda settings: str(settings.session_timeout_ms), 1,
            lambda settings: (settings.min_session_timeout_ms, 60_000),
        ),
        "share.heartbeat.interval.ms": GroupSetting(
            "4.2", lambda settings: str(settings.heartbeat_interval_ms), 1,
            lambda settings: (settings.min_heartbeat_interval_ms, 15_000),
        ),
        "share.auto.offset.reset": GroupSetting("4.2", _fixed("latest")),
        "share.isolation.level": GroupSetting(
            "4.2", _fixed("read_uncommitted"), allowed=("read_committed", "read_uncommitted")
        ),
        "share.delivery.count.limit": GroupSetting(
            "4.3", lambda settings: str(settings.delivery_count_limit), 2, lambda settings: (2, 10)
        ),
        "share.partition.max.record.locks": GroupSetting(
            "4.3", lambda settings: str(settings.max_record_locks), 100, lambda settings: (100, 4000)
        ),
        "share.renew.acknowledge.enable": GroupSetting("4.3", _fixed("true"), allowed=("true", "false")),
        "share.assignment.interval.ms": GroupSetting(
            "4.3", lambda settings: str(settings.assignment_interval_ms), 0, lambda settings: (0, 15_000)
        ),
        "share.assignor.offload.enable": GroupSetting("4.4", _fixed("false"), allowed=("true", "false")),
        "errors.deadletterqueue.topic.name": GroupSetting("4.4", _fixed("")),
        "errors.deadletterqueue.copy.record.enable": GroupSetting("4.4", _fixed("false"), allowed=("true", "false")),
    }
)  # fmt: skip
"""The settings of a share group by Kafka's names."""


def refusal(settings: Settings, name: str, value: str) -> str:
    """What a broker says of a setting that it does not take; "" if it does.

    >>> from kafkalearn.sharing import Settings
    >>> refusal(Settings(), "share.delivery.count.limit", "11")
    'share.delivery.count.limit must be in the range 2 to 10 inclusive.'
    """
    known = SETTINGS.get(name)
    if known is None or not at_least(known.since, settings.release):
        return f"Unknown group config name: {name}"
    invalid = f"Invalid value {value} for configuration {name}: "
    if name == "share.auto.offset.reset" and not _is_reset(value):
        return (
            f"{invalid}Invalid value `{value}` for configuration {name}. The value must be either 'earliest', 'latest' "
            "or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )
    if known.allowed == ("true", "false") and value.lower() not in known.allowed:
        return f"{invalid}Expected value to be either true or false"
    if known.allowed and value not in known.allowed:
        return f"{invalid}String must be one of: {', '.join(known.allowed)}"
    if name == "errors.deadletterqueue.topic.name" and value.startswith("__"):
        return f"{name}: DLQ topic name must not start with '__'"
    return _refused_number(settings, name, value, known, invalid)


def _refused_number(settings: Settings, name: str, value: str, known: GroupSetting, invalid: str) -> str:
    if known.least is None or known.bounds is None:
        return ""
    try:
        number = int(value)
    except ValueError:
        return f"{invalid}Not a number of type INT"
    if number < known.least:
        return f"{invalid}Value must be at least {known.least}"
    low, high = known.bounds(settings)
    if low <= number <= high:
        return ""
    if at_least("4.4", settings.release):
        return f"{name} must be in the range {low} to {high} inclusive."
    rest = name.removeprefix("share.")
    if number < low:
        return f"{name} must be greater than or equal to group.share.min.{rest}"
    return f"{name} must be less than or equal to group.share.max.{rest}"


def checked_configs(settings: Settings, what: str, configs: tuple[tuple[str, str], ...]) -> None:
    """Pass in silence if a broker takes all of these settings of a group."""
    for name, value in configs:
        words = refusal(settings, name, value)
        if words:
            raise KafkaLearnError(f"{what}: {words}")


def described(settings: Settings, configs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """All settings of a group, as DescribeConfigs lists them: what was set, else the default."""
    given = dict(configs)
    return {
        name: given.get(name, known.default(settings))
        for name, known in sorted(SETTINGS.items())
        if at_least(known.since, settings.release)
    }
