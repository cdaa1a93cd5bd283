"""Who has which partition: an assignment maps every member to a tuple of topic-partitions."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import Any, TypeVar

from kafkalearn.garbage import no_search
from kafkalearn.topic_partition import TopicPartition

Item = TypeVar("Item")


class Assignment(Mapping[str, tuple[TopicPartition, ...]]):
    """Each member (or thread, of an old consumer) with its partitions, in the order Kafka lists them.

    An immutable mapping, so assignments compare and hash by what they hold. Members without a partition are in it.

    Parameters
    ----------
    owned : mapping of str to iterable of TopicPartition
        The partitions of each member.

    Examples
    --------
    >>> assignment = Assignment({"C0": [TopicPartition("t0", 0), TopicPartition("t0", 2)], "C1": []})
    >>> print(assignment)
    C0: t0-0 t0-2
    C1: none
    >>> assignment["C0"][1]
    TopicPartition(topic='t0', partition=2)
    """

    __slots__ = ("_compact", "_expand", "_expanded")

    def __init__(self, owned: Mapping[str, Iterable[TopicPartition]]) -> None:
        """A copy: later changes of `owned` do not touch it."""
        self._expanded = {member_id: tuple(partitions) for member_id, partitions in owned.items()}
        self._compact: Mapping[str, Sequence[Any]] = self._expanded
        self._expand: Callable[[Sequence[Any]], Iterable[TopicPartition]] = tuple

    @classmethod
    def compact(
        cls, owned: Mapping[str, Sequence[Item]], expand: Callable[[Sequence[Item]], Iterable[TopicPartition]]
    ) -> Assignment:
        """An assignment of something smaller than topic-partitions, which `expand` makes when they are asked for.

        So a million partitions are assigned in a few bytes each, and only those looked at become objects. `owned`
        is kept as it is: whoever made it must not change it any more.

        >>> print(Assignment.compact({"C0": [0, 2]}, lambda numbers: [TopicPartition("t", each) for each in numbers]))
        C0: t-0 t-2
        """
        assignment = cls({})
        assignment._compact = owned
        assignment._expand = expand
        return assignment

    def __getitem__(self, member_id: str) -> tuple[TopicPartition, ...]:
        """The partitions of a member."""
        if member_id not in self._expanded:
            self._expanded[member_id] = tuple(self._expand(self._compact[member_id]))
        return self._expanded[member_id]

    def __iter__(self) -> Iterator[str]:
        """The members, in the order in which the coordinator listed them."""
        return iter(self._compact)

    def __len__(self) -> int:
        """How many members there are, idle ones included."""
        return len(self._compact)

    def items(self) -> ItemsView[str, tuple[TopicPartition, ...]]:
        """Each member with its partitions."""
        self._expand_all()
        return super().items()

    def values(self) -> ValuesView[tuple[TopicPartition, ...]]:
        """The partitions of each member."""
        self._expand_all()
        return super().values()

    def _expand_all(self) -> None:
        """Make all topic-partitions at once, where they are going to be looked at one after the other."""
        if len(self._expanded) < len(self._compact):
            with no_search():
                for member_id in self._compact:
                    self[member_id]

    def __hash__(self) -> int:
        """Equal assignments hash alike, whatever the order of their members."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[Assignment], tuple[dict[str, tuple[TopicPartition, ...]]]]:
        """Pickled as what it holds, however much of that has been made into objects so far."""
        return Assignment, (dict(self),)

    def __str__(self) -> str:
        """A line for each member."""
        return "\n".join(f"{member_id}: {partitions_text(owned)}" for member_id, owned in self.items())

    def __repr__(self) -> str:
        """How large it is; `print` shows all of it."""
        return f"<Assignment of {sum(self.counts().values())} partitions to {len(self)} members>"

    def counts(self) -> dict[str, int]:
        """How many partitions each member has.

        >>> Assignment({"C0": [TopicPartition("t0", 0)], "C1": []}).counts()
        {'C0': 1, 'C1': 0}
        """
        return {member_id: len(owned) for member_id, owned in self._compact.items()}

    def owners(self) -> dict[TopicPartition, str]:
        """The owner of each partition.

        >>> Assignment({"C0": [TopicPartition("t0", 0)], "C1": []}).owners()
        {TopicPartition(topic='t0', partition=0): 'C0'}
        """
        return {partition: member_id for member_id, owned in self.items() for partition in owned}

    def rows(self) -> list[dict[str, str | int]]:
        """A plain row for each owned partition: member, topic, partition.

        >>> Assignment({"C0": [TopicPartition("t0", 0)], "C1": []}).rows()
        [{'member': 'C0', 'topic': 't0', 'partition': 0}]
        """
        return [
            {"member": member_id, "topic": topic, "partition": partition}
            for member_id, owned in self.items()
            for topic, partition in owned
        ]


def partitions_text(partitions: Iterable[TopicPartition]) -> str:
    """The partitions in one line, ``none`` if there are none.

    >>> partitions_text([TopicPartition("t0", 0), TopicPartition("t1", 2)])
    't0-0 t1-2'
    """
    return " ".join(map(str, partitions)) or "none"
