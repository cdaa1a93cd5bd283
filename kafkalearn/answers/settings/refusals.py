"""Which of somebody's settings a program of a release refuses to start with, each with the reason.

A value is held to the type and the limit of its class; settings that only together are refused have rules here, which
were tried on the clients of each release.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.phrases import shown
from kafkalearn.versions.limits import Limit, limit_text
from kafkalearn.versions.releases import at_least
from kafkalearn.versions.settings import ABSENT, Setting, Value, settings_named

INT_BITS = {"SHORT": 16, "INT": 32, "LONG": 64}
PLACEHOLDER = re.compile(r"\$\{[^}]*:[^}]*\}")  # a config provider puts something else in its place
NOT_WITH_CONSUMER_PROTOCOL = ("heartbeat.interval.ms", "session.timeout.ms", "partition.assignment.strategy")
MOST_IN_FLIGHT = 5

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


def refusals(values: Mapping[str, str], side: str, release: str) -> tuple[Refusal, ...]:
    """Why a program of a release would not start with these settings; empty: nothing known speaks against it.

    Parameters
    ----------
    values : mapping of str to str
        Names and values, as a properties file has them.
    side : str
        Who reads them, a name in `kafkalearn.versions.settings.SIDES`.
    release : str
        A release line or a patch.

    Examples
    --------
    >>> consumer = {"group.protocol": "consumer", "session.timeout.ms": "30000"}
    >>> [each.text for each in refusals(consumer, "consumer", "4.0")]
    ["session.timeout.ms is the broker's business with group.protocol=consumer: leave it away"]
    >>> refusals(consumer, "consumer", "3.9"), refusals({"acks": "1"}, "producer", "4.3")
    ((), ())

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``ConfigDef``, ``ProducerConfig.postProcessAndValidateIdempotenceConfigs``,
    ``KafkaProducer.configureDeliveryTimeout``, ``ConsumerConfig``, ``Heartbeat``; KIP-848.
    """
    known = {name: setting for name in values if (setting := setting_of(name, side, release)) is not None}
    found = [each for name, setting in known.items() for each in _of_value(setting, values[name].strip(), release)]
    usable = {name: values[name].strip() for name in known if not PLACEHOLDER.search(values[name])}
    if not found:  # two values are compared only where each is one
        for rule in _RULES.get(side, ()):
            found += rule(_Given(usable, side, release))
    return tuple(found)


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


def _of_value(setting: Setting, value: str, release: str) -> Iterator[Refusal]:
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


@dataclass(frozen=True, slots=True)
class _Given:
    """The settings of one program, with the release's defaults behind them."""

    values: Mapping[str, str]
    side: str
    release: str

    def is_set(self, name: str) -> bool:
        return name in self.values

    def value(self, name: str) -> str | Value:
        """What counts: what is set, else the release's default."""
        setting = setting_of(name, self.side, self.release)
        return (
            self.values[name] if name in self.values else None if setting is None else setting.in_release(self.release)
        )

    def number(self, name: str) -> int:
        value = self.value(name)
        return 0 if value is None else int(value)

    def is_true(self, name: str) -> bool:
        return str(self.value(name)).lower() == "true"


def _idempotence(given: _Given) -> Iterator[Refusal]:
    """Who asks for idempotence, or for transactions, must not set what it cannot be with; its default gives way."""
    if not at_least("0.11.0", given.release):
        return
    name, in_flight, transactions = "enable.idempotence", "max.in.flight.requests.per.connection", "transactional.id"
    source = "ProducerConfig; KIP-98, KIP-679"
    is_asked, is_transactional = given.is_set(name), given.is_set(transactions)
    if is_asked and not given.is_true(name):
        if is_transactional:
            yield Refusal((transactions, name), f"{transactions} needs {name}=true", source)
        return
    who = f"{name}=true" if is_asked else transactions if is_transactional else f"{name}, true unless it is set,"
    if is_asked or is_transactional:
        if given.is_set("acks") and given.values["acks"] not in ("all", "-1"):
            yield Refusal(("acks", name), f"{who} needs acks=all, got acks={given.values['acks']}", source)
        if given.is_set("retries") and given.number("retries") == 0:
            yield Refusal(("retries", name), f"{who} needs retries above 0", source)
    most = MOST_IN_FLIGHT if at_least("1.0", given.release) else 1
    is_bound = is_asked or is_transactional or at_least("4.0", given.release)
    if is_bound and given.is_set(in_flight) and given.number(in_flight) > most:
        text = f"{who} needs {in_flight} of at most {most}, got {given.values[in_flight]}"
        yield Refusal((in_flight, name), text, source)


def _delivery_timeout(given: _Given) -> Iterator[Refusal]:
    name = "delivery.timeout.ms"
    if not given.is_set(name) or not at_least("2.1", given.release):
        return
    linger, request = given.number("linger.ms"), given.number("request.timeout.ms")
    if given.number(name) < linger + request:
        yield Refusal(
            (name, "linger.ms", "request.timeout.ms"),
            f"{name} {given.values[name]} is below linger.ms {linger} + request.timeout.ms {request}",
            "KafkaProducer.configureDeliveryTimeout",
        )


def _group_protocol(given: _Given) -> Iterator[Refusal]:
    is_new = str(given.value("group.protocol")).lower() == "consumer"
    if is_new and at_least("4.0", given.release):
        for name in NOT_WITH_CONSUMER_PROTOCOL:
            if given.is_set(name):
                yield Refusal(
                    (name, "group.protocol"),
                    f"{name} is the broker's business with group.protocol=consumer: leave it away",
                    "ConsumerConfig; KIP-848",
                )
    remote = "group.remote.assignor"
    if not is_new and given.values.get(remote) and at_least("3.9", given.release):
        yield Refusal((remote,), f"{remote} needs group.protocol=consumer", "ConsumerConfig; KIP-848")


def _heartbeat(given: _Given) -> Iterator[Refusal]:
    heartbeat, session = "heartbeat.interval.ms", "session.timeout.ms"
    is_classic = str(given.value("group.protocol")).lower() != "consumer"
    if is_classic and given.is_set("group.id") and given.number(heartbeat) >= given.number(session):
        yield Refusal(
            (heartbeat, session),
            f"{heartbeat} {given.number(heartbeat)} must be below {session} {given.number(session)}",
            "Heartbeat of the Java consumer",
        )


_RULES: dict[str, tuple[Callable[[_Given], Iterator[Refusal]], ...]] = {
    "producer": (_idempotence, _delivery_timeout),
    "consumer": (_group_protocol, _heartbeat),
}
