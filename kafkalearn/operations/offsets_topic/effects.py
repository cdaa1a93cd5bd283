"""What an event led to: answers to clients, a topic, leaders that change, plans that stand still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class CoordinatorFound:
    """FindCoordinator was answered with a broker."""

    group_id: str
    partition: int
    broker: int


@dataclass(frozen=True, slots=True)
class CoordinatorNotAvailable:
    """FindCoordinator was answered COORDINATOR_NOT_AVAILABLE; `partition` is None while there is no topic.

    The client is not given a reason. It waits ``retry.backoff.ms`` and asks again, until its own time is over.
    """

    group_id: str
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class TopicCreated:
    """The topic was created."""

    replica_count: int


@dataclass(frozen=True, slots=True)
class TopicNotCreated:
    """There are too few brokers; `logged` is what the broker's log says, where it says something."""

    logged: str | None


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """A partition has another leader; None: none."""

    partition: int
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class ReassignmentStuck:
    """A partition without a leader cannot be copied: its reassignment is recorded, and waits for one."""

    partition: int


@dataclass(frozen=True, slots=True)
class ReassignmentCompleted:
    """A reassignment that waited has come to its end, as somebody leads the partition again."""

    partition: int


@dataclass(frozen=True, slots=True)
class ReassignmentRefused:
    """The tool did not begin the plan; `message` is what it prints."""

    message: str


Effect: TypeAlias = (
    CoordinatorFound
    | CoordinatorNotAvailable
    | TopicCreated
    | TopicNotCreated
    | LeaderChanged
    | ReassignmentStuck
    | ReassignmentCompleted
    | ReassignmentRefused
)
