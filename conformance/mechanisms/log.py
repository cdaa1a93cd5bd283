"""One log on one broker: what it takes, what its cleaner leaves, what retention and administrators remove.

Compaction is compared to the header of every batch; removal by age, by size and by administrators with what ListOffsets
says of what is left. Scripts are cases of JSON: the topic's ``policy``, the ``dirty_ratio`` that the cleaner waits for,
and ``events``, each a list of its kind and these words:

- ``append``: ms since the line before, a producer's number or None, whether it is transactional, a codec, and records
  as key, value and by how many ms its timestamp is off;
- ``end``: a producer's number, whether its transaction is committed, whether the marker raises its epoch;
- ``epoch``: a producer's number: it begins a new epoch;
- ``roll``: a record comes whose timestamp closes the active segment;
- ``clean``: how many of the long pauses of the script are too young for the cleaner, and delete.retention.ms;
- ``retain``: how many long pauses are young enough to stay, or None, and how many bytes may stay, or None;
- ``delete``: records up to an offset, -1: to the high watermark;
- ``offsets``: ListOffsets is asked for its ends and for times after the begin.

On a real broker every batch is sent, and every pass of the cleaner is let happen and waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism, line, new_topic, produced
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats import batches as real
from kafkalearn.formats.compression import CODECS
from kafkalearn.formats.segments import Segment as SegmentOnDisk
from kafkalearn.live.cluster import CLEANED, CONSUMER_REPLICA
from kafkalearn.live.errors import wait_for
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading import refuse_error
from kafkalearn.live.request_values import NEWEST_PRODUCE_WITH_NAMES, NewRecord, encode_batch, error_name, produce
from kafkalearn.log import model, simulator
from kafkalearn.log.index import ISOLATION_LEVELS, SPECIAL_TIMES, FoundOffset, list_offset
from kafkalearn.log.model import Batch, NewBatch, Segment
from kafkalearn.log.sequences import NO_PRODUCER
from kafkalearn.releases.lines import at_least

__all__ = [
    "COMPACTION",
    "REMOVAL",
]

NEVER_MS = 10**14
"""As min.compaction.lag.ms: the cleaner leaves the log alone."""

HOUSEKEEPING = {
    "log.cleaner.backoff.ms": 20,
    "log.cleaner.threads": 1,
    "log.initial.task.delay.ms": 100,
    "log.retention.check.interval.ms": 50,
    "log.segment.delete.delay.ms": 100,
    "transaction.partition.verification.enable": False,  # transactions are played without their coordinator
}
"""What a broker needs so that nothing is waited for, and a script may be its transaction coordinator."""

BIG_BYTES = 300_000
STARTED_AGO_MS = 30 * 86_400_000
STEP_MS = 2_000
ROUNDS = 2


class Canaries:
    """The two logs of a cluster that a broker looks after last: when it has been at them, it has been at all others.

    The cleaner takes the dirtiest log first, and goes on until none is left: a large log with one dirty record comes
    last. Retention looks at every log in turn: between two looks at one log it was at all the others.
    """

    def __init__(self, kafka: Kafka) -> None:
        """Create them."""
        self._kafka = kafka
        self._at_ms = int(time.time() * 1000) - STARTED_AGO_MS
        self._cleaned, self._retained = TopicPartition("canary-of-the-cleaner", 0), TopicPartition("canary-of-age", 0)
        compacted = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 0, "min.compaction.lag.ms": NEVER_MS}
        kafka.create_topic(self._cleaned.topic, config={**compacted, "segment.ms": 1000})
        kafka.create_topic(self._retained.topic, config={"retention.ms": 3_600_000, "segment.ms": 1000})
        self._append(self._cleaned, b"big", bytes(BIG_BYTES))

    def await_cleaner(self) -> None:
        """Return when the cleaner has been at every log that it may clean, as it is configured when this begins."""
        topic, disk = self._cleaned.topic, self._kafka.disk(1)
        self._kafka.alter_topic(topic, {"min.compaction.lag.ms": 0})
        for _ in range(ROUNDS):
            self._append(self._cleaned, b"small", b"")
            end = disk.segments(*self._cleaned)[-1].base_offset
            wait_for(lambda end=end: disk.checkpoint(CLEANED).get(self._cleaned), end, f"{topic} cleaned up to")
        self._kafka.alter_topic(topic, {"min.compaction.lag.ms": NEVER_MS})

    def await_retention(self) -> None:
        """Return when old segments of every log were looked for."""
        for _ in range(ROUNDS + 1):
            end = self._append(self._retained, b"small", b"") + 1
            wait_for(lambda: self._kafka.log_start_offset(*self._retained), end, f"{self._retained} begins at")

    def _append(self, place: TopicPartition, key: bytes, value: bytes) -> int:
        self._at_ms += STEP_MS
        words = produce(place, [(key, value, self._at_ms)])
        return produced(self._kafka, 1, words, NEWEST_PRODUCE_WITH_NAMES)[1]


_OF_CLUSTER: WeakKeyDictionary[Kafka, Canaries] = WeakKeyDictionary()


def canaries_of(kafka: Kafka) -> Canaries:
    """The canaries of a cluster; they are created when they are asked for first."""
    if kafka not in _OF_CLUSTER:
        _OF_CLUSTER[kafka] = Canaries(kafka)
    return _OF_CLUSTER[kafka]


KEYS = "abcd"
BEGAN_AGO_MS = 3_000_000
"""A script begins so long before it is played: its records are old enough for the cleaner."""
LONG_PAUSE_MS = 60_000
PAUSES_MS = (0, 10, 400, 1200, LONG_PAUSE_MS)
MOST_EVENTS = 30  # of them no script is as long as `BEGAN_AGO_MS`
CLOSING_AFTER_MS = 2 * BEGAN_AGO_MS - 500_000  # a closing record is newer than all others, and less than an hour ahead
CLOSING_STEP_MS = 2_000
CLOSING_KEY = "zz"
SEGMENT_MS = 1_000
AT_ONCE_MS, LATER_MS, MUCH_LATER_MS = RETENTIONS_MS = (0, 1, 10**9)
"""Values of delete.retention.ms: a horizon has passed when the next pass comes, or it has not for days."""
TIMES_ASKED_MS = (0, 10, 400, 1200, LONG_PAUSE_MS, 61_200, 120_400, CLOSING_AFTER_MS)
PRODUCER_COUNT = 3
FIRST_PRODUCER_ID = 7001


@dataclass(frozen=True)
class Write:
    """A batch is sent."""

    batch: NewBatch

    @property
    def data(self) -> bytes:
        """As the producer sends it."""
        return encoded(self.batch)


@dataclass(frozen=True)
class End:
    """The transaction coordinator writes a marker."""

    producer_id: int
    producer_epoch: int
    is_commit: bool


@dataclass(frozen=True)
class Pass:
    """The cleaner may take what is older than a time."""

    before_ms: int | None  # None: of any age
    delete_retention_ms: int


@dataclass(frozen=True)
class Retention:
    """Old segments may go."""

    before_ms: int | None  # what is older; None: age does not matter
    bytes_left: int | None


@dataclass(frozen=True)
class DeleteRecords:
    """Records are deleted up to an offset."""

    offset: int


@dataclass(frozen=True)
class OffsetsAsked:
    """ListOffsets is asked: for both ends, for the largest timestamp, and for some times."""

    times_ms: tuple[int, ...]


Step = Write | End | Pass | Retention | DeleteRecords | OffsetsAsked


def steps_of(case: Case, began_ms: int) -> Iterator[Step]:
    """What the lines of a script mean if it began at a time; the same for broker and simulator."""
    at_ms, closing_ms = began_ms, began_ms + CLOSING_AFTER_MS
    pauses: list[int] = []  # in the middle of each long one
    stamps = {number: [0, 0] for number in range(PRODUCER_COUNT)}  # epoch and next sequence
    for kind, *words in case["events"]:
        if kind == "append":
            pause_ms, number, is_transactional, codec, rows = words
            if pause_ms == LONG_PAUSE_MS:
                pauses.append(at_ms + pause_ms // 2)
            at_ms += pause_ms
            records = tuple((key, value, at_ms + off_ms) for key, value, off_ms in rows)
            yield Write(_batch(records, number, stamps, is_transactional, codec))
        elif kind == "roll":
            yield Write(NewBatch(((CLOSING_KEY, "closing", closing_ms),)))
            closing_ms += CLOSING_STEP_MS
        elif kind == "end":
            number, is_commit, raises_epoch = words
            if raises_epoch:
                stamps[number] = [stamps[number][0] + 1, 0]
            yield End(FIRST_PRODUCER_ID + number, stamps[number][0], is_commit)
        elif kind == "epoch":
            stamps[words[0]] = [stamps[words[0]][0] + 1, 0]
        elif kind == "clean":
            yield Pass(_pause(pauses, words[0]), words[1])
        elif kind == "retain":
            yield Retention(None if words[0] is None else _pause(pauses, words[0]), words[1])
        elif kind == "delete":
            yield DeleteRecords(words[0])
        else:
            yield OffsetsAsked(tuple(began_ms + after_ms for after_ms in words[0]))


def _pause(pauses: list[int], count: int) -> int | None:
    """The moment that has so many long pauses behind it; None: as many there are not, so any time will do."""
    return pauses[-count] if 0 < count <= len(pauses) else None


def _batch(
    records: tuple, number: int | None, stamps: dict[int, list[int]], is_transactional: bool, codec: str
) -> NewBatch:
    stamp: dict[str, Any] = {}
    if number is not None:
        epoch, sequence = stamps[number]
        stamp = {"producer_id": FIRST_PRODUCER_ID + number, "producer_epoch": epoch, "base_sequence": sequence}
        stamp["is_transactional"] = is_transactional
        stamps[number][1] += len(records)
    batch = NewBatch(records, **stamp)
    if codec == "none":
        return batch
    return NewBatch(records, len(encoded(batch, codec)), **stamp, codec=codec)


def encoded(batch: NewBatch, codec: str | None = None) -> bytes:
    """A batch as a producer sends it."""
    rows: list[NewRecord] = [(_bytes(key), _bytes(value), at_ms) for key, value, at_ms in batch.records]
    if batch.producer_id == NO_PRODUCER:
        return encode_batch(rows, codec=codec or batch.codec)
    return encode_batch(
        rows, batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional,
        codec or batch.codec,
    )  # fmt: skip


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def records(keys: Any) -> Any:
    """A strategy of the records of one batch: some of them tombstones, some older than those before."""
    values = strategies.sampled_from(["v", "w" * 40, "", None])
    off_ms = strategies.sampled_from([0, 0, 0, -5, -700])
    return strategies.lists(strategies.tuples(keys, values, off_ms).map(list), min_size=1, max_size=4)


def appends(keys: Any, codecs: tuple[str, ...] = CODECS) -> Any:
    """A strategy of batches: of nobody in particular, of idempotent producers, in transactions."""
    number = strategies.none() | strategies.integers(0, PRODUCER_COUNT - 1)
    words = (strategies.sampled_from(PAUSES_MS), number, strategies.booleans(), strategies.sampled_from(codecs))
    return strategies.tuples(strategies.just("append"), *words, records(keys)).map(list)


def asked() -> Any:
    """A strategy of questions of the offsets for times."""
    at_ms = strategies.sampled_from(TIMES_ASKED_MS)
    return line("offsets", strategies.lists(at_ms, min_size=1, max_size=3))


# What is compared of a log, in one form, be it read from a disk or simulated; times count from a script's begin.
UNKNOWN = None


def shown_batch(batch: Batch | real.Batch, began_ms: int) -> dict[str, Any]:
    """A batch: its header, and what is left in it.

    The size of a compressed one is left out: what less data takes only the codec knows.
    """
    is_real = isinstance(batch, real.Batch)
    codec = batch.compression if is_real else batch.codec
    is_control = batch.is_control if is_real else batch.marker is not None
    horizon_ms = batch.delete_horizon_ms
    return {
        "offsets": [batch.base_offset, batch.last_offset],
        "records": [
            [each.offset, *_content(each, batch, is_control), each.timestamp_ms - began_ms] for each in batch.records
        ],
        "producer": [batch.producer_id, batch.producer_epoch, batch.base_sequence],
        "is_transactional": batch.is_transactional,
        "is_control": is_control,
        "horizon_ms": None if horizon_ms is None else horizon_ms - began_ms,
        "newest_ms": batch.max_timestamp_ms - began_ms if batch.records else UNKNOWN,
        "codec": codec,
        "size_bytes": batch.size_bytes if codec == "none" else UNKNOWN,
    }


def _content(record: Any, batch: Any, is_control: bool) -> tuple[str | None, ...]:
    if is_control:
        return (record.control if isinstance(batch, real.Batch) else batch.marker,)
    return _text(record.key), _text(record.value)


def _text(data: bytes | str | None) -> str | None:
    return data.decode() if isinstance(data, bytes) else data


def shown_log(
    checkpoint: int | None, start: int, segments: Sequence[Segment] | Sequence[SegmentOnDisk], began_ms: int
) -> dict[str, Any]:
    """The cleaner's checkpoint, where the log and its segments begin, and every batch."""
    return {
        "checkpoint": checkpoint,
        "start": start,
        "segments": [each.base_offset for each in segments],
        "batches": [shown_batch(batch, began_ms) for each in segments for batch in each.batches],
    }


