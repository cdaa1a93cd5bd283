"""Two fronts over members sorted by load: one fills up from below, the other takes away from above.

Both count as if each member they name gets, or gives, one partition. The *low front* spreads to the right like
water: it serves everybody at the lowest level, then the level has risen by one and takes in those already there.
The *high front* spreads to the left in the same way, downwards.
"""

from __future__ import annotations

from collections.abc import Sequence


class LowFront:
    """Names the member to get the next partition.

    >>> front = LowFront([0, 1, 2], loads=[1, 1, 2])
    >>> [front.next() for _ in range(5)]  # the two at level 1, then all three at level 2
    [0, 1, 0, 1, 2]

    Parameters
    ----------
    members : sequence of int
        The members, sorted by load; shared with the high front, which may swap them.
    loads : sequence of int
        The load of each member at any time.
    """

    def __init__(self, members: Sequence[int], loads: Sequence[int]) -> None:
        """A front below the lowest level."""
        self._members = members
        self._loads = loads
        self.level = loads[members[0]] - 1
        self._end = 0  # the front is members[:end]
        self._cursor = 0

    def next(self) -> int:
        """The member whose turn it is."""
        if self._cursor >= self._end:
            self.level += 1
            while self._end < len(self._members) and self._loads[self._members[self._end]] == self.level:
                self._end += 1
            self._cursor = 0
        self._cursor += 1
        return self._members[self._cursor - 1]


class HighFront:
    """Names the member to give the next partition away, as long as there is one.

    >>> front = HighFront([0, 1, 2], loads=[1, 3, 3])
    >>> front.next(), front.next(), front.next()  # the two at level 3, then again from the right
    (2, 1, 2)
    """

    def __init__(self, members: list[int], loads: Sequence[int]) -> None:
        """A front above the highest level."""
        self._members = members
        self._loads = loads
        self.level = loads[members[-1]] + 1
        self._start = self._end = len(members)  # the front is members[start:end]
        self._cursor = len(members) - 1

    def next(self) -> int | None:
        """The member whose turn it is; None: nobody is left who could give."""
        if self._cursor < self._start:
            self._sink()
        if self._cursor < 0:
            return None
        self._cursor -= 1
        return self._members[self._cursor + 1]

    def exclude_last_named(self) -> None:
        """The member named last has nothing to give: it goes to the right end, and the front ends before it."""
        place, last = self._cursor + 1, self._end - 1
        self._members[place], self._members[last] = self._members[last], self._members[place]
        self._end = last

    def _sink(self) -> None:
        if self._end <= self._start and self._start > 0:
            # All of the front was excluded: the level jumps to the next member, or nobody would be reached.
            self.level = self._loads[self._members[self._start - 1]]
        else:
            self.level -= 1
        while self._start > 0 and self._loads[self._members[self._start - 1]] == self.level:
            self._start -= 1
        self._cursor = self._end - 1
