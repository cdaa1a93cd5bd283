"""The four ways in which a record batch may be compressed, undone.

gzip is in Python's own library. The others are PyArrow's, which is loaded only when a batch needs it: it is no part of
the core, takes a tenth of a second, and most segments of the offsets topic are not compressed.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from struct import unpack_from

from kafkalearn.extras import require
from kafkalearn.wire.varint import read_varint

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
    MissingExtra
        If the codec is PyArrow's and that is not installed; the message says how to install it.

    Examples
    --------
    >>> decompress("gzip", gzip.compress(b"records"))
    b'records'
    """
    if codec == "none":
        return data
    if codec != "gzip":
        require(f"a batch compressed with {codec}", "pyarrow")
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

    size, _ = read_varint(block)  # a block begins with its size
    return pyarrow.Codec("snappy").decompress(block, size, asbytes=True)
