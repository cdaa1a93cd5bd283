"""The process of a consumer: it starts, registers and listens, reads and commits, gets another session, ends.

All of it is written on a `GroupUpdate`: a group while a step is worked out, with its requests to ZooKeeper, who is
notified by watches, and what has happened. Brokers and topics, as far as consumers see them, come last.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypedDict, Unpack

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.zookeeper import layout, tree
from kafkalearn.zookeeper.connector import model
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, stream_counts

READS = (tree.GetData, tree.GetChildren, tree.Exists)


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
    registry: tuple[model.PartitionInfo, ...]
    is_fetching: bool
    is_triggered: bool
    notices: tuple[model.Notice, ...]
    attempt: model.Attempt | None
    waiting: tuple[str, ...]
    has_given_up: bool


def _is_topic_of(connector: model.Connector, path: str) -> bool:
    """Whether a path is the node of a topic that a consumer listens to."""
    return layout.parent_path(path) == layout.BROKER_TOPICS and layout.last_name(path) in connector.topics


class GroupUpdate:
    """The next state of a group, put together piece by piece."""

    def __init__(self, settings: model.Settings, group: model.Group) -> None:
        """Begin with the group as it is before the event."""
        self.settings = settings
        self.tree = group.tree
        self.connectors = {each.name: each for each in group.connectors}
        self.log_ends = dict(group.log_ends)
        self.effects: list[model.ConnectorEffect] = []
        self._reads: Counter[str] = Counter()
        self._writes: Counter[str] = Counter()

    def group(self) -> model.Group:
        """What came of it."""
        asked = (
            model.RequestsSent(name, self._reads[name], self._writes[name]) for name in {**self._reads, **self._writes}
        )
        connectors = tuple(self.connectors[name] for name in sorted(self.connectors))
        return model.Group(self.tree, connectors, tuple(sorted(self.log_ends.items())), (*self.effects, *asked))

    def change(self, name: str, **changes: Unpack[ConnectorChanges]) -> model.Connector:
        """A consumer with some fields changed."""
        changed = replace(self.connectors[name], **changes)
        self.connectors[name] = changed
        return changed

    def emit(self, effect: model.ConnectorEffect) -> None:
        """Something has happened."""
        self.effects.append(effect)

    def log_end(self, partition: TopicPartition) -> int:
        """How many records a partition has."""
        return self.log_ends.get(partition, 0)

    # ---- ZooKeeper

    def happen(self, event: tree.TreeEvent) -> None:
        """An event of the ZooKeeper; whoever has a watch is notified."""
        self.tree = tree.step(self.settings.zookeeper, self.tree, event)
        for effect in self.tree.effects:
            match effect:
                case tree.WatchFired(session, path, what):
                    self._tell(session, path, what)
                case tree.SessionEnded(session, removed, has_expired):
                    self.emit(model.SessionGone(session, removed, has_expired))

    def ask(self, name: str, request: tree.Request) -> tree.Answered:
        """A request of a consumer, counted."""
        if not isinstance(request, tree.Ping):
            counts = self._reads if isinstance(request, READS) else self._writes
            counts[name] += 1
        self.happen(request)
        return next(effect for effect in self.tree.effects if isinstance(effect, tree.Answered))

    def _tell(self, session: str, path: str, what: str) -> None:
        """A watch has fired: what ZooKeeper's client puts into the queue of its event thread."""
        notified = next(
            (each for each in self.connectors.values() if each.session == session and each.is_running), None
        )
        if notified is None:
            return
        self.emit(model.Notified(notified.name, path, what))
        kind = model.DATA if _is_topic_of(notified, path) else None
        if what == tree.NODE_CHILDREN_CHANGED:
            kind = model.TOPICS if path == layout.BROKER_TOPICS else model.CHILDREN
        if kind is not None:
            self.change(notified.name, notices=(*notified.notices, model.Notice(kind, path)))

    # ---- what ZooKeeper's client offers: it leaves a watch wherever a listener is

    def listens(self, name: str, path: str) -> bool:
        """Whether a consumer has a listener for a path."""
        connector = self.connectors[name]
        if path == layout.ids_path(self.settings.group):
            return connector.is_registered
        if path == layout.BROKER_TOPICS:
            return connector.watches_topics
        if path == layout.BROKER_IDS:
            return connector.watches_brokers
        return _is_topic_of(connector, path)

    def data(self, name: str, path: str) -> str | None:
        """The data of a node; None if it is not there."""
        return self.ask(name, tree.GetData(self.connectors[name].session, path, self.listens(name, path))).data

    def children(self, name: str, path: str) -> tuple[str, ...]:
        """The names below a node; none if it is not there."""
        request = tree.GetChildren(self.connectors[name].session, path, self.listens(name, path))
        return self.ask(name, request).children or ()

    def exists(self, name: str, path: str) -> bool:
        """Whether a node is there."""
        request = tree.Exists(self.connectors[name].session, path, self.listens(name, path))
        return self.ask(name, request).result == tree.OK

    def listen_to_children(self, name: str, path: str) -> tuple[str, ...]:
        """A new listener for the children of a node asks twice, each time with a watch."""
        self.exists(name, path)
        return self.children(name, path)

    def listen_to_topics(self, name: str, topics: tuple[str, ...]) -> None:
        """New listeners for the nodes of topics; one that does not exist is waited for."""
        connector = self.connectors[name]
        self.change(name, topics=tuple(dict.fromkeys((*connector.topics, *topics))))
        for topic in topics:
            self.exists(name, layout.topic_path(topic))

    def create_ephemeral(self, name: str, path: str, data: str) -> str:
        """Create a node that goes with the session, and the nodes above if need be; the result."""
        session = self.connectors[name].session
        result = self.ask(name, tree.Create(session, path, data, is_ephemeral=True)).result
        if result == tree.NO_NODE:
            self.create_above(name, path)
            result = self.ask(name, tree.Create(session, path, data, is_ephemeral=True)).result
        return result

    def create_above(self, name: str, path: str) -> None:
        """Create the node above a path; where there is none above that, first that one."""
        above, session = layout.parent_path(path), self.connectors[name].session
        result = self.ask(name, tree.Create(session, above)).result
        if result == tree.NO_NODE:
            self.create_above(name, above)
            self.ask(name, tree.Create(session, above))

    def delete(self, name: str, path: str) -> None:
        """Delete a node, whoever created it; one that is not there is passed over."""
        self.ask(name, tree.Delete(self.connectors[name].session, path))

    def write(self, name: str, path: str, data: str) -> None:
        """Write into a node, which is created if need be."""
        session = self.connectors[name].session
        if self.ask(name, tree.SetData(session, path, data)).result == tree.NO_NODE:
            self.create_above(name, path)
            if self.ask(name, tree.Create(session, path, data)).result == tree.NODE_EXISTS:
                self.ask(name, tree.SetData(session, path, data))

    def node(self, path: str) -> tree.Node | None:
        """A node, as nobody has to ask for it."""
        return self.tree.node(path)


