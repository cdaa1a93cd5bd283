"""The errors that a transactional producer meets: after which it may abort and go on, and after which it is of no use.

The Java client sorts each error of each request into one of three kinds, and has changed its mind over the releases:

- **retried**: the same request goes out again; the application hears nothing,
- **abortable**: the transaction is lost, the producer is not; `abortTransaction` and begin anew,
- **fatal**: every further call fails; close the producer. If the error is a fence, somebody else has the id.

KIP-360 (2.5) made a fatal state of a forgotten producer id abortable, by a new epoch; KIP-588 (2.7) did the same for a
producer whose transaction the coordinator had aborted, at the partitions; KIP-447 (2.5) brought the errors of a group's
member to the producer; KIP-890 (3.8) has an error of its own that says: abort. Where the abort itself is answered so,
there is nothing left to abort: since 4.1 that is fatal. KIP-1319 (4.4) tells the producer of a member's epoch.

Since 4.1 `abortTransaction` is also what follows a batch whose retries are over, or that meets INVALID_TXN_STATE: the
application is given a TransactionAbortableException for it, where it was given the error itself before.

Source: `TransactionManager` and `Errors` of the Java client, compared over its releases 0.11.0 to 3.8 and the line that
became 4.0; the classes of 4.0.2, 4.1.2, 4.2.1, 4.3.1 and 4.4.0. Between 4.1 and 4.3 no kind of an error changed.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.base.errors import unknown_name
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line

RETRIED, ABORTABLE, FATAL = "retried", "abortable", "fatal"

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


ERRORS: tuple[ClientError, ...] = (
    ClientError(
        "CONCURRENT_TRANSACTIONS", COORDINATOR, (("0.11.0", RETRIED),), "markers of the last one are under way"
    ),
    ClientError(
        "COORDINATOR_LOAD_IN_PROGRESS", COORDINATOR, (("0.11.0", RETRIED),), "the new coordinator reads its log"
    ),
    ClientError(
        "NOT_COORDINATOR", (*COORDINATOR, "TxnOffsetCommit"), (("0.11.0", RETRIED),), "another broker coordinates now"
    ),
    ClientError("PRODUCER_FENCED", COORDINATOR, (("2.7", FATAL),), "another instance has the id", "KIP-588"),
    ClientError(
        "INVALID_PRODUCER_EPOCH", COORDINATOR, (("0.11.0", FATAL),), "as PRODUCER_FENCED, from brokers up to 2.6"
    ),
    ClientError(
        "INVALID_PRODUCER_EPOCH",
        ("Produce",),
        (("0.11.0", FATAL), ("2.7", ABORTABLE)),
        "fenced, or the coordinator has aborted a transaction that took too long; EndTxn will say which",
        "KIP-588",
    ),
    ClientError(
        "INVALID_PRODUCER_ID_MAPPING",
        ("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"),
        (("0.11.0", FATAL), ("2.5", ABORTABLE)),
        "the coordinator has forgotten the id, after 7 days without use",
        "KIP-360",
    ),
    ClientError(
        "UNKNOWN_PRODUCER_ID",
        ("Produce",),
        (("1.0", ABORTABLE),),
        "the partition has forgotten the producer; since 2.5 it goes on with a new epoch",
        "KIP-360",
    ),
    ClientError(
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
        ("Produce",),
        (("0.11.0", ABORTABLE),),
        "a batch before it is missing; since 2.5 it goes on with a new epoch",
        "KIP-360",
    ),
    ClientError(
        "TIMEOUT",
        ("Produce",),
        (("2.1", ABORTABLE),),
        "delivery.timeout.ms is over: nobody knows of the record; since 2.5 it goes on with a new epoch",
        "KIP-360",
    ),
    ClientError(
        "TRANSACTION_ABORTABLE",
        (*COORDINATOR, "Produce", "TxnOffsetCommit"),
        (("3.8", ABORTABLE),),
        "the partition is not in the transaction: a record that came too late",
        "KIP-890",
    ),
    ClientError(
        "TRANSACTION_ABORTABLE",
        (ABORTING,),
        (("3.8", ABORTABLE), ("4.1", FATAL)),
        "the abort itself is to be aborted: nothing is left that could",
        "KIP-890",
    ),
    ClientError(
        "INVALID_TXN_STATE",
        ("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"),
        (("0.11.0", FATAL),),
        "the coordinator is in a state in which that makes no sense",
    ),
    ClientError("UNKNOWN_MEMBER_ID", ("TxnOffsetCommit",), (("2.5", ABORTABLE),), "no longer in the group", "KIP-447"),
    ClientError(
        "ILLEGAL_GENERATION",
        ("TxnOffsetCommit",),
        (("2.5", ABORTABLE),),
        "the group has had a rebalance since",
        "KIP-447",
    ),
    ClientError(
        "FENCED_INSTANCE_ID",
        ("TxnOffsetCommit",),
        (("2.5", ABORTABLE),),
        "another member has the group.instance.id",
        "KIP-447",
    ),
    ClientError(
        "STALE_MEMBER_EPOCH",
        ("TxnOffsetCommit",),
        (("4.4", ABORTABLE),),
        "a member of the new group protocol that has a newer epoch; brokers up to 4.3 say ILLEGAL_GENERATION",
        "KIP-1319",
    ),
    ClientError(
        "GROUP_ID_NOT_FOUND",
        ("TxnOffsetCommit",),
        (("4.4", ABORTABLE),),
        "there is no such group any more; brokers up to 4.3 say ILLEGAL_GENERATION",
        "KIP-1319",
    ),
    ClientError(
        "GROUP_AUTHORIZATION_FAILED",
        ("AddOffsetsToTxn", "TxnOffsetCommit"),
        (("0.11.0", ABORTABLE),),
        "it may not read the group",
    ),
    ClientError(
        "TOPIC_AUTHORIZATION_FAILED",
        ("AddPartitionsToTxn", "Produce"),
        (("0.11.0", ABORTABLE),),
        "it may not write to the topic",
    ),
    ClientError(
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        ("InitProducerId",),
        (("0.11.0", FATAL), ("3.6", ABORTABLE)),
        "it may not use the id; it may ask again once it may",
    ),
    ClientError(
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        ("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "TxnOffsetCommit"),
        (("0.11.0", FATAL),),
        "it may not use the id any more",
    ),
    ClientError(
        "UNSUPPORTED_FOR_MESSAGE_FORMAT", ("TxnOffsetCommit",), (("1.1", FATAL),), "the offsets topic has an old format"
    ),
)
"""What was found in the client's sources, one error and kind of request after the other."""


