"""How far a group lags behind: by partition, by member, and in all."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.consuming.describe import DescribedPartition
from kafkalearn.consuming.effects import Committed
from kafkalearn.consuming.events import ConsumingEvent
from kafkalearn.consuming.state import Topic
from kafkalearn.trace import Trace


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """One partition of one group."""

    group_id: str
    partition: int
    member_id: str | None  # None: nobody owns it
    committed: int | None  # None: the group has committed nothing there
    log_end: int

    @property
    def lag(self) -> int | None:
        """Log end minus committed offset; None where nothing is committed."""
        return None if self.committed is None else self.log_end - self.committed


def lags(topic: Topic, group_id: str) -> tuple[PartitionLag, ...]:
    """The lag of a group in each partition.

    Lag as the tools count it: the offset of the next record to be written minus the committed offset, which is the next
    to be read. (What a client sees of the log's end is the high watermark; a topic here has but one copy.)

    Raises
    ------
    KafkaLearnError
        If nobody has ever joined such a group.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
    >>> events = [Join("billing", "b0"), *[Produce("order")] * 5, Poll("billing", "b0", most=2)]
    >>> topic = simulate(Settings(partition_count=2), events)[-1].state
    >>> [(each.partition, each.committed, each.log_end, each.lag) for each in lags(topic, "billing")]
    [(0, 2, 3, 1), (1, None, 2, None)]

    References
    ----------
    Apache Kafka, ``ConsumerGroupCommand``: the column ``LAG``.
    """
    group = topic.existing_group(group_id)
    return tuple(
        PartitionLag(group_id, number, group.owner(number), group.committed[number], len(log))
        for number, log in enumerate(topic.logs)
    )


def lags_by_member(topic: Topic, group_id: str) -> dict[str, int]:
    """The records that each member has before it: of its partitions all that is not committed.

    Where the group has committed nothing yet, all from where it will begin counts.
    """
    group = topic.existing_group(group_id)
    return {
        member_id: sum(len(topic.logs[number]) - group.position(number) for number in group.owned(member_id))
        for member_id in group.member_ids
    }


def total_lag(topic: Topic, group_id: str) -> int:
    """The lag of a group over all partitions in which it has committed something."""
    return sum(each.lag for each in lags(topic, group_id) if each.lag is not None)


def described(topic: Topic, group_id: str, host: str = "/127.0.0.1") -> tuple[DescribedPartition, ...]:
    """A group's partitions as `kafkalearn.consuming.describe_group` takes them."""
    return tuple(
        DescribedPartition(
            topic.name,
            each.partition,
            each.committed,
            each.log_end,
            *(() if each.member_id is None else (each.member_id, host, f"{group_id}-client")),
        )
        for each in lags(topic, group_id)
    )


def commit_rows(trace: Trace[Topic, ConsumingEvent]) -> list[dict[str, object]]:
    """Every commit of a run as a plain row, as ``__consumer_offsets`` keeps them; the moment is the frame's number.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
    >>> events = [Join("billing", "b0"), Produce("A1"), Poll("billing", "b0")]
    >>> commit_rows(simulate(Settings(partition_count=1), events))
    [{'group_id': 'billing', 'topic': 'orders', 'partition': 0, 'offset': 1, 'committed_at': 3}]
    """
    return [
        {
            "group_id": effect.group_id,
            "topic": frame.state.name,
            "partition": effect.partition,
            "offset": effect.offset,
            "committed_at": frame.index,
        }
        for frame in trace
        for effect in frame.state.effects
        if isinstance(effect, Committed)
    ]
