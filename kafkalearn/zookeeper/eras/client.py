"""An old consumer's process in the world of a scenario."""

from __future__ import annotations

from typing import Protocol

from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.world.clock import HEARTBEAT_THREAD
from kafkalearn.group.world.consumers import Client, Consumer
from kafkalearn.group.world.subscriptions import Subscription
from kafkalearn.group.world.world import World
from kafkalearn.zookeeper.connector.events import ConnectorEvent, CreateMessageStreams, RebalanceStep, Shutdown
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.state import Group
from kafkalearn.zookeeper.contents import WHITE_LIST
from kafkalearn.zookeeper.filters import TopicFilter
from kafkalearn.zookeeper.layout import consumer_id
from kafkalearn.zookeeper.subscriptions import Filtered, Streams

START_OF_TIME_MS = 1_400_000_000_000  # the wall clock when a scenario begins
PINGS_PER_TIMEOUT = 3


class OldConsumers(Protocol):
    """The group that a process belongs to, as its client sees it."""

    world: World
    settings: Settings
    group: Group

    def do(self, event: ConnectorEvent, cause: str = "") -> None:
        """Something happens to the group now."""

    def ping(self, consumer: Consumer) -> None:
        """A client says that it lives."""


class OldClient(Client):
    """Asks for its streams once, keeps its session alive, and cannot change its subscription."""

    def __init__(self, protocol: OldConsumers, consumer: Consumer) -> None:
        """Of a process that has just started."""
        self.protocol = protocol
        self.consumer = consumer
        self.incarnation = consumer.incarnation
        self.has_asked = False

    @property
    def is_alive(self) -> bool:
        """Whether its process is running."""
        return self.consumer.is_alive(self.incarnation)

    def poll(self) -> None:
        """The first call asks for the streams; an old consumer has no poll()."""
        if self.has_asked:
            return
        self.has_asked = True
        name, now_ms = self.consumer.name, START_OF_TIME_MS + self.protocol.world.clock.now_ms
        event = CreateMessageStreams(
            name,
            asked_for(self.consumer.subscription),
            consumer_id(self.protocol.settings.group, name, now_ms, self.incarnation << 32),
            now_ms,
        )
        self.protocol.do(event, f"{name} starts")
        self._ping_later(self.consumer.first_heartbeat_ms(self._ping_interval_ms))

    @property
    def _ping_interval_ms(self) -> int:
        settings = self.protocol.settings
        granted_ms = settings.zookeeper.granted_timeout_ms(settings.zookeeper_session_timeout_ms)
        return max(1, granted_ms // PINGS_PER_TIMEOUT)

    def _ping_later(self, delay_ms: int) -> None:
        self.protocol.world.threads.after(delay_ms, self.consumer, HEARTBEAT_THREAD, self._ping)

    def _ping(self) -> None:
        if self.protocol.world.clock.now_ms >= self.consumer.disconnected_until_ms:
            self.protocol.ping(self.consumer)
        self._ping_later(self._ping_interval_ms)

    def poll_interval_exceeded(self) -> None:
        """There is no such limit: an application may work on its records for ever."""

    def subscription_changed(self) -> None:
        """Streams are asked for once in the life of an old consumer."""
        raise KafkaLearnError(
            f"{self.consumer.name} is an old consumer and cannot subscribe again; let it restart instead"
        )

    def close(self) -> None:
        """Shut down; a rebalance that is going on is waited for."""
        name = self.consumer.name
        self.protocol.do(Shutdown(name), f"{name} leaves")
        while (connector := self.protocol.group.connector(name)) is not None and connector.attempt is not None:
            self.protocol.do(RebalanceStep(name))


def asked_for(subscription: Subscription) -> Streams | Filtered:
    """What an old consumer asks for: one stream of each topic, or one by a filter.

    >>> asked_for(Subscription(("orders", "mail")))
    Streams(stream_counts=(('orders', 1), ('mail', 1)))
    """
    if subscription.pattern is None:
        return Streams(tuple((topic, 1) for topic in subscription.topics))
    return Filtered(TopicFilter(WHITE_LIST, subscription.pattern))
