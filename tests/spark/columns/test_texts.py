"""Whether bytes are text: the same answer as Python's own decoder, where the bytes lie."""

import random

import pytest
from pyspark.sql import functions as sf

from kafkalearn.spark import columns as texts

pytestmark = pytest.mark.spark

ODD = (
    b"",
    b"orders",
    "订单".encode(),
    "🙂".encode(),
    b"\x00",
    b"\xc0\x80",  # a zero, longer than it may be
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",  # half of a pair
    b"\xed\x9f\xbf",
    b"\xf4\x8f\xbf\xbf",  # the last code point
    b"\xf4\x90\x80\x80",  # one above it
    b"\xf5\x80\x80\x80",
    b"\xe8\xae",  # cut off
    b"\x80",
    b"\xff",
)


def _pieces() -> list[tuple[bytes, int, int]]:
    """Bytes with something before and behind, and where the piece in question lies."""
    draw = random.Random(7)
    chosen = [*ODD, *(b"".join(draw.choices(ODD, k=3)) for _ in range(200))]
    chosen += [draw.randbytes(draw.randrange(6)) for _ in range(300)]
    return [(b"\xe8\xae" + each + b"\xa2", 2, len(each)) for each in chosen]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("is_native", [True, False], ids=["in Spark's own code", "the public way"])
def test_the_answer_is_pythons(spark, monkeypatch, is_native):
    if not is_native:
        monkeypatch.setattr(texts, "static_call", lambda *_: None)
    rows = spark.createDataFrame(_pieces(), "data binary, start int, size int")
    found = rows.select("*", texts.is_utf8(rows, *map(sf.col, ("data", "start", "size"))).alias("is_text")).collect()
    expected = [_is_text(bytes(row.data)[row.start : row.start + row.size]) for row in found]
    assert [row.is_text for row in found] == expected
    assert 50 < sum(expected) < 450


@pytest.mark.parametrize("is_native", [True, False], ids=["in Spark's own code", "the public way"])
def test_nothing_is_said_of_nothing(spark, monkeypatch, is_native):
    if not is_native:
        monkeypatch.setattr(texts, "static_call", lambda *_: None)
    rows = spark.createDataFrame([(None, 0, 0), (b"a", None, 0), (b"a", 0, None)], "data binary, start int, size int")
    found = rows.select(texts.is_utf8(rows, *map(sf.col, ("data", "start", "size"))).alias("is_text")).collect()
    assert [row.is_text for row in found] == [None, None, None]
