"""Java's random numbers from a seed: what ``new java.util.Random(seed)`` draws, and a list that it shuffles."""

from __future__ import annotations

from typing import TypeVar

from kafkalearn.arguments import LARGEST_INT, LARGEST_LONG, whole_number
from kafkalearn.hashing import int32

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
