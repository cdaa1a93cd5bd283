"""The answer to `xray`, as data and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kafkalearn.answers.answer import Answer, Outcome
from kafkalearn.answers.xray.findings import Finding
from kafkalearn.answers.xray.groups import GroupsXray, GroupXray
from kafkalearn.answers.xray.logs.log_xray import LogXray
from kafkalearn.answers.xray.words.answer import lines
from kafkalearn.transaction_log.replay import ReplayedTransactions, TransactionalId


@dataclass(frozen=True)
class Xray(Answer):
    """The answer to `xray`."""

    logs: tuple[LogXray, ...]  # by topic, partition and log dir
    findings: tuple[Finding, ...]  # what may have lost records first
    groups: GroupsXray | None  # None: no partition of the offsets topic was read
    transactions: ReplayedTransactions | None  # None: none of the transactions' topic
    now_ms: int  # the moment of which the files tell
    has_records: bool  # False: headers alone were read
    is_fast: bool  # whether NumPy has read the records

    @property
    def outcome(self) -> Outcome:
        """Found: there is a finding; cannot tell: nothing but files that cannot be read."""
        if any(each.census.size_bytes for each in self.logs) and not any(
            each.census.magic_counts for each in self.logs
        ):
            return Outcome.CANNOT_TELL
        return Outcome.FOUND if self.findings else Outcome.FINE

    def as_data(self) -> dict[str, object]:
        """As `Answer.as_data`."""
        return {
            "now_ms": self.now_ms,
            "has_records": self.has_records,
            "findings": [asdict(each) for each in self.findings],
            "logs": [each.as_data() for each in self.logs],
            "groups": self.groups and [*map(_group_data, self.groups.groups)],
            "gone_group_count": self.groups and self.groups.gone_count,
            "transactional_ids": self.transactions and [*map(_id_data, self.transactions.ids)],
        }

    def __str__(self) -> str:
        """What was found, what is there, and why it is as large as it is."""
        said = lines(self.logs, self.findings, self.groups, self.transactions, self.now_ms, self.has_records)
        return "\n".join(said)


def _group_data(each: GroupXray) -> dict[str, object]:
    own = {"member_count": each.member_count, "offset_count": each.offset_count, "is_dead": each.is_dead}
    lists = {"members": [*map(asdict, each.members)], "offsets": [*map(asdict, each.offsets)]}
    return {**asdict(each), **own, **lists}


def _id_data(each: TransactionalId) -> dict[str, object]:
    return {**asdict(each), "partitions": [str(at) for at in each.partitions]}
