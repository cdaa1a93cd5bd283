"""A group of old consumers and its ZooKeeper, one turn of one thread at a time; and what holds of them.

>>> from kafkalearn.zookeeper.connector import BrokerStarted, TopicCreated
>>> [len(frame.state.tree.nodes) for frame in simulate(Settings(), [BrokerStarted(0), TopicCreated("orders", 2)])]
[1, 6, 7]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kafkalearn.base.errors import IllegalEvent, no_event, refusing_events, shown
from kafkalearn.base.promises import Promises, Since, of_inner
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.zookeeper import tree
from kafkalearn.zookeeper.connector import model, process
from kafkalearn.zookeeper.connector.model import Connector, ConnectorEvent, Group, Settings
from kafkalearn.zookeeper.connector.process import GroupUpdate
from kafkalearn.zookeeper.connector.rebalancing import rebalance_step
from kafkalearn.zookeeper.layout import consumer_of_thread, owner_path, owners_path, read_topic, topic_path

OF_CONSUMERS = (
    *(model.Shutdown, model.Crash, model.Reconnect, model.HandleEvent, model.WakeWatcher, model.RebalanceStep),
    *(model.Read, model.WaitForRecord, model.CommitOffsets, model.Ping),
)
OF_CLUSTER = (
    *(model.BrokerStarted, model.BrokerStopped, model.Produce),
    *(model.TopicCreated, model.TopicGrown, model.TopicDeleted),
)
EVENTS = (model.CreateMessageStreams, *OF_CONSUMERS, model.SessionExpired, model.TimePassed, *OF_CLUSTER)
NEED_A_SESSION = (model.HandleEvent, model.RebalanceStep, model.CommitOffsets, model.Ping)
"""What waits in ZooKeeper's client until it is connected again."""

TIMED_OUT = "kafka.consumer.ConsumerTimeoutException"


@refusing_events
def step(settings: Settings, group: Group, event: ConnectorEvent) -> Group:
    """The group after `event`; its `effects` are what was read and written, owned and released, thrown and notified.

    Raises
    ------
    IllegalEvent
        If a consumer does not run, or a thread of it has nothing to do; if a topic, a broker or a session is not there,
        or is there already.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, CreateMessageStreams, RebalanceStep, TopicCreated
    >>> from kafkalearn.zookeeper.subscriptions import Streams
    >>> settings = Settings()
    >>> events = [BrokerStarted(0), TopicCreated("orders", 2), CreateMessageStreams("c1", Streams({"orders": 1}))]
    >>> group = simulate(settings, [*events, *[RebalanceStep("c1")] * 8])[-1].state
    >>> group.connector("c1").owned
    (TopicPartition(topic='orders', partition=0), TopicPartition(topic='orders', partition=1))
    >>> group.tree.node("/consumers/billing/owners/orders/0")
    Node(data='billing_c1-0', session='c1', version=0)

    References
    ----------
    Apache Kafka 1.1.1, ``kafka.consumer.ZookeeperConsumerConnector``; ``org.I0Itec.zkclient.ZkClient`` 0.10.
    """
    update = GroupUpdate(settings, group)
    if isinstance(event, OF_CONSUMERS):
        _of_consumer(update, _running(group, event), event)
    elif isinstance(event, OF_CLUSTER):
        _of_cluster(update, event)
    elif isinstance(event, model.CreateMessageStreams):
        process.create_message_streams(update, event)
    elif isinstance(event, model.SessionExpired):
        update.happen(event)
    elif isinstance(event, model.TimePassed):
        process.keep_alive(update, event.ms)
        update.happen(event)
    else:
        raise no_event(event, EVENTS)
    return replace(update.group(), tree=replace(update.tree, effects=()))


def _running(group: Group, event: model.ConsumerEvent) -> Connector:
    connector = group.connector(event.consumer)
    if connector is None or not connector.is_running:
        names = ", ".join(each.name for each in group.connectors if each.is_running) or "none"
        raise IllegalEvent(f"{type(event).__name__}: {shown(event.consumer)} does not run; running: {names}")
    if isinstance(event, NEED_A_SESSION) and group.tree.session(connector.session) is None:
        raise IllegalEvent(
            f"{type(event).__name__}: the session of {connector.name} has expired; its threads wait for Reconnect"
        )
    return connector


