"""Writing to a log: what is refused, and when a new segment is opened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.formats.records import batch_bytes
from kafkalearn.log import Append, EndTransaction, Log, NewBatch, ProducerExpired, Roll, Settings, check, start, step
from kafkalearn.log.model import Appended, AppendRefused, DuplicateRecognised, SegmentRolled
from kafkalearn.log.sequences import ProducerStateEntry, Stamp, judge, remember
from tests.log.schedules import A_TWICE, COMPACT, after, one_each


def test_an_append_has_an_effect_for_each_batch():
    log = after(Settings(segment_bytes=100), one_each(("a", "1", 0), ("a", "2", 1)))
    assert log.effects == (Appended(0, 0), SegmentRolled(1), Appended(1, 1))
    assert after(COMPACT, A_TWICE, Roll()).effects == (SegmentRolled(2),)


def test_a_record_with_a_null_key_is_refused_on_a_compacted_topic_since_0_9():
    null_key = one_each((None, "x", 1))
    assert after(COMPACT, null_key).effects == (AppendRefused("INVALID_RECORD"),)
    assert after(COMPACT, null_key).log_end_offset == 0
    assert after(Settings("compact", "0.8.2"), null_key).effects == (Appended(0, 0),)


def test_one_bad_timestamp_decides_for_a_batch_since_2_5_but_a_record_without_a_key_is_not_asked_for_its_own():
    keyless, late = (None, "x", 1), ("k", "x", 10**9)
    for records, release, error in (
        ([(None, "x", 10**9)], "4.3", "INVALID_RECORD"),  # found by conform on 4.3
        ([keyless, late], "4.3", "INVALID_TIMESTAMP"),
        ([keyless, late], "2.4", "INVALID_RECORD"),
        ([late, keyless], "2.4", "INVALID_TIMESTAMP"),
        ([keyless], "2.3", "CORRUPT_MESSAGE"),
    ):
        limit = "message_timestamp_after_max_ms" if release == "4.3" else "message_timestamp_difference_max_ms"
        settings = Settings("compact", release, **{limit: 1000})
        assert after(settings, Append((NewBatch(tuple(records)),), 0)).effects == (AppendRefused(error),), records


def test_a_batch_that_is_too_large_is_not_written_nor_are_those_behind_it():
    large = NewBatch((("k", "v", 1),), size_bytes=100)
    assert after(Settings(max_message_bytes=99), Append((large,))).effects == (AppendRefused("MESSAGE_TOO_LARGE"),)
    log = after(Settings(segment_bytes=99), Append((NewBatch((("a", "1", 0),)), large, NewBatch((("b", "1", 0),)))))
    assert (log.effects, log.log_end_offset) == ((Appended(0, 0), AppendRefused("RECORD_LIST_TOO_LARGE")), 1)


HOUR_MS = 3_600_000


def at(timestamp_ms, now_ms, *before):
    return Append((*before, NewBatch((("k", "v", now_ms), ("k", "v", timestamp_ms)))), now_ms)


@pytest.mark.parametrize(("release", "is_refused"), [("4.3", True), ("4.0", True), ("3.9", False), ("0.10.0", False)])
def test_a_record_more_than_an_hour_in_the_future_is_refused_since_4_0(release, is_refused):
    settings = Settings(release=release)
    refused = (AppendRefused("INVALID_TIMESTAMP"),)
    log = after(settings, at(HOUR_MS + 1001, 1000))
    assert log.effects == (refused if is_refused else (Appended(0, 1),))
    assert log.log_end_offset == (0 if is_refused else 2)
    assert after(settings, at(HOUR_MS + 1000, 1000)).effects == (Appended(0, 1),)
    assert after(settings, at(0, HOUR_MS * 10_000)).effects == (Appended(0, 1),)


def test_without_a_clock_no_record_is_from_the_future():
    assert after(Settings(), one_each(("a", "1", 0), ("b", "2", 10 * HOUR_MS))).log_end_offset == 2


def test_the_limits_of_timestamps_are_settings_of_the_topic():
    young = Settings(message_timestamp_before_max_ms=10)
    assert after(young, at(90, 100)).effects == (Appended(0, 1),)
    assert after(young, at(89, 100)).effects == (AppendRefused("INVALID_TIMESTAMP"),)
    patient = Settings(message_timestamp_after_max_ms=2 * HOUR_MS)
    assert after(patient, at(2 * HOUR_MS, 0)).effects == (Appended(0, 1),)
    for timestamp_ms in (89, 111):
        either_way = Settings(release="3.5", message_timestamp_difference_max_ms=10)
        assert after(either_way, at(timestamp_ms, 100)).effects == (AppendRefused("INVALID_TIMESTAMP"),)


def test_of_a_null_key_and_a_wrong_timestamp_the_timestamp_is_answered():
    both = Append((NewBatch(((None, "v", 0), ("k", "v", 2 * HOUR_MS))),), now_ms=0)
    assert after(COMPACT, both).effects == (AppendRefused("INVALID_TIMESTAMP"),)


def test_a_compressed_batch_counts_with_its_compressed_size():
    records = (("k", "v" * 1000, 0),)
    log = after(Settings(max_message_bytes=200), Append((NewBatch(records, size_bytes=120, codec="gzip"),)))
    assert (log.effects, log.active.size_bytes, log.batches[0].codec) == ((Appended(0, 0),), 120, "gzip")
    assert after(Settings(max_message_bytes=200), Append((NewBatch(records),))).effects == (
        AppendRefused("MESSAGE_TOO_LARGE"),
    )
    halves = Append((NewBatch(records, size_bytes=120, codec="gzip"),) * 3)
    assert [each.base_offset for each in after(Settings(segment_bytes=240), halves).segments] == [0, 2]


def test_zstd_came_with_2_1():
    batch = Append((NewBatch((("k", "v", 0),), size_bytes=80, codec="zstd"),))
    assert after(Settings(release="2.1"), batch).effects == (Appended(0, 0),)
    with pytest.raises(IllegalEvent, match=r"zstd came with Kafka 2\.1, the release is 2\.0"):
        after(Settings(release="2.0"), batch)


def test_a_full_time_index_rolls_one_entry_early():
    settings = Settings(index_interval_bytes=0, segment_index_bytes=36)
    log = after(settings, one_each(*(("k", "v", at) for at in range(6))))
    assert [segment.base_offset for segment in log.segments] == [0, 3]


def test_offsets_that_are_too_far_apart_roll():
    far = Log(log_end_offset=2**31)
    log = step(Settings(), step(Settings(), far, one_each(("k", "v", 1))), one_each(("k", "v", 2)))
    assert [segment.base_offset for segment in log.segments] == [0, 2**31]


@pytest.mark.parametrize(("policy", "bases"), [("compact", [0, 2]), ("delete", [0])])
def test_a_compacted_segment_stays_open_no_longer_than_max_compaction_lag(policy, bases):
    events = (one_each(("k", "1", 0)), one_each(("k", "2", 60)), one_each(("k", "3", 101)))
    log = after(Settings(policy, max_compaction_lag_ms=100), *events)
    assert [segment.base_offset for segment in log.segments] == bases


def test_rolling_an_empty_active_segment_changes_nothing():
    assert after(COMPACT, Roll(), Roll()) == start(COMPACT)
    assert len(after(COMPACT, A_TWICE, Roll(), Roll()).segments) == 2
    assert after(COMPACT, A_TWICE, Roll(), Roll()).effects == ()


def test_the_sizes_are_those_of_kafkas_batches():
    assert batch_bytes(0, 1000, [(0, 1000, "a", "1.0.0")]) == 74
    assert batch_bytes(0, 1000, [(0, 1000, "a", None)]) == 69
    assert batch_bytes(0, 1000, [(0, 1000, "a", "")]) == 69


LAST = 2**31 - 1


def batch(sequence=None, epoch=None, count=1, **more):
    records = tuple(("k", f"v{index}", 1) for index in range(count))
    return NewBatch(records, producer_id=7, producer_epoch=epoch, base_sequence=sequence, **more)


def sent(*batches):
    return [Append((each,)) for each in batches]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, 3, 4, LAST]), st.integers(1, 3)), max_size=20))
def test_a_log_judges_as_the_shared_rule(batches):
    log, entry = start(Settings()), None
    for epoch, sequence, count in batches:
        end, stamp = log.log_end_offset, Stamp(7, epoch, sequence, count)
        verdict = judge(entry, stamp)
        log = step(Settings(), log, Append((batch(sequence, epoch, count),)))
        check(Settings(), log)
        if verdict.is_accepted:
            entry = remember(entry, stamp, end)
            assert log.effects == (Appended(end, end + count - 1),)
        elif verdict.duplicate_of is None:
            assert log.effects == (AppendRefused(verdict.error),)
        else:
            first = verdict.duplicate_of.base_offset
            assert log.effects == (DuplicateRecognised(first, first + count - 1),)
        assert log.log_end_offset == end + (count if verdict.is_accepted else 0)


def test_a_repeated_batch_is_answered_with_its_first_offset_and_not_written():
    log = after(Settings(), *sent(batch(0, 0, 2), batch(2, 0), batch(0, 0, 2)))
    assert (log.effects, log.log_end_offset, len(log.batches)) == ((DuplicateRecognised(0, 1),), 3, 2)


def test_a_request_behind_a_repeated_batch_is_written_and_one_behind_a_gap_is_not():
    log = after(Settings(), *sent(batch(0, 0)), Append((batch(0, 0), batch(1, 0))))
    assert log.effects == (DuplicateRecognised(0, 0), Appended(1, 1))
    log = after(Settings(), *sent(batch(0, 0)), Append((batch(2, 0), batch(1, 0))))
    assert (log.effects, log.log_end_offset) == ((AppendRefused("OUT_OF_ORDER_SEQUENCE_NUMBER"),), 1)


def test_a_full_segment_is_closed_before_the_sequence_is_judged():
    log = after(Settings(segment_bytes=71), *sent(batch(0, 0), batch(0, 0)))
    assert log.effects == (SegmentRolled(1), DuplicateRecognised(0, 0))


@pytest.mark.parametrize(
    ("release", "error"),
    [("4.3", "INVALID_PRODUCER_EPOCH"), ("2.7", "INVALID_PRODUCER_EPOCH"), ("2.6", "PRODUCER_FENCED")],
)
def test_an_old_epoch_is_refused_and_so_is_its_marker(release, error):
    known = sent(batch(0, 1))
    assert after(Settings(release=release), *known, *sent(batch(1, 0))).effects == (AppendRefused(error),)
    log = after(Settings(release=release), *known, EndTransaction(7, True, 2, producer_epoch=0))
    assert (log.effects, log.log_end_offset) == ((AppendRefused(error),), 1)


@pytest.mark.parametrize(
    ("release", "error"),
    [("0.11.0", "OUT_OF_ORDER_SEQUENCE_NUMBER"), ("1.0", "UNKNOWN_PRODUCER_ID"), ("2.4", "UNKNOWN_PRODUCER_ID")],
)
def test_up_to_2_4_a_producer_that_is_not_known_begins_with_0(release, error):
    forgotten = [*sent(batch(0, 0)), ProducerExpired(7), *sent(batch(1, 0))]
    assert after(Settings(release=release), *forgotten).effects == (AppendRefused(error),)
    assert after(Settings(release="2.5"), *forgotten).effects == (Appended(1, 1),)


@pytest.mark.parametrize(
    ("release", "error"),
    [
        ("1.1", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        ("2.0.0", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        ("2.0.1", "UNKNOWN_PRODUCER_ID"),
    ],
)
def test_a_producer_that_is_known_from_a_marker_alone_begins_with_0(release, error):
    """ProducerStateManagerTest of 2.0.1, testAppendTxnMarkerWithNoProducerState; before, ProducerAppendInfo."""
    marked = ProducerStateEntry(2, ())
    assert judge(marked, Stamp(7, 2, 17), release).error == error
    assert judge(marked, Stamp(7, 2, 0), release).is_accepted
    assert judge(marked, Stamp(7, 0, 0), release).error == "PRODUCER_FENCED"


@pytest.mark.parametrize("known", [None, ProducerStateEntry(2, ())])
def test_a_sequence_below_0_is_refused(known):
    with pytest.raises(KafkaLearnError, match="first_sequence must be at least 0, got -1"):
        judge(known, Stamp(7, 2, -1), "4.3")


@pytest.mark.parametrize("release", ["0.9.0", "0.10.0"])
def test_up_to_0_10_0_a_segment_is_closed_by_the_clock(release):
    """LogTest of 0.9.0.1 and 0.10.0.1, testTimeBasedLogRoll: time passes, timestamps do not count."""
    appends, now_ms = [], 0
    for slept_ms in (3601, 0, 3601, 3601):
        now_ms += slept_ms
        appends.append(Append((NewBatch((("k", "v", 1),)),), now_ms=now_ms))
    by_clock, by_records = Settings(release=release, segment_ms=3600), Settings(release="0.10.1", segment_ms=3600)
    assert [len(after(by_clock, *appends[:count]).segments) for count in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert len(after(by_records, *appends).segments) == 1


def test_a_marker_that_raises_the_epoch_leaves_no_sequence():
    marked = [*sent(batch(0, 0, 2, is_transactional=True)), EndTransaction(7, False, 2, producer_epoch=1)]
    assert after(Settings(), *marked).producers[0].entry == ProducerStateEntry(1, ())
    assert after(Settings(), *marked, *sent(batch(0, 1))).effects == (Appended(3, 3),)
    assert after(Settings(), *marked, *sent(batch(2, 1))).effects == (AppendRefused("OUT_OF_ORDER_SEQUENCE_NUMBER"),)
    assert after(Settings(release="2.4"), *marked, *sent(batch(2, 1))).effects == (
        AppendRefused("UNKNOWN_PRODUCER_ID"),
    )


def test_a_marker_of_the_same_epoch_leaves_the_sequence():
    log = after(Settings(), *sent(batch(0, 0)), EndTransaction(7, True, 2), *sent(batch(0, 0), batch()))
    assert (log.batches[-1].base_sequence, log.effects) == (1, (Appended(2, 2),))


def test_a_batch_without_a_sequence_gets_the_next_one():
    log = after(Settings(), *sent(batch(count=3), batch(), batch(epoch=1), batch()))
    stamps = [(each.producer_epoch, each.base_sequence) for each in log.batches]
    assert stamps == [(0, 0), (0, 3), (1, 0), (1, 1)]
    assert after(Settings(), *sent(batch(LAST, 0), batch())).batches[-1].base_sequence == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"producer_id": 7, "base_sequence": -1}, "base_sequence must be at least 0, got -1"),
        ({"producer_id": 7, "producer_epoch": -1}, "producer_epoch must be at least 0, got -1"),
        ({"base_sequence": 0}, "without a producer id a batch has no epoch and no sequence"),
        ({"is_transactional": True}, "a transaction has a producer id"),
    ],
)
def test_a_stamp_that_no_producer_writes_is_refused(wrong, message):
    with pytest.raises(KafkaLearnError, match=message):
        NewBatch((("k", "v", 1),), **wrong)


def test_before_0_11_producers_had_no_ids():
    with pytest.raises(IllegalEvent, match=r"producers have ids since Kafka 0\.11\.0, the release is 0\.10\.2"):
        after(Settings(release="0.10.2"), *sent(batch(0, 0)))
