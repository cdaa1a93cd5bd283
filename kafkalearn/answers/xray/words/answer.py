"""The answer to `xray` in words: what was found, what is there, and why it is as large as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafkalearn.answers.answer import wrapped
from kafkalearn.answers.units import moment, size
from kafkalearn.answers.xray.findings import Finding
from kafkalearn.answers.xray.groups import GroupsXray
from kafkalearn.answers.xray.logs.log_xray import LogXray
from kafkalearn.answers.xray.words.internal_topics import groups_words, transactions_words
from kafkalearn.answers.xray.words.logs import details, largest_first, row
from kafkalearn.answers.xray.words.tables import SHOWN, table
from kafkalearn.phrases import counted, listed
from kafkalearn.transaction_log.replay import ReplayedTransactions


def lines(
    logs: Sequence[LogXray],
    findings: Sequence[Finding],
    groups: GroupsXray | None,
    transactions: ReplayedTransactions | None,
    now_ms: int,
    has_records: bool,
) -> Iterator[str]:
    """What was found, what is there, and why it is as large as it is; the arguments are the fields of `Xray`."""
    censuses = [log.census for log in logs]
    files = sum(len(each.files) for each in censuses)
    depth = "checksums computed" if has_records else "headers alone, which are believed"
    yield wrapped(
        f"{counted(len(logs), 'log')} in {counted(files, 'file')}, "
        f"{size(sum(each.size_bytes for each in censuses))}, as of {moment(now_ms)}: "
        f"{counted(sum(each.batch_count for each in censuses), 'batch', 'batches')}, "
        f"{counted(sum(each.record_count for each in censuses), 'record')}; {depth}."
    )
    if findings:
        yield ""
        yield from _findings(findings)
    yield ""
    yield from table([row(log) for log in largest_first(logs)], "log")
    yield from details(logs)
    if groups is not None:
        yield ""
        yield from groups_words(groups)
    if transactions is not None:
        yield ""
        yield from transactions_words(transactions, now_ms)


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    yield f"Found {counted(len(findings), 'thing')}:"
    for each in findings[: 2 * SHOWN]:
        yield wrapped(f"{each.kind}, {each.where}: {each.words}", indent="  - ")
    if len(findings) > 2 * SHOWN:
        kinds = Counter(each.kind for each in findings[2 * SHOWN :])
        more = listed(f"{count} x {kind}" for kind, count in kinds.items())
        yield wrapped(f"and {more}; --json has them all", indent="  - ")
