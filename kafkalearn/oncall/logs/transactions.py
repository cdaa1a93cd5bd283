"""What logs say about transactions: what went wrong for a transactional id or a producer id, why, and what to do.

Lines of the transaction coordinator, of the leaders that refuse a producer, and of Java's producers. They are read
beside those about groups, and one line can be of both. A new epoch is no finding, but shows who
fenced whom: an old epoch that is refused after InitProducerId came from a second process, or one that was restarted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

INITIALIZED, LOADED = "initialized", "coordinator loaded"
TIMED_OUT, ROLLBACK_FAILED, FENCED, OLD_EPOCH = "timed out", "rollback failed", "fenced", "old epoch"
NOT_ENDED, MARKER_REFUSED, MARKER_DELAYED = "not ended", "marker refused", "marker delayed"
EXPIRED, BAD_TIMEOUT, OTHER_STATE, OUT_OF_ORDER = "id unknown", "timeout too long", "other state", "out of order"
NOT_VERIFIED, UNSUPPORTED, GIVEN_UP, OPEN_LONG = "not verified", "unsupported", "marker given up", "open for long"


class Meaning(NamedTuple):
    """Why something stands in a log, and what helps."""

    words: str
    advice: str


MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    {
        TIMED_OUT: Meaning(
            "its transaction was open longer than its transaction.timeout.ms, and its coordinator aborted it",
            "end transactions sooner, or raise the producer's transaction.timeout.ms up to transaction.max.timeout.ms "
            "of the brokers; until the abort every read_committed reader of its partitions waits",
        ),
        OPEN_LONG: Meaning(
            "its transaction is open for nearly as long as its timeout allows; beyond it the coordinator aborts it",
            "end transactions sooner (checkpoint more often), or raise the producer's transaction.timeout.ms up to "
            "transaction.max.timeout.ms of the brokers",
        ),
        ROLLBACK_FAILED: Meaning(
            "the coordinator could not abort a transaction that took too long, and tries again each 10 s",
            "look at __transaction_state: is its partition in sync, and does the error come again?",
        ),
        FENCED: Meaning(
            "a producer was fenced: another has its transactional.id now, or its coordinator has aborted its "
            "transaction",
            "look for a second process with this transactional.id (a deployment that overlaps, two pods of one name) "
            "and for a transaction that timed out before; the fenced producer has to be closed",
        ),
        OLD_EPOCH: Meaning(
            "a leader refused a batch of an old epoch: its producer had been fenced, or its transaction aborted, "
            "before it came",
            "nothing is lost, the batch was not written; look for what raised the epoch: a second process with the "
            "transactional.id, or a transaction that timed out",
        ),
        NOT_ENDED: Meaning(
            "the coordinator holds a state in which the request makes no sense, as a commit after its own abort",
            "the transaction had timed out or was fenced before: the application has to begin it anew, from the "
            "offsets that were committed last",
        ),
        MARKER_REFUSED: Meaning(
            "a leader refused a marker for good, and nobody sends it again: the transaction stays in Prepare*, its "
            "readers wait",
            "a change of the coordinator sends it again; else kafka-transactions.sh find-hanging and abort end it at "
            "its partition",
        ),
        MARKER_DELAYED: Meaning(
            "a marker could not be written at once, and is sent again",
            "look at the leader of that partition; until then read_committed readers of it wait",
        ),
        GIVEN_UP: Meaning(
            "the coordinator found no leader for a partition of its transaction, took it for deleted and gave up the "
            "marker: for the coordinator the transaction is complete",
            "nothing, if the topic was deleted, or the broker is of 4.2 or older. Since 4.3 a partition whose brokers "
            "are away looks so, too (KAFKA-20734): its read_committed readers wait where the transaction begins, also "
            "once it has a leader again. The next transaction of this transactional id that writes there ends it, as "
            "it ends itself: let one commit. An abort, by the producer or by kafka-transactions.sh, takes from those "
            "readers what was committed",
        ),
        EXPIRED: Meaning(
            "the coordinator does not know this producer for its transactional id: the id was not used for "
            "transactional.id.expiration.ms, or another producer has it",
            "call initTransactions() with a new producer; raise transactional.id.expiration.ms (7 days) if producers "
            "are idle for longer",
        ),
        BAD_TIMEOUT: Meaning(
            "the producer asks for a transaction.timeout.ms that is above transaction.max.timeout.ms of the brokers",
            "lower the one or raise the other; Flink's default is one hour, the brokers' limit 15 minutes",
        ),
        OTHER_STATE: Meaning(
            "a request came while another change of the same id was under way, and the client tries again",
            "nothing, if it passes; an id that is answered so for minutes waits for a marker: see its partitions",
        ),
        OUT_OF_ORDER: Meaning(
            "a batch did not follow the one before it: one was lost on the way, or its state was forgotten",
            "abort and begin anew; look for errors of the producer before this one",
        ),
        NOT_VERIFIED: Meaning(
            "a batch came for a transaction that does not have this partition, or is over: verification refused it "
            "(KIP-890)",
            "abort and begin anew; without verification the late batch would have held back readers for ever",
        ),
        UNSUPPORTED: Meaning(
            "a newer client's request came to a cluster whose transaction.version is 0, which cannot store it",
            "kafka-features.sh upgrade --feature transaction.version=2, once all brokers are of 4.0 or later",
        ),
    }
)
"""Of each kind that is a finding."""

OF_TRANSACTIONS = ("[TransactionCoordinator ", "[Transaction State Manager ", "[Transaction Marker ")
"""How the messages of a coordinator's three parts begin, whatever they say: none of them is about a group."""

