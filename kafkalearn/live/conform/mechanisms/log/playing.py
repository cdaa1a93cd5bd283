"""A script played on a real broker: every batch is sent, every pass of the cleaner is let happen and waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kafkalearn.live.conform.mechanism import Answer, Case
from kafkalearn.live.conform.mechanisms.log.canaries import NEVER_MS, canaries_of
from kafkalearn.live.conform.mechanisms.log.scripts import (
    BEGAN_AGO_MS,
    SEGMENT_MS,
    DeleteRecords,
    End,
    OffsetsAsked,
    Pass,
    Retention,
    Step,
    Write,
    steps_of,
)
from kafkalearn.live.conform.mechanisms.log.shown import answer_of, questions, shown_log
from kafkalearn.live.conform.topics import new_topic
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.live.reading.disk import CLEANED
from kafkalearn.live.reading.logs import CONSUMER
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.waiting import wait_for
from kafkalearn.log.list_offsets import ISOLATION_LEVELS, SPECIAL_TIMES, FoundOffset
from kafkalearn.topic_partition import TopicPartition

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
        answer = self._kafka.ask(BROKER, "Produce", words, PRODUCE_VERSION)
        (found,) = answer["responses"][0]["partitionResponses"]
        return [error_name(found["errorCode"]), found["baseOffset"]]

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
            {"replicaId": CONSUMER, "isolationLevel": level, "topics": asked, "timeoutMs": TIMEOUT_MS},
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
