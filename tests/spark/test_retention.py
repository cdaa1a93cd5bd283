"""Retention on Spark: over many partitions the very segments go that the simulator deletes, by the same rules."""

import random
from dataclasses import replace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Append, MoveLogStart, NewBatch, Retain, Roll, SetHighWatermark, Settings, simulate, step
from kafkalearn.log.model import SegmentsDeleted, ends_of
from kafkalearn.log.retention import REASONS
from kafkalearn.spark.compaction import SEGMENT_SCHEMA, with_retention

pytestmark = pytest.mark.spark

NOW_MS = 1_000


def random_log(settings, draw):
    """A log with segments of all ages and sizes; some of it not replicated, some below the log start."""
    events = []
    for _ in range(draw.randrange(12)):
        at_ms = draw.randrange(NOW_MS)
        events.append(Append((NewBatch((("k", "v" * draw.randrange(200), at_ms),)),)))
        events += [Roll()] * (draw.random() < 0.6)
    log = simulate(settings, events)[-1].state
    if draw.random() < 0.5:
        log = step(settings, log, SetHighWatermark(draw.randint(0, log.log_end_offset)))
    return step(settings, log, MoveLogStart(draw.randint(0, log.high_watermark)))


def rows_of(log, partition):
    ends = ends_of(log.segments, log.log_end_offset)
    for segment, end in zip(log.segments, ends, strict=True):
        facts = segment.base_offset, end, segment.size_bytes, segment.largest_timestamp_ms
        yield partition, *facts, log.log_start_offset, log.high_watermark


def deleted(settings, log):
    effects = step(settings, log, Retain(NOW_MS)).effects
    reasons = next((each.reasons for each in effects if isinstance(each, SegmentsDeleted)), ())
    return [*reasons, *[None] * (len(log.segments) - len(reasons))]


@pytest.mark.parametrize("release", ["4.3", "2.8"])
@pytest.mark.parametrize(
    ("policy", "retention_ms", "retention_bytes"),
    [("delete", 300, -1), ("delete", -1, 500), ("compact,delete", 300, 500), ("delete", 0, 0), ("compact", 0, 0)],
)
def test_the_segments_go_that_the_simulator_deletes(spark, release, policy, retention_ms, retention_bytes):
    draw = random.Random(f"{policy} {retention_ms} {retention_bytes}")
    topic = Settings(policy, release, retention_ms=retention_ms, retention_bytes=retention_bytes)
    logs = [random_log(replace(topic, cleanup_policy="delete"), draw) for _ in range(120)]
    rows = [row for partition, log in enumerate(logs) for row in rows_of(log, partition)]
    segments = spark.createDataFrame(rows, f"{SEGMENT_SCHEMA}, log_start_offset BIGINT, high_watermark BIGINT")
    judged = segments.transform(with_retention, topic, NOW_MS).orderBy("partition", "base_offset").collect()

    assert [row.deleted_because for row in judged] == [each for log in logs for each in deleted(topic, log)]
    assert {row.deleted_because for row in judged} <= {None, *REASONS}
    assert len({row.deleted_because for row in judged}) > 1


def test_topics_are_told_apart_and_without_more_the_whole_log_is_replicated(spark):
    rows = [(name, 0, base, base + 1, 100, at_ms) for name, at_ms in (("a", 0), ("b", 990)) for base in range(3)]
    segments = spark.createDataFrame(rows, f"topic STRING, {SEGMENT_SCHEMA}")
    judged = segments.transform(with_retention, Settings(retention_ms=500), NOW_MS).collect()

    assert sorted({(row.topic, row.deleted_because) for row in judged}, key=str) == [
        ("a", "older than retention.ms"),
        ("b", None),
    ]


def test_rows_and_releases_that_do_not_fit_are_refused(spark):
    segments = spark.createDataFrame([], SEGMENT_SCHEMA)
    with pytest.raises(KafkaLearnError, match="no column 'size_bytes'"):
        segments.drop("size_bytes").transform(with_retention, Settings(), NOW_MS)
    with pytest.raises(KafkaLearnError, match="have a column 'partition' already"):
        segments.transform(with_retention, Settings(), NOW_MS, output="partition")
    with pytest.raises(KafkaLearnError, match=r"before Kafka 0\.10\.1"):
        segments.transform(with_retention, Settings(release="0.10.0"), NOW_MS)