def questions(times_ms: Sequence[int]) -> list[tuple[int | str, str]]:
    """What is asked of ListOffsets: the ends and the largest timestamp, times, each as both kinds of readers do."""
    asked: list[int | str] = ["earliest", "latest", "max timestamp", *times_ms]
    return [(each, level) for each in asked for level in ISOLATION_LEVELS]


def answer_of(found: FoundOffset, began_ms: int) -> list[int | None]:
    """What ListOffsets answers: an offset, and the timestamp that lies there, if it is given."""
    return [found.offset, None if found.timestamp_ms == model.NO_TIMESTAMP else found.timestamp_ms - began_ms]


BROKER = 1  # the only one
NO_LIMIT = -1
TIMEOUT_MS = 5_000
PRODUCE_VERSION = 11  # with 12 a broker adds the partition to the transaction, so that its coordinator is needed
LEGACY_MARKERS = 1  # the version of WriteTxnMarkers in which a marker may have any epoch that is not older


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """What a broker answered to each line of a script, and what its log was then.

    ``began_ms`` is when the script began, ``after`` what each line led to.
    """
    began_ms = int(time.time() * 1000) - BEGAN_AGO_MS
    log = RealLog(kafka, new_name("log"), case, began_ms)
    return {"began_ms": began_ms, "after": [log.play(step) for step in steps_of(case, began_ms)], "end": log.end()}


