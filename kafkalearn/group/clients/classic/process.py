"""One process of a consumer of the classic protocol: it joins, syncs, beats, and hears what it is answered."""

from __future__ import annotations

from collections.abc import Callable

from kafkalearn.assignor import ASSIGNORS, Member, assign
from kafkalearn.group.classic.effects import JoinAnswered
from kafkalearn.group.classic.events import ClassicEvent, Heartbeat, JoinGroup, LeaveGroup, SyncGroup
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.world import World
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import at_least

NO_GENERATION = -1
FATAL = {
    "FENCED_INSTANCE_ID": "another process has its instance id",
    "GROUP_MAX_SIZE_REACHED": "the group is full",
    "INCONSISTENT_GROUP_PROTOCOL": "it has no assignor in common with the group",
    "INVALID_SESSION_TIMEOUT": "the broker does not allow its session timeout",
}
RETRIABLE = ("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS")


class ClassicClient:
    """What a process knows of its membership, and what its two threads do about it.

    References
    ----------
    Apache Kafka, ``AbstractCoordinator``, ``ConsumerCoordinator``, ``Heartbeat``.
    """

    def __init__(self, world: World, consumer: Consumer) -> None:
        """A new process: it has no member id yet."""
        self.world = world
        self.consumer = consumer
        self.settings = consumer.settings
        self.incarnation = consumer.incarnation
        self.label = consumer.name if self.incarnation == 1 else f"{consumer.name}/{self.incarnation}"
        self.beats_on = "heartbeat" if world.settings.has_heartbeat_thread else "poll"
        self.member_id = ""
        self.generation = NO_GENERATION
        self.is_leader = False
        self.must_join = True
        self.is_joining = False
        self.has_lost = False  # its partitions are no longer its own; the poll thread has yet to see it
        self.attempt = 0  # of joining: answers to an earlier one are not for us
        self.beat_loop = 0  # an earlier loop of heartbeats has ended
        self.is_beating = False  # a heartbeat is under way
        self.last_assignment: tuple[TopicPartition, ...] = ()  # what the sticky assignor remembers
        self.last_generation: int | None = None

    def hear(self, _: Consumer, attempt: int, handler: Callable, args: tuple) -> None:
        """An answer has come; one to a request that has been given up is not looked at."""
        if attempt == self.attempt:
            handler(*args)
        elif handler == self.heartbeat_answered:
            self.is_beating = False

    def _send(self, request: ClassicEvent) -> None:
        self.world.send(self.consumer, (self.attempt, request))

    # ---- the poll thread

    def polls(self, _: Consumer | None = None) -> None:
        """In poll(), a consumer that must join does so."""
        consumer = self.consumer
        if self.has_lost:
            self.has_lost = False
            self.world.owns(consumer, (), f"{consumer.name} has lost its partitions" if consumer.owned else "")
        if self.must_join and not self.is_joining:
            self._join()

    def _join(self) -> None:
        """Ask for the next generation; eager consumers give up everything first."""
        consumer = self.consumer
        self.must_join, self.is_joining = False, True
        self.beat_loop += 1  # no heartbeats while JoinGroup is under way
        if self.settings.is_cooperative:
            self.world.waits(consumer, not consumer.owned)
        else:
            self.world.owns(consumer, (), f"{consumer.name} rejoins" if consumer.owned else "")
            self.world.waits(consumer, True)
        self._send_join()

    def _send_join(self) -> None:
        self.attempt += 1
        claims = self.consumer.owned if self.settings.is_cooperative else self.last_assignment
        metadata = (tuple(self.world.topics), tuple(claims), self.last_generation)
        session_ms, limit_ms = self.settings.session_timeout_ms, self.settings.max_poll_interval_ms
        request = JoinGroup(
            self.label,
            self.member_id,
            session_ms,
            session_ms if limit_ms is None else limit_ms,
            tuple((name, metadata) for name in self.settings.assignors),
            self.settings.instance_id,
        )
        self._send(request)

    def join_answered(self, answer: JoinAnswered) -> None:
        """The next generation is there, or it is not for us."""
        if answer.error == "NONE":
            self.member_id, self.generation = answer.member_id, answer.generation
            self.is_leader = answer.leader == answer.member_id
            self._begin_beating()
            assigns = self.is_leader and not answer.is_assignment_skipped
            assignments = tuple(self._assign(answer).items()) if assigns else ()
            self._send(SyncGroup(self.label, self.member_id, self.generation, assignments, self.settings.instance_id))
        elif answer.error == "MEMBER_ID_REQUIRED":
            self.member_id = answer.member_id
            self._send_join()
        else:
            self._refused(answer.error)

    def _assign(self, answer: JoinAnswered) -> dict[str, tuple[TopicPartition, ...]]:
        """Who gets what, as the leader works it out."""
        members = [
            Member(member_id, topics, owned, generation, instance_id)
            for member_id, instance_id, (topics, owned, generation) in answer.members
        ]
        chosen = ASSIGNORS[answer.protocol]
        release = self.world.release if at_least(chosen.since, self.world.release) else None
        return dict(assign(answer.protocol, self.world.topics, members, release=release))

    def sync_answered(self, error: str, assignment: tuple[TopicPartition, ...] | None) -> None:
        """Our part of the assignment is there."""
        if error == "NONE":
            self._adopt(assignment or ())
        else:
            self._refused(error)

    def _adopt(self, assignment: tuple[TopicPartition, ...]) -> None:
        """Read what we are given; a cooperative consumer that gave something up joins again at once."""
        consumer = self.consumer
        self.is_joining = False
        self.last_assignment, self.last_generation = assignment, self.generation
        has_revoked = bool(set(consumer.owned) - set(assignment))
        self.world.owns(consumer, assignment, f"{consumer.name} is assigned {_count(assignment)}")
        self.world.waits(consumer, False)
        if self.must_join or (self.settings.is_cooperative and has_revoked):
            self._join()

    def _refused(self, error: str) -> None:
        """The generation is not ours any more, another rebalance has begun, or nothing can be done."""
        if error in FATAL:
            return self.world.dies(self.consumer, FATAL[error])
        self.is_joining = False
        self._must_join_after(error)
        if error in RETRIABLE:
            delay_ms = self.world.settings["retry.backoff.ms"]
            return self.world.after(self.consumer, delay_ms, self.polls, thread="poll")
        return self.world.wake_poll(self.consumer)

    def _must_join_after(self, error: str) -> None:
        self.must_join = True
        if error == "UNKNOWN_MEMBER_ID":
            self.member_id = ""
        if error in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"):
            self.has_lost = True

    def sees_new_partitions(self, _: Consumer) -> None:
        """With a look at the metadata, the leader finds that a topic has grown."""
        if self.is_leader and self.member_id and not self.is_joining:
            self.must_join = True
            self.polls()

    # ---- the heartbeat thread

    def _begin_beating(self) -> None:
        self.beat_loop += 1
        self.is_beating = False
        self._beat_later(self.consumer.first_beat_ms(self.settings.heartbeat_interval_ms))

    def _beat_later(self, delay_ms: int) -> None:
        self.world.after(self.consumer, delay_ms, self._beat, self.beat_loop, thread=self.beats_on)

    def _beat(self, _: Consumer, loop: int) -> None:
        if loop != self.beat_loop:
            return
        if not self.is_beating:
            self.is_beating = True
            self._send(Heartbeat(self.label, self.member_id, self.generation, self.settings.instance_id))
        self._beat_later(self.settings.heartbeat_interval_ms)

    def heartbeat_answered(self, generation: int, error: str) -> None:
        """All is well, the group wants us to join again, or it does not know us any more."""
        self.is_beating = False
        if generation != self.generation or self.is_joining or error == "NONE" or error in RETRIABLE:
            return
        if error in FATAL:
            self.world.dies(self.consumer, FATAL[error])
            return
        self._must_join_after(error)
        if error != "REBALANCE_IN_PROGRESS":
            self.beat_loop += 1
        self.world.wake_poll(self.consumer)

    def poll_interval_exceeded(self) -> None:
        """The heartbeat thread leaves the group (a static member only falls silent); the next poll joins again."""
        self.world.note(f"{self.consumer.name} exceeds max.poll.interval.ms")
        self.leave()
        self.member_id, self.generation = "", NO_GENERATION
        self.must_join, self.is_joining = True, False
        self.attempt += 1
        self.beat_loop += 1
        self.world.owns(self.consumer, ())
        self.world.wake_poll(self.consumer)

    def leave(self) -> None:
        """Dynamic members say good-bye, static ones go in silence."""
        if self.settings.instance_id is None and self.member_id:
            self._send(LeaveGroup(self.label, self.member_id))


def _count(partitions: tuple[TopicPartition, ...]) -> str:
    if not partitions:
        return "no partition"
    return f"{len(partitions)} partition{'s' if len(partitions) > 1 else ''}"
