"""Random logs, cleaned by a real broker in two passes: what stays is what we say, to the header of each batch."""

from __future__ import annotations

import random
import time

import pytest

from kafkalearn.live.reading.disk import CLEANED
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.live.waiting import wait_for
from kafkalearn.log import Append, Clean, Settings, check, simulate, step
from kafkalearn.log.events import NewBatch
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import extend
from tests.live.checked import holds

pytestmark = pytest.mark.live

DELETE_RETENTION_MS = 300
SEGMENT_MS = 1000
NEVER_MS = 10**14  # as min.compaction.lag.ms: leave the log alone
STARTED_AGO_MS = 3_000_000
KEYS = "abcdefgh"
LONG_AFTER_MS = 100_000  # the record that closes the active segment comes so much later


def drawn_batches(seed: int, producer_ids: tuple[int, int]) -> list[NewBatch]:
    """Forty batches of one to three records, a fifth of them tombstones, some of idempotent producers."""
    draw, sequences = random.Random(seed), dict.fromkeys(producer_ids, 0)
    at_ms, batches = int(time.time() * 1000) - STARTED_AGO_MS, []
    for number in range(40):
        at_ms += draw.choice([10, 100, 400, 1200])
        records = tuple(
            (draw.choice(KEYS), None if draw.random() < 0.2 else f"{number}.{index}", at_ms + index)
            for index in range(draw.choice([1, 1, 1, 2, 3]))
        )
        producer_id = draw.choice([-1, -1, *producer_ids])
        if producer_id < 0:
            batches.append(NewBatch(records))
        else:
            batches.append(NewBatch(records, None, producer_id, 0, sequences[producer_id]))
            sequences[producer_id] += len(records)
    return [*batches, closing(at_ms + LONG_AFTER_MS)]


def closing(at_ms: int) -> NewBatch:
    """A record whose timestamp closes the active segment, so that the cleaner may take it."""
    return NewBatch((("zz", "closing", at_ms),))


class RealLog:
    """A compacted topic whose cleaner runs when it is told to."""

    def __init__(self, kafka, topic: str) -> None:
        self.kafka, self.place = kafka, TopicPartition(topic, 0)
        config = {
            "cleanup.policy": "compact",
            "segment.ms": SEGMENT_MS,
            "min.cleanable.dirty.ratio": 0,
            "delete.retention.ms": DELETE_RETENTION_MS,
            "min.compaction.lag.ms": NEVER_MS,
        }
        kafka.create_topic(topic, config=config)

    def append(self, batch: NewBatch) -> None:
        records = [(key.encode(), value and value.encode(), at_ms) for key, value, at_ms in batch.records]
        words = {} if batch.producer_id < 0 else {
            "producer_id": batch.producer_id, "producer_epoch": 0, "base_sequence": batch.base_sequence,
        }  # fmt: skip
        answer = self.kafka.ask(1, "Produce", produce(self.place, records, **words), NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        assert error_name(found["errorCode"]) == "NONE"

    def clean(self) -> None:
        """One pass, which takes all but the active segment."""
        wanted = self.kafka.disk(1).segments(*self.place)[-1].base_offset
        self._leave_alone(0)
        wait_for(lambda: self.kafka.disk(1).checkpoint(CLEANED).get(self.place), wanted, f"{self.place} cleaned up to")
        self._leave_alone(NEVER_MS)

    def _leave_alone(self, lag_ms: int) -> None:
        self.kafka.alter_topic(self.place.topic, {"min.compaction.lag.ms": lag_ms})

    def shown(self):
        """What lies on the disk: the checkpoint, where segments begin, and each batch with what is left in it."""
        disk = self.kafka.disk(1)
        segments = wait_for(lambda: disk.segments(*self.place), lambda found: all(not each.rest for each in found))
        batches = [batch for segment in segments for batch in segment.batches]
        return (
            disk.checkpoint(CLEANED).get(self.place),
            [each.base_offset for each in segments],
            list(map(shown, batches)),
        )


def shown(batch) -> tuple:
    """A batch in the same form, be it read from a disk or simulated."""
    return (
        batch.base_offset,
        batch.last_offset,
        tuple((each.offset, text(each.key), text(each.value), each.timestamp_ms) for each in batch.records),
        batch.delete_horizon_ms,
        batch.size_bytes,
        (batch.producer_id, batch.producer_epoch, batch.base_sequence),
    )


def text(data):
    return data.decode() if isinstance(data, bytes) else data


def simulated(log):
    return log.checkpoint, [each.base_offset for each in log.segments], list(map(shown, log.batches))


def first_pass_ms(batches, after_ms: int) -> int:
    """When the cleaner ran: the delete horizon that it has written is `DELETE_RETENTION_MS` later."""
    horizons = {batch[3] for batch in batches} - {None}
    return max(horizons) - DELETE_RETENTION_MS if horizons else after_ms


@holds(
    "the cleaner: what is dirty, what stays, how files are merged", "segments: rolling, indexes, retention",
    "which batches a log takes", "bytes of a record and of a batch", "sequence numbers and the window of five batches",
)  # fmt: skip
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_two_passes_over_a_random_log_leave_what_we_say(kafka, new_name, seed):
    producer_ids = (kafka.new_producer_id(), kafka.new_producer_id())
    real, batches = RealLog(kafka, new_name("log")), drawn_batches(seed, producer_ids)
    settings = Settings(
        "compact", kafka.release.version, segment_ms=SEGMENT_MS, min_cleanable_dirty_ratio=0.0,
        delete_retention_ms=DELETE_RETENTION_MS,
    )  # fmt: skip

    for batch in batches:
        real.append(batch)
    trace = simulate(settings, [Append((batch,)) for batch in batches])
    assert simulated(trace[-1].state) == real.shown()

    for number in (1, 2):
        real.clean()
        now = real.shown()
        after_ms = int(time.time() * 1000)
        cleaned_ms = first_pass_ms(now[2], after_ms) if number == 1 else after_ms
        trace = extend(step, settings, trace, [Clean(cleaned_ms)])
        assert simulated(trace[-1].state) == now, f"pass {number}"
        check(settings, trace[-1].state)
        if number == 1:
            time.sleep(2 * DELETE_RETENTION_MS / 1000)
            batch = closing(batches[-1].records[0][2] + LONG_AFTER_MS)
            real.append(batch)
            trace = extend(step, settings, trace, [Append((batch,))])
