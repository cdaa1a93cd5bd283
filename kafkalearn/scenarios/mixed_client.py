"""Consumers of both protocols in one group, and the coordinator that changes the group's protocol under them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.classic.model import MEMBER_ADDED, MEMBER_EXPIRED, MEMBER_LEFT
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.consumer.simulator import SESSION_TIMEOUT
from kafkalearn.groups.consumer.state import JOIN
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.groups.mixed import Group, ProtocolChanged, Settings, next_deadline_ms, start, step
from kafkalearn.groups.mixed.model import Effect, Event
from kafkalearn.scenarios.classic_client import ClassicClient, ClassicProtocol
from kafkalearn.scenarios.client import Coordinator
from kafkalearn.scenarios.consumer_client import SUBSCRIPTION_CHANGED, TOPIC_GREW, ConsumerClient
from kafkalearn.scenarios.consumers import Client, Consumer, GroupView
from kafkalearn.scenarios.engine import World

POLICY = "group.consumer.migration.policy"
CONSUMER = "consumer"


class MixedProtocol(ClassicProtocol):
    """Both protocols: each process speaks its own, and the group has that of its coordinator."""

    def __init__(self, world: World, otherwise: str = "classic") -> None:
        """A coordinator that knows nobody; `otherwise` is spoken by those of whom nothing is said."""
        self.world, self.otherwise = world, otherwise
        release = world.settings.release
        old: dict[str, Any] = {setting: world.settings[setting] for setting, _ in classic.NAMES.values()}
        new: dict[str, Any] = {name: world.settings.values.get(each) for name, each in consumer.NAMES.items()}
        policy: Any = world.settings.values.get(POLICY)  # the settings of the group check it
        self.settings = Settings(
            release,
            policy,
            classic.broker_settings(release, old),
            consumer.Settings(release, topics=world.topics, **new),
        )
        rule = partial(step, self.settings)
        self.group_coordinator: Coordinator[Group, Event] = Coordinator(
            world.clock, start(self.settings), rule, next_deadline_ms, consumer.TimePassed, self._after
        )
        self.clients: dict[str, ClassicClient] = {}
        self.attempts: dict[str, int] = {}
        self.new_clients: dict[str, ConsumerClient] = {}  # by member id

    def client(self, consumer: Consumer) -> Client:  # type: ignore[override]
        """A client of the protocol that the process speaks."""
        if (consumer.protocol or self.otherwise) != CONSUMER:
            return super().client(consumer)
        interval_ms = self.settings.consumer.heartbeat_interval_ms
        client = ConsumerClient(self.world, consumer, interval_ms, self._receive_new)
        self.new_clients[client.member_id] = client
        return client

    def topic_changed(self, topic: str) -> None:
        """The coordinator knows at once; classic clients learn it with their metadata."""
        self.group_coordinator.take(consumer.TopicChanged(topic, self.world.topics.get(topic)))
        for each in self.world.consumers.values():
            if each.is_running:
                client = each.client
                assert isinstance(client, ClassicClient | ConsumerClient)
                client.topic_changed(topic)

    def view(self) -> GroupView:
        """State and epoch; the leader of a classic group."""
        group = self.group_coordinator.group
        leader = group.classic.member(group.classic.leader or "") if not group.is_consumer else None
        return GroupView(group.state, group.epoch, None if leader is None else _name(leader.client))

    def _receive(self, attempt: int, request: classic.ClassicRequest) -> None:
        """A classic request arrives; what a member remembers for its leader is kept apart from what it owns."""
        self.attempts[request.client] = attempt
        if isinstance(request, classic.JoinGroup):
            is_cooperative = self.clients[request.client].settings.is_cooperative
            protocols = tuple((name, _sent(metadata, is_cooperative)) for name, metadata in request.protocols)
            request = replace(request, protocols=protocols)
        assert not isinstance(request, classic.OffsetCommit)
        self.group_coordinator.handle(request)

    def _receive_new(self, client: ConsumerClient, life: int, request: consumer.ConsumerGroupHeartbeat) -> None:
        """A heartbeat of a new member arrives."""
        self.group_coordinator.handle(request)
        effects = self.group_coordinator.group.effects
        (answer,) = (each for each in effects if isinstance(each, consumer.HeartbeatAnswered))
        self.world.network.answer(client.consumer, client.incarnation, client.answered, life, request, answer)

    def _after(self, before: Group, event: Event) -> None:
        """Deliver the answers, and record what the step means for the group."""
        group = self.group_coordinator.group
        for effect in group.effects:
            self._record_change(effect)
            if isinstance(effect, classic.JoinAnswered):
                members = tuple((each, its, _remembered(sent)) for each, its, sent in effect.members)
                self._deliver(replace(effect, members=members), event)
            elif isinstance(effect, classic.Effect):
                self._deliver(effect, event)
        if not group.is_consumer:
            return
        cause = self._cause_of(before, event)
        if cause is not None and group.epoch > before.epoch:
            self._rebalance_starts(cause)
        if group.state != before.state or not before.is_consumer:
            self.world.recorder.note(group.state)
        if group.state in (STABLE, EMPTY):
            self.world.recorder.rebalance_ends(group.epoch)

    def _record_change(self, effect: Effect) -> None:
        match effect:
            case ProtocolChanged(after=after):
                self.world.recorder.note(f"the group is a {after.lower()} group now")
            case consumer.MemberFenced(member_id=member_id, reason=reason):
                why = MEMBER_EXPIRED if reason == SESSION_TIMEOUT else f"a member has {reason}"
                self._rebalance_starts(f"{why} ({_name(member_id)})")

    def _cause_of(self, before: Group, event: Event) -> str | None:
        """Why the epoch has gone up, in words; None if it was no request."""
        match event:
            case consumer.ConsumerGroupHeartbeat(member_id=member_id):
                if event.member_epoch < JOIN:
                    return f"{MEMBER_LEFT} ({_name(member_id)})"
                if member_id not in before.member_ids:
                    return f"{MEMBER_ADDED} ({_name(member_id)})"
                return TOPIC_GREW if event.topics is None else f"{SUBSCRIPTION_CHANGED} ({_name(member_id)})"
            case classic.JoinGroup(client=client, member_id=member_id):
                why = TOPIC_GREW if member_id in before.member_ids else MEMBER_ADDED
                return why if why == TOPIC_GREW else f"{why} ({_name(client)})"
            case classic.LeaveGroup(client=client):
                return f"{MEMBER_LEFT} ({_name(client)})"
        return None

    def _rebalance_starts(self, cause: str) -> None:
        self.world.recorder.note(cause)
        self.world.recorder.rebalance_starts(cause)


def _sent(metadata: Hashable, is_cooperative: bool) -> Hashable:
    """What a classic member sends: its topics, what it owns while it joins, since when, and what it had last."""
    assert isinstance(metadata, tuple)
    topics, had, generation = metadata
    return topics, had if is_cooperative else (), generation, had


def _remembered(metadata: Hashable) -> Hashable:
    """The same as a leader reads it."""
    assert isinstance(metadata, tuple)
    return metadata[0], metadata[3], metadata[2]


def _name(label: str) -> str:
    """The consumer of a label or of a member id, whichever of its processes it is."""
    return label.partition("/")[0]
