"""Open transactions: those that the segments of a topic show, and those that the coordinator's own topic knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafkalearn.answers.units import lasting, moment, size
from kafkalearn.answers.xray.findings import OPEN_TRANSACTION, OVERDUE, Finding
from kafkalearn.answers.xray.given import GivenLog
from kafkalearn.phrases import counted, listed
from kafkalearn.segments.census.log_census import LogCensus, OpenTransaction
from kafkalearn.transaction_log.replay import TransactionalId

LONGEST_MS = 15 * 60_000  # transaction.max.timeout.ms, the default: no client may ask for more
PARTITIONS_SHOWN = 4


def open_findings(
    given: GivenLog, census: LogCensus, known: Mapping[int, TransactionalId], now_ms: int
) -> Iterator[Finding]:
    """The open transactions of a log that are older than any transaction may be.

    Parameters
    ----------
    given : GivenLog
        The log.
    census : LogCensus
        What it holds.
    known : mapping of int to TransactionalId
        What the coordinator's topic says, if it was given, by producer id.
    now_ms : int
        The moment of which the files tell.
    """
    for each in census.open_transactions:
        of = known.get(each.producer_id)
        limit_ms = LONGEST_MS if of is None else of.timeout_ms
        if now_ms - each.begun_ms <= limit_ms:
            continue
        yield Finding(OPEN_TRANSACTION, given.name, _words(each, of, census, now_ms))


def _words(each: OpenTransaction, of: TransactionalId | None, census: LogCensus, now_ms: int) -> str:
    who = f"producer {each.producer_id}, epoch {each.producer_epoch}"
    if of is not None:
        who += f" ({of.transactional_id!r}, which its coordinator has as {of.state})"
    since = f"open since {moment(each.begun_ms)}, {lasting(now_ms - each.begun_ms)}" if each.begun_ms >= 0 else "open"
    holds = (
        f"consumers with read_committed stop at offset {census.last_stable_offset} of {census.end_offset}"
        if each.first_offset == census.last_stable_offset
        else f"it begins at offset {each.first_offset}"
    )
    hanging = "" if of is None or of.is_open else "; its coordinator will not end it: kafka-transactions.sh abort does"
    batches = counted(each.batch_count, "batch", "batches")
    return f"{who}: {since}, {batches}, {size(each.size_bytes)}; {holds}{hanging}"


def overdue_findings(ids: Sequence[TransactionalId], where: str, now_ms: int) -> Iterator[Finding]:
    """The transactions that their coordinator should have ended already."""
    for each in ids:
        if each.is_overdue(now_ms):
            partitions = [str(at) for at in each.partitions]
            more = len(partitions) - PARTITIONS_SHOWN
            shown = listed([*partitions[:PARTITIONS_SHOWN], *([f"{more} more"] if more > 0 else [])])
            words = (
                f"{each.transactional_id!r}, producer {each.producer_id}, epoch {each.producer_epoch}: Ongoing since "
                f"{moment(each.started_ms)} on {shown}, and its time-out is {lasting(each.timeout_ms)}"
            )
            yield Finding(OVERDUE, where, words)
