"""Consumers of the KIP-848 protocol, and the coordinator they talk to, in the world of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.group.consumer.effects import NONE, HeartbeatAnswered, MemberFenced
from kafkalearn.group.consumer.events import (
    ConsumerGroupEvent,
    ConsumerGroupHeartbeat,
    TimePassed,
    TopicChanged,
    join,
    leave,
)
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.simulator import step
from kafkalearn.group.consumer.state import JOIN, start
from kafkalearn.group.consumer.timers import SESSION_TIMEOUT, next_timer
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.protocol import GroupView, Protocol
from kafkalearn.group.world.world import World
from kafkalearn.topic_partition import TopicPartition

BROKER_SETTINGS = MappingProxyType(
    {
        "session_timeout_ms": "group.consumer.session.timeout.ms",
        "heartbeat_interval_ms": "group.consumer.heartbeat.interval.ms",
        "assignment_interval_ms": "group.consumer.assignment.interval.ms",
        "assignors": "group.consumer.assignors",
        "max_size": "group.consumer.max.size",
    }
)
FATAL = {
    "FENCED_INSTANCE_ID": "another process has its instance id",
    "UNRELEASED_INSTANCE_ID": "a process that is still counted has its instance id",
    "GROUP_MAX_SIZE_REACHED": "the group is full",
    "UNSUPPORTED_ASSIGNOR": "the broker does not have its assignor",
}
LOST = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH")

MEMBER_ADDED = "a member is added"
MEMBER_LEFT = "a member leaves"
MEMBER_EXPIRED = "a member's session expires"
NOT_GIVEN_UP = "a member does not give up partitions in time"
TOPIC_GREW = "a topic has more partitions"


@dataclass
class Client:
    """What a consumer process knows of its membership."""

    label: str  # the member id it has chosen
    epoch: int | None = None  # None: not a member
    target: tuple[TopicPartition, ...] | None = None  # an assignment that the poll thread has yet to take up
    told_owned: tuple[TopicPartition, ...] | None = None  # what the coordinator was told last
    must_join: bool = True
    has_lost: bool = False  # its partitions are no longer its own; the poll thread has yet to see it
    life: int = 0  # of its membership: answers to an earlier one are not for us
    is_asking: bool = False  # a heartbeat is under way
    must_tell: bool = False  # something is to be said as soon as it is answered
    beat: int = 0  # of the heartbeat loop: a later one has taken its place


class ConsumerProtocol(Protocol):
    """ConsumerGroupHeartbeat: the broker assigns, every member gives up and takes in its own time.

    Partitions are given up and taken inside poll(), and confirmed at once with a heartbeat of its own.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``ConsumerMembershipManager``, ``ConsumerHeartbeatRequestManager``.
    """

    name = "consumer"

    def __init__(self, world: World) -> None:
        """A coordinator that knows nobody."""
        super().__init__(world)
        given = {name: world.settings.values.get(setting) for name, setting in BROKER_SETTINGS.items()}
        self.settings = Settings(world.release, **given)
        self.assignor = world.settings.values.get("group.remote.assignor")
        self.group = start(self.settings, world.topics)
        self.names: dict[str, Consumer] = {}  # by member id

    # ---- what the world tells

    def started(self, consumer: Consumer) -> None:
        """A new process chooses a member id of its own."""
        label = consumer.name if consumer.incarnation == 1 else f"{consumer.name}/{consumer.incarnation}"
        consumer.data = Client(label)
        self.names[label] = consumer
        self.world.wake_poll(consumer)

    def closed(self, consumer: Consumer) -> None:
        """Dynamic members leave for good, static ones for a while."""
        self._leave(consumer)

    def polls(self, consumer: Consumer) -> None:
        """In poll(), a consumer joins, sees that it has lost its partitions, or takes up its assignment."""
        client = consumer.data
        if client.has_lost:
            client.has_lost = False
            self.world.owns(consumer, (), f"{consumer.name} has lost its partitions" if consumer.owned else "")
        if client.must_join:
            self._join(consumer)
        elif client.target is not None and client.epoch is not None:
            self._reconcile(consumer)

    def poll_interval_exceeded(self, consumer: Consumer) -> None:
        """It leaves the group by itself, static members for a while; the next poll joins again."""
        self.world.note(f"{consumer.name} exceeds max.poll.interval.ms")
        self._leave(consumer)
        self._forget(consumer)
        self.world.owns(consumer, ())
        self.world.wake_poll(consumer)

    def topic_grew(self) -> None:
        """The coordinator knows at once, and looks when the next heartbeat comes."""
        known = dict(self.group.topics)
        for topic, count in self.world.topics.items():
            if known.get(topic) != count:
                self._step(TopicChanged(topic, count))

    def request(self, consumer: Consumer, incarnation: int, request: tuple[int, ConsumerGroupHeartbeat]) -> None:
        """The coordinator works on a heartbeat at this moment."""
        life, event = request
        self._pass_time()
        answer = self._step(event)
        self.world.answer(consumer, incarnation, self._answered, life, event, answer)

    def time(self) -> None:
        """A timer of the coordinator may be due."""
        self._pass_time()

    def view(self) -> GroupView:
        """State and group epoch; nobody leads."""
        return GroupView(self.group.state, self.group.group_epoch)

    # ---- the coordinator

    def _pass_time(self) -> None:
        timer = next_timer(self.group)
        if self.world.now_ms > self.group.now_ms or (timer is not None and timer[0] <= self.world.now_ms):
            self._step(TimePassed(self.world.now_ms - self.group.now_ms))

    def _step(self, event: ConsumerGroupEvent) -> HeartbeatAnswered | None:
        before, self.group = self.group, step(self.settings, self.group, event)
        for effect in self.group.effects:
            if isinstance(effect, MemberFenced):
                why = MEMBER_EXPIRED if effect.reason == SESSION_TIMEOUT else NOT_GIVEN_UP
                self._tell(f"{why} ({self.names[effect.member_id].name})")
        if isinstance(event, ConsumerGroupHeartbeat) and self.group.group_epoch > before.group_epoch:
            self._tell(self._cause_of(event, is_known=before.find(event.member_id) is not None))
        if self.group.state != before.state:
            self.world.note(self.group.state)
        if self.group.state in ("Stable", "Empty"):
            self.world.rebalance_ends()
        timer = next_timer(self.group)
        if timer is not None:
            self.world.coordinator_timer(timer[0])
        answers = [effect for effect in self.group.effects if isinstance(effect, HeartbeatAnswered)]
        return answers[-1] if answers else None

    def _cause_of(self, event: ConsumerGroupHeartbeat, is_known: bool) -> str:
        name = self.names[event.member_id].name
        if event.member_epoch < JOIN:
            return f"{MEMBER_LEFT} ({name})"
        return TOPIC_GREW if is_known else f"{MEMBER_ADDED} ({name})"

    def _tell(self, cause: str) -> None:
        self.world.note(cause)
        self.world.rebalance_starts(cause)

    # ---- the poll thread

    def _join(self, consumer: Consumer) -> None:
        client = consumer.data
        client.must_join = False
        client.life += 1
        client.epoch, client.target, client.is_asking = JOIN, None, False
        self.world.waits(consumer, True)
        self._ask(consumer)

    def _reconcile(self, consumer: Consumer) -> None:
        client = consumer.data
        target, client.target = client.target, None
        if set(target) != set(consumer.owned):
            self.world.owns(consumer, target, f"{consumer.name} is assigned {_count(target)}")
            self._ask(consumer)

    # ---- heartbeats

    def _ask(self, consumer: Consumer) -> None:
        """Send a heartbeat now, or as soon as the one under way is answered."""
        client = consumer.data
        if client.is_asking:
            client.must_tell = True
            return
        client.is_asking, client.must_tell = True, False
        self.world.send(consumer, (client.life, self._heartbeat(consumer)))
        self._beat_later(consumer)

    def _heartbeat(self, consumer: Consumer) -> ConsumerGroupHeartbeat:
        client, settings = consumer.data, consumer.settings
        if client.epoch == JOIN:
            client.told_owned = ()
            topics = tuple(self.world.topics)
            return join(client.label, topics, settings.instance_id, settings.max_poll_interval_ms, self.assignor)
        has_news = client.told_owned != consumer.owned
        client.told_owned = consumer.owned
        owned = consumer.owned if has_news else None
        return ConsumerGroupHeartbeat(client.label, client.epoch, owned=owned, instance_id=settings.instance_id)

    def _beat_later(self, consumer: Consumer) -> None:
        client = consumer.data
        client.beat += 1
        interval_ms = self.settings.heartbeat_interval_ms
        delay_ms = consumer.first_beat_ms(interval_ms) if client.epoch == JOIN else interval_ms
        self.world.after(consumer, delay_ms, self._beat, client.beat, thread="heartbeat")

    def _beat(self, consumer: Consumer, beat: int) -> None:
        client = consumer.data
        if client.beat != beat or client.epoch is None:
            return
        if client.is_asking:
            self._beat_later(consumer)
        else:
            self._ask(consumer)

    def _answered(
        self, consumer: Consumer, life: int, event: ConsumerGroupHeartbeat, answer: HeartbeatAnswered
    ) -> None:
        client = consumer.data
        if client.life != life or event.member_epoch < JOIN:
            return
        client.is_asking = False
        if answer.error in FATAL:
            self.world.dies(consumer, FATAL[answer.error])
        elif answer.error in LOST:
            self._forget(consumer)
            client.has_lost = True
            self.world.wake_poll(consumer)
        elif answer.error == NONE:
            self._accepted(consumer, answer)

    def _accepted(self, consumer: Consumer, answer: HeartbeatAnswered) -> None:
        client = consumer.data
        client.epoch = answer.member_epoch
        self.world.waits(consumer, False)
        if answer.assignment is not None:
            client.target = answer.assignment
            self.world.wake_poll(consumer)
        if client.must_tell:
            self._ask(consumer)

    def _leave(self, consumer: Consumer) -> None:
        client, instance_id = consumer.data, consumer.settings.instance_id
        if client.epoch is not None:
            event = leave(client.label, instance_id, comes_back=instance_id is not None)
            self.world.send(consumer, (client.life, event))

    def _forget(self, consumer: Consumer) -> None:
        """It is no member any more, and will join again when it polls."""
        client = consumer.data
        client.life += 1
        client.epoch, client.target, client.told_owned = None, None, None
        client.is_asking = client.must_tell = False
        client.must_join = True


def _count(partitions: tuple[TopicPartition, ...]) -> str:
    if not partitions:
        return "no partition"
    return f"{len(partitions)} partition{'s' if len(partitions) > 1 else ''}"
