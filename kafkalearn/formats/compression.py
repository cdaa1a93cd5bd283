"""The four ways in which a record batch may be compressed, done and undone, and no batch to more than a limit.

A few bytes may announce, or hold, more than any memory: 5 bytes of snappy say 32 GiB, 400 KB of gzip hold 400 MB of
zeros. What a batch announces is compared with the limit before anything is allocated, and what it announces nothing
about is read in small steps, as far as the limit.

gzip is in Python's own library. The others are PyArrow's, which is loaded only when a batch needs it: it is no part of
the core, takes a tenth of a second, and most segments of the offsets topic are not compressed.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from struct import unpack_from

from kafkalearn.base.checks import one_of, whole_number
from kafkalearn.base.errors import require
from kafkalearn.formats.wire import read_varint

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""The codecs by the number that a batch's attributes hold."""

BATCH_LIMIT_BYTES = 64 << 20
"""To how many bytes one batch is decoded at most, unless the caller gives another limit; a broker takes batches of up
to 1 MiB, compressed, unless ``max.message.bytes`` is raised."""

_STEP_BYTES, _FED_BYTES = 1 << 20, 1 << 14  # taken out at a time, and put in
_GZIP_FORMAT = 31  # for zlib: with gzip's header, and windows of any size
_ZSTD_MAGIC, _LZ4_MAGIC = b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
_XERIAL_MAGIC = b"\x82SNAPPY\x00"  # the Java client cuts snappy into blocks, with two version numbers in front
_XERIAL_HEADER_BYTES = 16
_MOST_FROM_SNAPPY = 22  # bytes that one byte of snappy can stand for: 64 from a copy of 3


class Damaged(ValueError):  # noqa: N818  (named for what the bytes are)
    """Bytes that their codec cannot undo, or that would become too many."""


def compress(codec: str, data: bytes) -> bytes:
    """What follows the header of a batch, compressed as a producer does it.

    Raises
    ------
    KafkaLearnError
        If there is no such codec.
    MissingExtra
        As `decompress`.

    Examples
    --------
    >>> [decompress(codec, compress(codec, b"paid" * 20)) == b"paid" * 20 for codec in CODECS]
    [True, True, True, True, True]
    """
    one_of("codec", codec, CODECS)
    if codec == "none":
        return data
    if codec == "gzip":
        return gzip.compress(data, mtime=0)
    require(f"a batch compressed with {codec}", "pyarrow")
    import pyarrow

    return pyarrow.Codec(codec).compress(data, asbytes=True)


def decompress(codec: str, data: bytes, batch_limit_bytes: int = BATCH_LIMIT_BYTES) -> bytes:
    """What was compressed.

    Parameters
    ----------
    codec : str
        A name in `CODECS`.
    data : bytes
        What follows the header of a batch.
    batch_limit_bytes : int
        The most it may become.

    Raises
    ------
    Damaged
        If the codec cannot undo it, or it announces or holds more than the limit; the message has the sizes.
    MissingExtra
        If the codec is PyArrow's and that is not installed; the message says how to install it.

    Examples
    --------
    >>> decompress("gzip", zlib.compress(b"records", wbits=31))
    b'records'
    >>> decompress("gzip", zlib.compress(bytes(1000), wbits=31), batch_limit_bytes=100)
    Traceback (most recent call last):
    ...
    kafkalearn.formats.compression.Damaged: gzip: its 29 bytes hold more than the 100 bytes that one batch may \
have; raise batch_limit_bytes if that is no mistake
    """
    whole_number("batch_limit_bytes", batch_limit_bytes, at_least=1)
    if codec == "none":
        if len(data) > batch_limit_bytes:
            raise _too_many(f"its {len(data):,} bytes are", batch_limit_bytes)
        return data
    if codec != "gzip":
        require(f"a batch compressed with {codec}", "pyarrow")
    _refuse_more(codec, data, _announced_bytes(codec, data) or 0, batch_limit_bytes)
    if codec == "snappy":
        parts = _snappy(data, batch_limit_bytes)
    else:
        parts = _gzip(data) if codec == "gzip" else _stream(codec, data)
    try:
        return _all_of(codec, data, parts, batch_limit_bytes)
    except Damaged:
        raise
    except (OSError, EOFError, ValueError, MemoryError, zlib.error) as error:
        raise Damaged(f"{codec} cannot undo it: {error}") from None


