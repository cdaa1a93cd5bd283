from functools import partial

import pytest

from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.log import (
    Append,
    Clean,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    Log,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    ReplaceCleanerThreads,
    Restart,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
    batch_bytes,
    signs,
    step,
)
from kafkalearn.log.settings import LONG_MAX
from kafkalearn.trace import run
from kafkalearn.versions import default


def one_each(*records, **batch):
    """Records in batches of their own, as key, value and timestamp."""
    return Append(tuple(NewBatch((record,), **batch) for record in records))


def after(settings, *events):
    return run(partial(step, settings), Log(), events)[-1].state


def offsets(log):
    return [record.offset for record in log.records]


COMPACT = Settings("compact")
A_TWICE = one_each(("a", "1", 1000), ("a", "2", 1001))


def test_the_verdicts_tell_why_each_record_stayed_or_went():
    tombstones = one_each(("b", None, 1002), (None, "x", 1003), ("c", "", 1004))
    log = after(Settings("delete"), A_TWICE, tombstones, Roll(), Clean(5000, is_forced=True))

    assert [(each.offset, each.is_kept, each.reason) for each in log.last.verdicts] == [
        (0, False, "overtaken by offset 1"),
        (1, True, "last of its key"),
        (2, True, "tombstone, met for the first time"),
        (3, False, "no key"),
        (4, True, "last of its key"),
    ]


def test_a_tombstone_waits_for_its_horizon_and_for_something_new_to_clean():
    settings = Settings("compact", delete_retention_ms=100)
    deleted = (one_each(("a", "1", 1), ("a", None, 2)), Roll(), Clean(1000))
    assert offsets(after(settings, *deleted, Clean(10**12, is_forced=True))) == [1]

    later = (*deleted, one_each(("b", "1", 3)), Roll())
    assert offsets(after(settings, *later, Clean(1099, is_forced=True))) == [1, 2]
    assert offsets(after(settings, *later, Clean(1100, is_forced=True))) == [2]


def test_even_with_no_retention_a_tombstone_survives_the_clean_that_first_meets_it():
    settings = Settings("compact", delete_retention_ms=0)
    log = after(settings, one_each(("a", None, 1)), Roll(), Clean(1000))
    assert (offsets(log), log.batches[0].delete_horizon_ms) == ([0], 1000)


def test_a_merged_segment_kept_old_tombstones_alive_up_to_3_0():
    wait = [one_each(("x", "1", 10)), Roll()]
    events = [Append(one_each(("a", "1", 1), ("a", None, 2)).batches, now_ms=1000), Roll(), Clean(10, True), *wait]
    log = after(Settings("compact", "2.8"), *events, Clean(10**15, is_forced=True))

    assert 1 in offsets(log)
    assert log.last.legacy_horizon_ms == 1000 - 86400000


@pytest.mark.parametrize(("release", "batches"), [("3.9", [(0, 0)]), ("4.0", [(0, 0), (1, 1)])])
def test_the_last_batch_of_a_round_is_kept_since_4_0_even_when_empty(release, batches):
    log = after(Settings("delete", release), one_each(("a", "1", 1), (None, "x", 2)), Roll(), Clean(5, is_forced=True))
    assert [(each.base_offset, each.last_offset) for each in log.batches] == batches


@pytest.mark.parametrize(("release", "kept"), [("3.0", [1]), ("3.1", [0, 1])])
def test_records_above_the_high_watermark_could_be_cleaned_up_to_3_0(release, kept):
    events = (A_TWICE, Roll(), SetHighWatermark(1), Clean(5000, is_forced=True))
    assert offsets(after(Settings("compact", release), *events)) == kept


def test_a_record_with_a_null_key_is_refused_on_a_compacted_topic_since_0_9():
    null_key = one_each((None, "x", 1))
    assert after(COMPACT, null_key).last.error == "INVALID_RECORD"
    assert after(COMPACT, null_key).log_end_offset == 0
    assert after(Settings("compact", "0.8.2"), null_key).last.error is None


def test_a_batch_that_is_too_large_is_not_written():
    large = one_each(("k", "v", 1), size_bytes=100)
    assert after(Settings(max_message_bytes=99), large).last.error == "MESSAGE_TOO_LARGE"
    log = after(Settings(segment_bytes=99), large)
    assert (log.last.error, log.log_end_offset) == ("RECORD_LIST_TOO_LARGE", 0)


def test_a_full_time_index_rolls_one_entry_early():
    settings = Settings(index_interval_bytes=0, segment_index_bytes=36)
    log = after(settings, one_each(*(("k", "v", at) for at in range(6))))
    assert [segment.base_offset for segment in log.segments] == [0, 3]


