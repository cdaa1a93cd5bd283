"""The classic protocol in the world of a scenario: the coordinator, and a client for each process."""

from __future__ import annotations

from collections.abc import Callable

from kafkalearn.group.classic.effects import (
    Effect,
    HeartbeatAnswered,
    JoinAnswered,
    MemberRemoved,
    StateChanged,
    SyncAnswered,
)
from kafkalearn.group.classic.events import ClassicEvent, TimePassed
from kafkalearn.group.classic.settings import NAMES, broker_settings
from kafkalearn.group.classic.simulator import next_deadline_ms, step
from kafkalearn.group.classic.state import start
from kafkalearn.group.classic.transitions import DEAD, EMPTY, PREPARING, STABLE
from kafkalearn.group.clients.classic.process import ClassicClient
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.protocol import GroupView, Protocol
from kafkalearn.group.world.world import World


class ClassicProtocol(Protocol):
    """JoinGroup, SyncGroup, Heartbeat, LeaveGroup: the leader assigns, all agree on a generation."""

    name = "classic"

    def __init__(self, world: World) -> None:
        """A coordinator that knows nobody."""
        super().__init__(world)
        self.broker = broker_settings(
            world.release, {setting: world.settings[setting] for setting, _ in NAMES.values()}
        )
        self.group = start()
        self.clients: dict[str, ClassicClient] = {}  # by the label that requests carry
        self.attempts: dict[str, int] = {}  # by label: the attempt to join that the last request belonged to

    # ---- what the world tells

    def started(self, consumer: Consumer) -> None:
        """A new process begins to poll."""
        client = ClassicClient(self.world, consumer)
        consumer.data = self.clients[client.label] = client
        self.world.wake_poll(consumer)

    def closed(self, consumer: Consumer) -> None:
        """The application closes its consumer."""
        consumer.data.leave()

    def polls(self, consumer: Consumer) -> None:
        """The poll thread is in poll()."""
        consumer.data.polls()

    def poll_interval_exceeded(self, consumer: Consumer) -> None:
        """The heartbeat thread sees that the poll thread is late."""
        consumer.data.poll_interval_exceeded()

    def topic_grew(self) -> None:
        """Every consumer hears of it with its next look at the metadata; the leader then asks for a rebalance."""
        age_ms = self.world.settings["metadata.max.age.ms"]
        for consumer in self.world.consumers.values():
            if consumer.is_running:
                self.world.after(consumer, age_ms, consumer.data.sees_new_partitions, thread="poll")

    def request(self, consumer: Consumer, incarnation: int, request: tuple[int, ClassicEvent]) -> None:
        """The coordinator works on a request at this moment."""
        attempt, event = request
        self.attempts[event.client] = attempt
        self._pass_time()
        self._step(event)

    def time(self) -> None:
        """A timer of the coordinator may be due."""
        self._pass_time()

    def view(self) -> GroupView:
        """State, generation and leader."""
        leader = self.group.member(self.group.leader) if self.group.leader else None
        return GroupView(self.group.state, self.group.generation, leader and _name(leader.client))

    # ---- the coordinator

    def _pass_time(self) -> None:
        due_ms = next_deadline_ms(self.group)
        if self.world.now_ms > self.group.now_ms or (due_ms is not None and due_ms <= self.world.now_ms):
            self._step(TimePassed(self.world.now_ms - self.group.now_ms))

    def _step(self, event: ClassicEvent) -> None:
        self.group = step(self.broker, self.group, event)
        for effect in self.group.effects:
            self._deliver(effect, event)
        due_ms = next_deadline_ms(self.group)
        if due_ms is not None:
            self.world.coordinator_timer(due_ms)

    def _deliver(self, effect: Effect, event: ClassicEvent) -> None:
        match effect:
            case HeartbeatAnswered(label, error):
                self._answer(label, self.clients[label].heartbeat_answered, event.generation, error)
            case JoinAnswered(label):
                self._answer(label, self.clients[label].join_answered, effect)
            case SyncAnswered(label, error, assignment):
                self._answer(label, self.clients[label].sync_answered, error, assignment, thread="poll")
            case StateChanged():
                self._tell(effect)
            case MemberRemoved(client=label, why=why):
                self.world.note(f"{_name(label)} is removed: {why}")

    def _answer(self, label: str, handler: Callable, *args: object, thread: str = "heartbeat") -> None:
        client = self.clients[label]
        attempt = self.attempts[label]
        self.world.answer(client.consumer, client.incarnation, client.hear, attempt, handler, args, thread=thread)

    def _tell(self, change: StateChanged) -> None:
        who = ", ".join(map(_name, change.who.split(", ")))
        cause = f"{change.cause} ({who})" if who else change.cause
        self.world.note(f"{change.after}: {cause}")
        if change.after == PREPARING:
            self.world.rebalance_starts(cause)
        if change.after in (STABLE, EMPTY, DEAD):
            self.world.rebalance_ends()


def _name(label: str) -> str:
    """The consumer of a label, whichever of its processes it is."""
    return label.partition("/")[0]
