"""The four ways in which a record batch may be compressed, done and undone, and no batch to more than a limit.

A few bytes may announce, or hold, more than any memory: 5 bytes of snappy say 32 GiB, 400 KB of gzip hold 400 MB of
zeros. What a batch announces is compared with the limit before anything is allocated, and what it announces nothing
about is read in small steps, as far as the limit.

gzip is in Python's own library. The others are PyArrow's, which is loaded only when a batch needs it: it is no part of
the core, takes a tenth of a second, and most segments of the offsets topic are not compressed. Where it is not
installed, snappy and lz4 are undone here, slower and with the same answer, and zstd by Python's own library, which has
it since 3.14; on an older Python a batch of zstd names the extra that brings PyArrow.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from struct import unpack_from

from kafkalearn.base.checks import one_of, whole_number
from kafkalearn.base.errors import is_installed, require
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
HAS_ZSTD = sys.version_info >= (3, 14)
"""Whether Python's own library undoes zstd: the module compression.zstd (PEP 784)."""

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
        If the codec is PyArrow's and that is not installed; the message says how to install it.

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
    _require_pyarrow(codec)
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
        If it is zstd, PyArrow is not installed and Python is older than 3.14; the message says how to install it.

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
    if codec == "zstd" and not HAS_ZSTD:
        _require_pyarrow(codec)
    _refuse_more(codec, data, _announced_bytes(codec, data) or 0, batch_limit_bytes)
    if codec == "snappy":
        parts = _snappy(data, batch_limit_bytes)
    elif codec == "gzip":
        parts = _gzip(data)
    elif is_installed("pyarrow"):
        parts = _stream(codec, data)
    else:
        parts = _lz4(data) if codec == "lz4" else _zstd(data)
    try:
        return _all_of(codec, data, parts, batch_limit_bytes)
    except Damaged:
        raise
    except (OSError, EOFError, ValueError, IndexError, MemoryError, zlib.error) as error:
        raise Damaged(f"{codec} cannot undo it: {error}") from None


def _require_pyarrow(codec: str) -> None:
    require(f"a batch compressed with {codec}", "pyarrow", extra="fast")


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
    total = 0
    for block in _cut_in_blocks(data):
        size, _ = read_varint(block)
        total += size
        _refuse_more("snappy", data, total, batch_limit_bytes)
        if size > _MOST_FROM_SNAPPY * len(block):
            raise ValueError(f"a block of {len(block):,} bytes announces {size:,}, which no such block can hold")
        yield _unsnapped(block, size)


def _unsnapped(block: bytes, size: int) -> bytes:
    if not is_installed("pyarrow"):
        return unsnapped(block)
    import pyarrow

    return pyarrow.Codec("snappy").decompress(block, size, asbytes=True)


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


# snappy, lz4 and zstd where PyArrow is not installed.
#
# Both of the first are runs of *literals*, bytes as they are, and of *copies*, bytes that came before: how far back,
# and how many. A copy may reach into itself: one byte back and 100 long is that byte a hundred times.
#
# References
# ----------
# snappy, ``format_description.txt``; lz4, ``lz4_Block_format.md`` and ``lz4_Frame_format.md``.


def _copy(out: bytearray, distance: int, length: int) -> None:
    """Write again what stands so far back."""
    start = len(out) - distance
    if distance < 1 or start < 0:
        raise ValueError(f"a copy from {distance:,} bytes back, and {len(out):,} are there")
    if distance >= length:
        out += out[start : start + length]
    else:
        times, rest = divmod(length, distance)
        again = bytes(out[start:])
        out += again * times + again[:rest]


def _taken(data: bytes, position: int, length: int) -> bytes:
    if position + length > len(data):
        raise EOFError(f"{length:,} bytes are announced, {len(data) - position:,} are left")
    return data[position : position + length]


