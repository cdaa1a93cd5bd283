"""Consumers of the KIP-848 protocol, and the coordinator they talk to, in the world of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.classic.model import MEMBER_ADDED, MEMBER_EXPIRED, MEMBER_LEFT
from kafkalearn.groups.consumer import events
from kafkalearn.groups.consumer.simulator import SESSION_TIMEOUT, next_deadline_ms, step
from kafkalearn.groups.consumer.state import JOIN, Group, start
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.scenarios.client import Coordinator, Metadata
from kafkalearn.scenarios.consumers import HEARTBEAT_THREAD, POLL_THREAD, Client, Consumer, GroupView, Protocol
from kafkalearn.scenarios.engine import World

FATAL = {
    "FENCED_INSTANCE_ID": "another process has its instance id",
    "UNRELEASED_INSTANCE_ID": "a process that is still counted has its instance id",
    "GROUP_MAX_SIZE_REACHED": "the group is full",
    "UNSUPPORTED_ASSIGNOR": "the broker does not have its assignor",
    "GROUP_ID_NOT_FOUND": "the group is a classic one and may not change",
    "UNKNOWN_SERVER_ERROR": "the group is a classic one that waits for its first generation",
}
LOST = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH")


class ConsumerClient(Client):
    """What a process knows of its membership, and what its two threads do about it: all it sends are heartbeats.

    Partitions are given up and taken inside poll(), and confirmed at once with a heartbeat of its own; so is the first
    assignment, even if there is nothing in it. Only a target that takes back what was not yet taken up is confirmed
    without a poll: there is nothing to do for it.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``ConsumerMembershipManager``, ``ConsumerHeartbeatRequestManager``.
    """

    def __init__(
        self,
        world: World,
        consumer: Consumer,
        heartbeat_interval_ms: int,
        to_coordinator: Callable[[ConsumerClient, int, events.ConsumerGroupHeartbeat], None],
    ) -> None:
        """A client that is no member yet; ``to_coordinator(client, life, request)`` is what its requests arrive at."""
        self.consumer = consumer
        self.incarnation = consumer.incarnation
        self.member_id = consumer.label  # chosen by itself
        self.world = world
        self.to_coordinator = to_coordinator
        self.interval_ms = heartbeat_interval_ms
        self.assignor: Any = world.settings.values.get("group.remote.assignor")  # `join` checks it
        self.epoch: int | None = None  # None: not a member
        self.target: tuple[TopicPartition, ...] | None = None  # an assignment that the poll thread has yet to take up
        self.reported: tuple[TopicPartition, ...] | None = None  # what the coordinator knows that it owns
        self.has_assignment = False  # since it joined
        self.must_join = True
        self.has_lost = False  # its partitions are no longer its own; the poll thread has yet to see it
        self.life = 0  # of its membership: answers to an earlier one are not looked at
        self.has_heartbeat_in_flight = False
        self.must_report = False  # something is to be sent as soon as the heartbeat is answered
        self.heartbeat_loop = 0  # a later loop of heartbeats has taken the place of an earlier one
        self.metadata = Metadata(world, consumer)
        self.reported_topics: tuple[str, ...] = ()  # what the coordinator knows that it subscribes to

    # The poll thread.

    def poll(self) -> None:
        """In poll(), a consumer joins, sees that it has lost its partitions, or takes up its assignment."""
        if self.has_lost:
            self.has_lost = False
            self.world.processes.take_away(self.consumer, "has lost its partitions")
        if self.must_join:
            self._join()
        elif self.target is not None and self.epoch is not None:
            target, self.target = self.target, None
            is_first, self.has_assignment = not self.has_assignment, True
            if set(target) != set(self.consumer.owned):
                self.world.processes.assign(self.consumer, target)
                self._send_heartbeat()
            elif is_first:
                self.reported = None
                self._send_heartbeat(is_between=True)

    def _join(self) -> None:
        self.must_join = False
        self.life += 1
        self.epoch, self.target, self.has_heartbeat_in_flight = JOIN, None, False
        self.has_assignment = False
        self.world.processes.set_waiting(self.consumer, True)
        self._send_heartbeat()

    # The heartbeat thread.

    def _send_heartbeat(self, is_between: bool = False) -> None:
        """Send a heartbeat now, or as soon as the one in flight is answered; one in between does not move the next."""
        if self.has_heartbeat_in_flight:
            self.must_report = True
            return
        self.has_heartbeat_in_flight, self.must_report = True, False
        self._send(self._next_heartbeat())
        if not is_between:
            self._heartbeat_later()

    def _send(self, request: events.ConsumerGroupHeartbeat) -> None:
        self.world.network.send(self.consumer, self.to_coordinator, self, self.life, request)

    def _next_heartbeat(self) -> events.ConsumerGroupHeartbeat:
        consumer, settings = self.consumer, self.consumer.settings
        topics = consumer.subscription.among(self.metadata.topics)
        if self.epoch == JOIN:
            self.reported, self.reported_topics = (), topics
            return events.join(
                self.member_id, topics, settings.instance_id, settings.max_poll_interval_ms, self.assignor
            )
        owned = consumer.owned if self.reported != consumer.owned else None
        changed_topics = topics if set(topics) != set(self.reported_topics) else None
        self.reported, self.reported_topics = consumer.owned, topics
        assert self.epoch is not None  # who is no member sends no heartbeat but the one to join
        return events.ConsumerGroupHeartbeat(self.member_id, self.epoch, changed_topics, owned, settings.instance_id)

    def _heartbeat_later(self) -> None:
        self.heartbeat_loop += 1
        is_first = self.epoch == JOIN
        delay_ms = self.consumer.first_heartbeat_ms(self.interval_ms) if is_first else self.interval_ms
        self.world.threads.after(delay_ms, self.consumer, HEARTBEAT_THREAD, self._heartbeat, self.heartbeat_loop)

    def _heartbeat(self, loop: int) -> None:
        if loop != self.heartbeat_loop or self.epoch is None:
            return
        if self.has_heartbeat_in_flight:
            self._heartbeat_later()
        else:
            self._send_heartbeat()

    def answered(self, life: int, request: events.ConsumerGroupHeartbeat, answer: events.HeartbeatAnswered) -> None:
        """The answer to a heartbeat has come."""
        if life != self.life or request.member_epoch < JOIN:
            return
        self.has_heartbeat_in_flight = False
        if answer.error in FATAL:
            self.world.processes.fail(self.consumer, FATAL[answer.error])
        elif answer.error in LOST:
            self._forget()
            self.has_lost = True
            self.world.threads.wake_poll(self.consumer)
        elif answer.error == events.NONE:
            self._accepted(answer)

    def _accepted(self, answer: events.HeartbeatAnswered) -> None:
        self.epoch = answer.member_epoch
        self.world.processes.set_waiting(self.consumer, False)
        if answer.assignment is not None:
            self._take(answer.assignment)
        if self.must_report:
            self._send_heartbeat()

    def _take(self, target: tuple[TopicPartition, ...]) -> None:
        """The poll thread takes a target up; one that brings back what it has is confirmed at once, for the others."""
        takes_back = self.target is not None and set(target) == set(self.consumer.owned)
        if takes_back:
            self.target = self.reported = None
            self._send_heartbeat()
        else:
            self.target = target
            self.world.threads.wake_poll(self.consumer)

    # Topics.

    def topic_changed(self, topic: str) -> None:
        """Who subscribes to a pattern compares it with the next metadata; all else is the coordinator's business."""
        if self.consumer.subscription.pattern is not None:
            is_gone = topic not in self.world.topics and any(each.topic == topic for each in self.consumer.owned)
            due_ms = self.metadata.due_ms(is_asked_for=is_gone)
            self.world.threads.at(due_ms, self.consumer, self.incarnation, POLL_THREAD, self.metadata.refresh)

    def subscription_changed(self) -> None:
        """The next heartbeat says it."""
        self.metadata.refresh()

    def poll_interval_exceeded(self) -> None:
        """The heartbeat thread leaves the group, a static member for a while; the next poll joins again."""
        self.world.recorder.note(f"{self.consumer.name} exceeds max.poll.interval.ms")
        self.close()
        self._forget()
        self.world.processes.set_owned(self.consumer, ())
        self.world.threads.wake_poll(self.consumer)

    def close(self) -> None:
        """Leave the group for good; a static member leaves for a while."""
        instance_id = self.consumer.settings.instance_id
        if self.epoch is not None:
            self._send(events.leave(self.member_id, instance_id, comes_back=instance_id is not None))

    def _forget(self) -> None:
        """It is no member any more, and will join again when it polls."""
        self.life += 1
        self.epoch = self.target = self.reported = None
        self.has_heartbeat_in_flight = self.must_report = False
        self.must_join = True


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
        values: dict[str, Any] = {name: world.settings.values.get(setting) for name, setting in events.NAMES.items()}
        self.settings = events.Settings(world.settings.release, topics=world.topics, **values)
        rule = partial(step, self.settings)
        self.coordinator: Coordinator[Group, events.ConsumerGroupEvent] = Coordinator(
            world.clock, start(self.settings), rule, next_deadline_ms, events.TimePassed, self._after_step
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
        self.coordinator.take(events.TopicChanged(topic, count))
        for consumer in self.world.consumers.values():
            if consumer.is_running:
                self.clients[consumer.label].topic_changed(topic)

    def view(self) -> GroupView:
        """State and group epoch; nobody leads."""
        return GroupView(self.coordinator.group.state, self.coordinator.group.group_epoch)

    def _receive(self, client: ConsumerClient, life: int, request: events.ConsumerGroupHeartbeat) -> None:
        """A heartbeat arrives at the coordinator."""
        self.coordinator.handle(request)
        (answer,) = (each for each in self.coordinator.group.effects if isinstance(each, events.HeartbeatAnswered))
        self.world.network.answer(client.consumer, client.incarnation, client.answered, life, request, answer)

    def _after_step(self, before: Group, event: events.ConsumerGroupEvent) -> None:
        """Record what the step means for the group."""
        group = self.coordinator.group
        for effect in group.effects:
            if isinstance(effect, events.MemberFenced):
                why = MEMBER_EXPIRED if effect.reason == SESSION_TIMEOUT else NOT_GIVEN_UP
                self._rebalance_starts(f"{why} ({self.clients[effect.member_id].consumer.name})")
        if isinstance(event, events.ConsumerGroupHeartbeat) and group.group_epoch > before.group_epoch:
            self._rebalance_starts(self._cause_of(event, is_known=before.find(event.member_id) is not None))
        if group.state != before.state:
            self.world.recorder.note(group.state)
        if group.state in (STABLE, EMPTY):
            self.world.recorder.rebalance_ends(group.group_epoch)

    def _cause_of(self, event: events.ConsumerGroupHeartbeat, is_known: bool) -> str:
        name = self.clients[event.member_id].consumer.name
        if event.member_epoch < JOIN:
            return f"{MEMBER_LEFT} ({name})"
        if is_known:
            return self.last_change if event.topics is None else f"{SUBSCRIPTION_CHANGED} ({name})"
        return f"{MEMBER_ADDED} ({name})"

    def _rebalance_starts(self, cause: str) -> None:
        self.world.recorder.note(cause)
        self.world.recorder.rebalance_starts(cause)
