import contextlib
import gc
import gzip
import random
import sys
import tracemalloc

import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError, MissingExtra
from kafkalearn.formats import compression
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES, CODECS, HAS_ZSTD, Damaged, decompress
from kafkalearn.formats.disk import parse_segment, read_batch
from kafkalearn.formats.wire import Undecodable, unsigned_varint
from tests.every import every_case
from tests.formats.writing import batch
from tests.recorded import recorded

CASES = recorded("record-batches")["cases"]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_what_a_codec_cannot_undo_is_called_damaged(codec):
    with pytest.raises(Damaged, match=codec):
        decompress(codec, b"\x82SNAPPY\x00" + b"\x00" * 9 + b"\xff" * 20)


def test_one_block_of_snappy_without_a_frame_is_read_as_librdkafka_writes_it():
    assert decompress("snappy", bytes([5, 16]) + b"abcde") == b"abcde"


def test_several_members_of_gzip_are_one_text():
    assert decompress("gzip", gzip.compress(b"a") + gzip.compress(b"b")) == b"ab"


DAMAGES = {
    "cut": lambda data: data[:-50],
    "junk behind its front": lambda data: data[:7] + b"\xff" * (len(data) - 7),
    "its front alone": lambda data: data[:20],
    "junk": lambda data: b"junk" * 10,
}


@every_case("damage", DAMAGES)
@every_case("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_nothing_of_a_batch_that_breaks_stays_in_memory(codec, damage):
    data = DAMAGES[damage](compressed(codec, random.Random(7).randbytes(200_000)))
    with pytest.raises(Damaged):
        decompress(codec, data)  # what is imported stays
    tracemalloc.start()
    for _ in range(20):
        with pytest.raises(Damaged):
            decompress(codec, data)
    gc.collect()
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept_bytes < 200_000


def test_without_pyarrow_a_batch_of_zstd_names_the_extra_to_install_and_is_not_taken_for_a_torn_file(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(compression, "HAS_ZSTD", False)
    data = bytes.fromhex(next(case["hex"] for case in CASES if case["compression"] == "zstd"))
    with pytest.raises(MissingExtra, match=r"compressed with zstd needs pyarrow, .* 'kafkalearn\[fast\]'"):
        parse_segment(data)


OF_THE_CORE = ["none", "gzip", "snappy", "lz4", *(["zstd"] if HAS_ZSTD else [])]


@pytest.mark.parametrize("codec", OF_THE_CORE)
def test_without_pyarrow_the_codecs_of_the_core_are_undone_as_with_it(codec, monkeypatch):
    data = bytes.fromhex(next(case["hex"] for case in CASES if case["compression"] == codec))
    with_pyarrow = parse_segment(data)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert parse_segment(data) == with_pyarrow
    assert with_pyarrow.rest is None


@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(1, 3000)), max_size=8))
@example([(b"a", 200_000), (b"\x00\x01paid", 50_000)])
def test_what_pyarrow_compresses_the_core_undoes(runs):
    data = b"".join(each * times for each, times in runs)
    for codec in OF_THE_CORE:
        if codec != "none":
            with pytest.MonkeyPatch.context() as patched:
                written = compressed(codec, data)
                patched.setitem(sys.modules, "pyarrow", None)
                assert decompress(codec, written) == data


@every_case("damage", DAMAGES)
@every_case("codec", ["snappy", "lz4"])
def test_what_the_core_cannot_undo_is_called_damaged(codec, damage):
    data = DAMAGES[damage](compressed(codec, random.Random(7).randbytes(2_000) * 3))
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(Damaged, match=codec):
            decompress(codec, data)


@every_case("codec", ["snappy", "lz4"])
def test_any_bytes_are_undone_or_damaged_by_the_core(codec):
    fronts = {"snappy": b"", "lz4": b"\x04\x22\x4d\x18\x60\x40\x82"}
    draw = random.Random(5)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)
        for _ in range(300):
            with contextlib.suppress(Damaged):
                decompress(codec, fronts[codec] + draw.randbytes(draw.randrange(60)))


def xerial(*blocks):
    """Blocks of snappy as the Java client frames them."""
    framed = b"".join(len(block).to_bytes(4, "big") + block for block in blocks)
    return b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2 + framed


def compressed(codec, data):
    match codec:
        case "none":
            return data
        case "gzip":
            return gzip.compress(data)
        case "snappy":
            return xerial(
                *(pyarrow.compress(data[at : at + 32768], codec, asbytes=True) for at in range(0, len(data), 32768))
            )
    return pyarrow.compress(data, codec, asbytes=True)