_ID = r"(?P<id>[^\s']{1,200}?)"
_PID = r"(?P<pid>\d+)"
_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "ProducerFencedException": FENCED,
        "InvalidProducerEpochException": OLD_EPOCH,
        "InvalidPidMappingException": EXPIRED,
        "InvalidTxnTimeoutException": BAD_TIMEOUT,
        "InvalidTxnStateException": NOT_ENDED,
        "OutOfOrderSequenceException": OUT_OF_ORDER,
        "UnknownProducerIdException": OUT_OF_ORDER,
        "TransactionAbortableException": NOT_VERIFIED,
        "PRODUCER_FENCED": FENCED,
        "INVALID_PRODUCER_EPOCH": OLD_EPOCH,
        "INVALID_PRODUCER_ID_MAPPING": EXPIRED,
        "INVALID_TRANSACTION_TIMEOUT": BAD_TIMEOUT,
        "INVALID_TXN_STATE": NOT_ENDED,
        "OUT_OF_ORDER_SEQUENCE_NUMBER": OUT_OF_ORDER,
        "TRANSACTION_ABORTABLE": NOT_VERIFIED,
        "CONCURRENT_TRANSACTIONS": OTHER_STATE,
        "UNSUPPORTED_VERSION": UNSUPPORTED,
    }
)
"""Errors by the names of their Java classes and of the protocol."""

_NAMED = re.compile("|".join(rf"\b{name}\b" for name in _ERRORS))

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(form))
    for kind, form in (
        (INITIALIZED, rf"Initialized transactionalId {_ID} with producerId {_PID} and producer epoch (?P<epoch>-?\d+)"),
        (TIMED_OUT, rf"Completed rollback of ongoing transaction for transactionalId {_ID} due to timeout"),
        (ROLLBACK_FAILED, rf"Rollback of ongoing transaction for transactionalId {_ID} failed due to error"),
        (NOT_ENDED, rf"TransactionalId: {_ID}'s state is \w+, but received transaction marker result to send: \w+"),
        (FENCED, rf"Producer with transactionalId '{_ID}' and .{{0,200}}? has been fenced by another producer"),
        (OLD_EPOCH, rf"Producer with transactionalId '{_ID}' and .{{0,200}}? attempted to produce with an old epoch"),
        (OLD_EPOCH, rf"Epoch of producer {_PID} at offset \d+ in (?P<place>\S+) is (?P<epoch>-?\d+), which is smaller"),
        (OUT_OF_ORDER, rf"sequence number for producer {_PID} at offset \d+ in partition (?P<place>[^\s:]+)"),
        (MARKER_REFUSED, rf"Sending {_ID}'s transaction marker for partition (?P<place>\S+) has permanently failed"),
        (MARKER_DELAYED, rf"Sending {_ID}'s transaction marker (?:for|from) partition (?P<place>\S+) has failed with"),
        (
            GIVEN_UP,
            r"Couldn't find leader endpoint for partitions \w{0,20}[(\[](?P<place>[^)\]]{1,2000})[)\]] "
            rf"while trying to send transaction markers for {_ID}, these partitions are likely deleted",
        ),
        (INITIALIZED, rf"ProducerId set to {_PID} with epoch (?P<epoch>-?\d+)"),
        (BAD_TIMEOUT, r"The transaction timeout is larger than the maximum value allowed by"),
        (LOADED, r"Completed loading transaction metadata from (?P<place>__transaction_state-\d+)"),
    )
)  # fmt: skip
_OPEN_FOR = re.compile(
    rf"transactionalId=(?P<id>.{{1,300}}?), producerId={_PID}, epoch=(?P<epoch>-?\d+)\] has been open for "
    r"(?P<open_ms>\d+) ms\. This is close to or even exceeding the transaction timeout of (?P<timeout_ms>\d+) ms"
)
"""Flink's, of a transaction that it takes over or still has."""

