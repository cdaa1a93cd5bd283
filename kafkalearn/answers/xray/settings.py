"""The settings that an x-ray judges by: what the reader says, else what Kafka has for such a topic by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from kafkalearn.arguments import mapping, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.log.settings import Settings as LogSettings
from kafkalearn.phrases import shown
from kafkalearn.transaction_log.codec import TOPIC as TRANSACTIONS_TOPIC
from kafkalearn.versions.defaults import default
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, parse_release

RETENTION, EXPIRATION = "offsets.retention.minutes", "transactional.id.expiration.ms"
INTERNAL = {OFFSETS_TOPIC: "offsets.topic.segment.bytes", TRANSACTIONS_TOPIC: "transaction.state.log.segment.bytes"}
"""The topics that a broker makes, and the setting that gives them their segments' size."""

_OF_LOG = {field.name.replace("_", "."): field for field in fields(LogSettings) if field.name != "release"}
OF_BROKER = (RETENTION, EXPIRATION)
NAMES = (*_OF_LOG, *OF_BROKER)


@dataclass(frozen=True, slots=True)
class XraySettings:
    """What was said, by Kafka's names; all else is by default."""

    given: Mapping[str, object]
    release: str = DEFAULT_RELEASE

    def of_log(self, topic: str, is_compacted: bool) -> LogSettings:
        """The settings of a topic; `is_compacted` is whether its files say that the cleaner was there."""
        own: dict[str, object] = {"release": self.release}
        if topic in INTERNAL:
            own["segment_bytes"] = default(INTERNAL[topic], self.release, "broker")
        if topic in INTERNAL or is_compacted:
            own["cleanup_policy"] = "compact"
        given = {name.replace(".", "_"): value for name, value in self.given.items() if name in _OF_LOG}
        return LogSettings(**own | given)

    @property
    def retention_ms(self) -> int:
        """How long offsets of a group without members are kept."""
        minutes = self.given.get(RETENTION)
        if minutes is None:
            minutes = default(RETENTION, self.release)
        return 60_000 * minutes

    @property
    def expiration_ms(self) -> int:
        """How long a transactional id is kept that does nothing."""
        found = self.given.get(EXPIRATION)
        return default(EXPIRATION, self.release) if found is None else found


def xray_settings(given: Mapping[str, object] | None, release: str) -> XraySettings:
    """The settings by Kafka's names, checked; numbers may be written as text.

    Raises
    ------
    KafkaLearnError
        If a name is unknown, or a value is none for it.

    Examples
    --------
    >>> settings = xray_settings({"min.cleanable.dirty.ratio": "0.1"}, "4.3")
    >>> settings.of_log("orders", is_compacted=True).min_cleanable_dirty_ratio, settings.retention_ms
    (0.1, 604800000)
    """
    parse_release(release)
    if not at_least("0.11.0", release):
        raise KafkaLearnError(f"segments of format 2 are read, which came with Kafka 0.11.0; the release is {release}")
    checked: dict[str, object] = {}
    for name, value in mapping("settings", {} if given is None else given, of="setting to value").items():
        if name not in NAMES:
            raise unknown_name("setting of a log, of offsets or of transactions", name, NAMES)
        checked[name] = _number(name, value) if name != "cleanup.policy" else value
    for name in OF_BROKER:
        if name in checked:
            whole_number(name, checked[name], at_least=1, at_most=2**53)
    settings = XraySettings(checked, release)
    settings.of_log("", is_compacted=False)
    return settings


def _number(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return float(value) if name in ("min.cleanable.dirty.ratio", "load.factor") else int(value)
    except ValueError:
        raise KafkaLearnError(f"{name} must be a number, got {shown(value)}") from None
