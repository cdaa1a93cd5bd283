"""Numbers of variable length: 7 bits a byte, the low ones first; a high bit means that more bytes follow.

Signed numbers go through *zigzag* first, so that small ones of either sign stay short: 0, -1, 1, -2 become 0, 1, 2, 3.
"""

from __future__ import annotations


def unsigned_varint(value: int) -> bytes:
    """A number from 0 on, encoded.

    >>> unsigned_varint(131).hex(" ")
    '83 01'
    """
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_varint(data: bytes, position: int = 0, most_bytes: int = 5) -> tuple[int, int]:
    """The unsigned number at a position, and the position behind it.

    Raises
    ------
    ValueError
        If it does not end within the bytes, or takes more than `most_bytes`.

    Examples
    --------
    >>> read_varint(bytes.fromhex("ff8301"), position=1)
    (131, 3)
    """
    value, shift, end = 0, 0, position
    while shift < 7 * most_bytes and end < len(data):
        byte = data[end]
        value |= (byte & 0x7F) << shift
        end += 1
        if byte < 0x80:
            return value, end
        shift += 7
    raise ValueError(f"the number at byte {position} does not end")


def zigzag(value: int) -> int:
    """A signed number as an unsigned one, of any width.

    >>> [zigzag(value) for value in (0, -1, 1, -2)]
    [0, 1, 2, 3]
    """
    return value << 1 if value >= 0 else (-value << 1) - 1


def from_zigzag(value: int) -> int:
    """The signed number that an unsigned one stands for.

    >>> [from_zigzag(value) for value in range(4)]
    [0, -1, 1, -2]
    """
    return value >> 1 ^ -(value & 1)


def varint_bytes(value: int) -> int:
    """The bytes that a signed number takes.

    >>> [varint_bytes(value) for value in (0, -1, 63, 64, -65, 8192)]
    [1, 1, 1, 2, 2, 3]
    """
    return max(1, (zigzag(value).bit_length() + 6) // 7)
