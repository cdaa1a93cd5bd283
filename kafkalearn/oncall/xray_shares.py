"""Share-partitions of an x-ray: what the records of ``__share_group_state`` say of each, and what is left to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalearn.base.errors import counted
from kafkalearn.base.tables import text_table
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.share_state_log import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE, STATES, ShareState
from kafkalearn.oncall.answer import cut, wrapped

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import ShareData

SHOWN = 12  # share-partitions in words; all are in the data


@dataclass(frozen=True, slots=True)
class ShareXray:
    """One share-partition."""

    group: str
    at: TopicPartition  # by name where the offsets topic among the files names it, else by id
    topic_id: str
    start_offset: int | None  # None: nobody has acknowledged, released or let time out anything yet
    complete_count: int | None  # offsets from the start on that are done; None: not known
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    written_ms: int  # of the last snapshot
    batches: tuple[tuple[int, int, str, int], ...]  # first, last, state, deliveries
    end_offset: int | None  # of the partition, if its log is among the files
    lag: int | None

    def offsets_in(self, *states: int) -> int:
        """How many offsets the batches name in some states."""
        names = [STATES[each] for each in states]
        return sum(last - first + 1 for first, last, state, _ in self.batches if state in names)

    def as_data(self) -> ShareData:
        """As `kafkalearn.oncall.answer.Answer.as_data`."""
        return {
            "group": self.group,
            "topic": self.at.topic,
            "topic_id": self.topic_id,
            "partition": self.at.partition,
            "start_offset": self.start_offset,
            "complete_count": self.complete_count,
            "snapshot_epoch": self.snapshot_epoch,
            "state_epoch": self.state_epoch,
            "leader_epoch": self.leader_epoch,
            "written_ms": self.written_ms,
            "batches": [[*each] for each in self.batches],
            "end_offset": self.end_offset,
            "lag": self.lag,
        }


def xray_shares(
    states: Sequence[tuple[ShareState, TopicPartition]], ends: Mapping[TopicPartition, int]
) -> tuple[ShareXray, ...]:
    """What there is to say of the states, given where the logs beside them end; by group, topic and partition."""
    found = []
    for state, at in states:
        begun, end = state.start_offset >= 0, ends.get(at)
        lag = state.lag(end) if end is not None and begun and state.complete_count >= 0 else None
        found.append(
            ShareXray(
                state.share_partition.group_id,
                at,
                state.share_partition.topic_id,
                state.start_offset if begun else None,
                state.complete_count if state.complete_count >= 0 else None,
                state.snapshot_epoch,
                state.state_epoch,
                state.leader_epoch,
                state.written_ms,
                tuple((each.first, each.last, STATES.get(each.state, str(each.state)), each.count)
                      for each in state.batches),
                end,
                lag,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda each: (each.group, each.at)))


def shares_words(shares: Sequence[ShareXray]) -> Iterator[str]:
    """Share-partitions by group, those with something in flight first."""
    groups = {each.group for each in shares}
    yield wrapped(f"{counted(len(shares), 'share-partition')} of {counted(len(groups), 'share group')}:")
    busiest = sorted(shares, key=lambda each: (-len(each.batches), each.group, each.at))
    rows = [
        {
            "group": cut(each.group, 24),
            "partition": cut(str(each.at), 24),
            "start": "none" if each.start_offset is None else each.start_offset,
            "done": "" if each.complete_count is None else each.complete_count,
            "given back": each.offsets_in(AVAILABLE),
            "accepted": each.offsets_in(ACKNOWLEDGED),
            "archived": each.offsets_in(ARCHIVED, ARCHIVING),
            "lag": "" if each.lag is None else each.lag,
        }
        for each in busiest[:SHOWN]
    ]
    yield text_table(rows)
    if len(shares) > SHOWN:
        yield wrapped(f"and {counted(len(shares) - SHOWN, 'share-partition')} more; --json has them all")
    archived = sum(each.offsets_in(ARCHIVED) for each in shares)
    if archived:
        yield wrapped(
            f"{counted(archived, 'offset')} from the starts on {'is' if archived == 1 else 'are'} ARCHIVED: rejected, "
            "a gap, or delivered as often as group.share.delivery.count.limit allows, and processed by nobody."
        )
    yield wrapped(
        "What a member holds at the moment stands nowhere in these records: it is in the leader's memory alone, and "
        "its delivery is forgotten when the leader is."
    )