class RealLog:
    """The log of a topic whose cleaner and whose retention act when they are asked to."""

    def __init__(self, kafka: Kafka, topic: str, case: Case, began_ms: int) -> None:
        """Create the topic, protected from both."""
        self._kafka, self._place, self._began_ms = kafka, TopicPartition(topic, 0), began_ms
        self._canaries = canaries_of(kafka)
        policy = case["policy"]
        config: dict[str, object] = {
            "cleanup.policy": policy, "segment.ms": SEGMENT_MS, "retention.ms": NO_LIMIT, "retention.bytes": NO_LIMIT,
        }  # fmt: skip
        if "compact" in policy:
            config |= {"min.cleanable.dirty.ratio": case["dirty_ratio"], "min.compaction.lag.ms": NEVER_MS}
        new_topic(kafka, topic, config=config)
        self._is_compacted = "compact" in policy

    def play(self, step: Step) -> Answer:
        """What one step led to."""
        match step:
            case Write():
                return self._write(step)
            case End():
                return self._end(step)
            case Pass():
                return self._pass(step)
            case Retention():
                return self._retain(step)
            case DeleteRecords(offset):
                return self._delete(offset)
            case OffsetsAsked(times_ms):
                return self._offsets(times_ms)

    def _write(self, step: Write) -> Answer:
        batch = step.batch
        words = {
            "transactionalId": f"t{batch.producer_id}" if batch.is_transactional else None,
            "acks": -1,
            "timeoutMs": TIMEOUT_MS,
            "topicData": [
                {"name": self._place.topic, "partitionData": [{"index": 0, "records": step.data}]},
            ],
        }
        return produced(self._kafka, BROKER, words, PRODUCE_VERSION)

    def _end(self, step: End) -> Answer:
        """The error, and the time that the broker gave the marker."""
        marker = {
            "producerId": step.producer_id,
            "producerEpoch": step.producer_epoch,
            "transactionResult": step.is_commit,
            "topics": [{"name": self._place.topic, "partitionIndexes": [0]}],
            "coordinatorEpoch": 0,
        }
        answer = self._kafka.ask(BROKER, "WriteTxnMarkers", {"markers": [marker]}, LEGACY_MARKERS)
        (found,) = answer["markers"][0]["topics"][0]["partitions"]
        error = error_name(found["errorCode"])
        if error != "NONE":
            return [error, None]
        return [error, self._kafka.disk(BROKER).batches(*self._place)[-1].max_timestamp_ms - self._began_ms]

    def _pass(self, step: Pass) -> Answer:
        """The log after a pass, and how old a record had to be; the time of the pass, as its new horizons have it.

        How large a compressed batch has become only the broker knows: later passes depend on it.
        """
        before = {each["horizon_ms"] for each in self.shown()["batches"]}
        lag_ms = 0 if step.before_ms is None else int(time.time() * 1000) - step.before_ms
        topic, retention = self._place.topic, {"delete.retention.ms": step.delete_retention_ms}
        self._kafka.alter_topic(topic, {"min.compaction.lag.ms": lag_ms, **retention})
        self._canaries.await_cleaner()
        self._kafka.alter_topic(topic, {"min.compaction.lag.ms": NEVER_MS})
        cleaned_ms = int(time.time() * 1000) - self._began_ms
        now = self.shown()
        horizons = {each["horizon_ms"] for each in now["batches"]} - before
        if horizons:
            cleaned_ms = max(horizons) - step.delete_retention_ms
        batches = self._kafka.disk(BROKER).batches(*self._place)
        codec_bytes = {str(each.base_offset): each.size_bytes for each in batches if each.compression != "none"}
        return {"lag_ms": lag_ms, "cleaned_ms": cleaned_ms, "codec_bytes": codec_bytes, "log": now}

    def _retain(self, step: Retention) -> Answer:
        now_ms = int(time.time() * 1000)
        limits = {
            "retention.ms": NO_LIMIT if step.before_ms is None else now_ms - step.before_ms,
            "retention.bytes": NO_LIMIT if step.bytes_left is None else step.bytes_left,
        }
        topic = self._place.topic
        self._kafka.alter_topic(topic, limits)
        self._await_retention()
        self._kafka.alter_topic(topic, {"retention.ms": NO_LIMIT, "retention.bytes": NO_LIMIT})
        retained_ms = int(time.time() * 1000) - self._began_ms
        return {"retention_ms": limits["retention.ms"], "retained_ms": retained_ms, "log": self.shown()}

    def _delete(self, offset: int) -> Answer:
        topics = [{"name": self._place.topic, "partitions": [{"partitionIndex": 0, "offset": offset}]}]
        answer = self._kafka.ask(BROKER, "DeleteRecords", {"topics": topics, "timeoutMs": TIMEOUT_MS})
        (found,) = answer["topics"][0]["partitions"]
        self._await_retention()
        return {"answer": [error_name(found["errorCode"]), found["lowWatermark"]], "log": self.shown()}

    def _offsets(self, times_ms: tuple[int, ...]) -> Answer:
        """What the log answers when nothing below its start is left: how soon that goes is a matter of the clock.

        Until then such a segment is found for a time, and no record of it.
        """
        start = self._kafka.log_start_offset(*self._place)
        wait_for(
            lambda: [each.base_offset for each in self._kafka.disk(BROKER).segments(*self._place)[1:]],
            lambda bases: all(base > start for base in bases),
            f"{self._place.topic} without what is below {start}",
        )
        return [self._offset_for(each, level) for each, level in questions(times_ms)]

    def _offset_for(self, time_ms: int | str, isolation_level: str) -> Answer:
        number = SPECIAL_TIMES[time_ms] if isinstance(time_ms, str) else time_ms
        asked = [{"name": self._place.topic, "partitions": [{"partitionIndex": 0, "timestamp": number}]}]
        level = ISOLATION_LEVELS.index(isolation_level)
        answer = self._kafka.ask(
            BROKER, "ListOffsets",
            {"replicaId": CONSUMER_REPLICA, "isolationLevel": level, "topics": asked, "timeoutMs": TIMEOUT_MS},
        )  # fmt: skip
        (found,) = answer["topics"][0]["partitions"]
        refuse_error(found, f"offsets of {self._place}")
        return answer_of(FoundOffset(found["offset"], found["timestamp"]), self._began_ms)

    def _await_retention(self) -> None:
        """Old segments of a compacted log are the business of the cleaner."""
        if self._is_compacted:
            self._canaries.await_cleaner()
        else:
            self._canaries.await_retention()

    def end(self) -> dict[str, Any]:
        """What lies on the disk when what is below the log start is gone, too."""
        self._await_retention()
        return self.shown()

    def shown(self) -> dict[str, Any]:
        """What lies on the disk."""
        disk, place = self._kafka.disk(BROKER), self._place
        segments = wait_for(lambda: disk.segments(*place), lambda found: all(not each.rest for each in found))
        start = self._kafka.log_start_offset(*place)
        return shown_log(disk.checkpoint(CLEANED).get(place), start, segments, self._began_ms)