def test_offsets_that_are_too_far_apart_roll():
    far = Log(log_end_offset=2**31)
    log = step(Settings(), step(Settings(), far, one_each(("k", "v", 1))), one_each(("k", "v", 2)))
    assert [segment.base_offset for segment in log.segments] == [0, 2**31]


def test_a_compacted_segment_stays_open_no_longer_than_max_compaction_lag():
    events = (one_each(("k", "1", 0)), one_each(("k", "2", 60)), one_each(("k", "3", 101)))
    for policy, bases in (("compact", [0, 2]), ("delete", [0])):
        log = after(Settings(policy, max_compaction_lag_ms=100), *events)
        assert [segment.base_offset for segment in log.segments] == bases


def test_rolling_an_empty_active_segment_changes_nothing():
    assert after(COMPACT, Roll(), Roll()).segments == Log().segments
    assert len(after(COMPACT, A_TWICE, Roll(), Roll()).segments) == 2


def test_the_sizes_are_those_of_kafkas_batches():
    assert batch_bytes(0, 1000, [(0, 1000, "a", "1.0.0")]) == 74
    assert batch_bytes(0, 1000, [(0, 1000, "a", None)]) == 69
    assert batch_bytes(0, 1000, [(0, 1000, "a", "")]) == 69


def test_a_producer_that_expired_leaves_no_empty_batch_behind():
    of_producer = one_each(("k", "1", 1), producer_id=7, producer_epoch=0, base_sequence=0)
    events = (of_producer, one_each(("k", "2", 2)), Roll())
    with_it = after(COMPACT, *events, Clean(5, is_forced=True))
    without = after(COMPACT, *events, ProducerExpired(7), Clean(5, is_forced=True))

    assert [len(batch.records) for batch in with_it.batches] == [0, 1]
    assert [len(batch.records) for batch in without.batches] == [1]


