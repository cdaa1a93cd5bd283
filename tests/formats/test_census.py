"""The counts of a log: the same whether Python reads it alone, NumPy, or headers only, and those of its records."""

import base64
import gc
import gzip
import random
import struct
import tracemalloc
import zlib
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import is_installed
from kafkalearn.formats import census, columns, pieces, segments
from kafkalearn.formats.batches import WHEEL, crc32c, crc32c_of_rows
from kafkalearn.formats.census import HEADERS, RECORDS, Unread, blocks, count_log
from kafkalearn.formats.compression import CODECS, compress
from kafkalearn.formats.disk import committed_records, read_disk, transaction_outcomes
from kafkalearn.formats.pieces import has_columns
from kafkalearn.formats.segments import Span, segment_files
from tests.formats.disk import FOLDER
from tests.formats.test_segments import files, mutated
from tests.formats.writing import MARKER_KEYS, MARKER_VALUE, batch, framed, record
from tests.log.partitions import PASSES, write
from tests.recorded import recorded

FUTURE_MS = 2**62


def logs_below(folder):
    found = groupby(segment_files(folder), key=lambda file: (file.topic, file.partition, file.log_dir))
    return [(place, [*group]) for place, group in found]


def counted(group, depth=RECORDS, **given):
    return count_log(group, depth, future_ms=FUTURE_MS, keeps_markers=True, **given)


def everything(data, is_fast):
    """All that the blocks of a file say, but for where one ends and the next begins."""
    rows, unread, tally, largest = [], [], Counter(), ([], [])
    for each in blocks(data, Span(0, len(data)), RECORDS, is_fast):
        if isinstance(each, Unread):
            unread.append(each)
            continue
        rows += [(header.base_offset, *rest) for header, *rest in each.rows()]
        tally += Counter(
            records=each.record_count,
            null_keys=each.null_key_count,
            tombstones=each.tombstone_count,
            key_bytes=each.key_bytes,
            value_bytes=each.value_bytes,
            batches=len(each.headers),
        ) + Counter(each.controls.values())
        for all_sizes, sizes in zip(largest, each.largest(5), strict=True):
            all_sizes += sizes
    return rows, unread, tally, [sorted(each)[:5] for each in largest]


@pytest.mark.parametrize("folder", ["disk", "cleaned", "expiry"])
def test_the_ways_count_the_same_and_what_the_records_say(folder):
    for (topic, partition, log_dir), group in logs_below(FOLDER / folder):
        plain = counted(group, is_fast=False)
        assert counted(group, is_fast=True) == plain
        by_headers = counted(group, HEADERS)
        for name in ("batch_count", "record_count", "controls", "open_transactions", "epochs", "markers", "gap_count"):
            assert getattr(by_headers, name) == getattr(plain, name)

        segments = read_disk(FOLDER / folder, topic, partition=partition, log_dir=log_dir)
        batches = [each for segment in segments for each in segment.batches]
        records = [one for each in batches if not each.is_control for one in each.records]
        assert (plain.batch_count, plain.record_count) == (len(batches), len(records))
        assert plain.null_key_count == sum(one.key is None for one in records)
        assert plain.tombstone_count == sum(one.value is None for one in records)
        assert plain.key_bytes + plain.value_bytes == sum(
            len(one.key or b"") + len(one.value or b"") for one in records
        )
        values = sorted((-len(one.value), one.offset) for one in records if one.value is not None)
        assert [(-each.size_bytes, each.offset) for each in plain.largest_values] == values[:5]
        outcomes = transaction_outcomes(batches)
        still_open = {each.producer_id for each, end in zip(batches, outcomes, strict=True) if end == "OPEN"}
        assert {each.producer_id for each in plain.open_transactions} == still_open


@pytest.mark.parametrize("number", range(len(PASSES)))
def test_all_codecs_transactions_and_headers_of_records_are_counted_the_same(number, tmp_path):
    ((_, group),) = logs_below(write(tmp_path, PASSES[number].before, None))
    plain = counted(group, is_fast=False)
    assert counted(group, is_fast=True) == plain


def test_the_recorded_passes_have_all_codecs_and_both_markers(tmp_path):
    found = [counted(logs_below(write(tmp_path / str(at), each.before, None))[0][1]) for at, each in enumerate(PASSES)]
    assert set().union(*(each.batches_by_codec for each in found)) == set(CODECS)
    assert {"COMMIT", "ABORT"} <= set().union(*(each.controls for each in found))


@pytest.mark.parametrize("seed", range(3))
def test_mutated_files_give_the_same_both_ways(seed):
    rng = random.Random(seed)
    for number in range(60):
        data, _, _ = mutated(rng, rng.choice(files()).read_bytes())
        assert everything(data, True) == everything(data, False), (seed, number)


