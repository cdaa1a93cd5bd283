"""The simulated cleaner over the recorded offsets topic: it leaves what the real one left on the disk."""

from itertools import groupby

import pytest

from kafkalearn.log import Clean, Log, Record, Settings, check, step
from kafkalearn.log.state import Batch, Producer, Segment
from tests.segments.disk import segments

SETTINGS = Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=500, segment_bytes=104857600)


def simulated(batch):
    """A batch of the disk as the simulator has it."""
    return Batch(
        batch.base_offset,
        batch.last_offset,
        tuple(Record(each.offset, each.key, each.value, each.timestamp_ms) for each in batch.records),
        batch.size_bytes,
        batch.max_timestamp_ms,
        batch.delete_horizon_ms,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.is_transactional,
        next((each.control for each in batch.records if each.control), None),
    )


def partitions(moment):
    """The files of a moment, by partition."""
    return {number: list(each) for number, each in groupby(segments(f"cleaned/{moment}"), lambda at: at.partition)}


def log_before(before, after):
    """The log just before a pass: what was on disk, and the commit that closed the segment."""
    known = {batch.base_offset for segment in before for batch in segment.batches}
    rolling = [batch for segment in after for batch in segment.batches if batch.base_offset not in known]
    (commit,) = rolling
    closed = tuple(Segment(each.base_offset, tuple(map(simulated, each.batches))) for each in before)
    active = Segment(commit.base_offset, (simulated(commit),))
    producers = {batch.producer_id: batch for segment in closed for batch in segment.batches if batch.producer_id >= 0}
    return Log(
        (*closed, active),
        log_end_offset=commit.last_offset + 1,
        producers=tuple(
            Producer(each.producer_id, each.producer_epoch, each.last_offset) for each in producers.values()
        ),
    )


def first_horizon_ms(partition):
    """What the first pass wrote into the batches with tombstones: its clock and delete.retention.ms."""
    (horizon,) = {each.delete_horizon_ms for each in batches_of("after-pass-1", partition)} - {None}
    return horizon


def batches_of(moment, partition):
    return [batch for segment in partitions(moment)[partition] for batch in segment.batches]


CLEANED_MS = {
    "after-pass-1": lambda partition: first_horizon_ms(partition) - SETTINGS.delete_retention_ms,
    "after-pass-2": lambda partition: first_horizon_ms(partition) + 1000,
}


@pytest.mark.parametrize(("before", "after"), [("before", "after-pass-1"), ("after-pass-1", "after-pass-2")])
@pytest.mark.parametrize("partition", [0, 1])
def test_a_pass_leaves_the_batches_that_the_real_cleaner_left(before, after, partition):
    on_disk = partitions(after)[partition]
    log = log_before(partitions(before)[partition], on_disk)
    cleaned = step(SETTINGS, log, Clean(CLEANED_MS[after](partition), is_forced=True))
    check(SETTINGS, cleaned, log)

    assert [[each.base_offset for each in cleaned.segments], cleaned.log_end_offset] == [
        [each.base_offset for each in on_disk],
        on_disk[-1].batches[-1].last_offset + 1,
    ]
    assert [
        (each.base_offset, each.last_offset, [record.offset for record in each.records], each.delete_horizon_ms)
        for each in cleaned.batches
    ] == [
        (each.base_offset, each.last_offset, [record.offset for record in each.records], each.delete_horizon_ms)
        for segment in on_disk
        for each in segment.batches
    ]
