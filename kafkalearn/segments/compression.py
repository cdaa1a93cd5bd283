"""The four ways in which a record batch may be compressed, undone.

gzip is in Python's library; the others are pyarrow's, which is loaded only when a batch needs it: most segments of
the offsets topic are not compressed, and it takes a tenth of a second.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from struct import unpack_from

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""The codecs by the number that a batch's attributes hold."""

_XERIAL_MAGIC = b"\x82SNAPPY\x00"  # the Java client cuts snappy into blocks, with two version numbers in front
_XERIAL_HEADER_BYTES = 16


class Damaged(ValueError):  # noqa: N818  (named for what the bytes are)
    """Bytes that their codec cannot undo."""


def decompress(codec: str, data: bytes) -> bytes:
    """What was compressed.

    Parameters
    ----------
    codec : str
        A name in `CODECS`.
    data : bytes
        What follows the header of a batch.

    Raises
    ------
    Damaged
        If the codec cannot undo it.

    Examples
    --------
    >>> decompress("gzip", gzip.compress(b"records"))
    b'records'
    """
    if codec == "none":
        return data
    try:
        if codec == "gzip":
            return gzip.decompress(data)
        if codec == "snappy":
            return b"".join(map(_snappy_block, _snappy_blocks(data)))
        return _stream(codec, data)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise Damaged(f"{codec} cannot undo it: {error}") from None


def _stream(codec: str, data: bytes) -> bytes:
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.py_buffer(data), codec) as stream:
        return stream.read()


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    if not data.startswith(_XERIAL_MAGIC):
        yield data  # librdkafka and others write one block and nothing around it
        return
    position = _XERIAL_HEADER_BYTES
    while position < len(data):
        if position + 4 > len(data):
            raise ValueError("the length of a block is cut off")
        (length,) = unpack_from(">i", data, position)
        if not 0 <= length <= len(data) - position - 4:
            raise ValueError(f"a block of {length} bytes does not fit")
        yield data[position + 4 : position + 4 + length]
        position += 4 + length


def _snappy_block(block: bytes) -> bytes:
    import pyarrow

    size = shift = 0
    for byte in block[:5]:  # a block begins with its size, 7 bits a byte, low ones first
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return pyarrow.Codec("snappy").decompress(block, size, asbytes=True)