def unsnapped(block: bytes) -> bytes:
    """What one block of snappy holds.

    Raises
    ------
    ValueError, EOFError, IndexError
        If it is none.

    Examples
    --------
    >>> unsnapped(bytes([8, 4]) + b"ab" + bytes([0b000_010_01, 2]))
    b'abababab'
    """
    size, position = read_varint(block)
    out = bytearray()
    while position < len(block):
        tag = block[position]
        position += 1
        kind, length = tag & 0x03, tag >> 2
        if kind == 0:
            if length >= 60:
                width = length - 59
                length = int.from_bytes(_taken(block, position, width), "little")
                position += width
            out += _taken(block, position, length + 1)
            position += length + 1
        elif kind == 1:
            _copy(out, (tag >> 5) << 8 | block[position], (length & 0x07) + 4)
            position += 1
        else:
            width = 2 if kind == 2 else 4
            _copy(out, int.from_bytes(_taken(block, position, width), "little"), length + 1)
            position += width
        if len(out) > size:
            break
    if len(out) != size:
        raise ValueError(f"a block announces {size:,} bytes and holds {'more' if len(out) > size else f'{len(out):,}'}")
    return bytes(out)


_LZ4_BLOCK_BYTES = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_LZ4_WINDOW_BYTES = 1 << 16  # so far back a copy may reach, into the block before, too


def _lz4(data: bytes) -> Iterator[bytes]:
    """Frame by frame, block by block; lz4's own checksums are not looked at: the batch's covers the same bytes."""
    position = 0
    while position < len(data):
        if _taken(data, position, 4) != _LZ4_MAGIC:
            raise ValueError(f"no frame of lz4 begins at byte {position}")
        flags, most = data[position + 4], _LZ4_BLOCK_BYTES.get(data[position + 5] >> 4 & 0x07)
        if flags >> 6 != 1 or most is None:
            raise ValueError(f"the frame at byte {position} is of an unknown kind")
        position += 7 + 8 * (flags >> 3 & 1) + 4 * (flags & 1)
        window = b""
        while size := int.from_bytes(_taken(data, position, 4), "little"):
            is_plain, size = size >> 31, size & 0x7FFFFFFF
            block = _taken(data, position + 4, size)
            part = block if is_plain else _lz4_block(block, window, most)
            yield part
            window = b"" if flags & 0x20 else (window + part)[-_LZ4_WINDOW_BYTES:]
            position += 4 + size + 4 * (flags >> 4 & 1)
        position += 4 + 4 * (flags >> 2 & 1)
        _taken(data, position, 0)


def _lz4_block(block: bytes, window: bytes, most_bytes: int) -> bytes:
    """One block; `window` is what came before it."""
    out, position, begun = bytearray(window), 0, len(window)
    while True:
        token = block[position]
        length, position = _lz4_length(block, position + 1, token >> 4)
        out += _taken(block, position, length)
        position += length
        if position == len(block):  # the last run has no copy
            break
        distance = int.from_bytes(_taken(block, position, 2), "little")
        length, position = _lz4_length(block, position + 2, token & 0x0F)
        _copy(out, distance, length + 4)
        if len(out) - begun > most_bytes:
            break
    if len(out) - begun > most_bytes:
        raise ValueError(f"a block holds more than the {most_bytes:,} bytes that its frame allows")
    return bytes(memoryview(out)[begun:])


def _lz4_length(block: bytes, position: int, length: int) -> tuple[int, int]:
    """A length of which 15 says that more follows, and the position behind it."""
    more = 255 if length == 15 else 0
    while more == 255:
        more = block[position]
        length, position = length + more, position + 1
    return length, position


def _zstd(data: bytes) -> Iterator[bytes]:
    """Frame by frame, in small steps, by Python's own library."""
    zstd = import_module("compression.zstd")
    while data:
        frame = zstd.ZstdDecompressor()
        given = data
        while not frame.eof:
            try:
                part = frame.decompress(given, _STEP_BYTES)
            except zstd.ZstdError as error:
                raise ValueError(str(error)) from None
            given = b""
            if not part and frame.needs_input and not frame.eof:
                raise EOFError("it ends before its end is marked")
            yield part
        data = frame.unused_data