def _of_consumer(update: GroupUpdate, connector: Connector, event: model.ConsumerEvent) -> None:
    name = connector.name
    match event:
        case model.HandleEvent():
            if not connector.notices or not connector.is_event_thread_free:
                raise IllegalEvent(f"the event thread of {name} has nothing that it can handle now")
            process.handle_event(update, name)
        case model.WakeWatcher():
            if not connector.is_triggered or connector.is_closing or model.WATCHER in _busy(connector):
                raise IllegalEvent(f"the watcher thread of {name} is not called to rebalance, or does so already")
            update.change(name, is_triggered=False)
            process.ask_for_rebalance(update, name, model.WATCHER)
        case model.RebalanceStep():
            if connector.attempt is None:
                raise IllegalEvent(f"no thread of {name} rebalances")
            rebalance_step(update, name, connector.attempt)
        case model.Read(at_most=at_most):
            _check_reads(connector)
            process.read(update, name, at_most)
        case model.WaitForRecord():
            _wait_for_record(update, connector)
        case model.CommitOffsets():
            process.commit(update, name)
        case model.Ping():
            update.ask(name, tree.Ping(connector.session))
        case model.Reconnect():
            process.reconnect(update, name)
        case model.Shutdown():
            process.shut_down(update, name)
        case model.Crash():
            process.end(update, name)


def _busy(connector: Connector) -> tuple[str, ...]:
    """The threads that rebalance or wait for it."""
    return connector.waiting if connector.attempt is None else (connector.attempt.thread, *connector.waiting)


def _check_reads(connector: Connector) -> None:
    if not connector.has_streams:
        raise IllegalEvent(f"{connector.name} has no streams: what it asked for was refused, or is not ready yet")
    if not connector.is_fetching:
        raise IllegalEvent(f"{connector.name} fetches nothing now: it rebalances, or its last rebalance failed")


def _wait_for_record(update: GroupUpdate, connector: Connector) -> None:
    if not connector.has_streams:
        raise IllegalEvent(f"{connector.name} has no streams: what it asked for was refused, or is not ready yet")
    has_more = any(update.log_end(info.topic_partition) > info.consumed for info in connector.registry)
    if connector.is_fetching and has_more:
        raise IllegalEvent(f"there are records for {connector.name}: Read takes them, nobody waits")
    if update.settings.consumer_timeout_ms >= 0:
        update.emit(model.Threw(connector.name, TIMED_OUT))


def _of_cluster(update: GroupUpdate, event: model.ClusterEvent) -> None:
    match event:
        case model.BrokerStarted(broker_id):
            process.start_broker(update, broker_id)
        case model.BrokerStopped(broker_id):
            process.stop_broker(update, broker_id)
        case model.TopicCreated(topic, partition_count):
            process.create_topic(update, topic, partition_count)
        case model.TopicGrown(topic, partition_count):
            process.grow_topic(update, topic, partition_count)
        case model.TopicDeleted(topic):
            process.delete_topic(update, topic)
        case model.Produce(topic, partition, record_count):
            process.produce(update, topic, partition, record_count)


ONE_READER = "no partition is read by two consumers"
SAME_VIEW = "consumers that rebalance at once see the same members"
NOBODY_IN_THE_WAY = "nobody finds a partition owned by another"
NOBODY_GIVES_UP = "no rebalance fails in all its tries"
ALL_OWNED = "when all is quiet every partition has an owner"
ONE_IS_CALLED = "a change calls one consumer at most"
ALL_READ = "every partition is read"
AT_REST = "nothing is left to do"
READER_OWNS = "who reads a partition with its session open is its owner in ZooKeeper"


def owners(group_id: str, zookeeper: tree.Tree, topic: str) -> dict[int, str]:
    """The thread that owns each partition of a topic, as ZooKeeper has it."""
    numbers = zookeeper.children(owners_path(group_id, topic))
    nodes = {int(each): zookeeper.node(owner_path(group_id, topic, int(each))) for each in numbers}
    return {number: node.data for number, node in nodes.items() if node is not None and node.data is not None}


def _owner_nodes_go_with_their_owner(settings: Settings, group: Group) -> bool:
    ids = {each.session: each.consumer_id for each in group.connectors}
    return all(
        node.data is not None and consumer_of_thread(node.data) == ids[node.session]
        for path, node in group.tree.nodes
        if f"/{settings.group}/owners/" in path and node.session in ids
    )


