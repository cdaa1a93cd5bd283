"""A ZooKeeper at one moment: its nodes, the sessions that are open, and who watches what."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.zookeeper.tree.effects import TreeEffect
from kafkalearn.zookeeper.tree.settings import Settings

DATA, CHILDREN = "data", "children"
"""The two kinds of watches. One on data is also set by asking whether a node exists, and waits for it to come."""


class Node(NamedTuple):
    """A znode."""

    data: str | None = None
    session: str | None = None  # that it goes with; None: it is persistent
    version: int = 0  # how often its data was set since it was created

    @property
    def is_ephemeral(self) -> bool:
        """Whether it goes with a session."""
        return self.session is not None


class Session(NamedTuple):
    """A session that is open."""

    name: str
    timeout_ms: int
    expires_ms: int  # if nothing more is heard of its client


class Watch(NamedTuple):
    """A session wants to be notified of the next change."""

    path: str
    kind: str  # `DATA` or `CHILDREN`
    session: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A ZooKeeper; `effects` are what the last event led to."""

    nodes: tuple[tuple[str, Node], ...] = (("/", Node()),)  # sorted by path
    sessions: tuple[Session, ...] = ()  # in the order they were opened
    watches: tuple[Watch, ...] = ()  # sorted
    now_ms: int = 0
    transaction_count: int = field(default=0, compare=False)  # ZooKeeper's zxid: every change has a number
    effects: tuple[TreeEffect, ...] = field(default=(), compare=False)

    def node(self, path: str) -> Node | None:
        """The node at a path; None: there is none."""
        place = bisect_left(self.nodes, (path,))
        return self.nodes[place][1] if place < len(self.nodes) and self.nodes[place][0] == path else None

    def children(self, path: str) -> tuple[str, ...]:
        """The names of the nodes directly below a path, sorted."""
        above = path if path.endswith("/") else f"{path}/"
        first = bisect_left(self.nodes, (above,))
        last = bisect_left(self.nodes, (above[:-1] + "0",))  # "0" is the character after "/"
        names = (each[len(above) :] for each, _ in self.nodes[first:last])
        return tuple(name for name in names if name and "/" not in name)

    def session(self, name: str) -> Session | None:
        """The open session of a name; None: there is none."""
        return next((each for each in self.sessions if each.name == name), None)

    def ephemerals(self, session: str) -> tuple[str, ...]:
        """The paths of the nodes that go with a session."""
        return tuple(path for path, node in self.nodes if node.session == session)


def start(settings: Settings) -> Tree:
    """A ZooKeeper with nothing in it but the root.

    >>> start(Settings()).children("/")
    ()
    """
    return Tree()
