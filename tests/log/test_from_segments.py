"""A log made of a real partition's files: what a broker remembers of it, and what its cleaner leaves of it."""

import shutil
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import parse_segment, read_disk
from kafkalearn.log import (
    Append,
    Clean,
    Log,
    NewBatch,
    ProducerExpired,
    Record,
    Roll,
    Settings,
    check,
    log_from_records,
    read_log,
    step,
)
from kafkalearn.log.from_segments import log_from_segments
from kafkalearn.log.model import AppendRefused, DuplicateRecognised
from tests.formats.disk import FOLDER
from tests.formats.writing import MARKER_KEYS, MARKER_VALUE, batch, encoded, log_batch, write_log
from tests.log.partitions import PASSES, clean_ms, logs_of, passes_of, write
from tests.log.schedules import (
    COMPACT,
    after,
    mixed_schedules,
    offsets,
    one_each,
    possible,
    rows,
    small_settings,
)
from tests.recorded import recorded


def case_id(case):
    return f"segments-of-{case['settings']['segment_bytes']}-retention-{case['settings']['delete_retention_ms']}"


def facts_of(log):
    """The whole log but for the sizes of compressed batches, which only the codec knows, and the file times."""
    return [
        (segment.base_offset, [(*facts[:-2], *(facts[-2:] if each.codec == "none" else ())) for each, facts in batches])
        for segment in log.segments
        for batches in [[(each, batch_facts(each)) for each in segment.batches]]
    ]


def batch_facts(each):
    records = [(one.offset, encoded(one.key), encoded(one.value), one.timestamp_ms) for one in each.records]
    producer = each.producer_id, each.producer_epoch, each.base_sequence, each.is_transactional
    span = each.base_offset, each.last_offset, each.delete_horizon_ms, each.max_timestamp_ms
    return *span, *producer, each.codec, each.marker if each.records else None, records, each.size_bytes, 0


@pytest.mark.parametrize(
    "case", recorded("cleaned-partitions")["cases"], ids=lambda case: f"segments-of-{case['settings']['segment_bytes']}"
)
def test_the_simulated_cleaner_leaves_of_a_real_partition_what_the_real_one_left(case, tmp_path):
    passes = passes_of(case)
    assert len(passes) == 4
    for number, each in enumerate(passes):
        before, real = logs_of(each, tmp_path / str(number))
        cleaned = step(each.settings, before, Clean(clean_ms(each, before, real)))
        check(each.settings, cleaned, before)

        assert facts_of(cleaned) == facts_of(real)
        assert (cleaned.checkpoint, cleaned.log_end_offset) == (real.checkpoint, real.log_end_offset)


def snapshot(data):
    """A broker's producer snapshot: id -> epoch, last sequence, last offset of data, first offset of a transaction."""
    (count,) = struct.unpack_from(">i", data, 6)
    entries = (struct.unpack_from(">qhiqiqiq", data, 10 + 46 * index) for index in range(count))
    return {producer_id: (epoch, last, offset, begun) for producer_id, epoch, last, offset, _, _, _, begun in entries}


@pytest.mark.parametrize("case", recorded("cleaned-partitions")["cases"], ids=case_id)
def test_producers_and_open_transactions_are_those_that_the_broker_wrote_down(case, tmp_path):
    snapshots = [(each.before, name, data) for each in passes_of(case) for name, data in each.snapshots.items()]
    assert snapshots
    for number, (files, name, data) in enumerate(snapshots):
        until = {file: content for file, content in files.items() if offset_of(file) < offset_of(name)}
        log = read_log(write(tmp_path / str(number), until, None))
        begun = {each.producer_id: each.first_offset for each in log.transactions if each.last_offset is None}
        assert {
            each.producer_id: (
                each.epoch,
                each.entry.last_sequence,
                -1 if each.last_data_offset is None else each.last_data_offset,
                begun.get(each.producer_id, -1),
            )
            for each in log.producers
        } == snapshot(data)


def offset_of(name):
    return int(name.partition(".")[0])