# The lock of a consumer: of its threads, one rebalances at a time.


def ask_for_rebalance(update: GroupUpdate, name: str, thread: str) -> None:
    """A thread wants the lock: it gets it, or waits until the one that has it is done."""
    connector = update.connectors[name]
    if connector.attempt is not None:
        update.change(name, waiting=(*connector.waiting, thread))
    else:
        update.emit(model.RebalanceBegan(name, thread))
        update.change(name, attempt=model.Attempt(thread))


def leave_lock(update: GroupUpdate, name: str) -> None:
    """The lock is free: of the threads that wait for it, the first gets it."""
    connector = update.change(name, attempt=None)
    if connector.waiting:
        first, *rest = connector.waiting
        update.change(name, waiting=tuple(rest))
        ask_for_rebalance(update, name, first)


# A consumer makes itself known in ZooKeeper, and leaves listeners there.


def session_name(consumer: str, count: int) -> str:
    """The name of the first, second, ... session of a consumer.

    >>> session_name("c1", 1), session_name("c1", 2)
    ('c1', 'c1/2')
    """
    return consumer if count == 1 else f"{consumer}/{count}"


def register(update: GroupUpdate, name: str, timestamp_ms: int) -> bool:
    """Create the node of a consumer and those above it; whether no other session has one in the way."""
    connector, group = update.connectors[name], update.settings.group
    path = layout.consumer_path(group, connector.consumer_id)
    for above in (layout.CONSUMERS, layout.group_path(group), layout.ids_path(group)):
        update.ask(name, tree.Create(connector.session, above))
    content = connector.subscription.registration(timestamp_ms).json()
    if update.ask(name, tree.Create(connector.session, path, content, is_ephemeral=True)).result == tree.NODE_EXISTS:
        update.data(name, path)
        if path not in update.tree.ephemerals(connector.session):
            return False
    update.emit(model.Registered(name, connector.consumer_id))
    return True