rows = st.lists(
    st.tuples(
        st.integers(1, 3),  # how far behind the offset before
        st.integers(0, 2**41) | st.just(-1),
        st.none() | st.binary(max_size=200),
        st.none() | st.binary(max_size=200),
        st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2),
    ),
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(rows, st.sampled_from(CODECS), st.booleans()), max_size=40), st.integers(0, 4))
def test_any_batches_are_the_same_both_ways(drawn, least):
    data, at = b"", 0
    for lines, codec, is_append_time in drawn:
        records = []
        offset = at - 1
        for step, timestamp_ms, *rest in lines:
            offset += step
            records.append((offset, timestamp_ms, *rest))
        given_ = {"compression": codec, "compress": lambda body, codec=codec: compress(codec, body)}
        data += batch(at, records, last_offset=max(at, offset), is_log_append_time=is_append_time, **given_)
        at = max(at, offset) + 1
    original, columns.LEAST_BATCHES = columns.LEAST_BATCHES, 1 + least
    try:
        assert everything(data, True) == everything(data, False)
    finally:
        columns.LEAST_BATCHES = original


ODD_BODIES = {
    "a length that does not fit": record(0, 0, b"k", b"v")[:-1],
    "bytes behind the last record": record(0, 0, b"k", b"v") + b"\x00",
    "a key longer than the record": b"\x10\x00\x00\x00\x7e" + bytes(4),
    "a header without a name": b"\x10\x00\x00\x00\x02k\x01\x02\x01",
    "fewer headers than none": b"\x0e\x00\x00\x00\x02k\x01\x01",
    "an offset behind the batch": record(7, 0, b"k", b"v"),
    "a number that does not end": b"\xff" * 12,
    "a number of ten bytes": b"\x20\x00" + b"\x80" * 9 + b"\x01" + b"\x00\x01\x01\x00",
    "a timestamp of nine bytes": record(0, 2**61, b"k", b"v"),
}


@pytest.mark.parametrize("odd", ODD_BODIES)
def test_a_batch_whose_checksum_is_right_and_whose_records_are_odd_is_the_same_both_ways(odd, monkeypatch):
    monkeypatch.setattr(columns, "LEAST_BATCHES", 1)
    good = [batch(at, [(at, 1000, b"k%d" % at, b"v")]) for at in range(5)]
    damaged = framed(2, 0, 0, 5, 5, (-1, -1, -1), 1, ODD_BODIES[odd])
    data = b"".join([*good[:2], damaged, *good[3:]])
    plain = everything(data, False)
    assert everything(data, True) == plain
    assert plain[2]["batches"] == 5 if odd == "a timestamp of nine bytes" else plain[2]["batches"] == 4


def test_blocks_end_where_they_grow_too_large(monkeypatch):
    monkeypatch.setattr(pieces, "BLOCK_RECORDS", 3)
    monkeypatch.setattr(census, "PLAIN_RECORDS", 3)
    monkeypatch.setattr(pieces, "FEW_BATCHES", 1)
    data = b"".join(batch(at, [(at, 1000, b"k", b"v")]) for at in range(10))
    for is_fast in (True, False):
        sizes = [len(each.headers) for each in blocks(data, Span(0, len(data)), RECORDS, is_fast)]
        assert sum(sizes) == 10
        assert max(sizes) == 3


def test_open_transactions_and_the_last_stable_offset(tmp_path):
    stamp = {"producer_id": 7, "producer_epoch": 3, "is_transactional": True}
    other = {"producer_id": 8, "producer_epoch": 0, "is_transactional": True}
    marker = [(3, 1500, MARKER_KEYS["COMMIT"], MARKER_VALUE)]
    parts = [
        batch(0, [(0, 1000, b"k", b"v")], **other, base_sequence=0),
        batch(1, [(1, 1100, b"k", b"v"), (2, 1200, b"k", b"v")], **stamp, base_sequence=0),
        batch(3, marker, **other, is_control=True),
        batch(4, [(4, 1300, b"k", b"v")], **stamp, base_sequence=2),
    ]
    (tmp_path / "orders-0").mkdir()
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(b"".join(parts))
    ((_, group),) = logs_below(tmp_path)
    for depth in (HEADERS, RECORDS):
        found = counted(group, depth)
        (still_open,) = found.open_transactions
        assert (still_open.producer_id, still_open.producer_epoch, still_open.first_offset) == (7, 3, 1)
        assert (still_open.begun_ms, still_open.batch_count) == (1200, 2)
        assert (found.last_stable_offset, found.end_offset, found.markers) == (1, 5, {8: ((3, "COMMIT"),)})


def old_message(offset, magic, value=b"v"):
    """A message of format 0 or 1."""
    body = struct.pack(">bb", magic, 0) + (struct.pack(">q", 1000) if magic else b"")
    body += struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_older_formats_are_counted_in_front_of_batches(magic, tmp_path):
    data = b"".join(old_message(at, magic) for at in range(4)) + batch(4, [(4, 1000, b"k", b"v")])
    (tmp_path / "orders-0").mkdir()
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(data)
    ((_, group),) = logs_below(tmp_path)
    found = counted(group)
    assert (found.magic_counts, found.record_count, found.files[0].unread) == ({magic: 4, 2: 1}, 5, ())
    assert (found.null_key_count, found.value_bytes, found.first_offset, found.last_offset) == (4, 5, 0, 4)
    assert (found.oldest.timestamp_ms, found.older_compressed_count) == (1000, 0)
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(data.replace(b"v", b"w", 1))
    assert counted(group).files[0].unread[0].position == 0


