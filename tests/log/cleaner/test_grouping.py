"""Segments that the cleaner merges: the new file has the time of the last one."""

from kafkalearn.log import Append, Clean, Cleaned, Roll, Settings, step
from tests.log.schedules import after, last_effect, offsets, one_each


def test_a_merged_segment_kept_old_tombstones_alive_up_to_3_0():
    wait = [one_each(("x", "1", 10)), Roll()]
    events = [Append(one_each(("a", "1", 1), ("a", None, 2)).batches, now_ms=1000), Roll(), Clean(10, True), *wait]
    settings = Settings("compact", "2.8")
    log = step(settings, after(settings, *events), Clean(10**15, is_forced=True))

    assert 1 in offsets(log)
    assert last_effect(log, Cleaned).legacy_horizon_ms == 1000 - 86400000
