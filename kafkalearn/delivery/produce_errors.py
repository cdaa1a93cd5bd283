"""The errors that a produce request can end in: which the producer tries again after, and which leave a record behind.

A `retriable` error is one whose Java class extends ``RetriableException``: the same request may go well later, so the
producer sends it again, as long as ``retries`` and ``delivery.timeout.ms`` allow. A *fatal* one comes again however
often the record is sent. Whether the record was written is another question: the callback's error does not say so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkalearn.base.errors import unknown_name
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line

NO, PERHAPS, YES = "no", "perhaps", "yes"
AGAIN = "sends it again"
GIVEN = "gives it to the callback"


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


ERRORS: tuple[ProduceError, ...] = (
    ProduceError("NETWORK_EXCEPTION", 13, "NetworkException", True, PERHAPS, AGAIN, "the connection broke"),
    ProduceError("REQUEST_TIMED_OUT", 7, "TimeoutException", True, PERHAPS, AGAIN, "the HW did not get there in time"),
    ProduceError(
        "NOT_LEADER_OR_FOLLOWER", 6, "NotLeaderOrFollowerException", True, PERHAPS, AGAIN, "another broker leads now"
    ),
    ProduceError("NOT_ENOUGH_REPLICAS", 19, "NotEnoughReplicasException", True, NO, AGAIN, "ISR below the minimum"),
    ProduceError(
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        20,
        "NotEnoughReplicasAfterAppendException",
        True,
        YES,
        AGAIN,
        "written, then the ISR fell below the minimum",
    ),
    ProduceError(
        "UNKNOWN_TOPIC_OR_PARTITION", 3, "UnknownTopicOrPartitionException", True, NO, AGAIN, "not there, or not yet"
    ),
    ProduceError("CORRUPT_MESSAGE", 2, "CorruptRecordException", True, NO, AGAIN, "the checksum does not fit"),
    ProduceError("KAFKA_STORAGE_ERROR", 56, "KafkaStorageException", True, PERHAPS, AGAIN, "a disk failed", "1.0"),
    ProduceError("TIMEOUT", None, "TimeoutException", True, PERHAPS, GIVEN, "delivery.timeout.ms is over", "2.1"),
    ProduceError(
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
        45,
        "OutOfOrderSequenceException",
        False,
        NO,
        "idempotent: again, with new numbers",
        "the broker lacks the batch before",
        "0.11.0",
    ),
    ProduceError(
        "UNKNOWN_PRODUCER_ID",
        59,
        "UnknownProducerIdException",
        False,
        NO,
        "idempotent: again, with new numbers",
        "the broker has forgotten the producer (up to 2.4)",
        "1.0",
    ),
    ProduceError(
        "DUPLICATE_SEQUENCE_NUMBER",
        46,
        "DuplicateSequenceException",
        False,
        YES,
        "calls the callback: written, offset unknown",
        "sent twice; only brokers of 0.11 say so",
        "0.11.0",
    ),
    ProduceError(
        "MESSAGE_TOO_LARGE",
        10,
        "RecordTooLargeException",
        False,
        NO,
        "cuts the batch in two; one record: gives it to the callback",
        "above max.message.bytes",
    ),
    ProduceError("RECORD_LIST_TOO_LARGE", 18, "RecordBatchTooLargeException", False, NO, GIVEN, "above segment.bytes"),
    ProduceError("INVALID_RECORD", 87, "InvalidRecordException", False, NO, GIVEN, "no key, compacted topic", "2.4"),
    ProduceError(
        "INVALID_TIMESTAMP",
        32,
        "InvalidTimestampException",
        False,
        NO,
        GIVEN,
        "too far from the broker's clock",
        "0.10.0",
    ),
    ProduceError("INVALID_TOPIC_EXCEPTION", 17, "InvalidTopicException", False, NO, GIVEN, "no such name can be"),
    ProduceError(
        "INVALID_REQUIRED_ACKS", 21, "InvalidRequiredAcksException", False, NO, GIVEN, "acks is not 0, 1 or -1", "0.9.0"
    ),
    ProduceError(
        "TOPIC_AUTHORIZATION_FAILED",
        29,
        "TopicAuthorizationException",
        False,
        NO,
        GIVEN,
        "may not write there",
        "0.9.0",
    ),
    ProduceError(
        "CLUSTER_AUTHORIZATION_FAILED",
        31,
        "ClusterAuthorizationException",
        False,
        NO,
        GIVEN,
        "may not be idempotent (up to 2.7)",
        "0.9.0",
    ),
    ProduceError(
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        43,
        "UnsupportedForMessageFormatException",
        False,
        NO,
        GIVEN,
        "headers or numbers, old format",
        "0.10.1",
    ),
    ProduceError(
        "UNSUPPORTED_COMPRESSION_TYPE",
        76,
        "UnsupportedCompressionTypeException",
        False,
        NO,
        GIVEN,
        "zstd to an old version",
        "2.1",
    ),
    ProduceError(
        "INVALID_PRODUCER_EPOCH",
        47,
        "InvalidProducerEpochException",
        False,
        NO,
        GIVEN,
        "another producer has taken over its id",
        "0.11.0",
    ),
    ProduceError("UNKNOWN_SERVER_ERROR", -1, "UnknownServerException", False, PERHAPS, GIVEN, "a fault of the broker"),
)
"""The errors, retriable ones first, with the names of today."""

_OLD: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "NOT_LEADER_OR_FOLLOWER": (
        ("2.6", {"name": "NOT_LEADER_FOR_PARTITION", "exception": "NotLeaderForPartitionException"}),
    ),
    "TOPIC_AUTHORIZATION_FAILED": (("0.10.0", {"exception": "AuthorizationException"}),),
    "CLUSTER_AUTHORIZATION_FAILED": (("0.10.0", {"exception": "AuthorizationException"}),),
    "DUPLICATE_SEQUENCE_NUMBER": (("1.0", {"exception": "DuplicateSequenceNumberException", "is_retriable": True}),),
    "INVALID_PRODUCER_EPOCH": (("2.7", {"exception": "ProducerFencedException"}),),
    "UNKNOWN_SERVER_ERROR": (("1.0", {"name": "UNKNOWN"}),),
}
"""By the name of today: what was otherwise before a release."""


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
            old = [changed for until, changed in _OLD.get(each.name, ()) if not at_least(until, line)]
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