NO_OFFSET = -1


def say(release: str, case: Case, seen: Answer) -> Answer:
    """What the simulator answers; from the broker's answer it takes the times that only the broker knows."""
    began_ms = seen["began_ms"]
    log = SimulatedLog(release, case, began_ms)
    steps = zip(steps_of(case, began_ms), seen["after"], strict=True)
    return {"began_ms": began_ms, "after": [log.play(step, there) for step, there in steps], "end": log.end()}


class SimulatedLog:
    """`conformance.mechanisms.log.RealLog`, simulated."""

    def __init__(self, release: str, case: Case, began_ms: int) -> None:
        """An empty log."""
        self._began_ms = began_ms
        self._settings = model.Settings(
            case["policy"], release, segment_ms=SEGMENT_MS, retention_ms=-1, min_compaction_lag_ms=NEVER_MS,
            min_cleanable_dirty_ratio=case["dirty_ratio"],
        )  # fmt: skip
        self._log: model.Log = model.start(self._settings)

    def play(self, step: Step, there: Any) -> Answer:
        """What one step led to; `there` is what it led to on the broker."""
        match step:
            case Write(batch):
                return self._answer_of(model.Append((batch,)))
            case End(producer_id, producer_epoch, is_commit):
                # The broker's clock gave a marker its time; of one that it refused nothing is known.
                after_ms = there[1] or 0
                answer = self._answer_of(
                    model.EndTransaction(producer_id, is_commit, self._began_ms + after_ms, producer_epoch)
                )
                return [answer[0], after_ms if answer[0] == "NONE" else None]
            case Pass(_, delete_retention_ms):
                return self._pass(delete_retention_ms, there)
            case Retention(_, bytes_left):
                return self._retain(bytes_left, there)
            case DeleteRecords(offset):
                return self._delete(offset)
            case OffsetsAsked(times_ms):
                self._look()
                return [
                    answer_of(list_offset(self._log, each, level), self._began_ms)
                    for each, level in questions(times_ms)
                ]

    def _step(self, event: model.LogEvent, **settings: object) -> None:
        changed = replace(self._settings, **settings)
        self._log = simulator.step(changed, self._log, event)
        simulator.check(changed, self._log)

    def _answer_of(self, event: model.Append | model.EndTransaction) -> list[Any]:
        self._step(event)
        for effect in self._log.effects:
            match effect:
                case model.AppendRefused(error):
                    return [error, NO_OFFSET]
                case model.Appended(first_offset) | model.DuplicateRecognised(first_offset):
                    return ["NONE", first_offset]
        raise AssertionError(f"{event} led to neither an offset nor an error: {self._log.effects}")

    def _look(self) -> None:
        """A round that cleans nothing, as a broker has them all the time: what is below the log start goes."""
        self._step(model.CleanerRound(self._began_ms) if self._settings.is_compacted else model.Retain(self._began_ms))

    def _pass(self, delete_retention_ms: int, there: Mapping[str, Any]) -> Answer:
        lag_ms, cleaned_ms = there["lag_ms"], there["cleaned_ms"]
        self._look()
        self._step(
            model.CleanerRound(self._began_ms + cleaned_ms), min_compaction_lag_ms=lag_ms,
            delete_retention_ms=delete_retention_ms,
        )  # fmt: skip
        self._take_sizes(there.get("codec_bytes", {}))
        return {**there, "log": self.shown()}

    def _take_sizes(self, codec_bytes: Mapping[str, int]) -> None:
        """What less data takes only the codec knows; where it is not given, it is an estimate."""
        segments = [
            replace(
                segment,
                batches=tuple(
                    replace(batch, size_bytes=codec_bytes.get(str(batch.base_offset), batch.size_bytes))
                    for batch in segment.batches
                ),
            )
            for segment in self._log.segments
        ]
        self._log = replace(self._log, segments=tuple(segments))

    def _retain(self, bytes_left: int | None, there: Mapping[str, Any]) -> Answer:
        retention_ms, retained_ms = there["retention_ms"], there["retained_ms"]
        self._step(
            model.Retain(self._began_ms + retained_ms), retention_ms=retention_ms,
            retention_bytes=-1 if bytes_left is None else bytes_left,
        )  # fmt: skip
        return {"retention_ms": retention_ms, "retained_ms": retained_ms, "log": self.shown()}

    def _delete(self, offset: int) -> Answer:
        self._step(model.MoveLogStart(offset))
        refused = [each.error for each in self._log.effects if isinstance(each, model.DeleteRecordsRefused)]
        answer = [refused[0], NO_OFFSET] if refused else ["NONE", self._log.log_start_offset]
        self._look()
        return {"answer": answer, "log": self.shown()}

    def end(self) -> dict[str, Any]:
        """What is left when what is below the log start is gone, too."""
        self._look()
        return self.shown()

    def shown(self) -> dict[str, Any]:
        """As the broker's log is shown."""
        log = self._log
        return shown_log(log.checkpoint, log.log_start_offset, log.segments, self._began_ms)


