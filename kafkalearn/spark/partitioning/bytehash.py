"""Hashes of byte strings, a whole Arrow column at a time, with NumPy.

A hash reads its key from the first byte to the last, so the loop here runs over *positions*, and each turn of it
handles that position of all keys at once. Arrow keeps the bytes of a column in one buffer with the offsets where
each key begins, so nothing is copied per key.

Spark's workers run these functions. They need NumPy and PyArrow there, but not kafkalearn: this module uses
nothing else of it, and goes there with the query (`kafkalearn.spark.session.worker_code`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

MURMUR2_SEED = np.uint32(0x9747B28C)
MURMUR2_M = np.uint32(0x5BD1E995)
FNV1A_OFFSET_BASIS = np.uint32(0x811C9DC5)
FNV1A_PRIME = np.uint32(0x01000193)


def murmur2(keys: pa.Array) -> np.ndarray:
    """The murmur2 of each key as uint32, as `kafkalearn.hashing.murmur2` computes it; any number for a null.

    >>> murmur2(pa.array([b"21", b""])).astype("int32").tolist()
    [-973932308, 275646681]
    """
    data, starts, lengths = _bytes_of(keys)
    words = np.ndarray((len(data) - 3,), "<u4", data, 0, (1,))  # the 4 bytes from each position on, as one number
    block_counts = lengths >> 2
    hashes = MURMUR2_SEED ^ lengths.astype(np.uint32)
    for index in range(int(block_counts.max(initial=0))):
        (live,) = np.nonzero(block_counts > index)
        block = words[starts[live] + 4 * index] * MURMUR2_M
        block = (block ^ block >> np.uint32(24)) * MURMUR2_M
        hashes[live] = hashes[live] * MURMUR2_M ^ block
    rest = (lengths & 3).astype(np.uint32)
    tail = words[starts + 4 * block_counts] & ((np.uint32(1) << np.uint32(8) * rest) - np.uint32(1))
    hashes = np.where(rest > 0, (hashes ^ tail) * MURMUR2_M, hashes)
    hashes = (hashes ^ hashes >> np.uint32(13)) * MURMUR2_M
    return hashes ^ hashes >> np.uint32(15)


def fnv1a(keys: pa.Array) -> np.ndarray:
    """The 32-bit FNV-1a of each key as uint32, as `kafkalearn.hashing.fnv1a` computes it; any number for a null.

    >>> fnv1a(pa.array([b"a"])).tolist()
    [3826002220]
    """
    data, starts, lengths = _bytes_of(keys)
    hashes = np.full(len(keys), FNV1A_OFFSET_BASIS)
    for index in range(int(lengths.max(initial=0))):
        (live,) = np.nonzero(lengths > index)
        hashes[live] = (hashes[live] ^ data[starts[live] + index]) * FNV1A_PRIME
    return hashes


def hashing(name: str) -> Callable[[pa.Array], pa.Array]:
    """From keys to their hashes as Spark's bigint, null for a null key; `name` is one of the functions above."""
    hashes_of = {"murmur2": murmur2, "fnv1a": fnv1a}[name]

    def hash_column(keys: pa.Array) -> pa.Array:
        return pa.array(hashes_of(keys).astype(np.int64), mask=keys.is_null().to_numpy(zero_copy_only=False))

    return hash_column


def _bytes_of(keys: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All bytes of a column with four more at the end, and where each key starts, and how long it is."""
    _, offsets_buffer, data_buffer = keys.buffers()
    offset_type = np.int64 if pa.types.is_large_binary(keys.type) else np.int32
    offsets = np.frombuffer(offsets_buffer, offset_type)[keys.offset : keys.offset + len(keys) + 1].astype(np.int64)
    used = np.frombuffer(data_buffer or b"", np.uint8)[: offsets[-1]]
    return np.concatenate([used, np.zeros(4, np.uint8)]), offsets[:-1], np.diff(offsets)