_REFUSED = re.compile(
    rf"Returning (?P<error>\w+) error code to client for {_ID}'s (?P<request>\w+) request"
    r"|and returning (?P<error2>\w+) error to client for (?P<id2>[^\s']{1,200})'s EndTransaction request"
)
_APPEND_FAILED = re.compile(
    rf"TransactionalId {_ID} append transaction log for .{{1,400}}? transition failed due to (?P<error>\w+)"
)
_EXCEPTION = re.compile(r"\borg\.apache\.kafka\.common\.errors\.(\w+Exception)\b")
_CLIENT = re.compile(r"\[Producer clientId=(?P<client>[^,\]]{0,300}+)(?:, transactionalId=(?P<id>[^\]]{0,300}+))?\]")
_OF_LIBRDKAFKA = re.compile(r"(?:Fatal transaction error|Current transaction failed)(?: in state \w{1,40})?: ")
"""How its lines of the facility TXNERR begin; the error stands behind the words in brackets."""

_IN_ALL_FORMS = (
    *("Initialized transactionalId", "ollback of ongoing transaction", "received transaction marker result"),
    *("has been fenced by another producer", "attempted to produce with an old epoch", "Epoch of producer"),
    *("sequence number for producer", "transaction marker", "ProducerId set to", "The transaction timeout is larger"),
    *("Completed loading transaction metadata", "has been open for", "to client for", "append transaction log for"),
    *("[Producer clientId=", "Fatal transaction error", "Current transaction failed", ".kafka.common.errors."),
)
"""Words of which a line must have one to say anything that is known: most lines have none, and are not searched."""

_NO_FINDING = (INITIALIZED, LOADED)
PLACES_SHOWN = 4
MANY = 20
"""So often an id may be answered CONCURRENT_TRANSACTIONS before it is a finding: one that is fenced is once."""


class TransactionEvent(NamedTuple):
    """A line about a transaction."""

    time_ms: int | None
    kind: str
    transactional_id: str | None
    producer_id: int | None
    epoch: int | None
    place: str | None  # the partition that the line names; some name several, with commas between
    source: str
    line: int
    text: str


class TransactionFinding(NamedTuple):
    """What went wrong for one transactional id, or for a producer whose id no line says, as often as it did."""

    kind: str
    transactional_id: str | None
    producer_id: int | None
    count: int
    first_ms: int | None
    last_ms: int | None
    words: str
    advice: str
    evidence: tuple[TransactionEvent, ...]  # the first and the last


def speaks_of_transactions(text: str) -> bool:
    """Whether a line has one of the words without which none says something of a transaction.

    >>> speaks_of_transactions("Completed rollback of ongoing transaction"), speaks_of_transactions("Rolled a segment")
    (True, False)
    """
    if "ransaction" in text or "kafka.common.errors." in text:
        return True
    return "roducer" in text and ("[Producer " in text or "for producer" in text or "of producer" in text)


def may_say(text: str) -> bool:
    """Whether a line has the words of a message that is known, or of a part of the coordinator: most have not.

    >>> may_say("Initialized transactionalId t with"), may_say("Leader __transaction_state-9 starts at epoch 0")
    (True, False)
    """
    return any(each in text for each in _IN_ALL_FORMS) or "[Transaction" in text


def event_of_line(message: str, time_ms: int | None, source: str, number: int) -> TransactionEvent | None:
    """The event of a message, or None if it says nothing that is known.

    >>> line = "Epoch of producer 7 at offset 5 in orders-0 is 1, which is smaller than the last seen epoch 2"
    >>> event_of_line(line, None, "log", 1)[:6]
    (None, 'old epoch', None, 7, 1, 'orders-0')
    """
    if not any(each in message for each in _IN_ALL_FORMS):
        return None
    client = _CLIENT.search(message)
    owner = client["id"] if client is not None else None

    def made(kind: str, found: Mapping[str, str | None]) -> TransactionEvent:
        pid, epoch = found.get("pid"), found.get("epoch")
        return TransactionEvent(
            time_ms, kind, found.get("id") or owner, None if pid is None else int(pid),
            None if epoch is None else int(epoch), found.get("place"), source, number, message,
        )  # fmt: skip

    for kind, form in _FORMS:
        if found := form.search(message):
            return made(kind, found.groupdict())
    if found := _OPEN_FOR.search(message):
        is_over = int(found["open_ms"]) > int(found["timeout_ms"])
        return made(TIMED_OUT if is_over else OPEN_LONG, found.groupdict())
    if found := _REFUSED.search(message):
        kind = _ERRORS.get(found["error"] or found["error2"])
        return None if kind is None else made(kind, {"id": found["id"] or found["id2"]})
    if found := _APPEND_FAILED.search(message):
        kind = _ERRORS.get(found["error"].removesuffix("Exception"), _ERRORS.get(found["error"]))
        return None if kind is None else made(kind, {"id": found["id"]})
    if (owner is not None or _OF_LIBRDKAFKA.search(message)) and (found := _NAMED.search(message)):
        return made(_ERRORS[found[0]], {})
    if found := _EXCEPTION.search(message):
        kind = _ERRORS.get(found[1])
        return None if kind is None else made(kind, {})
    return None