def listen(update: GroupUpdate, name: str) -> None:
    """Listen to the consumers of the group and to the consumer's own topics; for a filter, those that there are now.

    Raises
    ------
    AssertionError
        If a topic has no thread.
    """
    counts = stream_counts(
        update.connectors[name].subscription,
        lambda: update.children(name, layout.BROKER_TOPICS),
        excludes_internal=update.settings.exclude_internal_topics,
    )
    update.change(name, is_registered=True)
    update.listen_to_children(name, layout.ids_path(update.settings.group))
    update.listen_to_topics(name, tuple(counts))


# A consumer starts: its application asks for streams; and it starts anew, in part, when its session has expired.

TWICE = "kafka.common.MessageStreamsExistException: ZookeeperConsumerConnector can create message streams at most once"
TWICE_BY_FILTER = (
    "java.lang.RuntimeException: Each consumer connector can create message streams by filter at most once."
)
NO_STREAMS = "java.lang.AssertionError: assertion failed"
NODE_IN_THE_WAY = (
    "org.I0Itec.zkclient.exception.ZkNodeExistsException: "
    "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists"
)


def create_message_streams(update: GroupUpdate, event: model.CreateMessageStreams) -> None:
    """A process starts, connects, registers, listens, and rebalances on its main thread."""
    name = event.consumer
    had = update.connectors.get(name)
    if had is not None and had.is_running:
        by_filter = isinstance(event.subscription, Filtered)
        return update.emit(model.Threw(name, TWICE_BY_FILTER if by_filter else TWICE))
    _new_process(update, event, had)
    if isinstance(event.subscription, Streams):
        try:
            stream_counts(event.subscription, tuple)
        except AssertionError:
            return update.emit(model.Threw(name, NO_STREAMS))  # before anything is written
    else:
        found = event.subscription.filter.among(
            update.children(name, layout.BROKER_TOPICS), excludes_internal=update.settings.exclude_internal_topics
        )
        update.change(name, filtered=found)
    if not register(update, name, event.timestamp_ms):
        return update.emit(model.Threw(name, NODE_IN_THE_WAY))
    try:
        listen(update, name)
    except AssertionError:
        return update.emit(model.Threw(name, NO_STREAMS))  # its node stays
    return ask_for_rebalance(update, name, model.MAIN)


def _new_process(update: GroupUpdate, event: model.CreateMessageStreams, had: model.Connector | None) -> None:
    consumer_id = event.consumer_id or layout.named_consumer_id(update.settings.group, event.consumer)
    count = 1 if had is None else had.session_count + 1
    session = session_name(event.consumer, count)
    update.connectors[event.consumer] = model.Connector(
        event.consumer, consumer_id, count, session=session, subscription=event.subscription
    )
    update.happen(tree.SessionOpened(session, update.settings.zookeeper_session_timeout_ms))


def reconnect(update: GroupUpdate, name: str) -> None:
    """A client whose session has expired gets another; every listener is called, as nobody knows what it missed."""
    connector = update.connectors[name]
    if update.tree.session(connector.session) is not None:
        raise IllegalEvent(f"the session {connector.session!r} of {name} is open: there is nothing to reconnect")
    count = connector.session_count + 1
    session = session_name(name, count)
    update.happen(tree.SessionOpened(session, update.settings.zookeeper_session_timeout_ms))
    notices = connector.notices
    if connector.is_registered:
        notices += (model.Notice(model.SESSION),)
        notices += (model.Notice(model.TOPIC_SESSION),) if connector.watches_topics else ()
        notices += (model.Notice(model.CHILDREN, layout.ids_path(update.settings.group)),)
        notices += (model.Notice(model.CHILDREN, layout.BROKER_IDS),) if connector.watches_brokers else ()
        notices += (model.Notice(model.TOPICS, layout.BROKER_TOPICS),) if connector.watches_topics else ()
        notices += tuple(model.Notice(model.DATA, layout.topic_path(topic)) for topic in connector.topics)
    update.change(name, session=session, session_count=count, notices=notices)


# Offsets of old consumers: read from ZooKeeper, moved by reading, written back.


def committed_offset(update: GroupUpdate, name: str, partition: TopicPartition) -> int:
    """What the node of a partition says; -1 if there is none."""
    content = update.data(name, layout.offset_path(update.settings.group, *partition))
    return model.NO_OFFSET if content is None else int(content)


