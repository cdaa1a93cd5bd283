import pytest

from kafkalearn.segments.checksum import crc32c


@pytest.mark.parametrize(("data", "crc"), [(b"", 0), (b"123456789", 0xE3069283), (b"\x00" * 32, 0x8A9136AA)])
def test_the_checksum_is_castagnolis(data, crc):
    assert crc32c(data) == crc
