"""JSON that somebody gives: what it holds is json's own answer, as deep as anybody writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.formats import wire

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\a'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='[{"\\'), inner),
)


@given(VALUES, st.integers(0, 3))
def test_what_json_reads_is_read(value, indent):
    text = json.dumps(value, indent=indent)

    assert wire.read_json(text) == value


@pytest.mark.parametrize(
    ("opening", "closing", "depth"),
    [("[", "]", 1), ('{"a":', "}", 1), ('[{"[":', "}]", 2)],
    ids=["list", "dict", "both"],
)
def test_brackets_may_be_this_deep_and_no_deeper(opening, closing, depth):
    allowed = wire.MOST_NESTED // depth

    assert wire.read_json(opening * allowed + "1" + closing * allowed)
    for times in (allowed + 1, 100_000):
        with pytest.raises(ValueError, match="more than 200 deep"):
            wire.read_json(opening * times)


def test_many_brackets_side_by_side_and_in_texts_are_not_deep():
    flat = [[]] * 5000
    assert wire.read_json(json.dumps(flat)) == flat
    assert wire.read_json(json.dumps({"text": "[" * 5000})) == {"text": "[" * 5000}


@pytest.mark.parametrize("text", ["", "{", '"' + "[" * 1000, "nonsense"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"char|deep"):
        wire.read_json(text)


signed = st.integers(-(2**63), 2**63 - 1)


@given(st.integers(-(2**31), 2**31 - 1))
def test_a_varint_takes_a_byte_for_every_seven_bits_of_its_zigzag(value):
    zigzagged = (value << 1) ^ (value >> 31)
    length = wire.varint_bytes(value)
    assert zigzagged < 1 << 7 * length
    assert length == 1 or zigzagged >= 1 << 7 * (length - 1)


@given(signed, st.binary(max_size=3), st.binary(max_size=3))
def test_a_number_passes_both_ways_wherever_it_lies(value, before, after):
    encoded = wire.unsigned_varint(wire.zigzag(value))
    read, end = wire.read_varint(before + encoded + after, len(before), most_bytes=10)

    assert wire.from_zigzag(read) == value
    assert (len(encoded), end) == (wire.varint_bytes(value), len(before + encoded))


@pytest.mark.parametrize("data", [b"", b"\xff", b"\x80\x80\x80\x80\x80\x01"])
def test_a_number_that_does_not_end_is_refused(data):
    with pytest.raises(ValueError, match="the number at byte 0 does not end"):
        wire.read_varint(data)
