"""The errors that a transactional producer meets: after which it may abort and go on, and after which it is of no use.

The Java client sorts each error of each request into one of three kinds, and has changed its mind over the releases:

- **retried**: the same request goes out again; the application hears nothing,
- **abortable**: the transaction is lost, the producer is not; `abortTransaction` and begin anew,
- **fatal**: every further call fails; close the producer.

A fence (PRODUCER_FENCED) is fatal, and does not say who has raised the epoch: another instance with the id, or the
coordinator, when it aborted a transaction for its time. KIP-588 (2.7) made INVALID_PRODUCER_EPOCH at a partition
abortable; but the abort that has to follow is EndTxn under the old epoch, and that is answered PRODUCER_FENCED, in
both cases, by every coordinator that does not know ``transaction.version`` 2 or is asked by a client that does not.
At 2 the coordinator's own abort is another thing: EndTxn that aborts is answered NONE and the producer goes on, one
that commits INVALID_TXN_STATE, which is fatal. Only TxnOffsetCommit stays fatal at 2 as well.

KIP-360 (2.5) made a fatal state of a forgotten producer id abortable, by a new epoch, and 4.0 made INVALID_PRODUCER_ID
_MAPPING fatal again; KIP-447 (2.5) brought the errors of a group's member to the producer; KIP-890 (3.8) has an error
of its own that says: abort. Where the abort itself is answered with an error after which one may abort, or
`initTransactions` with this one, the call fails and no other works after it, whatever the client believes. KIP-1319
(4.4) tells the producer of a member's epoch.

Since 4.1 `abortTransaction` is also what follows a batch whose retries are over, or that meets INVALID_TXN_STATE: the
application is given a TransactionAbortableException for it, where it was given the error itself before.

Recorded: the `TransactionManager` of the Java client of each line from 2.4 to 4.4, asked about every error of every
request; whole producers of 2.6 to 4.4 before brokers of 2.6 to 4.4, after a time-out and after a fence; those of 4.4
with every error of every request, refused by a proxy in the broker's place.
"""

from __future__ import annotations

import json
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line

RETRIED, ABORTABLE, FATAL = "retried", "abortable", "fatal"

FIRST_ASKED = "2.4"
"""The oldest client that was asked; what it says may be older than it."""

COORDINATOR = ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn")
"""The requests that go to the transaction coordinator."""

ABORTING = "EndTxn (abort)"
"""EndTxn that aborts, where its error means other than that of one that commits; `kind_of` takes it for every error."""


class ClientError(NamedTuple):
    """One error, by the requests that it answers: what it is to the client, and since which release."""

    name: str
    requests: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]  # (since which release, what it is): the last that applies holds
    reason: str
    kip: str = ""


_DATA = json.loads((files("kafkalearn.transactions") / "client_errors.json").read_text(encoding="utf-8"))

ERRORS = tuple(
    ClientError(**each | {"requests": tuple(each["requests"]), "kinds": tuple(each["kinds"].items())})
    for each in _DATA["errors"]
)
"""What the clients make of an error, one error and kind of request after the other."""

_KINDS = {(each.name, request): each.kinds for each in ERRORS for request in each.requests}

RETRIABLE: MappingProxyType[str, str] = MappingProxyType(
    {name: since for since, names in _DATA["retriable_since"].items() for name in names}
)
"""The errors whose exceptions are retriable, and the release of the first client that has them as such."""

RETRIES_THEM_SINCE: MappingProxyType[str, str] = MappingProxyType(
    {**dict.fromkeys(COORDINATOR, "3.3"), "TxnOffsetCommit": "3.8", "Produce": FIRST_ASKED}
)
"""Since which release a client retries whatever is retriable; before it the errors that its handler names."""

UNEXPECTED: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys((*COORDINATOR, "TxnOffsetCommit"), FATAL),
        **dict.fromkeys(("AddPartitionsToTxn", "Produce"), ABORTABLE),
    }
)
"""What every other error is, by request."""


def kind_of(name: str, request: str, release: str = DEFAULT_RELEASE) -> str:
    """What an error of a request is to the client of a release: retried, abortable or fatal.

    Raises
    ------
    KafkaLearnError
        If it is none of the errors that have a meaning here, in that release; any other error is unexpected, and
        `UNEXPECTED` says what that is. Or if the client of that release was not asked.

    Examples
    --------
    >>> kind_of("INVALID_PRODUCER_EPOCH", "Produce", "2.6"), kind_of("INVALID_PRODUCER_EPOCH", "Produce", "2.7")
    ('fatal', 'abortable')
    >>> kind_of("UNKNOWN_MEMBER_ID", "TxnOffsetCommit"), kind_of("INVALID_TXN_STATE", "EndTxn")
    ('abortable', 'fatal')
    >>> kind_of("COORDINATOR_NOT_AVAILABLE", "TxnOffsetCommit"), kind_of("INVALID_PRODUCER_EPOCH", "TxnOffsetCommit")
    ('retried', 'fatal')
    >>> [kind_of("TRANSACTION_ABORTABLE", request) for request in ("EndTxn", "EndTxn (abort)")]
    ['abortable', 'fatal']
    """
    _require_asked(release)
    plain = "EndTxn" if request == ABORTING else request
    kinds = _KINDS.get((name, request)) or _KINDS.get((name, plain), ())
    known = [kind for since, kind in kinds if at_least(since, release)]
    if known:
        return known[-1]
    if plain in UNEXPECTED and name in RETRIABLE and at_least(RETRIABLE[name], release):
        return RETRIED if at_least(RETRIES_THEM_SINCE[plain], release) else UNEXPECTED[plain]
    listed = {each for each, asked in _KINDS if asked in (plain, request)}
    raise unknown_name(f"error of {request} in {release_line(release)}", name, sorted(listed | set(RETRIABLE)))


def _require_asked(release: str) -> None:
    if not at_least(FIRST_ASKED, release):
        raise KafkaLearnError(
            f"transactional producers of {release} were not asked; those of {FIRST_ASKED} to {DEFAULT_RELEASE} were"
        )


def client_errors(release: str = DEFAULT_RELEASE) -> list[dict[str, str]]:
    """Rows for a table: each error that the client of a release knows, by request, with what it is and why.

    ``since`` says from which release on it is of this kind; with ``or before``, the oldest client asked says so.

    Raises
    ------
    KafkaLearnError
        If the client of that release was not asked.

    Examples
    --------
    >>> [(row["kind"], row["since"]) for row in client_errors("3.9") if row["error"] == "INVALID_PRODUCER_ID_MAPPING"]
    [('abortable', '2.5'), ('abortable', '2.4 or before'), ('fatal', '2.4 or before')]
    """
    _require_asked(release)
    rows = []
    for each in ERRORS:
        kinds = [(since, kind) for since, kind in each.kinds if at_least(since, release)]
        if kinds:
            since, kind = kinds[-1]
            since += " or before" if since == FIRST_ASKED else ""
            where = "the coordinator" if each.requests == COORDINATOR else ", ".join(each.requests)
            rows.append({"error": each.name, "answers": where, "kind": kind, "since": since, "because": each.reason})
    return rows