def in_range(update: GroupUpdate, info: model.PartitionInfo) -> model.PartitionInfo:
    """A partition as its fetcher begins it: an offset that the log does not have is replaced by one of its ends."""
    end = update.log_end(info.topic_partition)
    if 0 <= info.consumed <= end:
        return info
    return info._replace(consumed=0 if update.settings.auto_offset_reset == "smallest" else end)


def read(update: GroupUpdate, name: str, at_most: int | None) -> None:
    """The application reads what there is."""
    connector = update.connectors[name]
    read_infos = []
    for info in connector.registry:
        end = update.log_end(info.topic_partition)
        if at_most is not None:
            end = min(end, info.consumed + at_most)
        if end > info.consumed:
            update.emit(model.RecordsRead(name, info.topic, info.partition, info.consumed, end))
            info = info._replace(consumed=end)
        read_infos.append(info)
    update.change(name, registry=tuple(read_infos))


def commit(update: GroupUpdate, name: str) -> None:
    """Write the consumed offset of every partition whose node does not say it yet, as far as the consumer knows."""
    connector = update.connectors[name]
    infos = []
    for info in connector.registry:
        if info.consumed != info.committed:
            update.write(
                name, layout.offset_path(update.settings.group, info.topic, info.partition), str(info.consumed)
            )
            update.emit(model.Committed(name, info.topic, info.partition, info.consumed))
            info = info._replace(committed=info.consumed)
        infos.append(info)
    update.change(name, registry=tuple(infos))


# A consumer ends: it is shut down, or its process dies.


def shut_down(update: GroupUpdate, name: str) -> None:
    """No rebalance begins any more; the end comes when the one that is going on is over."""
    connector = update.change(name, is_closing=True, is_triggered=False, waiting=())
    if connector.attempt is None:
        close(update, name)


def close(update: GroupUpdate, name: str) -> None:
    """Stop fetching, commit if that is done automatically, close the session: all nodes go at once."""
    connector = update.change(name, is_fetching=False)
    if update.tree.session(connector.session) is not None:
        if update.settings.auto_commit_enable:
            commit(update, name)
        update.happen(tree.SessionClosed(connector.session))
    end(update, name)


def end(update: GroupUpdate, name: str) -> None:
    """The process is gone."""
    update.change(
        name,
        is_running=False,
        is_closing=False,
        is_fetching=False,
        is_triggered=False,
        registry=(),
        notices=(),
        attempt=None,
        waiting=(),
        has_given_up=False,
    )


# The event thread of ZooKeeper's client, and the listeners that it calls. Five listeners are there: for the consumers
# of the group, for the data of the consumer's topics, for a new session, with a filter for the list of all topics, and
# for the brokers once none was found. The first two and the last only set a flag, so that many calls become one
# rebalance; the others rebalance on the event thread itself, which handles nothing meanwhile.


def handle_event(update: GroupUpdate, name: str) -> None:
    """Handle what came first."""
    first, *rest = update.connectors[name].notices
    update.change(name, notices=tuple(rest))
    _HANDLERS[first.kind](update, name, first.path)


def _children_changed(update: GroupUpdate, name: str, path: str) -> None:
    """Consumers of the group, or brokers, came or went."""
    update.listen_to_children(name, path)
    update.change(name, is_triggered=True)


def _data_changed(update: GroupUpdate, name: str, path: str) -> None:
    """A topic has more partitions, or is there for the first time; of one that is gone nothing follows."""
    update.exists(name, path)
    update.data(name, path)
    if update.node(path) is not None:
        update.change(name, is_triggered=True)


def _topics_changed(update: GroupUpdate, name: str, path: str) -> None:
    update.listen_to_children(name, path)
    topics_changed(update, name)


def topics_changed(update: GroupUpdate, name: str) -> None:
    """With a filter: if other topics than before pass it, listen to them and rebalance."""
    connector = update.connectors[name]
    assert isinstance(connector.subscription, Filtered), "who named its topics does not listen to the list of all"
    passed = connector.subscription.filter.among(
        update.children(name, layout.BROKER_TOPICS), excludes_internal=update.settings.exclude_internal_topics
    )
    update.change(name, filtered=passed)
    if set(passed) == set(connector.filtered):
        return
    try:
        listen(update, name)
    except AssertionError:
        return  # the event thread writes it to the log and goes on
    ask_for_rebalance(update, name, model.EVENT)


def _session_is_new(update: GroupUpdate, name: str, path: str) -> None:
    """All ephemeral nodes are gone: forget what was owned, register again, rebalance."""
    update.change(name, registry=())
    if register(update, name, 0):
        ask_for_rebalance(update, name, model.EVENT)


