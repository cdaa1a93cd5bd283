"""The simulated cleaner over the recorded offsets topic: it leaves what the real one left on the disk."""

import shutil

import pytest

from kafkalearn.log import Clean, Settings, check, read_log, step
from tests.segments.disk import FOLDER

SETTINGS = Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=500, segment_bytes=104857600)
CLEANED = FOLDER / "cleaned"


def log_before(before, after, partition, folder):
    """The log just before a pass: what was on disk, and the commit that closed the segment."""
    name = f"__consumer_offsets-{partition}"
    shutil.copytree(CLEANED / before / name, folder / name)
    shutil.copy(max((CLEANED / after / name).glob("*.log")), folder / name)
    return read_log(folder)


def log_after(after, partition):
    return read_log(CLEANED, partition=partition, log_dir=after)


def first_horizon_ms(partition):
    """What the first pass wrote into the batches with tombstones: its clock and delete.retention.ms."""
    (horizon,) = {each.delete_horizon_ms for each in log_after("after-pass-1", partition).batches} - {None}
    return horizon


CLEANED_MS = {
    "after-pass-1": lambda partition: first_horizon_ms(partition) - SETTINGS.delete_retention_ms,
    "after-pass-2": lambda partition: first_horizon_ms(partition) + 1000,
}


@pytest.mark.parametrize(("before", "after"), [("before", "after-pass-1"), ("after-pass-1", "after-pass-2")])
@pytest.mark.parametrize("partition", [0, 1])
def test_a_pass_leaves_the_batches_that_the_real_cleaner_left(before, after, partition, tmp_path):
    log, real = log_before(before, after, partition, tmp_path), log_after(after, partition)
    cleaned = step(SETTINGS, log, Clean(CLEANED_MS[after](partition), is_forced=True))
    check(SETTINGS, cleaned, log)

    assert [(each.base_offset, each.batches) for each in cleaned.segments] == [
        (each.base_offset, each.batches) for each in real.segments
    ]
    assert (cleaned.log_end_offset, cleaned.producers) == (real.log_end_offset, real.producers)
