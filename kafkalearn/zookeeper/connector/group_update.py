"""A group while a step is worked out: requests to ZooKeeper, who is notified by watches, what has happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypedDict, Unpack

from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.connector.effects import Asked, ConnectorEffect, Notified, SessionGone
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.state import (
    CHILDREN,
    DATA,
    TOPICS,
    Attempt,
    Connector,
    Group,
    Notice,
    PartitionInfo,
)
from kafkalearn.zookeeper.layout import BROKER_IDS, BROKER_TOPICS, ids_path, last_name, parent_path, topic_path
from kafkalearn.zookeeper.tree.effects import (
    NO_NODE,
    NODE_CHILDREN_CHANGED,
    NODE_EXISTS,
    OK,
    Answered,
    SessionEnded,
    WatchFired,
)
from kafkalearn.zookeeper.tree.events import (
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Ping,
    Request,
    SetData,
    TreeEvent,
)
from kafkalearn.zookeeper.tree.simulator import step as step_tree
from kafkalearn.zookeeper.tree.state import Node

READS = (GetData, GetChildren, Exists)


class ConnectorChanges(TypedDict, total=False):
    """The fields of a consumer that change while its process runs, or ends."""

    session_count: int
    is_running: bool
    is_closing: bool
    session: str
    is_registered: bool
    has_streams: bool
    filtered: tuple[str, ...]
    topics: tuple[str, ...]
    watches_topics: bool
    watches_brokers: bool
    registry: tuple[PartitionInfo, ...]
    is_fetching: bool
    is_triggered: bool
    notices: tuple[Notice, ...]
    attempt: Attempt | None
    waiting: tuple[str, ...]
    has_given_up: bool


class GroupUpdate:
    """The next state of a group, put together piece by piece."""

    def __init__(self, settings: Settings, group: Group) -> None:
        """Begin with the group as it is before the event."""
        self.settings = settings
        self.tree = group.tree
        self.connectors = {each.name: each for each in group.connectors}
        self.log_ends = dict(group.log_ends)
        self.effects: list[ConnectorEffect] = []
        self._reads: Counter[str] = Counter()
        self._writes: Counter[str] = Counter()

    def group(self) -> Group:
        """What came of it."""
        asked = (Asked(name, self._reads[name], self._writes[name]) for name in {**self._reads, **self._writes})
        connectors = tuple(self.connectors[name] for name in sorted(self.connectors))
        return Group(self.tree, connectors, tuple(sorted(self.log_ends.items())), (*self.effects, *asked))

    def change(self, name: str, **changes: Unpack[ConnectorChanges]) -> Connector:
        """A consumer with some fields changed."""
        changed = replace(self.connectors[name], **changes)
        self.connectors[name] = changed
        return changed

    def emit(self, effect: ConnectorEffect) -> None:
        """Something has happened."""
        self.effects.append(effect)

    def log_end(self, partition: TopicPartition) -> int:
        """How many records a partition has."""
        return self.log_ends.get(partition, 0)

    # ---- ZooKeeper

    def happen(self, event: TreeEvent) -> None:
        """An event of the ZooKeeper; whoever has a watch is notified."""
        self.tree = step_tree(self.settings.zookeeper, self.tree, event)
        for effect in self.tree.effects:
            match effect:
                case WatchFired(session, path, what):
                    self._tell(session, path, what)
                case SessionEnded(session, removed, has_expired):
                    self.emit(SessionGone(session, removed, has_expired))

    def ask(self, name: str, request: Request) -> Answered:
        """A request of a consumer, counted."""
        if not isinstance(request, Ping):
            counts = self._reads if isinstance(request, READS) else self._writes
            counts[name] += 1
        self.happen(request)
        return next(effect for effect in self.tree.effects if isinstance(effect, Answered))

    def _tell(self, session: str, path: str, what: str) -> None:
        """A watch has fired: what ZooKeeper's client puts into the queue of its event thread."""
        notified = next(
            (each for each in self.connectors.values() if each.session == session and each.is_running), None
        )
        if notified is None:
            return
        self.emit(Notified(notified.name, path, what))
        kind = DATA if last_name(path) in notified.topics and parent_path(path) == BROKER_TOPICS else None
        if what == NODE_CHILDREN_CHANGED:
            kind = TOPICS if path == BROKER_TOPICS else CHILDREN
        if kind is not None:
            self.change(notified.name, notices=(*notified.notices, Notice(kind, path)))

    # ---- what ZooKeeper's client offers: it leaves a watch wherever a listener is

    def listens(self, name: str, path: str) -> bool:
        """Whether a consumer has a listener for a path."""
        connector = self.connectors[name]
        if path == ids_path(self.settings.group):
            return connector.is_registered
        if path == BROKER_TOPICS:
            return connector.watches_topics
        if path == BROKER_IDS:
            return connector.watches_brokers
        return parent_path(path) == BROKER_TOPICS and last_name(path) in connector.topics

    def data(self, name: str, path: str) -> str | None:
        """The data of a node; None if it is not there."""
        return self.ask(name, GetData(self.connectors[name].session, path, self.listens(name, path))).data

    def children(self, name: str, path: str) -> tuple[str, ...]:
        """The names below a node; none if it is not there."""
        request = GetChildren(self.connectors[name].session, path, self.listens(name, path))
        return self.ask(name, request).children or ()

    def exists(self, name: str, path: str) -> bool:
        """Whether a node is there."""
        request = Exists(self.connectors[name].session, path, self.listens(name, path))
        return self.ask(name, request).result == OK

    def listen_to_children(self, name: str, path: str) -> tuple[str, ...]:
        """A new listener for the children of a node asks twice, each time with a watch."""
        self.exists(name, path)
        return self.children(name, path)

    def listen_to_topics(self, name: str, topics: tuple[str, ...]) -> None:
        """New listeners for the nodes of topics; one that does not exist is waited for."""
        connector = self.connectors[name]
        self.change(name, topics=tuple(dict.fromkeys((*connector.topics, *topics))))
        for topic in topics:
            self.exists(name, topic_path(topic))

    def create_ephemeral(self, name: str, path: str, data: str) -> str:
        """Create a node that goes with the session, and the nodes above if need be; the result."""
        session = self.connectors[name].session
        result = self.ask(name, Create(session, path, data, is_ephemeral=True)).result
        if result == NO_NODE:
            self.create_above(name, path)
            result = self.ask(name, Create(session, path, data, is_ephemeral=True)).result
        return result

    def create_above(self, name: str, path: str) -> None:
        """Create the node above a path; where there is none above that, first that one."""
        above, session = parent_path(path), self.connectors[name].session
        result = self.ask(name, Create(session, above)).result
        if result == NO_NODE:
            self.create_above(name, above)
            self.ask(name, Create(session, above))

    def delete(self, name: str, path: str) -> None:
        """Delete a node, whoever created it; one that is not there is passed over."""
        self.ask(name, Delete(self.connectors[name].session, path))

    def write(self, name: str, path: str, data: str) -> None:
        """Write into a node, which is created if need be."""
        session = self.connectors[name].session
        if self.ask(name, SetData(session, path, data)).result == NO_NODE:
            self.create_above(name, path)
            if self.ask(name, Create(session, path, data)).result == NODE_EXISTS:
                self.ask(name, SetData(session, path, data))

    def node(self, path: str) -> Node | None:
        """A node, as nobody has to ask for it."""
        return self.tree.node(path)
