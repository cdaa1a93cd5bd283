"""What an event led to in ZooKeeper: an answer, watches that fire, sessions that end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

OK = "OK"
NO_NODE, NODE_EXISTS, BAD_VERSION, NOT_EMPTY = "NoNode", "NodeExists", "BadVersion", "NotEmpty"
NO_CHILDREN_FOR_EPHEMERALS, SESSION_EXPIRED = "NoChildrenForEphemerals", "SessionExpired"
"""The results of a request by the names of ZooKeeper's ``KeeperException.Code``, in the form of its messages."""

NODE_CREATED, NODE_DELETED = "NodeCreated", "NodeDeleted"
NODE_DATA_CHANGED, NODE_CHILDREN_CHANGED = "NodeDataChanged", "NodeChildrenChanged"
"""What a watch tells: the names of ``Watcher.Event.EventType``. It does not tell what the new data or children are."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request. What was not asked for is None."""

    session: str
    result: str = OK
    data: str | None = None
    children: tuple[str, ...] | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class WatchFired:
    """A session is notified that something has changed; the watch is gone with that."""

    session: str
    path: str
    what: str  # `NODE_CREATED`, ...


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session was closed or has expired, and its ephemeral nodes are gone."""

    session: str
    removed: tuple[str, ...]  # paths
    has_expired: bool


TreeEffect: TypeAlias = Answered | WatchFired | SessionEnded
