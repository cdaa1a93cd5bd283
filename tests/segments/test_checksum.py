import random

import pytest

from kafkalearn.formats.batches import POLYNOMIAL, ROW_BYTES, crc32c

LONGEST_FIRST = [at_least for at_least, _ in ROW_BYTES]


def bit_by_bit(data):
    """The definition of the checksum: a division of polynomials."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize(("data", "crc"), [(b"", 0), (b"123456789", 0xE3069283), (b"\x00" * 32, 0x8A9136AA)])
def test_the_checksum_is_castagnolis(data, crc):
    assert crc32c(data) == crc


@pytest.mark.parametrize("size", [0, 1, 63, *(size + more for size in LONGEST_FIRST for more in (-1, 0, 1, 70, 255))])
def test_data_of_any_length_has_the_checksum_of_the_definition(size):
    data = random.Random(size).randbytes(size)
    assert crc32c(data) == bit_by_bit(data)