def _listen_to_topics_again(update: GroupUpdate, name: str, path: str) -> None:
    """The second listener for a new session, of a consumer with a filter."""
    update.listen_to_children(name, layout.BROKER_TOPICS)


_HANDLERS = {
    model.CHILDREN: _children_changed,
    model.DATA: _data_changed,
    model.TOPICS: _topics_changed,
    model.SESSION: _session_is_new,
    model.TOPIC_SESSION: _listen_to_topics_again,
}


# Brokers and topics, as far as old consumers see them in ZooKeeper, and records.

CONTROLLER = "controller"
"""The session of whoever writes the nodes of topics; it never expires here."""


def start_broker(update: GroupUpdate, broker_id: int) -> None:
    """A broker opens a session and registers."""
    session = _broker_session(broker_id)
    if update.tree.session(session) is not None:
        raise IllegalEvent(f"broker {broker_id} runs already")
    _write_common_nodes(update)
    update.happen(tree.SessionOpened(session, 6000))
    update.happen(
        tree.Create(
            session, layout.broker_path(broker_id), layout.broker_content(port=9092 + broker_id), is_ephemeral=True
        )
    )


def stop_broker(update: GroupUpdate, broker_id: int) -> None:
    """A broker closes its session."""
    if update.tree.session(_broker_session(broker_id)) is None:
        raise IllegalEvent(f"broker {broker_id} does not run")
    update.happen(tree.SessionClosed(_broker_session(broker_id)))


def keep_alive(update: GroupUpdate, ms: int) -> None:
    """Brokers and controller are heard of all the time: their sessions are prolonged before time passes."""
    prolonged = tuple(
        each._replace(expires_ms=update.settings.zookeeper.expiry_ms(update.tree.now_ms + ms, each.timeout_ms))
        if each.name == CONTROLLER or each.name.startswith("broker ")
        else each
        for each in update.tree.sessions
    )
    update.tree = replace(update.tree, sessions=prolonged)


def create_topic(update: GroupUpdate, topic: str, partition_count: int) -> None:
    """A topic's node comes."""
    if update.node(layout.topic_path(topic)) is not None:
        raise IllegalEvent(f"there is a topic {topic!r} already; TopicGrown gives it more partitions")
    _write_common_nodes(update)
    update.happen(
        tree.Create(CONTROLLER, layout.topic_path(topic), layout.topic_content(topic, [[0]] * partition_count))
    )


def grow_topic(update: GroupUpdate, topic: str, partition_count: int) -> None:
    """A topic's node changes."""
    had = len(partitions_of(update, topic))
    if partition_count <= had:
        raise IllegalEvent(f"{topic} has {had} partitions and can only get more, got {partition_count}")
    update.happen(
        tree.SetData(CONTROLLER, layout.topic_path(topic), layout.topic_content(topic, [[0]] * partition_count))
    )


def delete_topic(update: GroupUpdate, topic: str) -> None:
    """A topic's node goes; its consumers only write a warning to their logs."""
    partitions_of(update, topic)
    update.happen(tree.Delete(CONTROLLER, layout.topic_path(topic)))
    update.log_ends = {each: end for each, end in update.log_ends.items() if each.topic != topic}


def produce(update: GroupUpdate, topic: str, partition: int, record_count: int) -> None:
    """Records come to the end of a partition."""
    if partition not in partitions_of(update, topic):
        raise IllegalEvent(f"{topic} has no partition {partition}")
    place = TopicPartition(topic, partition)
    update.log_ends[place] = update.log_end(place) + record_count


def partitions_of(update: GroupUpdate, topic: str) -> tuple[int, ...]:
    """The partitions of a topic.

    Raises
    ------
    IllegalEvent
        If there is no such topic.
    """
    node = update.node(layout.topic_path(topic))
    if node is None:
        known = ", ".join(update.tree.children(layout.BROKER_TOPICS)) or "none"
        raise IllegalEvent(f"there is no topic {topic!r}; topics: {known}")
    return layout.read_topic(node.data)


def _broker_session(broker_id: int) -> str:
    return f"broker {broker_id}"


def _write_common_nodes(update: GroupUpdate) -> None:
    """The first of them all writes the nodes that everything else is below."""
    if update.tree.session(CONTROLLER) is None:
        update.happen(tree.SessionOpened(CONTROLLER, 6000))
        for path in ("/brokers", layout.BROKER_IDS, layout.BROKER_TOPICS, "/consumers"):
            update.happen(tree.Create(CONTROLLER, path))
