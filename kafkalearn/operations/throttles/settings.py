"""What stays the same while plans come and go: the brokers, and where the partitions lie at first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafkalearn.arguments import mapping, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import BrokerId, Checked, check_fields
from kafkalearn.operations.placement.brokers import Placement, placement_of
from kafkalearn.phrases import shown


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A cluster whose brokers all live.

    Parameters
    ----------
    broker_ids : tuple of int
        All brokers.
    topics : mapping of str to placement
        ``topics[name][p]`` are the replicas of partition ``p``; kept as pairs.

    Raises
    ------
    KafkaLearnError
        If a replica lies on a broker that is not there.

    Examples
    --------
    >>> Settings((1, 2, 3), {"orders": [(1, 2), (2, 3)]}).topics
    (('orders', ((1, 2), (2, 3))),)
    """

    broker_ids: tuple[BrokerId, ...]
    topics: tuple[tuple[str, Placement], ...]

    def __post_init__(self) -> None:
        """Take the topics as pairs, and refuse what is no cluster."""
        kept: Mapping[Any, object] = mapping(
            "topics", _as_mapping(self.topics), of="name to replicas of each partition"
        )
        names = [text("a name of topics", name) for name in kept]
        pairs = tuple((name, placement_of(f"topics[{name!r}]", kept[name])) for name in sorted(names))
        object.__setattr__(self, "topics", pairs)
        check_fields(self)
        if not self.broker_ids or len({*self.broker_ids}) < len(self.broker_ids):
            raise KafkaLearnError(f"broker_ids must name at least one broker, each once, got {shown(self.broker_ids)}")
        named = {broker for _, placement in pairs for replicas in placement for broker in replicas}
        if unknown := sorted(named - {*self.broker_ids}):
            raise KafkaLearnError(f"topics has replicas on {unknown}; the brokers are {list(self.broker_ids)}")


def _as_mapping(topics: object) -> object:
    """Pairs as a mapping; anything else as it is, for `mapping` to refuse."""
    are_pairs = isinstance(topics, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in topics)
    return dict(topics) if are_pairs and all(isinstance(name, str) for name, _ in topics) else topics
