"""What stays the same during a rebalance: the assignor, the topics, and the group before it all began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalearn.arguments import whole_number
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.registry import find_assignor
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

MOST_PARTITIONS = 200_000  # of all topics: every moment of a rebalance has an owner, or none, for each


@dataclass(frozen=True, slots=True)
class Settings:
    """A group of clients that assign for themselves, and has settled.

    Parameters
    ----------
    assignor : str
        A name in `kafkalearn.assignor.registry.CLIENT_ASSIGNORS`; it decides how a rebalance is carried out.
    partition_counts : mapping of str to int, or tuple of (str, int)
        The partitions of each topic, at most `MOST_PARTITIONS` in all.
    members : sequence of Member
        Of the group at the start. What they own is worked out.

    Raises
    ------
    KafkaLearnError
        If no client has such an assignor, or no coordinator could form such a group.

    Examples
    --------
    >>> Settings("sticky", {"t": 6}, [Member("m0", ["t"])]).is_eager
    True
    """

    assignor: str
    partition_counts: tuple[tuple[str, int], ...]
    members: tuple[Member, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            assignor: str,
            partition_counts: Mapping[str, int] | Iterable[tuple[str, int]],
            members: Iterable[Member],
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no group can be, and make tuples of mappings and sequences."""
        find_assignor(self.assignor, side="client")
        try:
            counts = self.counts
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"partition_counts must map each topic to its number of partitions, got {shown(self.partition_counts)}"
            ) from None
        spec = GroupSpec(counts, self.members)
        total = sum(counts.values())
        whole_number("the number of partitions of a rebalance", total, at_least=0, at_most=MOST_PARTITIONS)
        object.__setattr__(self, "partition_counts", tuple(spec.partition_counts.items()))
        object.__setattr__(self, "members", spec.members)

    @property
    def counts(self) -> Mapping[str, int]:
        """The partitions of each topic, as a mapping."""
        return dict(self.partition_counts)

    @property
    def is_eager(self) -> bool:
        """Whether everybody gives everything up before a new assignment; False: the group is cooperative."""
        return self.assignor != "cooperative-sticky"