def test_an_open_transaction_holds_the_cleaner_back():
    inside = one_each(("t", "1", 2), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    events = (A_TWICE, Roll(), inside, Roll(), one_each(("a", "3", 3)), Roll())
    held = after(COMPACT, *events, Clean(5, is_forced=True))
    ended = after(COMPACT, *events, EndTransaction(7, True, 4), Roll(), Clean(5, is_forced=True))

    assert (held.last_stable_offset, offsets(held)) == (2, [1, 2, 3])
    assert (ended.last_stable_offset, offsets(ended)) == (5, [2, 3])


FULL_MAP = {"offset_map_slots": 4, "load_factor": 0.75}
FOUR_KEYS = one_each(*((key, "1", 1) for key in "abcd"))


def test_a_segment_larger_than_the_map_killed_the_cleaner_before_0_10_0():
    log = after(Settings("compact", "0.9.0", **FULL_MAP), FOUR_KEYS, Roll(), Clean(5, is_forced=True))
    assert (log.cleaner, offsets(log)) == ("dead", [0, 1, 2, 3])
    assert "4 messages in segment 00000000000000000000.log but offset map can fit only 3" in log.last.problem


def test_before_0_10_0_a_segment_that_no_longer_fits_waits_for_the_next_pass():
    events = (one_each(("a", "1", 1), ("b", "1", 1)), Roll(), one_each(("a", "2", 1), ("c", "1", 1)), Roll())
    settings = Settings("compact", "0.9.0", **FULL_MAP)
    first = after(settings, *events, Clean(5, is_forced=True))
    assert (first.checkpoint, offsets(first)) == (2, [0, 1, 2, 3])
    assert offsets(step(settings, first, Clean(6, is_forced=True))) == [1, 2, 3]


def test_a_record_without_key_killed_the_cleaner_of_0_8():
    log = after(Settings("compact", "0.8.2"), one_each((None, "x", 1)), Roll(), Clean(5, is_forced=True))
    assert (log.cleaner, log.last.problem) == (
        "dead",
        "the message at offset 0 has no key; Kafka 0.8 required one",
    )


@pytest.mark.parametrize(("release", "state"), [("2.0", "dead"), ("2.1", "uncleanable"), ("4.3", "uncleanable")])
def test_after_an_exception_nothing_is_cleaned_any_more(release, state):
    settings = Settings("compact", release)
    log = after(settings, A_TWICE, Roll(), CleanerFailed(), Clean(5000))
    assert (log.cleaner, offsets(log)) == (state, [0, 1])
    assert log.last.problem == f"the cleaner is {state}"
    assert offsets(step(settings, step(settings, log, Restart()), Clean(5000))) == [1]


def test_out_of_memory_ends_the_thread_in_every_release():
    assert after(COMPACT, CleanerFailed("out of memory", is_java_error=True)).cleaner == "dead"


def test_new_threads_help_a_dead_cleaner_and_not_a_partition_given_up():
    assert after(Settings("compact", "2.0"), CleanerFailed(), ReplaceCleanerThreads()).cleaner == "running"
    assert after(COMPACT, CleanerFailed(), ReplaceCleanerThreads()).cleaner == "uncleanable"


def test_retention_of_compact_delete_stops_with_the_cleaner():
    settings = Settings("compact,delete", retention_ms=100)
    events = (A_TWICE, Roll(), one_each(("b", "1", 90_000)))
    assert offsets(after(settings, *events, CleanerRound(50_000))) == [2]
    assert offsets(after(settings, *events, CleanerFailed(), CleanerRound(50_000))) == [0, 1, 2]


def test_an_operator_sees_a_checkpoint_that_stands_still():
    log = after(COMPACT, A_TWICE, Roll(), Clean(5000), CleanerFailed(), A_TWICE, Roll(), CleanerRound(9000))
    assert signs(COMPACT, log, 65_000) == {
        "cleaner-offset-checkpoint": 2,
        "log end offset": 4,
        "time-since-last-run-ms": 60_000,
        "uncleanable-partitions-count": 1,
        "uncleanable-bytes": 140,
        "DeadThreadCount": 0,
    }
    assert list(signs(Settings("compact", "0.9.0"), log, 0)) == ["cleaner-offset-checkpoint", "log end offset"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (SetHighWatermark(9), "the high watermark is between 0 and the log end offset 2"),
        (MoveLogStart(3), "only what is below the high watermark 2 can be given up"),
        ("clean", "is no event of this simulator"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_and_says_why(event, message):
    with pytest.raises(IllegalEvent, match=message):
        after(COMPACT, A_TWICE, event)


def test_a_dead_cleaner_cannot_fail_and_threads_could_not_be_replaced_before_1_1():
    with pytest.raises(IllegalEvent, match="the cleaner thread is dead already"):
        after(Settings("compact", "2.0"), CleanerFailed(), CleanerFailed())
    with pytest.raises(IllegalEvent, match=r"without a restart since 1\.1 only"):
        after(Settings("compact", "1.0"), ReplaceCleanerThreads())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"cleanup_policy": "compakt"}, "unknown cleanup policy 'compakt'; did you mean 'compact'"),
        ({"segment_bytes": 0}, "segment_bytes must be at least 1, got 0"),
        ({"segment_ms": 1.5}, "segment_ms must be a whole number"),
        ({"min_cleanable_dirty_ratio": 1.5}, "min_cleanable_dirty_ratio must be from 0 to 1"),
        ({"offset_map_slots": 1}, "holds no key at all: a cleaner with such a buffer does not start"),
        ({"release": "4"}, "unknown release '4'"),
        ({"cleanup_policy": "", "release": "4.1"}, "came with Kafka 4.2, the release is 4.1"),
        ({"cleanup_policy": "compact,delete", "release": "0.10.0"}, "came with Kafka 0.10.1"),
    ],
)
def test_settings_that_no_broker_takes_are_refused(setting, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(**setting)


def test_a_batch_without_records_is_refused():
    with pytest.raises(KafkaLearnError, match="a batch has at least one record"):
        NewBatch(())


def test_the_defaults_are_kafkas():
    for name, setting in {
        "segment_bytes": "segment.bytes",
        "segment_ms": "segment.ms",
        "index_interval_bytes": "index.interval.bytes",
        "segment_index_bytes": "segment.index.bytes",
        "retention_ms": "retention.ms",
        "retention_bytes": "retention.bytes",
        "min_cleanable_dirty_ratio": "min.cleanable.dirty.ratio",
        "min_compaction_lag_ms": "min.compaction.lag.ms",
        "max_compaction_lag_ms": "max.compaction.lag.ms",
        "delete_retention_ms": "delete.retention.ms",
        "max_message_bytes": "max.message.bytes",
    }.items():
        assert getattr(Settings(), name) == default(setting, side="topic")
    assert Settings().max_compaction_lag_ms == LONG_MAX
    assert Settings().usable_key_count == 5033164


def test_retention_by_bytes_never_goes_below_what_it_must_keep():
    log = after(
        Settings(segment_bytes=100, retention_bytes=250, retention_ms=-1),
        one_each(*(("k", "v", at) for at in range(5)), size_bytes=100),
        Retain(10),
    )
    assert (log.last.deleted_count, sum(segment.size_bytes for segment in log.segments)) == (2, 300)
