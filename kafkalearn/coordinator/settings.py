"""What is looked up: one group, on a cluster whose leaders are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.arguments import text
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT, leaders_of


@dataclass(frozen=True, slots=True)
class Settings:
    """One group and the leaders of the offsets topic.

    Parameters
    ----------
    group_id : str
        Any text without lone surrogates.
    leaders : sequence of int or None
        ``leaders[p]`` is the broker that leads partition ``p`` of ``__consumer_offsets``; None: no live leader.
    partition_count : int
        Partitions of that topic, and so the number of leaders.

    Raises
    ------
    KafkaLearnError
        As `kafkalearn.coordinator.find_coordinator`.

    Examples
    --------
    >>> Settings("ok", leaders=[1, 2], partition_count=2).units
    (111, 107)
    """

    group_id: str
    leaders: tuple[int | None, ...]
    partition_count: int = OFFSETS_PARTITION_COUNT
    units: tuple[int, ...] = field(init=False, repr=False, compare=False)  # the UTF-16 code units of the group id

    def __post_init__(self) -> None:
        """Refuse what cannot be looked up."""
        text("group_id", self.group_id)
        leaders = leaders_of(self.leaders, self.partition_count)
        encoded = self.group_id.encode("utf-16-be")
        units = tuple(high << 8 | low for high, low in zip(encoded[::2], encoded[1::2], strict=True))
        object.__setattr__(self, "leaders", leaders)
        object.__setattr__(self, "partition_count", len(leaders))  # None stands for 50, as elsewhere
        object.__setattr__(self, "units", units)