def zeros(codec, size_mb):
    """Zeros, compressed in a stream: nothing in front says how many they are."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, codec) as stream:
        for _ in range(size_mb):
            stream.write(bytes(1 << 20))
    return sink.getvalue().to_pybytes()


FIVE_BYTES = unsigned_varint(2**35 - 1)
BOMBS = {
    "5 bytes of snappy that announce 32 GiB": (
        "snappy",
        lambda: FIVE_BYTES,
        "its 5 bytes announce 34,359,738,367 bytes, more than the 67,108,864 bytes that one batch may have",
    ),
    "the same in the Java client's frame": (
        "snappy",
        lambda: xerial(FIVE_BYTES),
        "its 25 bytes announce 34,359,738,367 bytes",
    ),
    "a block of snappy that cannot hold what it announces": (
        "snappy",
        lambda: unsigned_varint(60 << 20),
        "a block of 4 bytes announces 62,914,560, which no such block can hold",
    ),
    "400 KB of gzip": (
        "gzip",
        lambda: zeros("gzip", 400),
        r"its [34]\d\d,\d+ bytes hold more than the 67,108,864 bytes",
    ),
    "33 KB of zstd": ("zstd", lambda: zeros("zstd", 1024), r"its 3\d,\d+ bytes hold more than the 67,108,864 bytes"),
    "a frame of zstd that announces its size": (
        "zstd",
        lambda: pyarrow.compress(bytes(65 << 20), "zstd", asbytes=True),
        "bytes announce 68,157,440 bytes, more than",
    ),
    "a frame of lz4 that announces 1 PB": (
        "lz4",
        lambda: bytes.fromhex("04224d18 68 40 0000000000000400 00 00000000"),
        "its 19 bytes announce 1,125,899,906,842,624 bytes",
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_announces_or_holds_more_than_a_batch_may_have_is_refused_before_it_takes_memory(bomb):
    codec, make, message = BOMBS[bomb]
    data = make()
    tracemalloc.start()
    with pytest.raises(Damaged, match=message):
        decompress(codec, data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    is_read_to_the_limit = "hold more" in message  # what announces nothing
    assert most < (BATCH_LIMIT_BYTES if is_read_to_the_limit else 0) + (6 << 20)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_stream_that_announces_nothing_is_read_up_to_the_limit_and_no_further(codec):
    data = zeros(codec, 20)
    before = pyarrow.total_allocated_bytes()

    with pytest.raises(Damaged, match=f"{codec}: its {len(data):,} bytes hold more than the 4,000,000 bytes"):
        decompress(codec, data, 4_000_000)
    assert pyarrow.total_allocated_bytes() - before < 4_000_000
    assert decompress(codec, data, 20 << 20) == bytes(20 << 20)


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_of_exactly_the_limit_is_read_and_one_byte_more_is_not(codec):
    rng = random.Random(codec)
    for size in (1, 5, 40_000, (1 << 20) + 1):
        text = rng.randbytes(size // 3) + bytes(size - size // 3)
        data = compressed(codec, text)
        assert decompress(codec, data, size) == text
        if size > 1:
            with pytest.raises(Damaged, match=r"more than the [\d,]+ bytes that one batch may have"):
                decompress(codec, data, size - 1)


@pytest.mark.parametrize("codec", CODECS)
def test_the_limit_of_a_batch_is_the_caller_s_to_raise(codec):
    def pack(body):
        return compressed(codec, body)

    data = batch(0, [(0, 0, b"key", bytes(100_000))], compression=codec, compress=pack)
    assert read_batch(data).records[0].value == bytes(100_000)
    with pytest.raises(Undecodable, match=r"records at byte 61 .*more than the 90,000 bytes that one batch may have"):
        read_batch(data, batch_limit_bytes=90_000)
    assert "raise batch_limit_bytes" in parse_segment(data, batch_limit_bytes=90_000).rest.reason
    with pytest.raises(KafkaLearnError, match="batch_limit_bytes must be at least 1, got 0"):
        read_batch(data, batch_limit_bytes=0)


def test_many_members_of_gzip_take_no_longer_than_they_are():
    assert decompress("gzip", gzip.compress(b"") * 5000 + b"\x00" * 9) == b""


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_what_is_cut_off_is_damaged(codec):
    whole = compressed(codec, b"some records that are long enough to be cut" * 9)
    for cut in (3, len(whole) // 2, len(whole) - 1):
        with pytest.raises(Damaged):
            decompress(codec, whole[:cut])