def _too_many(what: str, batch_limit_bytes: int) -> Damaged:
    return Damaged(
        f"{what} more than the {batch_limit_bytes:,} bytes that one batch may have; raise batch_limit_bytes if that is "
        "no mistake"
    )


def _refuse_more(codec: str, data: bytes, announced: int, batch_limit_bytes: int) -> None:
    if announced > batch_limit_bytes:
        raise _too_many(f"{codec}: its {len(data):,} bytes announce {announced:,} bytes,", batch_limit_bytes)


def _all_of(codec: str, data: bytes, parts: Iterator[bytes], batch_limit_bytes: int) -> bytes:
    """The parts as one, unless they become more than the limit."""
    found: list[bytes] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > batch_limit_bytes:
            raise _too_many(f"{codec}: its {len(data):,} bytes hold", batch_limit_bytes)
        found.append(part)
    return b"".join(found)


def _announced_bytes(codec: str, data: bytes) -> int | None:
    """What the front of the data says of its size; None: it does not say."""
    if codec == "zstd" and data.startswith(_ZSTD_MAGIC) and len(data) > 4:
        return _announced_by_zstd(data)
    if codec == "lz4" and data.startswith(_LZ4_MAGIC) and len(data) >= 14 and data[4] & 0x08:
        return int.from_bytes(data[6:14], "little")
    return None


def _announced_by_zstd(data: bytes) -> int | None:
    flags = data[4]
    is_single, size_flag = bool(flags & 0x20), flags >> 6
    position = 5 + (not is_single) + (0, 1, 2, 4)[flags & 0x03]  # behind the window's size and the dictionary's number
    width = 1 << size_flag if size_flag or is_single else 0
    if not width or len(data) < position + width:
        return None
    return int.from_bytes(data[position : position + width], "little") + (256 if width == 2 else 0)


def _gzip(data: bytes) -> Iterator[bytes]:
    """Member by member, in small steps; zeros behind a member are padding."""
    position = 0
    while position < len(data):
        member = zlib.decompressobj(wbits=_GZIP_FORMAT)
        while not member.eof:
            given = data[position : position + _FED_BYTES]
            part = member.decompress(given, _STEP_BYTES)
            position += len(given) - len(member.unconsumed_tail) - len(member.unused_data)
            if not part and not given and not member.eof:
                raise EOFError("it ends before its end is marked")
            yield part
        while data[position : position + 1] == b"\x00":
            position += 1


def _stream(codec: str, data: bytes) -> Iterator[bytes]:
    """Step by step, into memory of our own: what `read` has allocated PyArrow never gives back where it fails."""
    import pyarrow

    step = bytearray(_STEP_BYTES)
    with pyarrow.CompressedInputStream(pyarrow.py_buffer(data), codec) as stream:
        while size := stream.readinto(step):
            yield bytes(memoryview(step)[:size])


def _snappy(data: bytes, batch_limit_bytes: int) -> Iterator[bytes]:
    """Block by block, each of which announces its size; all of them together stay within the limit."""
    import pyarrow

    total = 0
    for block in _cut_in_blocks(data):
        size, _ = read_varint(block)
        total += size
        _refuse_more("snappy", data, total, batch_limit_bytes)
        if size > _MOST_FROM_SNAPPY * len(block):
            raise ValueError(f"a block of {len(block):,} bytes announces {size:,}, which no such block can hold")
        yield pyarrow.Codec("snappy").decompress(block, size, asbytes=True)


def _cut_in_blocks(data: bytes) -> Iterator[bytes]:
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
