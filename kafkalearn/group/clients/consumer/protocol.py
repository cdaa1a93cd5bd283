"""The KIP-848 protocol in the world of a scenario: the coordinator, and a client for each process."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkalearn.group.classic.transitions import MEMBER_ADDED, MEMBER_EXPIRED, MEMBER_LEFT
from kafkalearn.group.clients.consumer.client import ConsumerClient
from kafkalearn.group.clients.coordinator import Coordinator
from kafkalearn.group.consumer.effects import HeartbeatAnswered, MemberFenced
from kafkalearn.group.consumer.events import ConsumerGroupEvent, ConsumerGroupHeartbeat, TimePassed, TopicChanged
from kafkalearn.group.consumer.settings import NAMES, Settings
from kafkalearn.group.consumer.simulator import step
from kafkalearn.group.consumer.state import JOIN, Group, start
from kafkalearn.group.consumer.timers import SESSION_TIMEOUT, next_deadline_ms
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.protocol import GroupView, Protocol
from kafkalearn.group.world.world import World
from kafkalearn.group_states import EMPTY, STABLE

NOT_GIVEN_UP = "a member does not give up partitions in time"
TOPIC_GREW = "a topic has more partitions"
TOPIC_CREATED = "a topic is created"
TOPIC_DELETED = "a topic is deleted"
SUBSCRIPTION_CHANGED = "a member changes its subscription"


class ConsumerProtocol(Protocol):
    """ConsumerGroupHeartbeat: the broker assigns, every member gives up and takes partitions in its own time."""

    def __init__(self, world: World) -> None:
        """A coordinator that knows nobody."""
        self.world = world
        values: dict[str, Any] = {name: world.settings.values.get(setting) for name, setting in NAMES.items()}
        self.settings = Settings(world.settings.release, topics=world.topics, **values)
        self.coordinator: Coordinator[Group, ConsumerGroupEvent] = Coordinator(
            world.clock,
            start(self.settings),
            partial(step, self.settings),
            next_deadline_ms,
            TimePassed,
            self._after_step,
        )
        self.clients: dict[str, ConsumerClient] = {}  # by member id
        self.last_change = TOPIC_GREW  # of a topic

    def client(self, consumer: Consumer) -> ConsumerClient:
        """A client that is no member yet; it chooses a member id of its own."""
        client = ConsumerClient(self.world, consumer, self.settings.heartbeat_interval_ms, self._receive)
        self.clients[client.member_id] = client
        return client

    def topic_changed(self, topic: str) -> None:
        """The coordinator knows at once, and looks when the next heartbeat comes."""
        known, count = self.coordinator.group.partition_counts, self.world.topics.get(topic)
        if count is None:
            self.last_change = TOPIC_DELETED
        else:
            self.last_change = TOPIC_GREW if topic in known else TOPIC_CREATED
        self.coordinator.take(TopicChanged(topic, count))
        for consumer in self.world.consumers.values():
            if consumer.is_running:
                self.clients[consumer.label].topic_changed(topic)

    def view(self) -> GroupView:
        """State and group epoch; nobody leads."""
        return GroupView(self.coordinator.group.state, self.coordinator.group.group_epoch)

    def _receive(self, client: ConsumerClient, life: int, request: ConsumerGroupHeartbeat) -> None:
        """A heartbeat arrives at the coordinator."""
        self.coordinator.handle(request)
        (answer,) = (each for each in self.coordinator.group.effects if isinstance(each, HeartbeatAnswered))
        self.world.network.answer(client.consumer, client.incarnation, client.answered, life, request, answer)

    def _after_step(self, before: Group, event: ConsumerGroupEvent) -> None:
        """Record what the step means for the group."""
        group = self.coordinator.group
        for effect in group.effects:
            if isinstance(effect, MemberFenced):
                why = MEMBER_EXPIRED if effect.reason == SESSION_TIMEOUT else NOT_GIVEN_UP
                self._rebalance_starts(f"{why} ({self.clients[effect.member_id].consumer.name})")
        if isinstance(event, ConsumerGroupHeartbeat) and group.group_epoch > before.group_epoch:
            self._rebalance_starts(self._cause_of(event, is_known=before.find(event.member_id) is not None))
        if group.state != before.state:
            self.world.recorder.note(group.state)
        if group.state in (STABLE, EMPTY):
            self.world.recorder.rebalance_ends(group.group_epoch)

    def _cause_of(self, event: ConsumerGroupHeartbeat, is_known: bool) -> str:
        name = self.clients[event.member_id].consumer.name
        if event.member_epoch < JOIN:
            return f"{MEMBER_LEFT} ({name})"
        if is_known:
            return self.last_change if event.topics is None else f"{SUBSCRIPTION_CHANGED} ({name})"
        return f"{MEMBER_ADDED} ({name})"

    def _rebalance_starts(self, cause: str) -> None:
        self.world.recorder.note(cause)
        self.world.recorder.rebalance_starts(cause)