@pytest.mark.parametrize("case", recorded("cleaned-partitions")["cases"], ids=case_id)
def test_aborted_transactions_are_those_of_the_broker_s_transaction_index(case, tmp_path):
    for number, each in enumerate(passes_of(case)):
        log, _ = logs_of(each, tmp_path / str(number))
        entries = {
            struct.unpack_from(">qqq", data, 34 * index + 2)
            for data in each.aborted.values()
            for index in range(len(data) // 34)
        }
        dirty_from = each.cleaned_to_before or 0
        aborted = {
            (one.producer_id, one.first_offset, one.last_offset)
            for one in log.transactions
            if one.is_aborted and one.last_offset >= dirty_from
        }
        # Of a transaction that began before, the cleaner has taken the first batches; the index has its beginning.
        assert {(producer_id, last) for producer_id, _, last in aborted} == {(one, last) for one, _, last in entries}
        assert {one for one in entries if one[1] >= dirty_from} <= aborted


# What is written to a disk and read again.


def known_of(log):
    """What a log holds, without file times, and without transactions of which only an index still knows."""
    return [
        facts_of(log),
        log.log_end_offset,
        {each.producer_id: (each.epoch, each.last_data_offset, each.batches) for each in log.producers},
        {(each.producer_id, each.first_offset) for each in log.transactions if each.last_offset is None},
    ]


def read_again(log):
    """The log from the bytes of its segments."""
    parts = [
        parse_segment(b"".join(map(log_batch, each.batches)), "topic", 0, each.base_offset) for each in log.segments
    ]
    return log_from_segments(parts, checkpoint=log.checkpoint)


@given(small_settings, mixed_schedules)
def test_a_log_that_was_written_to_a_disk_is_read_from_it_with_all_that_a_broker_knows(settings, schedule):
    not_on_disk = Clean, ProducerExpired  # what the broker forgets, and an index alone knows, is on no segment
    log = after(settings, *(event for event in possible(settings, schedule) if not isinstance(event, not_on_disk)))
    again = read_again(log)
    check(settings, again)

    assert known_of(again) == known_of(log)
    assert again.transactions == tuple(sorted(log.transactions, key=lambda each: each.first_offset))


@given(small_settings, mixed_schedules, st.integers(0, 2000))
def test_a_log_from_a_disk_is_cleaned_as_the_one_that_was_written(settings, schedule, now_ms):
    log = after(settings, *possible(settings, schedule))
    again = read_again(log)
    forgotten = {each.producer_id for each in again.producers} != {each.producer_id for each in log.producers}
    if not forgotten:
        clean = Clean(now_ms, is_forced=True)
        assert facts_of(step(settings, again, clean)) == facts_of(step(settings, log, clean))


def test_the_sizes_of_batches_are_those_of_the_bytes(tmp_path):
    log, _ = logs_of(PASSES[1], tmp_path)
    written = write_log(log, tmp_path / "again")
    assert [sum(each.size_bytes for each in one.batches) for one in read_disk(written)] == [
        (written / "topic-0" / f"{each.base_offset:020}.log").stat().st_size for each in log.segments
    ]


# What goes on with such a log.


def of_producer(base_offset, sequence, *, epoch=0, count=1, producer_id=7, **given):
    rows = [(base_offset + at, 1000, b"k", b"v") for at in range(count)]
    stamp = {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": sequence}
    return batch(base_offset, rows, **stamp, **given)


def log_of(*batches, **options):
    return log_from_segments([parse_segment(b"".join(batches), "orders", 0)], **options)


def append(log, sequence):
    new = NewBatch((("k", "v", 1000),), producer_id=7, producer_epoch=0, base_sequence=sequence)
    return step(COMPACT, log, Append((new,))).effects


def test_the_last_five_batches_of_a_producer_judge_the_next_one():
    log = log_of(*(of_producer(number, number) for number in range(7)))
    assert [each.first_sequence for each in log.producers[0].batches] == [2, 3, 4, 5, 6]
    assert append(log, 3) == (DuplicateRecognised(3, 3),)
    assert append(log, 1) == append(log, 8) == (AppendRefused("OUT_OF_ORDER_SEQUENCE_NUMBER"),)
    assert step(COMPACT, log, Append((NewBatch((("k", "v", 1),), producer_id=7),))).log_end_offset == 8
    assert (
        len(log_of(*(of_producer(number, number) for number in range(7)), release="0.11.0").producers[0].batches) == 1
    )


def marker(base_offset, kind="ABORT", epoch=0, rows=None, at_ms=2000):
    rows = [(base_offset, at_ms, MARKER_KEYS[kind], MARKER_VALUE)] if rows is None else rows
    stamp = {"producer_id": 7, "producer_epoch": epoch, "is_transactional": True, "is_control": True}
    return batch(base_offset, rows, **stamp)


def test_a_marker_of_a_higher_epoch_leaves_a_producer_without_batches():
    log = log_of(of_producer(0, 0, is_transactional=True), marker(1, epoch=1))

    (producer,) = log.producers
    assert (producer.epoch, producer.last_data_offset, producer.batches) == (1, None, ())
    assert [(each.first_offset, each.last_offset, each.is_aborted) for each in log.transactions] == [(0, 1, True)]


def test_a_marker_that_was_emptied_says_nothing_of_its_producer():
    (producer,) = log_of(marker(5, rows=[])).producers
    assert (producer.epoch, producer.batches) == (-1, ())


def test_a_transactional_commit_of_offsets_has_no_sequence():
    (producer,) = log_of(of_producer(0, -1, count=2, is_transactional=True)).producers
    assert producer.batches == ((-1, -1, 0),)
    assert append(log_of(of_producer(0, -1)), 0)[0].first_offset == 1


def test_a_producer_that_was_silent_for_a_day_is_forgotten_unless_its_transaction_is_open():
    day_ms = 86_400_000
    done = [of_producer(0, 0, is_transactional=True), marker(1, "COMMIT", at_ms=1500)]

    assert len(log_of(*done, now_ms=day_ms + 1499).producers) == 1
    assert log_of(*done, now_ms=day_ms + 1500).producers == ()
    assert len(log_of(*done, now_ms=day_ms + 1500, release="3.3").producers) == 1
    assert len(log_of(done[0], now_ms=30 * day_ms).producers) == 1


def test_an_open_transaction_bounds_what_can_be_cleaned():
    log = log_of(batch(0, [(0, 1000, b"a", b"1")]), of_producer(1, 0, is_transactional=True))
    assert (log.first_unstable_offset, log.last_stable_offset, log.log_end_offset) == (1, 1, 2)


def test_the_cleaner_s_checkpoint_and_the_log_start_come_from_the_files_beside_the_partition(tmp_path):
    write(tmp_path, PASSES[1].before, 24)
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n2\nmixed 0 20\nmixed 1 5\n", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "mixed-0"):
        log = read_log(folder)
        assert (log.checkpoint, log.log_start_offset) == (24, 20)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: read_log(FOLDER / "disk"), r"has 21 partitions, __consumer_offsets-0, .*give topic= and partition="),
        (lambda: read_log(FOLDER / "cleaned", partition=0), r"lies in 3 log dirs, .* log_dir='after-pass-1'"),
        (lambda: read_log(FOLDER / "disk", partition=1), "no segment of partition 1 below"),
        (lambda: log_from_segments([]), "the segments of one partition are one log, got those of 0"),
        (
            lambda: log_from_segments(read_disk(FOLDER / "cleaned/before")),
            "got those of 2: __consumer_offsets-0 and __consumer_offsets-1",
        ),
    ],
)
def test_what_is_not_one_log_is_refused(ask, message):
    with pytest.raises(KafkaLearnError, match=message):
        ask()


@given(rows)
def test_it_is_cleaned_as_if_its_records_had_been_written_one_by_one(records):
    clean = Clean(1000, is_forced=True)
    written = after(COMPACT, one_each(*records), Roll())
    log = log_from_records(Record(offset, *each) for offset, each in enumerate(records))
    check(COMPACT, log)

    assert log.segments[0].size_bytes == written.segments[0].size_bytes
    assert step(COMPACT, log, clean).effects == step(COMPACT, written, clean).effects


def test_a_horizon_from_an_earlier_pass_counts():
    log = log_from_records([Record(5, "a", None, 0), Record(8, "b", None, 0)], {5: 900})

    assert offsets(step(COMPACT, log, Clean(1000, is_forced=True))) == [8]


def test_records_out_of_order_are_refused():
    with pytest.raises(KafkaLearnError, match="offset 3 follows 3: give the records in the order of offsets"):
        log_from_records([Record(3, "a", "1", 0), Record(3, "b", "1", 0)])


def test_no_records_are_an_empty_log():
    assert log_from_records([]) == Log()


SETTINGS = Settings("compact", "4.3", min_cleanable_dirty_ratio=0.0, delete_retention_ms=500, segment_bytes=104857600)
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