def _fetches_only_when_it_has_a_registry(settings: Settings, group: Group) -> bool:
    return all(not each.is_fetching or each.is_running for each in group.connectors)


def _one_thread_rebalances(settings: Settings, group: Group) -> bool:
    return all(each.attempt is None or each.attempt.thread not in each.waiting for each in group.connectors)


def _consumed_is_within_the_log(settings: Settings, group: Group) -> bool:
    ends = dict(group.log_ends)
    return all(
        info.consumed <= ends.get(info.topic_partition, 0)
        for each in group.connectors
        if each.is_fetching
        for info in each.registry
        if info.topic_partition in ends
    )


_OF_STATES_ALONE = {name: holds for name, holds in tree.INVARIANTS.items() if not isinstance(holds, Since)}
"""An event of a group is many requests: what holds from one to the next is judged by the ZooKeeper alone."""

INVARIANTS: Promises = {
    **of_inner(_OF_STATES_ALONE, lambda group: group.tree, lambda settings: settings.zookeeper),
    "an owner's node goes with the session of its owner": _owner_nodes_go_with_their_owner,
    "only a process that runs fetches": _fetches_only_when_it_has_a_registry,
    "one thread of a consumer rebalances at a time": _one_thread_rebalances,
    "nobody has read past the end of a log": _consumed_is_within_the_log,
}


def _one_reader(settings: Settings, group: Group) -> bool:
    readers = Counter(partition for each in group.connectors for partition in each.reads)
    return all(count == 1 for count in readers.values())


def _same_view(settings: Settings, group: Group) -> bool:
    attempts = (each.attempt for each in group.connectors if each.attempt is not None)
    stages = (model.OFFSETS, model.BUILD, model.OWN, model.START)
    return len({attempt.members for attempt in attempts if attempt.stage in stages}) <= 1


def _all_owned(settings: Settings, group: Group) -> bool:
    if not group.is_quiet:
        return True
    live = [each for each in group.connectors if each.is_running and each.has_streams]
    topics = {topic for each in live for topic in each.topics}
    return all(len(owners(settings.group, group.tree, topic)) == len(_partitions(group, topic)) for topic in topics)


def _partitions(group: Group, topic: str) -> tuple[int, ...]:
    node = group.tree.node(topic_path(topic))
    return () if node is None else read_topic(node.data)


def _reader_owns(settings: Settings, group: Group) -> bool:
    """A consumer that has yet to learn of the end of its session is not asked."""
    sessions = {session.name for session in group.tree.sessions}
    return all(
        _owner(settings, group, info.topic_partition) == info.thread
        for each in group.connectors
        if each.reads and each.session in sessions and model.Notice(model.SESSION) not in each.notices
        for info in each.registry
    )


def _owner(settings: Settings, group: Group, partition: TopicPartition) -> str | None:
    node = group.tree.node(owner_path(settings.group, *partition))
    return None if node is None else node.data


def _is_called(connector: Connector) -> bool:
    return bool(connector.notices) or connector.is_triggered


PROMISES: Promises = {
    ONE_READER: _one_reader,
    READER_OWNS: _reader_owns,
    SAME_VIEW: _same_view,
    NOBODY_IN_THE_WAY: lambda settings, group: all(
        each.attempt is None or each.attempt.conflict is None for each in group.connectors
    ),
    NOBODY_GIVES_UP: lambda settings, group: not any(each.has_given_up for each in group.connectors),
    ALL_OWNED: _all_owned,
    ONE_IS_CALLED: lambda settings, group: sum(map(_is_called, group.connectors)) <= 1,
}
"""Broken by a pause longer than the session, by views that differ, by a late release, by every change."""


def _all_read(settings: Settings, group: Group) -> bool:
    live = [each for each in group.connectors if each.is_running and each.has_streams]
    topics = {topic for each in live for topic in each.topics}
    wanted = {TopicPartition(topic, partition) for topic in topics for partition in _partitions(group, topic)}
    return wanted <= {partition for each in live for partition in each.reads}


PROGRESS: Promises = {
    ALL_READ: _all_read,
    AT_REST: lambda settings, group: group.is_quiet,
}
"""What is to come again after every change: `kafkalearn.zookeeper.search.find_stuck` looks for a run without it."""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES, PROGRESS)
