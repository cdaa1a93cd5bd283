"""One value of a setting: whether the class of a release that reads it takes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.phrases import shown
from kafkalearn.versions.limits import Limit, limit_text
from kafkalearn.versions.releases import at_least
from kafkalearn.versions.settings import ABSENT, Setting, settings_named

INT_BITS = {"SHORT": 16, "INT": 32, "LONG": 64}
PLACEHOLDER = re.compile(r"\$\{[^}]*:[^}]*\}")  # a config provider puts something else in its place

CLASSES_GONE: MappingProxyType[str, tuple[str, str, str]] = MappingProxyType(
    {
        "org.apache.kafka.clients.producer.internals.DefaultPartitioner": (
            "4.0",
            "leave partitioner.class away for the producer's own rule",
            "upgrade notes of 4.0, KIP-794",
        ),
        "org.apache.kafka.clients.producer.UniformStickyPartitioner": (
            "4.0",
            "set partitioner.ignore.keys=true and leave partitioner.class away",
            "upgrade notes of 4.0, KIP-794",
        ),
        "kafka.security.auth.SimpleAclAuthorizer": (
            "3.0",
            "use kafka.security.authorizer.AclAuthorizer, with KRaft StandardAuthorizer",
            "upgrade notes of 3.0",
        ),
        "kafka.security.authorizer.AclAuthorizer": (
            "4.0",
            "use org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "upgrade notes of 4.0",
        ),
    }
)
"""Classes that settings name: the release line without them, what to do, and the source."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason not to start, and the settings that it is about."""

    names: tuple[str, ...]
    text: str
    source: str


def setting_of(name: str, side: str, release: str) -> Setting | None:
    """The setting of that name and side, if the release knows it; a broker's may name the listener it is for.

    >>> setting_of("listener.name.internal.ssl.client.auth", "broker", "4.0").name
    'ssl.client.auth'
    """
    candidates = [name]
    if side == "broker" and (
        match := re.fullmatch(r"listener\.name\.[^.]+\.(?:(?:plain|scram-sha-\d+|oauthbearer|gssapi)\.)?(.+)", name)
    ):
        candidates.append(match[1])
    for candidate in candidates:
        for setting in settings_named(candidate):
            if setting.side == side and setting.in_release(release) is not ABSENT:
                return setting
    return None


def of_value(setting: Setting, value: str, release: str) -> Iterator[Refusal]:
    """Why the class does not take a value, if it does not; what a config provider replaces is not looked at."""
    if PLACEHOLDER.search(value):
        return
    source = f"the class of {release} that reads it"
    name, limit = setting.name, setting.limit_in(release)
    if setting.type in INT_BITS or setting.type == "DOUBLE":
        number = _number(value, setting.type)
        if number is None:
            yield Refusal((name,), f"{name} must be a number ({setting.type}), got {shown(value)}", source)
        elif limit is not None and not _is_within(limit, number):
            yield Refusal((name,), f"{name} must be {limit_text(limit)}, got {value}", source)
    elif setting.type == "BOOLEAN":
        if value.lower() not in ("true", "false"):
            yield Refusal((name,), f"{name} must be true or false, got {shown(value)}", source)
    elif limit is not None and setting.type != "PASSWORD":
        parts = [part.strip() for part in value.split(",")] if setting.type == "LIST" and value else [value]
        known = {_kind(each) for each in limit.values}
        wrong = [part for part in parts if known and _kind(part) not in known]
        if wrong or (limit.is_empty_refused and not value):
            yield Refusal((name,), f"{name} must be {limit_text(limit)}, got {shown(value)}", source)
    for part in value.split(","):
        since, instead, noted = CLASSES_GONE.get(part.strip(), ("", "", ""))
        if since and at_least(since, release):
            yield Refusal((name,), f"{name}: {part.strip().rpartition('.')[2]} is gone since {since}; {instead}", noted)


def _kind(value: str) -> str:
    """A value as it is compared: whether case matters is not known, and what follows a colon has a form of its own."""
    return value.partition(":")[0].lower()


def _number(value: str, kafka_type: str) -> float | int | None:
    try:
        if kafka_type == "DOUBLE":
            return float(value)
        number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,20}", value) else None
    except ValueError:
        return None
    if number is None or not -(1 << INT_BITS[kafka_type] - 1) <= number < 1 << INT_BITS[kafka_type] - 1:
        return None
    return number


def _is_within(limit: Limit, number: float) -> bool:
    return not (
        (limit.minimum is not None and number < limit.minimum) or (limit.maximum is not None and number > limit.maximum)
    )
