"""The rows of a segment file are the same whether NumPy reads batches side by side or Python reads them one by one."""

import random
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.formats import pieces
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES, CODECS, compress
from kafkalearn.log import simulate
from kafkalearn.spark.offsets import segments
from kafkalearn.spark.offsets.segments import Reading, join
from tests.formats.disk import FOLDER
from tests.formats.test_census import ODD_BODIES
from tests.formats.test_segments import mutated
from tests.formats.writing import batch, framed, log_batch
from tests.log.partitions import PASSES
from tests.log.schedules import mixed_schedules, possible, small_settings

FAR = 1 << 62


def rows_of(folder, files, has_numpy, piece_bytes=1 << 20, has_checksum=True, limit_bytes=BATCH_LIMIT_BYTES):
    """All rows of a log, given as (base offset, bytes) by file, and how many blocks NumPy has read for them."""
    given_ = []
    for base_offset, data in files:
        path = Path(folder) / f"{base_offset:020}.log"
        path.write_bytes(data)
        at = {"path": str(path), "log_dir": "", "topic": "orders", "partition": 3}
        given_.append(at | {"base_offset": base_offset, "end_offset": FAR, "is_last": base_offset == files[-1][0]})
    for one, following in pairwise(given_):
        one["end_offset"] = following["base_offset"]
    reading = Reading(has_checksum, True, limit_bytes, piece_bytes)
    read_piece, blocks = pieces.read_piece_side_by_side, []

    def counted(*args):
        for each in read_piece(*args):
            blocks.extend([each] if isinstance(each, pieces.ReadBlock) else [])
            yield each

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "has_columns", lambda: has_numpy)
        patch.setattr(pieces, "read_piece_side_by_side", counted)
        joined = join(pa.Table.from_batches(reading.index([pa.RecordBatch.from_pylist(given_)])))
        found = list(reading.records(joined.to_batches()))
    assert all(rows.num_rows for rows in found)  # none is sent for nothing
    return pa.Table.from_batches(found, segments.RECORDS).to_pylist(), len(blocks)


def assert_same(folder, files, **options):
    """The rows, which both ways give."""
    plain, none = rows_of(folder, files, has_numpy=False, **options)
    fast, block_count = rows_of(folder, files, has_numpy=True, **options)
    assert fast == plain
    assert none == 0
    return fast, block_count


@pytest.mark.parametrize("has_checksum", [True, False])
@pytest.mark.parametrize("piece_bytes", [500, 1 << 20])
def test_recorded_logs_have_the_same_rows(tmp_path, piece_bytes, has_checksum):
    controls, transactions, block_count = set(), set(), 0
    for written in (way for each in PASSES for way in (each.before, each.after)):
        files = [(int(name[:20]), data) for name, data in sorted(written.items())]
        rows, blocks = assert_same(tmp_path, files, piece_bytes=piece_bytes, has_checksum=has_checksum)
        controls.update(row["control"] for row in rows)
        transactions.update((row["transaction"], row["has_data"]) for row in rows)
        block_count += blocks
    assert block_count >= 2 * len(PASSES)
    assert {None, "COMMIT", "ABORT"} <= controls
    assert {(None, None), ("COMMIT", None), ("ABORT", None), ("OPEN", None), ("COMMIT", True)} <= transactions


@settings(max_examples=30)
@given(small_settings, mixed_schedules, st.sampled_from([1, 150, 1 << 20]))
def test_generated_logs_have_the_same_rows(tmp_path_factory, log_settings, schedule, piece_bytes):
    log = simulate(log_settings, possible(log_settings, schedule))[-1].state
    files = [(each.base_offset, b"".join(map(log_batch, each.batches))) for each in log.segments]
    assert_same(tmp_path_factory.mktemp("log"), files, piece_bytes=piece_bytes)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_files_have_the_same_rows_and_the_same_reasons(tmp_path, seed):
    rng, paths = random.Random(seed), sorted((FOLDER / "disk").rglob("*.log"))
    has_unread = 0
    for _ in range(30):
        data, _, _ = mutated(rng, rng.choice(paths).read_bytes())
        rows, _ = assert_same(tmp_path, [(0, data)], piece_bytes=rng.choice((500, 1 << 20)))
        has_unread += any(row["tail"] or row["skipped"] for row in rows)
    assert has_unread > 10


@pytest.mark.parametrize("odd", ODD_BODIES)
def test_an_odd_batch_between_others_gives_the_same_rows(tmp_path, odd):
    good = [batch(at, [(at, 1000, b"k%d" % at, b"v")]) for at in range(5)]
    damaged = framed(2, 0, 0, 5, 5, (-1, -1, -1), 1, ODD_BODIES[odd])
    rows, block_count = assert_same(tmp_path, [(0, b"".join([*good[:2], damaged, *good[3:]]))])
    assert [row["offset"] for row in rows if row["key"]][-1] == 4
    assert block_count == (odd == "a timestamp of nine bytes")  # unusual, and a record all the same


def test_a_control_batch_that_compaction_has_emptied_gives_no_row(tmp_path):
    good = [batch(at, [(at, 1000, b"k", b"v")]) for at in (0, 1, 3, 4)]
    emptied = batch(2, [], is_control=True, is_transactional=True, producer_id=7, producer_epoch=0)
    rows, block_count = assert_same(tmp_path, [(0, b"".join([*good[:2], emptied, *good[2:]]))])
    assert [row["offset"] for row in rows] == [0, 1, 3, 4]
    assert block_count == 1


def test_nulls_empty_texts_every_codec_and_times_beyond_the_years_of_spark(tmp_path):
    times_ms = (0, -1, 253_402_300_799_999, 253_402_300_800_000, 2**60, -(2**60))
    texts = (None, b"", b"a", b"\x00" * 300)
    lines = [(at_ms, key, value) for at_ms in times_ms for key in texts for value in texts]
    data, at = b"", 0
    for codec in CODECS:
        records = [(at + number, *line) for number, line in enumerate(lines)]
        data += batch(at, records, compression=codec, compress=lambda body, codec=codec: compress(codec, body))
        at += len(lines)
    rows, block_count = assert_same(tmp_path, [(0, data)])
    assert [(row["timestamp_ms"], row["key"], row["value"]) for row in rows] == lines * len(CODECS)
    assert [row["timestamp"] is None for row in rows[: len(lines)]] == [
        at_ms > times_ms[2] or at_ms < -1 for at_ms, *_ in lines
    ]
    assert block_count == 1


def test_a_batch_beyond_the_limit_is_skipped_both_ways(tmp_path):
    large = batch(0, [(0, 1000, b"key", bytes(50_000))]) + batch(1, [(1, 1000, b"key", b"")])
    rows, _ = assert_same(tmp_path, [(0, large)], limit_bytes=40_000)
    assert [row["skipped"] is not None for row in rows] == [True, False]


def test_many_rows_come_in_several_batches_of_arrow(tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "ENOUGH_ROWS", 7)
    monkeypatch.setattr(pieces, "BLOCK_RECORDS", 20)
    monkeypatch.setattr(pieces, "FEW_BATCHES", 1)
    data = b"".join(batch(at, [(at, 1000, b"k", b"v")]) for at in range(50))
    rows, block_count = assert_same(tmp_path, [(0, data)])
    assert [row["offset"] for row in rows] == list(range(50))
    assert block_count == 3
