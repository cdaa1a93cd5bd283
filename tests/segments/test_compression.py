import gzip
import sys

import pytest

from kafkalearn.extras import MissingExtra
from kafkalearn.segments import parse_segment
from kafkalearn.segments.compression import Damaged, decompress
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


@pytest.mark.parametrize("codec", ["snappy", "lz4", "zstd"])
def test_without_pyarrow_a_batch_names_the_extra_to_install_and_is_not_taken_for_a_torn_file(codec, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    data = bytes.fromhex(next(case["hex"] for case in CASES if case["compression"] == codec))
    with pytest.raises(MissingExtra, match=rf"compressed with {codec} needs pyarrow, .* 'kafkalearn\[spark\]'"):
        parse_segment(data)


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_without_pyarrow_the_codecs_of_the_standard_library_are_undone(codec, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    data = bytes.fromhex(next(case["hex"] for case in CASES if case["compression"] == codec))
    assert parse_segment(data).rest is None