ALL_ASKED = ["offsets", [*TIMES_ASKED_MS]]


def compaction_cases(release: str) -> Any:
    """Scripts of a compacted log."""
    number = strategies.integers(0, PRODUCER_COUNT - 1)
    append = appends(strategies.sampled_from(KEYS))
    clean = line("clean", strategies.integers(0, 2), strategies.sampled_from(RETENTIONS_MS))
    end = line("end", number, strategies.booleans(), strategies.booleans())
    roll, epoch, delete = line("roll"), line("epoch", number), line("delete", strategies.integers(-1, 20))
    event = strategies.one_of(append, append, append, append, append, end, end, roll, clean, epoch, delete, asked())
    return strategies.fixed_dictionaries(
        {
            "policy": strategies.sampled_from(["compact", "compact,delete"]),
            "dirty_ratio": strategies.sampled_from([0.0, 0.5]),
            "events": strategies.lists(event, min_size=1, max_size=MOST_EVENTS).map(
                lambda events: [*events, ["roll"], ["clean", 0, 1], ["roll"], ["clean", 0, 1], ALL_ASKED]
            ),
        }
    )


COMPACTION = Mechanism(
    name="compaction",
    rules=(
        "the cleaner: what is dirty, what stays, how files are merged",
        "segments: rolling, indexes, retention",
        "which batches a log takes",
        "bytes of a record and of a batch",
        "sequence numbers and the window of five batches",
        "the offset for a time",
    ),
    cases=compaction_cases,
    ask=ask,
    say=say,
    settings={"brokers": 1, "config": HOUSEKEEPING},
    tries=2,
)


