"""Consumers of the classic protocol, and the coordinator they talk to, in the world of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from kafkalearn.assignors.members import Member
from kafkalearn.assignors.registry import CLIENT_ASSIGNORS, assign
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.classic import model
from kafkalearn.groups.classic.members import next_deadline_ms
from kafkalearn.groups.classic.simulator import step
from kafkalearn.groups.defaults import DEAD, EMPTY, PREPARING, STABLE
from kafkalearn.releases.lines import at_least
from kafkalearn.scenarios import consumers
from kafkalearn.scenarios.client import Coordinator, Metadata
from kafkalearn.scenarios.engine import World

NO_GENERATION = -1
FATAL = {
    "FENCED_INSTANCE_ID": "another process has its instance id",
    "GROUP_MAX_SIZE_REACHED": "the group is full",
    "INCONSISTENT_GROUP_PROTOCOL": "it has no assignor in common with the group",
    "INVALID_SESSION_TIMEOUT": "the broker does not allow its session timeout",
}
Sent = tuple[tuple[str, ...], tuple[TopicPartition, ...], int | None]
"""What a member sends for its leader: its topics, what it owned last, and in which generation."""

RETRIABLE = ("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS")


class ClassicClient(consumers.Client):
    """What a process knows of its membership, and what its two threads do about it.

    References
    ----------
    Apache Kafka, ``AbstractCoordinator``, ``ConsumerCoordinator``, ``Heartbeat``.
    """

    def __init__(
        self, world: World, consumer: consumers.Consumer, to_coordinator: Callable[[int, model.ClassicRequest], None]
    ) -> None:
        """A client without a member id; ``to_coordinator(attempt, request)`` is what its requests arrive at."""
        self.consumer = consumer
        self.label = consumer.label
        self.incarnation = consumer.incarnation
        self.last_generation: int | None = None  # that it had an assignment in
        self.world = world
        self.to_coordinator = to_coordinator
        self.settings = consumer.settings
        self.member_id = ""
        self.generation = NO_GENERATION
        self.is_leader = False
        self.must_join = True
        self.is_joining = False
        self.has_lost = False  # its partitions are no longer its own; the poll thread has yet to see it
        self.attempt = 0  # of joining: answers to an earlier one are not looked at
        self.heartbeat_loop = 0  # an earlier loop of heartbeats has ended
        self.has_heartbeat_in_flight = False
        self.last_assignment: tuple[TopicPartition, ...] = ()  # what the sticky assignor remembers
        self.metadata = Metadata(world, consumer)
        self.joined_with: tuple[str, ...] | None = None  # the topics in its last JoinGroup
        self.group_topics: tuple[str, ...] = ()  # of all members; only the leader knows them
        self.assigned_from: dict[str, int] | None = None  # their partition counts when the leader assigned

    def receive(self, attempt: int, receive: consumers.Callback, answer: tuple[object, ...]) -> None:
        """An answer has come; one to a request that has been given up is not looked at."""
        if attempt == self.attempt:
            receive(*answer)
        elif receive == self.heartbeat_answered:
            self.has_heartbeat_in_flight = False

    def _send(self, request: model.ClassicRequest) -> None:
        self.world.network.send(self.consumer, self.to_coordinator, self.attempt, request)

    # The poll thread.

    def poll(self) -> None:
        """In poll(), a consumer that must join does so."""
        if self.has_lost:
            self.has_lost = False
            self.world.processes.take_away(self.consumer, "has lost its partitions")
        self._rejoin_if_topics_have_changed()
        if self.must_join and not self.is_joining:
            self._join()

    def _join(self) -> None:
        """Ask for the next generation; eager consumers give up everything first."""
        if self.consumer.subscription.pattern is not None:
            self.metadata.refresh()  # so that one new topic does not bring a rebalance for each member
        self.must_join, self.is_joining = False, True
        self.heartbeat_loop += 1  # no heartbeats while JoinGroup is in flight
        processes = self.world.processes
        if self.settings.is_cooperative:
            topics = self._topics()
            processes.set_owned(self.consumer, [each for each in self.consumer.owned if each.topic in topics])
            processes.set_waiting(self.consumer, not self.consumer.owned)
        else:
            processes.take_away(self.consumer, "rejoins")
            processes.set_waiting(self.consumer, True)
        self._send_join()

    def _send_join(self) -> None:
        self.attempt += 1
        owned = self.consumer.owned if self.settings.is_cooperative else self.last_assignment
        self.joined_with = self._topics()
        metadata: Sent = (self.joined_with, owned, self.last_generation)
        its = self.settings
        protocols = tuple((name, metadata) for name in its.assignors)
        timeouts_ms = its.session_timeout_ms, its.max_poll_interval_ms
        self._send(model.JoinGroup(self.label, self.member_id, *timeouts_ms, protocols, its.instance_id))

    def join_answered(self, answer: model.JoinAnswered) -> None:
        """The next generation has begun, or the request was refused."""
        if answer.error == model.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation
            self.is_leader = answer.leader == answer.member_id
            self._begin_heartbeats()
            self._watch_the_groups_topics(answer)
            assigns = self.is_leader and not answer.is_assignment_skipped
            assignments = tuple(self._assign(answer).items()) if assigns else ()
            instance_id = self.settings.instance_id
            self._send(model.SyncGroup(self.label, self.member_id, self.generation, assignments, instance_id))
        elif answer.error == "MEMBER_ID_REQUIRED":
            self.member_id = answer.member_id
            self._send_join()
        else:
            self._refused(answer.error)

    def _assign(self, answer: model.JoinAnswered) -> dict[str, tuple[TopicPartition, ...]]:
        """Who gets what, as the leader computes it."""
        assignor, release = answer.protocol, self.world.settings.release
        assert assignor is not None  # a generation has one
        members = [
            Member(member_id, topics, owned, generation, instance_id)
            for member_id, instance_id, (topics, owned, generation) in _joined(answer)
        ]
        chosen = release if at_least(CLIENT_ASSIGNORS[assignor].since, release) else None
        return dict(assign(assignor, self.metadata.topics, members, side="client", release=chosen))

    def sync_answered(self, error: str, assignment: tuple[TopicPartition, ...] | None) -> None:
        """Its part of the assignment has come, or the request was refused."""
        if error == model.NONE:
            self._adopt(assignment or ())
        else:
            self._refused(error)

    def _adopt(self, assignment: tuple[TopicPartition, ...]) -> None:
        """Own what was assigned; a cooperative consumer that gave something up joins again at once."""
        consumer = self.consumer
        self.is_joining = False
        self.last_assignment, self.last_generation = assignment, self.generation
        has_revoked = bool(set(consumer.owned) - set(assignment))
        self.world.processes.assign(consumer, assignment)
        self.world.processes.set_waiting(consumer, False)
        self._rejoin_if_topics_have_changed()
        if self.must_join or (self.settings.is_cooperative and has_revoked):
            self._join()

    def _refused(self, error: str) -> None:
        """The client has to join again, or cannot go on."""
        if error in FATAL:
            return self.world.processes.fail(self.consumer, FATAL[error])
        self.is_joining = False
        self._must_join_after(error)
        if error in RETRIABLE:
            delay_ms = self.settings.retry_backoff_ms
            return self.world.threads.after(delay_ms, self.consumer, consumers.POLL_THREAD, self.poll)
        return self.world.threads.wake_poll(self.consumer)

    def _must_join_after(self, error: str) -> None:
        self.must_join = True
        if error == "UNKNOWN_MEMBER_ID":
            self.member_id = ""
        if error in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"):
            self.has_lost = True

    # Topics: what the consumer knows of them, and whether it has to join again for them.

    def topic_changed(self, topic: str) -> None:
        """A topic of the cluster has changed; the consumer learns it with its next metadata, when it polls."""
        watched = self.group_topics if self.is_leader else ()
        is_missed = topic not in self.metadata.topics and topic in (*self.consumer.subscription.topics, *watched)
        is_gone = topic not in self.world.topics and any(each.topic == topic for each in self.consumer.owned)
        due_ms = self.metadata.due_ms(is_asked_for=is_missed or is_gone)
        self.world.threads.at(due_ms, self.consumer, self.incarnation, consumers.POLL_THREAD, self._look_at_topics)

    def subscription_changed(self) -> None:
        """The metadata of topics that are new to the consumer are asked for at once; the next poll joins."""
        self.metadata.refresh()
        self.world.threads.wake_poll(self.consumer)

    def _look_at_topics(self) -> None:
        self.metadata.refresh()
        self._rejoin_if_topics_have_changed()
        if self.must_join:
            self.world.threads.wake_poll(self.consumer)

    def _rejoin_if_topics_have_changed(self) -> None:
        """The leader watches the partitions of all topics of the group; each member watches its own subscription."""
        if self.is_joining or not self.member_id or self.joined_with is None:
            return
        has_leader_to_assign = self.assigned_from is not None and self.assigned_from != self._partition_counts()
        self.must_join = self.must_join or has_leader_to_assign or set(self.joined_with) != set(self._topics())

    def _topics(self) -> tuple[str, ...]:
        return self.consumer.subscription.among(self.metadata.topics)

    def _watch_the_groups_topics(self, answer: model.JoinAnswered) -> None:
        """The leader has the topics of all members in its metadata; those of others are asked for at once."""
        self.group_topics, self.assigned_from = (), None
        if self.is_leader:
            topics = (topic for _, _, (subscribed, _, _) in _joined(answer) for topic in subscribed)
            self.group_topics = tuple(dict.fromkeys(topics)) or self._topics()
            if not set(self.group_topics) <= set(self._topics()):
                self.metadata.refresh()
            self.assigned_from = self._partition_counts()

    def _partition_counts(self) -> dict[str, int]:
        """Of the group's topics, as far as the metadata have them."""
        known = self.metadata.topics
        return {topic: known[topic] for topic in self.group_topics if topic in known}

    # The heartbeat thread.

    def _begin_heartbeats(self) -> None:
        self.heartbeat_loop += 1
        self.has_heartbeat_in_flight = False
        self._heartbeat_later(self.consumer.first_heartbeat_ms(self.settings.heartbeat_interval_ms))

    def _heartbeat_later(self, delay_ms: int) -> None:
        thread, loop = consumers.HEARTBEAT_THREAD, self.heartbeat_loop
        self.world.threads.after(delay_ms, self.consumer, thread, self._heartbeat, loop)

    def _heartbeat(self, loop: int) -> None:
        if loop != self.heartbeat_loop:
            return
        if not self.has_heartbeat_in_flight:
            self.has_heartbeat_in_flight = True
            self._send(model.Heartbeat(self.label, self.member_id, self.generation, self.settings.instance_id))
        self._heartbeat_later(self.settings.heartbeat_interval_ms)

    def heartbeat_answered(self, generation: int, error: str) -> None:
        """All is well, the group rebalances and the client has to join again, or it is no member any more."""
        self.has_heartbeat_in_flight = False
        if generation != self.generation or self.is_joining or error == model.NONE or error in RETRIABLE:
            return
        if error in FATAL:
            self.world.processes.fail(self.consumer, FATAL[error])
            return
        self._must_join_after(error)
        if error != "REBALANCE_IN_PROGRESS":
            self.heartbeat_loop += 1
        self.world.threads.wake_poll(self.consumer)

    def poll_interval_exceeded(self) -> None:
        """The heartbeat thread leaves the group (a static member only stops heartbeats); the next poll joins again."""
        self.world.recorder.note(f"{self.consumer.name} exceeds max.poll.interval.ms")
        self.close()
        self.member_id, self.generation = "", NO_GENERATION
        self.must_join, self.is_joining = True, False
        self.attempt += 1
        self.heartbeat_loop += 1
        self.world.processes.set_owned(self.consumer, ())
        self.world.threads.wake_poll(self.consumer)

    def close(self) -> None:
        """Leave the group; a static member sends nothing."""
        if self.settings.instance_id is None and self.member_id:
            self._send(model.LeaveGroup(self.label, self.member_id))


