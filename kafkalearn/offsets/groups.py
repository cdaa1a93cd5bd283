"""The nouns that the coordinator keeps: groups, their members, the offsets they committed."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.group_states import EMPTY
from kafkalearn.topic_partition import TopicPartition

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"  # kinds of groups, by their protocol


@dataclass(frozen=True, slots=True)
class Committed:
    """An offset that a group committed for one partition: the next one to read."""

    topic: str
    partition: int
    offset: int
    metadata: str = ""
    commit_ms: int = -1
    leader_epoch: int | None = None
    expire_ms: int | None = None  # carried by the record; None: the group's rule decides
    topic_id: str | None = None

    @property
    def at(self) -> TopicPartition:
        """Topic and partition."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group."""

    member_id: str
    client_id: str = ""
    client_host: str = ""
    instance_id: str | None = None  # of a static member
    epoch: int | None = None  # of the member; None in a classic group
    subscribed: tuple[str, ...] | None = None  # topics; None: the records do not say
    assigned: tuple[TopicPartition, ...] = ()
    target: tuple[TopicPartition, ...] | None = None  # None in a classic group
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A group as its coordinator knows it."""

    group_id: str
    kind: str = CLASSIC
    state: str = EMPTY
    protocol_type: str | None = None  # None: it never had members, only committed offsets
    protocol: str | None = None  # the assignor, among consumers
    epoch: int = 0  # the generation of a classic group, the group epoch of another
    target_epoch: int | None = None  # None in a classic group
    leader: str | None = None  # a member id; None but in a classic group with members
    state_ms: int | None = None  # since when it is in its state; None: not known
    members: tuple[Member, ...] = ()  # by member id
    offsets: tuple[Committed, ...] = ()  # by topic and partition

    @property
    def is_simple(self) -> bool:
        """Whether it has committed offsets and never had members."""
        return self.kind == CLASSIC and not self.protocol_type and self.state == EMPTY

    @property
    def is_blank(self) -> bool:
        """Whether it is only a name in memory: its offsets are gone, and it never had more."""
        return self.is_simple and not self.offsets

    def offset(self, topic: str, partition: int) -> Committed | None:
        """What the group committed for a partition; None: nothing."""
        return next((each for each in self.offsets if each.at == (topic, partition)), None)
