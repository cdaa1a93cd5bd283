"""Java's own behaviour: the iteration order of its maps, and random numbers from a seed.

Assignments depend on the order in which Java walks a HashMap, and Kafka's broker a TimelineHashMap.

A ``HashMap`` keeps its keys in *buckets*. The bucket of a key is ``(h ^ h >>> 16) & (capacity - 1)``, where ``h``
is the key's hash code and *capacity* a power of two; the walk goes through the buckets upwards. Keys that share a
bucket are walked in the order they came in. So the order is no accident: it follows from the keys, how they came
in, and how large the map has been (it grows, it never shrinks; also when one bucket of a small map gets too many).

Left out: in a map with a capacity of 64 or more, a bucket that gets its ninth key becomes a tree, which may be
walked in another order. That takes ids that were made to collide.

`JavaRandom` draws what ``new java.util.Random(seed)`` does, and shuffles a list as Java does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping, MutableSet
from functools import lru_cache
from typing import TypeVar

from kafkalearn.base.checks import LARGEST_INT, LARGEST_LONG, whole_number
from kafkalearn.base.hashing import MASK_32, int32, java_string_hash
from kafkalearn.base.topic_partition import TopicPartition

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
HashCode = Callable[[Key], int]

DEFAULT_CAPACITY = 16
LONGEST_CHAIN = 8  # a bucket that gets one more lets a small map grow; by computeIfAbsent, one that gets this many
SMALLEST_WITH_TREES = 64  # a map of this capacity does not grow for one bucket
FIBONACCI_MULTIPLIER = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed Java long


def utf16_key(value: str) -> bytes:
    """What to sort texts by to have them in Java's order, which compares UTF-16 code units.

    It differs from Python's order only where a character above U+FFFF meets one in U+E000..U+FFFF.

    >>> sorted(["\\uffff", "\\U0001f600"], key=utf16_key) == ["\\U0001f600", "\\uffff"]
    True
    """
    return value.encode("utf-16-be", "surrogatepass")


def java_hash(key: object) -> int:
    """The signed ``hashCode()`` of a text, an int or a topic-partition.

    >>> java_hash("orders"), java_hash(7), java_hash(TopicPartition("orders", 7))
    (-1008770331, 7, -1008769153)

    References
    ----------
    Java SE API, ``String.hashCode``, ``Integer.hashCode``; Apache Kafka, ``TopicPartition.hashCode``.
    """
    if isinstance(key, TopicPartition):
        return int32(31 * (31 + key.partition) + _text_hash(key.topic))
    return key if isinstance(key, int) else _text_hash(key)


_text_hash = lru_cache(maxsize=1 << 16)(java_string_hash)  # the same few ids and topics are asked for all the time


def hash_order(keys: Iterable[Key], hash_code: HashCode[Key] = java_hash) -> list[Key]:
    """The keys in the iteration order of a ``HashMap`` (or ``HashSet``) that they were put into one by one.

    >>> hash_order(["billing", "shipping", "search"])
    ['search', 'shipping', 'billing']
    """
    return list(JavaHashSet(keys, hash_code=hash_code))


def table_size(expected: int) -> int:
    """The capacity of ``new HashMap<>(expected)``: the smallest power of two that is not below it.

    >>> [table_size(expected) for expected in (0, 1, 3, 16, 17)]
    [1, 1, 4, 16, 32]
    """
    return 1 << max(expected - 1, 0).bit_length()


def map_copy_capacity(count: int) -> int:
    """The capacity of ``new HashMap<>(map)`` for a map of `count` (Java 8 to 18; since 19 a little less).

    >>> [map_copy_capacity(count) for count in (0, 1, 2, 12)]
    [16, 2, 4, 32]
    """
    return table_size(int(count / 0.75) + 1) if count else DEFAULT_CAPACITY


def copy_capacity(count: int) -> int:
    """The capacity of ``new HashSet<>(collection)`` for a collection of `count` (Java 8 to 18; since 19 a little less).

    >>> [copy_capacity(count) for count in (0, 11, 12, 24)]
    [16, 16, 32, 64]
    """
    return max(map_copy_capacity(count), DEFAULT_CAPACITY)


class JavaHashMap(MutableMapping[Key, Value]):
    """A mapping with the iteration order of a ``java.util.HashMap`` of the same history.

    Parameters
    ----------
    capacity : int
        Of the fresh map, a power of two; ``new HashMap<>(n)`` has ``table_size(n)``.
    hash_code : callable
        The signed 32-bit hash code of a key.

    Examples
    --------
    >>> counts = JavaHashMap()
    >>> counts["shipping"], counts["billing"] = 3, 4
    >>> list(counts)
    ['shipping', 'billing']
    """

    __slots__ = ("_arrivals", "_capacity", "_hash_code", "_places", "_values")

    def __init__(self, capacity: int = DEFAULT_CAPACITY, hash_code: HashCode[Key] = java_hash) -> None:
        """An empty map."""
        self._capacity = capacity
        self._hash_code = hash_code
        self._values: dict[Key, Value] = {}
        self._places: dict[Key, tuple[int, int]] = {}  # spread hash code, place among the keys of its bucket
        self._arrivals = 0

    def __getitem__(self, key: Key) -> Value:
        """The value of `key`."""
        return self._values[key]

    def __setitem__(self, key: Key, value: Value) -> None:
        """``put``: a new key comes last in its bucket, a known one keeps its place."""
        if key not in self._values:
            self._arrivals += 1
            self._add(key, self._arrivals, LONGEST_CHAIN)
            self._grow(len(self._values) + 1)
        self._values[key] = value

    def compute_if_absent(self, key: Key, make: Callable[[], Value]) -> Value:
        """``computeIfAbsent``: a new key comes *first* in its bucket; the map grows before it, not after."""
        self._grow(len(self._values))
        if key not in self._values:
            self._arrivals += 1
            self._add(key, -self._arrivals, LONGEST_CHAIN - 1)
            self._values[key] = make()
        return self._values[key]

    def __delitem__(self, key: Key) -> None:
        """``remove``; the capacity stays."""
        del self._values[key], self._places[key]

    def __iter__(self) -> Iterator[Key]:
        """The keys, bucket by bucket."""
        last_bucket = self._capacity - 1
        places = self._places
        return iter(sorted(places, key=lambda key: (places[key][0] & last_bucket, places[key][1])))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._values)

    def _add(self, key: Key, place: int, longest_chain: int) -> None:
        """Give a new key its place; if its bucket holds so many already, a small map grows."""
        unsigned = self._hash_code(key) & MASK_32
        spread = unsigned ^ unsigned >> 16
        if self._capacity < SMALLEST_WITH_TREES and len(self._places) >= longest_chain:
            last_bucket = self._capacity - 1
            bucket = spread & last_bucket
            if sum(other & last_bucket == bucket for other, _ in self._places.values()) >= longest_chain:
                self._capacity *= 2
        self._places[key] = spread, place

    def _grow(self, count: int) -> None:
        if count > self._capacity * 3 // 4:  # one step at a time, as Java does
            self._capacity *= 2


class JavaHashSet(MutableSet[Key]):
    """A set with the iteration order of a ``java.util.HashSet`` of the same history.

    >>> list(JavaHashSet([18, 2, 1]))  # 18 and 2 share bucket 2 of 16
    [1, 18, 2]
    """

    __slots__ = ("_map",)

    def __init__(
        self, keys: Iterable[Key] = (), capacity: int = DEFAULT_CAPACITY, hash_code: HashCode[Key] = java_hash
    ) -> None:
        """A set into which `keys` were put one by one."""
        self._map: JavaHashMap[Key, None] = JavaHashMap(capacity, hash_code)
        for key in keys:
            self._map[key] = None

    @classmethod
    def copy_of(cls, keys: Iterable[Key], hash_code: HashCode[Key] = java_hash) -> JavaHashSet[Key]:
        """``new HashSet<>(keys)``: large enough from the start."""
        keys = list(keys)
        return cls(keys, copy_capacity(len(keys)), hash_code)

    def add(self, key: Key) -> None:
        """Put `key` in, last in its bucket."""
        self._map[key] = None

    def discard(self, key: Key) -> None:
        """Take `key` out if it is in."""
        self._map.pop(key, None)

    def __contains__(self, key: object) -> bool:
        """Whether `key` is in."""
        return key in self._map

    def __iter__(self) -> Iterator[Key]:
        """The keys, bucket by bucket."""
        return iter(self._map)

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._map)


# The broker's maps.

FIRST_SLOTS = 2  # of a TimelineHashMap that is made for nothing


def timeline_slots(slot_count: int, size: int) -> int:
    """The slots of a ``TimelineHashMap`` of `size` keys after one more ``put``, be the key new or known.

    It asks for room before it looks whether the key is known, so that it may grow when a value is replaced.

    >>> timeline_slots(2, size=1), timeline_slots(2, size=2)
    (2, 4)

    References
    ----------
    Apache Kafka, ``org.apache.kafka.timeline.BaseHashTable.baseAddOrReplace``.
    """
    return slot_count * 2 if (size + 1) * 0.75 > slot_count else slot_count


def timeline_order(keys: Iterable[Key], slot_count: int, hash_code: HashCode[Key] = java_hash) -> list[Key]:
    """The keys, given in the order of insertion, in the iteration order of a ``TimelineHashMap``.

    The slot of a key is made of the highest bits of its hash code times a constant; of the keys in one slot, the
    newest comes first.

    >>> timeline_order(["billing", "shipping", "search"], slot_count=4)
    ['billing', 'search', 'shipping']

    References
    ----------
    Apache Kafka, ``BaseHashTable.findSlot`` and ``SnapshottableHashTable.CurrentIterator``.
    """
    shift = 65 - slot_count.bit_length()
    newest_first = reversed(list(keys))
    return sorted(newest_first, key=lambda key: (hash_code(key) * FIBONACCI_MULTIPLIER & (1 << 64) - 1) >> shift)


class TimelineHashSet(MutableSet[Key]):
    """A set with the iteration order of Kafka's ``TimelineHashMap``, in which a broker keeps a group's members.

    >>> list(TimelineHashSet(["billing", "shipping", "search"]))
    ['billing', 'search', 'shipping']

    References
    ----------
    Apache Kafka, ``org.apache.kafka.timeline.TimelineHashMap``.
    """

    __slots__ = ("_hash_code", "_keys", "_slot_count")

    def __init__(self, keys: Iterable[Key] = (), hash_code: HashCode[Key] = java_hash) -> None:
        """A set into which `keys` were put one by one."""
        self._hash_code = hash_code
        self._keys: dict[Key, None] = {}
        self._slot_count = FIRST_SLOTS
        for key in keys:
            self.add(key)

    def add(self, key: Key) -> None:
        """Put `key` in, first in its slot; a known key keeps its place."""
        self._slot_count = timeline_slots(self._slot_count, len(self._keys))
        self._keys.setdefault(key)

    def discard(self, key: Key) -> None:
        """Take `key` out if it is in; the slots stay."""
        self._keys.pop(key, None)

    def __contains__(self, key: object) -> bool:
        """Whether `key` is in."""
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        """The keys, slot by slot."""
        return iter(timeline_order(self._keys, self._slot_count, self._hash_code))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._keys)


# Random numbers.

Member = TypeVar("Member")

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """The generator behind ``java.util.Random``, in the same state after the same calls.

    Kafka's placers take one that nobody has seeded. With a seed a placement can be computed again, and compared with
    what Kafka's own class gives for that seed.

    >>> random = JavaRandom(42)
    >>> [random.next_int(3) for _ in range(6)]
    [2, 0, 0, 2, 0, 1]

    References
    ----------
    Java SE API, ``java.util.Random``.
    """

    def __init__(self, seed: int) -> None:
        """As ``new Random(seed)``; the seed is a long."""
        whole_number("seed", seed, -LARGEST_LONG - 1)
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _next(self, bits: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return int32(self._state >> (48 - bits))

    def next_int(self, bound: int) -> int:
        """A number from 0 to `bound` - 1, as ``nextInt(bound)`` draws it."""
        whole_number("bound", bound, 1, LARGEST_INT)
        drawn = self._next(31)
        if bound & (bound - 1) == 0:  # a power of two: the high bits, which are the better ones
            return bound * drawn >> 31
        while int32(drawn - drawn % bound + bound - 1) < 0:  # the last numbers would favour small remainders
            drawn = self._next(31)
        return drawn % bound

    def shuffle(self, members: list[Member]) -> None:
        """Put a list into another order, in place, as ``Collections.shuffle`` does.

        >>> brokers = [1, 2, 3, 4, 5]
        >>> JavaRandom(42).shuffle(brokers)
        >>> brokers
        [2, 3, 4, 5, 1]
        """
        for place in range(len(members) - 1, 0, -1):
            other = self.next_int(place + 1)
            members[place], members[other] = members[other], members[place]
