import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.formats.wire import from_zigzag, read_varint, unsigned_varint, varint_bytes, zigzag

signed = st.integers(-(2**63), 2**63 - 1)


@given(st.integers(-(2**31), 2**31 - 1))
def test_a_varint_takes_a_byte_for_every_seven_bits_of_its_zigzag(value):
    zigzagged = (value << 1) ^ (value >> 31)
    length = varint_bytes(value)
    assert zigzagged < 1 << 7 * length
    assert length == 1 or zigzagged >= 1 << 7 * (length - 1)


@given(signed, st.binary(max_size=3), st.binary(max_size=3))
def test_a_number_passes_both_ways_wherever_it_lies(value, before, after):
    encoded = unsigned_varint(zigzag(value))
    read, end = read_varint(before + encoded + after, len(before), most_bytes=10)

    assert from_zigzag(read) == value
    assert (len(encoded), end) == (varint_bytes(value), len(before + encoded))


@pytest.mark.parametrize("data", [b"", b"\xff", b"\x80\x80\x80\x80\x80\x01"])
def test_a_number_that_does_not_end_is_refused(data):
    with pytest.raises(ValueError, match="the number at byte 0 does not end"):
        read_varint(data)