@pytest.mark.parametrize(
    "case", recorded("old-messages")["cases"], ids=lambda each: "-".join(map(str, each.values()))[:18]
)
def test_messages_of_older_formats_are_counted_as_clients_have_written_them(case, tmp_path):
    (tmp_path / "orders-0").mkdir()
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(base64.b64decode(case["bytes"]))
    ((_, group),) = logs_below(tmp_path)
    found = counted(group)
    message_count = 7 if case["codec"] == "none" else 1  # what is compressed stands in one
    assert (found.magic_counts, found.files[0].unread) == ({case["magic"]: message_count}, ())
    is_of_producer = case["client"] < "1" and case["codec"] != "none"  # whose message a broker gives its offset
    assert found.last_offset == (6 if is_of_producer else 46)
    is_read = (case["magic"], case["codec"]) != (0, "lz4")  # whose checksum no other program makes
    assert found.older_compressed_count == (not is_read)
    counts = (found.record_count, found.null_key_count, found.tombstone_count, found.key_bytes, found.value_bytes)
    assert counts == ((7, 3, 1, 20, 300) if is_read else (0, 0, 0, 0, 0))
    assert (found.newest and found.newest.timestamp_ms) == (1500000006000 if case["magic"] else None)


def test_a_file_is_read_as_long_as_it_was_when_it_was_opened(tmp_path):
    (tmp_path / "orders-0").mkdir()
    path = tmp_path / f"orders-0/{0:020}.log"
    first, more = (b"".join(batch(at, [(at, 1000, b"k", b"v")]) for at in span) for span in (range(3), range(3, 9)))
    path.write_bytes(first)
    ((_, group),) = logs_below(tmp_path)

    def grow(read_bytes):
        with path.open("ab") as file:
            file.write(more)

    found = counted(group, progress=grow)
    assert (found.record_count, found.size_bytes, found.files[0].unread) == (3, len(first), ())


def test_no_record_that_counts_is_lost_on_the_way(tmp_path):
    for _, group in logs_below(FOLDER / "disk"):
        segments = read_disk(FOLDER / "disk", group[0].topic, partition=group[0].partition)
        kept = {(one.offset, one.key, one.value) for one in committed_records(segments)}
        data = group[0].path.read_bytes()
        there = {
            (offset, key, value)
            for block in blocks(data, Span(0, len(data)), RECORDS, True)
            for _, offset, _, key, value in block.rows()
        }
        assert kept <= there


@pytest.mark.skipif(not is_installed(WHEEL), reason="google-crc32c is not installed: kafkalearn[fast]")
@given(st.binary(max_size=3000))
def test_the_wheel_s_checksum_is_that_of_plain_python(data):
    assert crc32c(data) == crc32c_of_rows(data)


def peak_bytes(file, is_fast):
    """The most memory that counting a file takes at once; nothing is collected meanwhile but what nobody holds."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        count_log([file], is_fast=is_fast, future_ms=2_000_000, batch_limit_bytes=BODY_BYTES + 100)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


BODY_BYTES = 1 << 20
DAMAGED_BODY = gzip.compress(bytes(BODY_BYTES), mtime=0)


@pytest.mark.parametrize("is_fast", [False, *[True] * has_columns()])
@pytest.mark.parametrize("compress", [lambda body: gzip.compress(body, mtime=0), lambda body: DAMAGED_BODY])
def test_memory_is_that_of_a_block_however_many_batches_hold_a_thousand_times_their_size(
    is_fast, compress, tmp_path, monkeypatch
):
    for name in ("BLOCK_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(pieces, name, 2 * BODY_BYTES)
    monkeypatch.setattr(census, "BLOCK_BYTES", 2 * BODY_BYTES)
    one = batch(0, [(0, 1_000_000, None, bytes(BODY_BYTES - 50))], compression="gzip", compress=compress)
    (tmp_path / "orders-0").mkdir()
    peaks = []
    for count in (6, 30):
        data = b"".join(struct.pack(">q", at) + one[8:] for at in range(count))
        (tmp_path / "orders-0" / f"{0:020}.log").write_bytes(data)
        peaks.append(peak_bytes(*segment_files(tmp_path), is_fast))
    assert peaks[0] > 2 * BODY_BYTES
    assert peaks[1] < 1.1 * peaks[0]


def test_a_search_looks_at_so_many_places_and_says_that_it_gave_up(monkeypatch):
    """Each byte may be the format of a batch that was never written."""
    looked, at = [], segments._header_at
    monkeypatch.setattr(segments, "_header_at", lambda data, position: looked.append(position) or at(data, position))
    data = b"\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x40" * 20_000
    (found,) = blocks_of(data)
    assert found.reason.endswith("the search for a batch behind it was given up")
    assert found.size_bytes == len(data)
    assert len(looked) < len(data) // 4


def blocks_of(data):
    return [each for each in blocks(data, Span(0, len(data)), is_fast=False) if isinstance(each, Unread)]
