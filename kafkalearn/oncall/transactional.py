"""What can go wrong with a transactional producer's settings: in its own file, its brokers', its consumers'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.oncall.settings import PropertiesFile

ID, TIMEOUT, MOST = "transactional.id", "transaction.timeout.ms", "transaction.max.timeout.ms"
COPIES, LEAST = "transaction.state.log.replication.factor", "transaction.state.log.min.isr"
ISOLATION, VERIFICATION = "isolation.level", "transaction.partition.verification.enable"
IDEMPOTENCE, ACKS = "enable.idempotence", "acks"
DEFAULTS = {TIMEOUT: 60_000, MOST: 900_000, COPIES: 3, LEAST: 2}
"""Kafka's own, of every release that has transactions."""

COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"
NOT_SAID = (
    f"No consumer's file was given: unless it sets {ISOLATION}={COMMITTED}, a consumer is given records of open and of "
    "aborted transactions too."
)

Files = Iterable[tuple[str, str, PropertiesFile]]


class Trouble(NamedTuple):
    """Something that goes wrong with transactions, and the setting after which it does not."""

    words: str
    setting: str
    value: int | str  # as it is
    remedy: int | str  # what to set instead
    origin: str


class _Value(NamedTuple):
    value: int
    origin: str


def troubles_of(files: Files) -> tuple[tuple[Trouble, ...], tuple[str, ...]]:
    """What goes wrong for a producer that has a `transactional.id`, and what could not be looked at; else nothing.

    Parameters
    ----------
    files : iterable of (side, name, PropertiesFile)
        Of producers, brokers and consumers; what none of them says has Kafka's default.

    Raises
    ------
    KafkaLearnError
        If a number is none, or an isolation level is none of Kafka's.

    Examples
    --------
    >>> from kafkalearn.oncall.settings import parse_properties
    >>> producer = parse_properties("transactional.id=pay\\ntransaction.timeout.ms=3600000")
    >>> (found,), notes = troubles_of([("producer", "app.properties", producer)])
    >>> found.setting, found.value, found.remedy, len(notes)
    ('transaction.timeout.ms', 3600000, 900000, 1)

    References
    ----------
    Apache Kafka 4.4, ``TransactionCoordinator.handleInitProducerId``, ``TransactionLogConfig``,
    ``ProducerConfig.postProcessAndValidateIdempotenceConfigs``; the
    refusal of a timeout that is too long is recorded.
    """
    given = [*files]
    producers = [each for each in given if each[0] == "producer" and each[2].values.get(ID)]
    if not producers:
        return (), ()
    found = [trouble for each in producers for trouble in _of_producer(each, given)]
    found += _of_brokers(given)
    consumers = [each for each in given if each[0] == "consumer"]
    found += [trouble for each in consumers for trouble in _of_consumer(each)]
    return tuple(found), () if consumers else (NOT_SAID,)


def _of_producer(file: tuple[str, str, PropertiesFile], given: list[tuple[str, str, PropertiesFile]]) -> list[Trouble]:
    _, name, read = file
    values, found = read.values, []
    if values.get(IDEMPOTENCE, "true").strip().lower() == "false":
        words = f"the producer does not start: {ID} needs {IDEMPOTENCE}=true"
        found.append(Trouble(words, IDEMPOTENCE, "false", "true", name))
    if values.get(ACKS, "all").strip() not in ("all", "-1"):
        words = f"the producer does not start: {ID} needs {ACKS}=all"
        found.append(Trouble(words, ACKS, values[ACKS], "all", name))
    timeout, most = _number(TIMEOUT, [file]), _number(MOST, _of(given, "broker"))
    if timeout.value > most.value:
        words = (
            f"initTransactions() is refused with INVALID_TRANSACTION_TIMEOUT: {TIMEOUT} is {timeout.value} "
            f"({timeout.origin}), {MOST} of the brokers {most.value} ({most.origin})"
        )
        found.append(Trouble(words, TIMEOUT, timeout.value, most.value, timeout.origin))
    return found


def _of_brokers(given: list[tuple[str, str, PropertiesFile]]) -> list[Trouble]:
    brokers = _of(given, "broker")
    copies, least = _number(COPIES, brokers), _number(LEAST, brokers)
    found = []
    if copies.value == 1:
        words = (
            "__transaction_state has one replica: while its broker is away no transaction of its ids begins or ends, "
            "and readers wait behind those that are open; if its disk is lost, so is what was decided"
        )
        found.append(Trouble(words, COPIES, 1, DEFAULTS[COPIES], copies.origin))
    if least.value > copies.value:
        words = (
            f"no transaction can begin: {LEAST} asks for {least.value} replicas in sync, and there are {copies.value}"
        )
        found.append(Trouble(words, LEAST, least.value, copies.value, least.origin))
    elif least.value == 1 and copies.value != 1:
        words = "a decision to commit may stand on one replica alone, and be lost with it: half of it is written then"
        found.append(Trouble(words, LEAST, 1, DEFAULTS[LEAST], least.origin))
    for _, name, read in brokers:
        if read.values.get(VERIFICATION, "true").strip().lower() == "false":
            words = (
                "a record that comes after its transaction's end begins one that nobody ends: its readers wait for "
                "ever (KIP-890)"
            )
            found.append(Trouble(words, VERIFICATION, "false", "true", name))
    return found


def _of_consumer(file: tuple[str, str, PropertiesFile]) -> list[Trouble]:
    _, name, read = file
    level = read.values.get(ISOLATION, UNCOMMITTED).strip().lower()
    one_of(ISOLATION, level, (COMMITTED, UNCOMMITTED))
    if level == COMMITTED:
        return []
    origin = name if ISOLATION in read.values else f"{name}, the default"
    words = "its consumer is given records of transactions that are open or aborted"
    return [Trouble(words, ISOLATION, level, COMMITTED, origin)]


def _of(given: list[tuple[str, str, PropertiesFile]], side: str) -> list[tuple[str, str, PropertiesFile]]:
    return [each for each in given if each[0] == side]


def _number(name: str, files: list[tuple[str, str, PropertiesFile]]) -> _Value:
    return _Value(*number_of(name, files, DEFAULTS[name]))


def number_of(name: str, files: Sequence[tuple[str, str, PropertiesFile]], default: int) -> tuple[int, str]:
    """A number from the first file that sets it, and where it is from.

    Raises
    ------
    KafkaLearnError
        If it is no number there.
    """
    for _, origin, read in files:
        if name in read.values:
            text = read.values[name].strip()
            if not text.isascii() or not text.isdigit():
                raise KafkaLearnError(f"{name} is a number, and {origin} has {shown(text)}")
            return int(text), origin
    return default, "the default"
