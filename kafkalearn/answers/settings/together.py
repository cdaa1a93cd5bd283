"""Settings that only together are refused; the rules were tried on the clients of each release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kafkalearn.answers.settings.values import Refusal, setting_of
from kafkalearn.versions.releases import at_least
from kafkalearn.versions.settings import Value

NOT_WITH_CONSUMER_PROTOCOL = ("heartbeat.interval.ms", "session.timeout.ms", "partition.assignment.strategy")
MOST_IN_FLIGHT = 5


@dataclass(frozen=True, slots=True)
class Given:
    """The settings of one program, with the release's defaults behind them."""

    values: Mapping[str, str]
    side: str
    release: str

    def is_set(self, name: str) -> bool:
        """Whether somebody has written it down."""
        return name in self.values

    def value(self, name: str) -> str | Value:
        """What counts: what is set, else the release's default."""
        setting = setting_of(name, self.side, self.release)
        return (
            self.values[name] if name in self.values else None if setting is None else setting.in_release(self.release)
        )

    def number(self, name: str) -> int:
        """The same as a whole number; 0: it is not known or has no default."""
        value = self.value(name)
        return 0 if value is None else int(value)

    def is_true(self, name: str) -> bool:
        """The same as yes or no."""
        return str(self.value(name)).lower() == "true"


def _idempotence(given: Given) -> Iterator[Refusal]:
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


def _delivery_timeout(given: Given) -> Iterator[Refusal]:
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


def _group_protocol(given: Given) -> Iterator[Refusal]:
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


def _heartbeat(given: Given) -> Iterator[Refusal]:
    heartbeat, session = "heartbeat.interval.ms", "session.timeout.ms"
    is_classic = str(given.value("group.protocol")).lower() != "consumer"
    if is_classic and given.is_set("group.id") and given.number(heartbeat) >= given.number(session):
        yield Refusal(
            (heartbeat, session),
            f"{heartbeat} {given.number(heartbeat)} must be below {session} {given.number(session)}",
            "Heartbeat of the Java consumer",
        )


RULES: dict[str, tuple[Callable[[Given], Iterator[Refusal]], ...]] = {
    "producer": (_idempotence, _delivery_timeout),
    "consumer": (_group_protocol, _heartbeat),
}
