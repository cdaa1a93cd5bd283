"""The errors that a produce request can end in: which the producer tries again after, and which leave a record behind.

A `retriable` error is one whose Java class extends ``RetriableException``: the same request may go well later, so the
producer sends it again, as long as ``retries`` and ``delivery.timeout.ms`` allow. A *fatal* one comes again however
often the record is sent. Whether the record was written is another question: the callback's error does not say so.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NamedTuple

from kafkalearn.base.errors import unknown_name
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line

NO, PERHAPS, YES = "no", "perhaps", "yes"


class ProduceError(NamedTuple):
    """One error, as the client of a release knows it."""

    name: str
    code: int | None  # in Kafka's protocol; None: the producer's own
    exception: str  # the Java class that the callback gets
    is_retriable: bool
    written: str  # whether the record may be in the log: "no", "perhaps" or "yes"
    producer_does: str  # today's Java producer, with its defaults
    reason: str
    since: str = "0.8.2"  # the first release line that has it


_ROWS = json.loads((files("kafkalearn.delivery") / "produce_errors.json").read_text(encoding="utf-8"))
_OLD: dict[str, dict[str, dict[str, Any]]] = {each["name"]: each.pop("before") for each in _ROWS if "before" in each}
"""By the name of today, and the release before which it was so: what was otherwise."""

ERRORS = tuple(ProduceError(**each) for each in _ROWS)
"""The errors, retriable ones first, with the names of today."""


def produce_errors(release: str = DEFAULT_RELEASE) -> tuple[ProduceError, ...]:
    """The errors that a produce request can end in, as the clients of a release know them; retriable ones first.

    What the producer does and whether the record was written is said of today's producer.

    Raises
    ------
    KafkaLearnError
        If there is no such release.

    Examples
    --------
    >>> [each.name for each in produce_errors() if each.is_retriable and each.written == "no"]
    ['NOT_ENOUGH_REPLICAS', 'UNKNOWN_TOPIC_OR_PARTITION', 'CORRUPT_MESSAGE']
    >>> [each.name for each in produce_errors("2.5") if each.code == 6]
    ['NOT_LEADER_FOR_PARTITION']

    References
    ----------
    Apache Kafka, ``Errors`` and ``common.errors``, of each release; ``Sender.completeBatch``,
    ``TransactionManager.canRetry``, ``DelayedProduce.tryComplete``.
    """
    line = release_line(release)
    found = []
    for each in ERRORS:
        if at_least(each.since, line):
            old = [changed for until, changed in _OLD.get(each.name, {}).items() if not at_least(until, line)]
            found.append(each._replace(**old[0]) if old else each)
    return tuple(sorted(found, key=lambda error: not error.is_retriable))


def produce_error(name: str, release: str = DEFAULT_RELEASE) -> ProduceError:
    """One error by its name.

    Raises
    ------
    KafkaLearnError
        If the release has no such error, or there is no such release.

    Examples
    --------
    >>> produce_error("REQUEST_TIMED_OUT").written
    'perhaps'
    """
    known = {each.name: each for each in produce_errors(release)}
    if name not in known:
        raise unknown_name("error", name, known)
    return known[name]
