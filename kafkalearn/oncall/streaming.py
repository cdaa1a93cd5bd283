"""How far a Structured Streaming query of Spark has come, and what it has missed: from its checkpoint.

Such a query commits nothing to Kafka and has no group that a tool could describe. What it has read stands in the folder
of its checkpoint: ``offsets/N`` is written before micro-batch N, ``commits/N`` after it. For each partition of a topic
``offsets/N`` has the offset *behind* the batch: where the next one begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.base.checks import mapping, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.wire import read_json
from kafkalearn.oncall.answer import text_of

OFFSETS, COMMITS = "offsets", "commits"
NO_DATA = "-"  # in place of a source that has not been read yet
_BATCH = "the offsets of a micro-batch"

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class StreamingProgress:
    """What a checkpoint says."""

    batch_id: int  # the last micro-batch that was begun
    is_finished: bool  # False: a restart does it again, with the same records
    finished: Offsets  # where the batch after the last finished one begins
    begun: Offsets  # where the batch after the last begun one begins


@dataclass(frozen=True, slots=True)
class StreamingLag:
    """One partition of a query."""

    topic: str
    partition: int
    next_offset: int | None  # the first record that no finished batch has; None: the query does not know the partition
    log_start: int
    log_end: int

    @property
    def lag(self) -> int:
        """Records that are in the log, and in no finished batch."""
        first = self.log_start if self.next_offset is None else max(self.next_offset, self.log_start)
        return max(0, self.log_end - first)

    @property
    def lost(self) -> int:
        """Records that the query has not read, and that are gone from the log."""
        return 0 if self.next_offset is None else max(0, min(self.log_start, self.log_end) - self.next_offset)

    @property
    def is_refused(self) -> bool:
        """Whether the query stops here with ``failOnDataLoss``, which is on unless somebody turns it off."""
        return self.next_offset is not None and not self.log_start <= self.next_offset <= self.log_end

    def __str__(self) -> str:
        """The same in a sentence."""
        name = f"{self.topic}-{self.partition}"
        if self.next_offset is None:
            return f"{name}: new to the query, which begins at its first record; {counted(self.lag, 'record')} behind"
        if self.next_offset > self.log_end:
            return (
                f"{name}: the query is at {self.next_offset}, and the log ends at {self.log_end}: the topic was made "
                "anew, or lost records in an unclean election; failOnDataLoss=true stops the query"
            )
        if self.lost:
            return (
                f"{name}: {counted(self.lost, 'record')} from {self.next_offset} on went before the query came: the "
                f"log begins at {self.log_start}; failOnDataLoss=true stops the query, false goes on there"
            )
        return f"{name}: {counted(self.lag, 'record')} behind, next is {self.next_offset}"


def streaming_progress(folder: str | Path) -> StreamingProgress:
    """What the checkpoint of a query says.

    Parameters
    ----------
    folder : str or Path
        Its ``checkpointLocation``; it is only read.

    Raises
    ------
    KafkaLearnError
        If it is no checkpoint, is damaged, or none of its sources is Kafka.

    References
    ----------
    Apache Spark 4.3, ``OffsetSeqLog``, ``CommitLog``, ``KafkaSourceOffset``.
    """
    place = Path(folder)
    begun, finished = _batches(place / OFFSETS), _batches(place / COMMITS)
    if not begun:
        raise KafkaLearnError(
            f"{shown(str(folder))} is no checkpoint of a query that has begun: there is no file {OFFSETS}/0; give the "
            "folder that is named in checkpointLocation"
        )
    done = [number for number in begun if number in finished]
    last = begun[-1]
    return StreamingProgress(
        last,
        last in finished,
        _offsets_in(place / OFFSETS / str(done[-1])) if done else {},
        _offsets_in(place / OFFSETS / str(last)),
    )


def streaming_lag(
    progress: StreamingProgress, log_ends: Mapping[TopicPartition, int], log_starts: Mapping[TopicPartition, int]
) -> tuple[StreamingLag, ...]:
    """How far a query is behind in each partition, and which records it will never see.

    Parameters
    ----------
    progress : StreamingProgress
        From `streaming_progress`.
    log_ends, log_starts : mapping of TopicPartition to int
        The log end offset of each partition of its topics, and the offset of the first record that is still there, as
        ``kafka-get-offsets.sh`` prints them.

    Raises
    ------
    KafkaLearnError
        If a partition that the query reads is missing, or an offset is none.

    Examples
    --------
    >>> orders = TopicPartition("orders", 0)
    >>> at_100 = StreamingProgress(3, True, {orders: 100}, {orders: 100})
    >>> (one,) = streaming_lag(at_100, {orders: 250}, {orders: 180})
    >>> one.lag, one.lost
    (70, 80)
    """
    ends = _checked("log_ends", log_ends)
    starts = _checked("log_starts", log_starts)
    for at in progress.finished.keys() | progress.begun.keys():
        if at not in ends or at not in starts:
            raise KafkaLearnError(
                f"the query reads {at}, and log_ends or log_starts does not have it; give both for it"
            )
    rows = []
    for at in sorted(ends):
        if at not in starts or starts[at] > ends[at]:
            raise KafkaLearnError(f"log_starts has no offset of {at} that is at most its end, {ends[at]}")
        rows.append(StreamingLag(*at, progress.finished.get(at), starts[at], ends[at]))
    return tuple(rows)


def _checked(name: str, offsets: object) -> dict[TopicPartition, int]:
    given = mapping(name, offsets, of="TopicPartition to offset")
    if odd := [at for at in given if not isinstance(at, TopicPartition)]:
        raise KafkaLearnError(f"{name} has the key {shown(odd[0])}; keys are TopicPartition(topic, partition)")
    return {at: whole_number(f"{name}[{at}]", offset, at_least=0) for at, offset in given.items()}


def _batches(folder: Path) -> list[int]:
    """The numbers of the files of a folder, in order; files of other names are Spark's own business."""
    try:
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal() and path.name.isascii())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise KafkaLearnError(f"{shown(str(folder))} cannot be read: {error.strerror}") from None


def _offsets_in(path: Path) -> dict[TopicPartition, int]:
    """The offsets of all Kafka sources of a query, behind one micro-batch."""
    version, *lines = text_of(path, _BATCH).splitlines()[:1000] or [""]
    if not version.startswith("v") or not lines:
        raise KafkaLearnError(f"{shown(str(path))} is damaged: {_BATCH} begin with a version, got {shown(version)}")
    found: dict[TopicPartition, int] = {}
    for line in lines[1:]:  # the first is about time and settings
        if line and line != NO_DATA:
            found |= _kafka_offsets(line, path)
    if not found:
        raise KafkaLearnError(f"{shown(str(path))} has no offsets of a topic: no source of this query is Kafka")
    return found


def _kafka_offsets(line: str, path: Path) -> dict[TopicPartition, int]:
    """The offsets of one source; none, if it is another one than Kafka."""
    try:
        read = read_json(line)
    except (ValueError, RecursionError):
        raise KafkaLearnError(
            f"{shown(str(path))} is damaged: the offsets of a source are no JSON: {shown(line)}"
        ) from None
    if not isinstance(read, dict) or not all(isinstance(each, dict) for each in read.values()):
        return {}
    return {
        TopicPartition(topic, int(number)): whole_number(f"{topic}-{number} in {path.name}", offset, at_least=0)
        for topic, partitions in read.items()
        for number, offset in partitions.items()
        if number.isdecimal() and number.isascii() and len(number) < 10
    }