def _joined(answer: model.JoinAnswered) -> tuple[tuple[str, str | None, Sent], ...]:
    """The members, each with what it sent: all of them are clients of this class."""
    return cast("tuple[tuple[str, str | None, Sent], ...]", answer.members)


class ClassicProtocol(consumers.Protocol):
    """JoinGroup, SyncGroup, Heartbeat, LeaveGroup: the leader assigns, all agree on a generation."""

    def __init__(self, world: World) -> None:
        """A coordinator that knows nobody."""
        self.world = world
        model.ANSWERS_FOR.check(world.settings.release)
        values: dict[str, Any] = {
            setting: world.settings[setting] for setting, _ in model.NAMES.values()
        }  # checked next
        settings = model.broker_settings(world.settings.release, values)
        self.coordinator: Coordinator[model.Group, model.ClassicEvent] = Coordinator(
            world.clock,
            model.start(settings),
            partial(step, settings),
            next_deadline_ms,
            model.TimePassed,
            self._after_step,
        )
        self.clients: dict[str, ClassicClient] = {}  # by the label that requests carry
        self.attempts: dict[str, int] = {}  # by label: the attempt to join that the last request belonged to

    def client(self, consumer: consumers.Consumer) -> ClassicClient:
        """A client that is no member yet."""
        client = ClassicClient(self.world, consumer, self._receive)
        self.clients[client.label] = client
        return client

    def topic_changed(self, topic: str) -> None:
        """Every consumer learns it with its next metadata."""
        for consumer in self.world.consumers.values():
            if consumer.is_running:
                self.clients[consumer.label].topic_changed(topic)

    def view(self) -> consumers.GroupView:
        """State, generation and leader."""
        group = self.coordinator.group
        leader = group.member(group.leader) if group.leader else None
        return consumers.GroupView(group.state, group.generation, None if leader is None else _name(leader.client))

    def _receive(self, attempt: int, request: model.ClassicRequest) -> None:
        """A request arrives at the coordinator."""
        self.attempts[request.client] = attempt
        self.coordinator.handle(request)

    def _after_step(self, before: model.Group, event: model.ClassicEvent) -> None:
        for effect in self.coordinator.group.effects:
            self._deliver(effect, event)

    def _deliver(self, effect: model.Effect, event: object) -> None:
        match effect:
            case model.HeartbeatAnswered(label, error) if isinstance(event, model.Heartbeat):
                self._answer(label, self.clients[label].heartbeat_answered, event.generation, error)
            case model.JoinAnswered(label):
                self._answer(label, self.clients[label].join_answered, effect)
            case model.SyncAnswered(label, error, assignment):
                self._answer(label, self.clients[label].sync_answered, error, assignment, thread=consumers.POLL_THREAD)
            case model.StateChanged():
                self._record(effect)
            case model.MemberRemoved(client=label, why=why):
                self.world.recorder.note(f"{_name(label)} is removed: {why}")

    def _answer(
        self, label: str, receive: consumers.Callback, *answer: object, thread: int = consumers.HEARTBEAT_THREAD
    ) -> None:
        client, attempt = self.clients[label], self.attempts[label]
        self.world.network.answer(
            client.consumer, client.incarnation, client.receive, attempt, receive, answer, thread=thread
        )

    def _record(self, change: model.StateChanged) -> None:
        who = ", ".join(map(_name, change.who.split(", ")))
        cause = f"{change.cause} ({who})" if who else change.cause
        recorder = self.world.recorder
        recorder.note(f"{change.after}: {cause}")
        if change.after == PREPARING:
            recorder.rebalance_starts(cause)
        if change.after in (STABLE, EMPTY, DEAD):
            recorder.rebalance_ends(self.view().generation)


def _name(label: str) -> str:
    """The consumer of a label, whichever of its processes it is."""
    return label.partition("/")[0]
