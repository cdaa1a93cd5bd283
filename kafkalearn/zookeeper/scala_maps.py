"""The order in which Scala 2.11 walks its hash maps: the JSON in ZooKeeper's nodes is written in it.

A *mutable* ``HashMap`` is walked from the last of its buckets to the first. An immutable ``Map`` of up to four keys is
walked in the order in which they came; a larger one is a trie, walked by five bits of a mixed hash code at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from kafkalearn.hashing import MASK_32
from kafkalearn.java_collections import java_hash

Key = TypeVar("Key", bound=Hashable)

MOST_IN_ORDER = 4  # keys of an immutable map that keeps them as they came
LEAST_CAPACITY = 16
SWAP_FACTOR = 0x9E3775CD


def immutable_order(keys: Iterable[Key], hash_code: Callable[[Key], int] = java_hash) -> list[Key]:
    """The keys in the order in which Scala walks an immutable ``Map`` that they were put into one by one.

    >>> immutable_order(["orders", "clicks", "mail"])
    ['orders', 'clicks', 'mail']
    >>> immutable_order(["orders", "clicks", "mail", "refunds", "stock"])
    ['stock', 'refunds', 'mail', 'clicks', 'orders']

    References
    ----------
    Scala 2.11, ``scala.collection.immutable.HashMap``; keys with the same 32 bits of hash are not notified apart.
    """
    given = list(dict.fromkeys(keys))
    if len(given) <= MOST_IN_ORDER:
        return given
    return sorted(given, key=lambda key: [_mixed(hash_code(key)) >> bits & 31 for bits in range(0, 35, 5)])


def mutable_order(keys: Iterable[Key], hash_code: Callable[[Key], int] = java_hash) -> list[Key]:
    """The keys in the order in which Scala walks a ``mutable.HashMap`` that they were put into one by one.

    >>> mutable_order(range(4))
    [2, 1, 3, 0]

    References
    ----------
    Scala 2.11, ``scala.collection.mutable.HashTable``, ``scala.util.hashing.byteswap32``.
    """
    given = list(dict.fromkeys(keys))
    capacity = LEAST_CAPACITY
    while len(given) > capacity * 3 // 4:
        capacity *= 2
    buckets: list[list[Key]] = [[] for _ in range(capacity)]
    for key in given:
        buckets[_bucket(hash_code(key), capacity)].insert(0, key)
    return [key for bucket in reversed(buckets) for key in bucket]


def _mixed(hash_code: int) -> int:
    mixed = hash_code & MASK_32
    mixed = mixed + (~(mixed << 9) & MASK_32) & MASK_32
    mixed ^= mixed >> 14
    mixed = mixed + (mixed << 4) & MASK_32
    return mixed ^ mixed >> 10


def _bucket(hash_code: int, capacity: int) -> int:
    highest = capacity - 1
    turns = highest.bit_count()
    swapped = int.from_bytes(((hash_code & MASK_32) * SWAP_FACTOR & MASK_32).to_bytes(4, "big"), "little")
    swapped = swapped * SWAP_FACTOR & MASK_32
    turned = (swapped >> turns | swapped << 32 - turns) & MASK_32
    return turned >> 32 - highest.bit_length() & highest