def findings(events: Iterable[TransactionEvent]) -> tuple[TransactionFinding, ...]:
    """What went wrong, by transactional id and kind, the most frequent first; a producer id is named by its owner.

    >>> lines = ["Initialized transactionalId pay with producerId 7 and producer epoch 2 on partition x-0",
    ...          "Epoch of producer 7 at offset 5 in orders-0 is 1, which is smaller than the last seen epoch 2"]
    >>> (found,) = findings(event_of_line(each, 0, "log", 1) for each in lines)
    >>> found.transactional_id, found.kind, found.words.partition(";")[0]
    ('pay', 'old epoch', 'a leader refused a batch of an old epoch: its producer had been fenced, or its transaction \
aborted, before it came')
    """
    ordered = sorted(_with_times(events), key=lambda each: (each.time_ms is not None, each.time_ms or 0))
    owner: dict[int, str] = {}
    for each in ordered:
        if each.kind == INITIALIZED and each.producer_id is not None and each.transactional_id:
            owner[each.producer_id] = each.transactional_id
    grouped: dict[tuple[str | None, int | None, str], list[TransactionEvent]] = {}
    for each in ordered:
        if each.kind in _NO_FINDING:
            continue
        name = each.transactional_id or owner.get(each.producer_id if each.producer_id is not None else -1)
        grouped.setdefault((name, None if name else each.producer_id, each.kind), []).append(each)
    named = {kind for name, producer_id, kind in grouped if name or producer_id is not None}
    found = [
        _finding(name, producer_id, kind, seen, ordered)
        for (name, producer_id, kind), seen in grouped.items()
        if not (kind == OTHER_STATE and len(seen) < MANY)
        and (name or producer_id is not None or kind not in named)  # else a stack trace that says it again
    ]
    return tuple(sorted(found, key=lambda each: (-each.count, each.first_ms or 0)))


def _with_times(events: Iterable[TransactionEvent]) -> Iterator[TransactionEvent]:
    """The lines of a stack trace have no time of their own: that of the event before it in the same log."""
    last: dict[str, int | None] = {}
    for each in events:
        timed = each if each.time_ms is not None else each._replace(time_ms=last.get(each.source))
        last[each.source] = timed.time_ms
        yield timed


def _finding(
    name: str | None, producer_id: int | None, kind: str, seen: list[TransactionEvent], every: list[TransactionEvent]
) -> TransactionFinding:
    meaning = MEANINGS[kind]
    words = meaning.words
    if kind == GIVEN_UP:
        places = sorted({place for each in seen for place in (each.place or "").split(", ")})
        more = f" and {len(places) - PLACES_SHOWN} more" if len(places) > PLACES_SHOWN else ""
        words = f"{words}; without a leader: {', '.join(places[:PLACES_SHOWN])}{more}"
    if kind in (FENCED, OLD_EPOCH, NOT_ENDED) and name is not None:
        words = _with_reason(words, name, seen[0], every)
    return TransactionFinding(
        kind, name, producer_id, len(seen), seen[0].time_ms, seen[-1].time_ms, words, meaning.advice,
        (seen[0],) if len(seen) == 1 else (seen[0], seen[-1]),
    )  # fmt: skip


def _with_reason(words: str, name: str, first: TransactionEvent, every: list[TransactionEvent]) -> str:
    """With what the logs say happened to the id last before: the coordinator's abort, or a new InitProducerId."""
    if first.time_ms is None:
        return words
    before = [
        each
        for each in every
        if each.transactional_id == name
        and each.kind in (TIMED_OUT, INITIALIZED)
        and each.time_ms is not None
        and each.time_ms <= first.time_ms
    ]
    if before and before[-1].kind == TIMED_OUT:
        return f"{words}; it came after its transaction had timed out"
    if len({each.epoch for each in before}) < 2:
        return words  # its own first InitProducerId alone
    return f"{words}; it came after an InitProducerId of this id, which gave epoch {before[-1].epoch}"
