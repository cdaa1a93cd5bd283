"""The classic protocol in the world of a scenario: the coordinator, and a client for each process."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkalearn.group.classic.effects import (
    Effect,
    HeartbeatAnswered,
    JoinAnswered,
    MemberRemoved,
    StateChanged,
    SyncAnswered,
)
from kafkalearn.group.classic.events import ClassicEvent, ClassicRequest, Heartbeat, TimePassed
from kafkalearn.group.classic.settings import NAMES, broker_settings
from kafkalearn.group.classic.simulator import step
from kafkalearn.group.classic.state import Group, start
from kafkalearn.group.classic.timers import next_deadline_ms
from kafkalearn.group.clients.classic.client import ClassicClient
from kafkalearn.group.clients.coordinator import Coordinator
from kafkalearn.group.world.clock import HEARTBEAT_THREAD, POLL_THREAD, Callback
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.protocol import GroupView, Protocol
from kafkalearn.group.world.world import World
from kafkalearn.group_states import DEAD, EMPTY, PREPARING, STABLE


class ClassicProtocol(Protocol):
    """JoinGroup, SyncGroup, Heartbeat, LeaveGroup: the leader assigns, all agree on a generation."""

    def __init__(self, world: World) -> None:
        """A coordinator that knows nobody."""
        self.world = world
        values: dict[str, Any] = {setting: world.settings[setting] for setting, _ in NAMES.values()}  # checked next
        settings = broker_settings(world.settings.release, values)
        self.coordinator: Coordinator[Group, ClassicEvent] = Coordinator(
            world.clock, start(settings), partial(step, settings), next_deadline_ms, TimePassed, self._after_step
        )
        self.clients: dict[str, ClassicClient] = {}  # by the label that requests carry
        self.attempts: dict[str, int] = {}  # by label: the attempt to join that the last request belonged to

    def client(self, consumer: Consumer) -> ClassicClient:
        """A client that is no member yet."""
        client = ClassicClient(self.world, consumer, self._receive)
        self.clients[client.label] = client
        return client

    def topic_changed(self, topic: str) -> None:
        """Every consumer learns it with its next metadata."""
        for consumer in self.world.consumers.values():
            if consumer.is_running:
                self.clients[consumer.label].topic_changed(topic)

    def view(self) -> GroupView:
        """State, generation and leader."""
        group = self.coordinator.group
        leader = group.member(group.leader) if group.leader else None
        return GroupView(group.state, group.generation, None if leader is None else _name(leader.client))

    def _receive(self, attempt: int, request: ClassicRequest) -> None:
        """A request arrives at the coordinator."""
        self.attempts[request.client] = attempt
        self.coordinator.handle(request)

    def _after_step(self, before: Group, event: ClassicEvent) -> None:
        for effect in self.coordinator.group.effects:
            self._deliver(effect, event)

    def _deliver(self, effect: Effect, event: ClassicEvent) -> None:
        match effect:
            case HeartbeatAnswered(label, error) if isinstance(event, Heartbeat):
                self._answer(label, self.clients[label].heartbeat_answered, event.generation, error)
            case JoinAnswered(label):
                self._answer(label, self.clients[label].join_answered, effect)
            case SyncAnswered(label, error, assignment):
                self._answer(label, self.clients[label].sync_answered, error, assignment, thread=POLL_THREAD)
            case StateChanged():
                self._record(effect)
            case MemberRemoved(client=label, why=why):
                self.world.recorder.note(f"{_name(label)} is removed: {why}")

    def _answer(self, label: str, receive: Callback, *answer: object, thread: int = HEARTBEAT_THREAD) -> None:
        client, attempt = self.clients[label], self.attempts[label]
        self.world.network.answer(
            client.consumer, client.incarnation, client.receive, attempt, receive, answer, thread=thread
        )

    def _record(self, change: StateChanged) -> None:
        who = ", ".join(map(_name, change.who.split(", ")))
        cause = f"{change.cause} ({who})" if who else change.cause
        recorder = self.world.recorder
        recorder.note(f"{change.after}: {cause}")
        if change.after == PREPARING:
            recorder.rebalance_starts(cause)
        if change.after in (STABLE, EMPTY, DEAD):
            recorder.rebalance_ends(self.coordinator.group.generation)


def _name(label: str) -> str:
    """The consumer of a label, whichever of its processes it is."""
    return label.partition("/")[0]
