"""What a share coordinator knows, what it is asked, and what it writes: see `kafkalearn.coordinator.share_states`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_INT, LARGEST_LONG, mapping, text, whole_number
from kafkalearn.formats.share_state_log import SharePartition, ShareState, StateBatch, batch_fields
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, at_least

ANSWERS_FOR = AnswersFor("coordinator.share_states", "4.2", reason="share groups are for production since 4.2")
UPDATES_PER_SNAPSHOT = 500  # share.coordinator.snapshot.update.records.per.snapshot
COLD_MS = 300_000  # share.coordinator.cold.partition.snapshot.interval.ms


# What the coordinator knows.


@dataclass(frozen=True, slots=True)
class Settings:
    """The topics there are, and how often a snapshot is written.

    Parameters
    ----------
    partition_counts : mapping of str to int
        The partitions of each topic, by topic id.
    release : str
        4.2 or later.
    updates_per_snapshot : int
        ``share.coordinator.snapshot.update.records.per.snapshot``: after so many updates the next is a snapshot.
    cold_ms : int
        ``share.coordinator.cold.partition.snapshot.interval.ms``.

    Raises
    ------
    KafkaLearnError
        If a number makes no sense, or the release is older.
    """

    partition_counts: tuple[tuple[str, int], ...]
    release: str = DEFAULT_RELEASE
    updates_per_snapshot: int = UPDATES_PER_SNAPSHOT
    cold_ms: int = COLD_MS

    if TYPE_CHECKING:

        def __init__(
            self,
            partition_counts: Mapping[str, int],
            release: str = DEFAULT_RELEASE,
            updates_per_snapshot: int = UPDATES_PER_SNAPSHOT,
            cold_ms: int = COLD_MS,
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no broker has."""
        given = self.partition_counts
        with suppress(TypeError, ValueError):  # pairs that are none are refused as the tuple that they are
            given = dict(given) if isinstance(given, tuple) else given  # as it is kept
        counts = mapping("partition_counts", given, of="topic id to number of partitions")
        for topic_id, count in counts.items():
            whole_number(f"the number of partitions of {text('topic id', topic_id)!r}", count, 1, LARGEST_INT)
        object.__setattr__(self, "partition_counts", tuple(counts.items()))
        ANSWERS_FOR.check(self.release)
        whole_number("updates_per_snapshot", self.updates_per_snapshot, 0, UPDATES_PER_SNAPSHOT)
        whole_number("cold_ms", self.cold_ms, 1, LARGEST_LONG)

    @property
    def is_strict(self) -> bool:
        """Whether negative epochs are refused and a start never goes back: since 4.4."""
        return _is_since_4_4(self.release)


@cache
def _is_since_4_4(release: str) -> bool:
    return at_least("4.4", release)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered; what its kind has not is None."""

    error: str = "NONE"
    message: str | None = None
    start_offset: int | None = None
    state_epoch: int | None = None
    leader_epoch: int | None = None
    complete_count: int | None = None
    batches: tuple[StateBatch, ...] | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A state, and what fences requests for it."""

    state: ShareState
    highest_leader_epoch: int
    highest_state_epoch: int
    update_count: int  # since the counter was set back


@dataclass(frozen=True, slots=True)
class Coordinator:
    """What a share coordinator knows, and its last answer."""

    kept: tuple[Kept, ...] = ()  # sorted by share-partition
    record_count: int = 0  # written so far
    answer: Answer | None = None
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    def of(self, share_partition: SharePartition) -> Kept | None:
        """What is kept of a share-partition; None: it is not initialised."""
        return next((each for each in self.kept if each.state.share_partition == share_partition), None)

    def state_of(self, share_partition: SharePartition) -> ShareState:
        """The state of a share-partition that is initialised.

        Raises
        ------
        KeyError
            If it is not.
        """
        kept = self.of(share_partition)
        if kept is None:
            raise KeyError(str(share_partition))
        return kept.state


# Events: the requests, and the timer.


class Initialize(facts.Event):
    """InitializeShareGroupState: the group's coordinator, when a topic is subscribed; AlterShareGroupOffsets, too."""

    share_partition: SharePartition
    state_epoch: int  # the group's epoch then
    start_offset: int = -1  # share.auto.offset.reset decides at the first fetch
    at_ms: int = 0


class Read(facts.Event):
    """ReadShareGroupState: a leader, before its first fetch for the group."""

    share_partition: SharePartition
    leader_epoch: int
    at_ms: int = 0


class Write(facts.Event):
    """WriteShareGroupState: a leader, after acknowledgements, releases and time-outs."""

    share_partition: SharePartition
    state_epoch: int
    leader_epoch: int
    start_offset: int
    batches: tuple[StateBatch, ...] = ()  # what has changed
    complete_count: int = -1
    at_ms: int = 0


class Summarize(facts.Event):
    """ReadShareGroupStateSummary: the group's coordinator, when offsets are described."""

    share_partition: SharePartition
    leader_epoch: int = -1


class Delete(facts.Event):
    """DeleteShareGroupState: the group's coordinator, when the group, its offsets or the topic are deleted."""

    share_partition: SharePartition


class SnapshotCold(facts.Event):
    """The timer: states without a snapshot for long get one."""

    at_ms: int


Event: TypeAlias = Initialize | Read | Write | Summarize | Delete | SnapshotCold


# Effects: the records.


class Snapshot(facts.Effect):
    """All of a state was written."""

    state: ShareState

    name = "ShareSnapshot"


class Update(facts.Effect):
    """What has changed was written."""

    share_partition: SharePartition
    snapshot_epoch: int  # of the snapshot that it belongs to
    leader_epoch: int
    start_offset: int
    complete_count: int
    batches: tuple[StateBatch, ...]

    name = "ShareUpdate"

    def fields(self) -> dict[str, object]:
        """What `kafkalearn.formats.share_state_log.encode_value` makes bytes of."""
        fields: dict[str, object] = {
            "snapshotEpoch": self.snapshot_epoch,
            "leaderEpoch": self.leader_epoch,
            "startOffset": self.start_offset,
            "stateBatches": batch_fields(self.batches),
        }
        return fields if self.complete_count == -1 else fields | {"deliveryCompleteCount": self.complete_count}


class Tombstone(facts.Effect):
    """A state was deleted."""

    share_partition: SharePartition

    name = "ShareSnapshot"


Effect: TypeAlias = Snapshot | Update | Tombstone