def kind_of(name: str, request: str, release: str = DEFAULT_RELEASE) -> str:
    """What an error of a request is to the client of a release: retried, abortable or fatal.

    Raises
    ------
    KafkaLearnError
        If nothing is known of such an error of this request, or the client of that release cannot be given it.

    Examples
    --------
    >>> kind_of("INVALID_PRODUCER_EPOCH", "Produce", "2.6"), kind_of("INVALID_PRODUCER_EPOCH", "Produce", "2.7")
    ('fatal', 'abortable')
    >>> kind_of("UNKNOWN_MEMBER_ID", "TxnOffsetCommit"), kind_of("INVALID_TXN_STATE", "EndTxn")
    ('abortable', 'fatal')
    >>> [kind_of("TRANSACTION_ABORTABLE", request, "4.1") for request in ("EndTxn", "EndTxn (abort)")]
    ['abortable', 'fatal']
    """
    asked = ("EndTxn", ABORTING) if request == ABORTING else (request,)  # what is said of the abort alone comes last
    found = {
        each.name: kind
        for name in asked
        for each in ERRORS
        if name in each.requests
        for since, kind in each.kinds
        if at_least(since, release)
    }
    if name not in found:
        raise unknown_name(f"error of {request} in {release_line(release)}", name, sorted(found))
    return found[name]


def client_errors(release: str = DEFAULT_RELEASE) -> list[dict[str, str]]:
    """Rows for a table: each error that the client of a release knows, by request, with what it is and why.

    >>> [row["kind"] for row in client_errors("2.4") if row["error"] == "INVALID_PRODUCER_ID_MAPPING"]
    ['fatal']
    """
    rows = []
    for each in ERRORS:
        kinds = [(since, kind) for since, kind in each.kinds if at_least(since, release)]
        if kinds:
            since, kind = kinds[-1]
            where = "the coordinator" if each.requests == COORDINATOR else ", ".join(each.requests)
            rows.append({"error": each.name, "answers": where, "kind": kind, "since": since, "because": each.reason})
    return rows
