"""A group of old consumers and its ZooKeeper, one turn of one thread at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.phrases import shown
from kafkalearn.trace import Trace, run
from kafkalearn.zookeeper.connector import cluster, offsets
from kafkalearn.zookeeper.connector.effects import Threw
from kafkalearn.zookeeper.connector.events import (
    BrokerStarted,
    BrokerStopped,
    ClusterEvent,
    CommitOffsets,
    ConnectorEvent,
    ConsumerEvent,
    Crash,
    CreateMessageStreams,
    HandleEvent,
    Ping,
    Produce,
    Read,
    RebalanceStep,
    Reconnect,
    SessionExpired,
    Shutdown,
    TimePassed,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
    WaitForRecord,
    WakeWatcher,
)
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.listeners import handle_event
from kafkalearn.zookeeper.connector.process.ending import end, shut_down
from kafkalearn.zookeeper.connector.process.starting import create_message_streams, reconnect
from kafkalearn.zookeeper.connector.rebalancing.lock import ask_for_rebalance
from kafkalearn.zookeeper.connector.rebalancing.steps import rebalance_step
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.state import WATCHER, Connector, Group, start
from kafkalearn.zookeeper.tree import events as of_tree

OF_CONSUMERS = (
    Shutdown,
    Crash,
    Reconnect,
    HandleEvent,
    WakeWatcher,
    RebalanceStep,
    Read,
    WaitForRecord,
    CommitOffsets,
    Ping,
)
OF_CLUSTER = (BrokerStarted, BrokerStopped, TopicCreated, TopicGrown, TopicDeleted, Produce)
EVENTS = (CreateMessageStreams, *OF_CONSUMERS, SessionExpired, TimePassed, *OF_CLUSTER)
NEED_A_SESSION = (HandleEvent, RebalanceStep, CommitOffsets, Ping)
"""What waits in ZooKeeper's client until it is connected again."""

TIMED_OUT = "kafka.consumer.ConsumerTimeoutException"


def step(settings: Settings, group: Group, event: ConnectorEvent) -> Group:
    """The group after `event`; its `effects` are what was read and written, owned and released, thrown and notified.

    Raises
    ------
    IllegalEvent
        If a consumer does not run, or a thread of it has nothing to do; if a topic, a broker or a session is not there,
        or is there already.

    Examples
    --------
    >>> from kafkalearn.zookeeper.subscriptions import Streams
    >>> settings = Settings()
    >>> events = [BrokerStarted(), TopicCreated("orders", 2), CreateMessageStreams("c1", Streams({"orders": 1}))]
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
    elif isinstance(event, CreateMessageStreams):
        create_message_streams(update, event)
    elif isinstance(event, SessionExpired):
        update.happen(of_tree.SessionExpired(event.session))
    elif isinstance(event, TimePassed):
        cluster.keep_alive(update, event.ms)
        update.happen(of_tree.TimePassed(event.ms))
    else:
        raise no_event(event, EVENTS)
    return replace(update.group(), tree=replace(update.tree, effects=()))


def simulate(
    settings: Settings, events: Iterable[ConnectorEvent], initial: Group | None = None
) -> Trace[Group, ConnectorEvent]:
    """The trace of some events, from `initial` or from an empty ZooKeeper.

    >>> [len(frame.state.tree.nodes) for frame in simulate(Settings(), [BrokerStarted(), TopicCreated("orders", 2)])]
    [1, 6, 7]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def _running(group: Group, event: ConsumerEvent) -> Connector:
    connector = group.connector(event.consumer)
    if connector is None or not connector.is_running:
        names = ", ".join(each.name for each in group.connectors if each.is_running) or "none"
        raise IllegalEvent(f"{type(event).__name__}: {shown(event.consumer)} does not run; running: {names}")
    if isinstance(event, NEED_A_SESSION) and group.tree.session(connector.session) is None:
        raise IllegalEvent(
            f"{type(event).__name__}: the session of {connector.name} has expired; its threads wait for Reconnect"
        )
    return connector


def _of_consumer(update: GroupUpdate, connector: Connector, event: ConsumerEvent) -> None:
    name = connector.name
    match event:
        case HandleEvent():
            if not connector.notices or not connector.is_event_thread_free:
                raise IllegalEvent(f"the event thread of {name} has nothing that it can handle now")
            handle_event(update, name)
        case WakeWatcher():
            if not connector.is_triggered or connector.is_closing or WATCHER in _busy(connector):
                raise IllegalEvent(f"the watcher thread of {name} is not called to rebalance, or does so already")
            update.change(name, is_triggered=False)
            ask_for_rebalance(update, name, WATCHER)
        case RebalanceStep():
            if connector.attempt is None:
                raise IllegalEvent(f"no thread of {name} rebalances")
            rebalance_step(update, name, connector.attempt)
        case Read(at_most=at_most):
            _check_reads(connector)
            offsets.read(update, name, at_most)
        case WaitForRecord():
            _wait_for_record(update, connector)
        case CommitOffsets():
            offsets.commit(update, name)
        case Ping():
            update.ask(name, of_tree.Ping(connector.session))
        case Reconnect():
            reconnect(update, name)
        case Shutdown():
            shut_down(update, name)
        case Crash():
            end(update, name)


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
        update.emit(Threw(connector.name, TIMED_OUT))


def _of_cluster(update: GroupUpdate, event: ClusterEvent) -> None:
    match event:
        case BrokerStarted(broker_id):
            cluster.start_broker(update, broker_id)
        case BrokerStopped(broker_id):
            cluster.stop_broker(update, broker_id)
        case TopicCreated(topic, partition_count):
            cluster.create_topic(update, topic, partition_count)
        case TopicGrown(topic, partition_count):
            cluster.grow_topic(update, topic, partition_count)
        case TopicDeleted(topic):
            cluster.delete_topic(update, topic)
        case Produce(topic, partition, record_count):
            cluster.produce(update, topic, partition, record_count)
