"""Which member gets the next partition, and which one gives it away: two ranges over members sorted by load.

Both count as if each member they name gets, or gives, one partition. The *least loaded range* begins with the members
of the lowest load. Once each of them got one, their load is one more, and the range grows by the members that had
that load already. The *most loaded range* grows in the same way from the other end, downwards.

References
----------
Apache Kafka 4.0 to 4.3, ``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``.
"""

from __future__ import annotations

from collections.abc import Sequence


class LeastLoadedRange:
    """Names the member that gets the next partition.

    >>> least = LeastLoadedRange([0, 1, 2], loads=[1, 1, 2])
    >>> [least.next() for _ in range(5)]  # the two with load 1, then all three with load 2
    [0, 1, 0, 1, 2]

    Parameters
    ----------
    members : sequence of int
        The members, sorted by load; shared with the most loaded range, which may swap them.
    loads : sequence of int
        The load of each member at any time.
    """

    def __init__(self, members: Sequence[int], loads: Sequence[int]) -> None:
        """An empty range below the lowest load."""
        self._members = members
        self._loads = loads
        self.load = loads[members[0]] - 1
        self._end = 0  # the range is members[:end]
        self._cursor = 0

    def next(self) -> int:
        """The member whose turn it is."""
        if self._cursor >= self._end:
            self.load += 1
            while self._end < len(self._members) and self._loads[self._members[self._end]] == self.load:
                self._end += 1
            self._cursor = 0
        self._cursor += 1
        return self._members[self._cursor - 1]


class MostLoadedRange:
    """Names the member that gives the next partition away, as long as there is one.

    >>> most = MostLoadedRange([0, 1, 2], loads=[1, 3, 3])
    >>> most.next(), most.next(), most.next()  # the two with load 3, then again from the right
    (2, 1, 2)
    """

    def __init__(self, members: list[int], loads: Sequence[int]) -> None:
        """An empty range above the highest load."""
        self._members = members
        self._loads = loads
        self.load = loads[members[-1]] + 1
        self._start = self._end = len(members)  # the range is members[start:end]
        self._cursor = len(members) - 1

    def next(self) -> int | None:
        """The member whose turn it is; None: nobody is left that could give."""
        if self._cursor < self._start:
            self._grow_down()
        if self._cursor < 0:
            return None
        self._cursor -= 1
        return self._members[self._cursor + 1]

    def exclude_last_named(self) -> None:
        """The member named last has nothing to give: it goes to the right end, and the range ends before it."""
        place, last = self._cursor + 1, self._end - 1
        self._members[place], self._members[last] = self._members[last], self._members[place]
        self._end = last

    def _grow_down(self) -> None:
        if self._end <= self._start and self._start > 0:
            # All of the range was excluded: the load jumps to that of the next member, or nobody would be reached.
            self.load = self._loads[self._members[self._start - 1]]
        else:
            self.load -= 1
        while self._start > 0 and self._loads[self._members[self._start - 1]] == self.load:
            self._start -= 1
        self._cursor = self._end - 1