def removal_cases(release: str) -> Any:
    """Scripts of a log that retention takes from."""
    number = strategies.integers(0, PRODUCER_COUNT - 1)
    append = appends(strategies.sampled_from(KEYS) | strategies.none(), ("none", "gzip"))
    bytes_left = strategies.none() | strategies.sampled_from([1, 100, 200, 400, 800])
    retain = line("retain", strategies.none() | strategies.integers(0, 2), bytes_left)
    delete = line("delete", strategies.integers(-2, 40))
    end = line("end", number, strategies.booleans(), strategies.booleans())
    event = strategies.one_of(append, append, append, append, retain, delete, asked(), line("roll"), end)
    return strategies.fixed_dictionaries(
        {
            "policy": strategies.sampled_from(["delete", "compact,delete", *[""] * at_least("4.2", release)]),
            "dirty_ratio": strategies.just(0.5),
            "events": strategies.lists(event, min_size=1, max_size=MOST_EVENTS),
        }
    )


REMOVAL = Mechanism(
    name="retention and DeleteRecords",
    rules=(
        "segments: rolling, indexes, retention",
        "moving the log start",
        "which batches a log takes",
        "the offset for a time",
    ),
    cases=removal_cases,
    ask=ask,
    say=say,
    settings={"brokers": 1, "config": HOUSEKEEPING},
    tries=2,
)
