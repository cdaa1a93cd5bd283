"""The objects of the world of a scenario: the clock, consumers with their processes and two threads, the network.

Beside them stand what a group protocol must offer so that scenarios can be played with it (`Client`, `Protocol`), and
the `Recorder`, which keeps the moments of a run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame
from kafkalearn.scenarios.events import MemberSettings, Subscription

SCENARIO, NETWORK, HEARTBEAT_THREAD, POLL_THREAD = range(4)
"""Who comes first at one moment: the scenario, then the coordinator, then each thread of the consumers."""

MOST_CALLS = 2_000_000  # about half a minute of real time in a group of a few members
SMALL_GROUP = 50  # members; in a larger group each call costs more, as the coordinator looks at all of them

Callback: TypeAlias = Callable[..., None]


def most_calls(member_count: int) -> int:
    """How many calls a scenario with so many consumers may take.

    >>> most_calls(3), most_calls(200)
    (2000000, 400000)
    """
    return MOST_CALLS // (1 + member_count // SMALL_GROUP)


class Clock:
    """Virtual time: the present moment, and a queue of calls, in an order that is the same in every run.

    >>> clock = Clock()
    >>> clock.at(30, POLL_THREAD, print, "the poll thread")
    >>> clock.at(30, NETWORK, print, "the network")
    >>> clock.run(100, after_each_ms=lambda: print(f"that was at {clock.now_ms} ms"))
    the network
    the poll thread
    that was at 30 ms
    """

    def __init__(self) -> None:
        """Time begins at 0; `step_count` says how many calls have been asked for."""
        self.now_ms = 0
        self._queue: list[tuple[int, int, int, Callback, tuple[object, ...]]] = []
        self.step_count = 0

    def at(self, when_ms: int, rank: int, call: Callback, *args: object) -> None:
        """Make a call at a moment, not before now; of several at one moment, the lower rank comes first."""
        self.step_count += 1
        heappush(self._queue, (max(when_ms, self.now_ms), rank, self.step_count, call, args))

    def run(self, end_ms: int, after_each_ms: Callback, member_count: int = 1) -> None:
        """Make all calls up to the end, and `after_each_ms` when all calls of one moment are made.

        Raises
        ------
        KafkaLearnError
            If there are more calls than anybody waits for: `MOST_CALLS`, in a large group fewer.
        """
        most = most_calls(member_count)
        while self._queue and self._queue[0][0] <= end_ms:
            if self.step_count > most:
                raise KafkaLearnError(
                    f"after {self.now_ms / 1000:g} s of {end_ms / 1000:g} s the scenario has taken {most:,} "
                    "steps: let it end earlier, make heartbeats rarer, or take fewer members"
                )
            when_ms, _, _, call, args = heappop(self._queue)
            self.now_ms = when_ms
            call(*args)
            if not self._queue or self._queue[0][0] > when_ms:
                after_each_ms()
        self.now_ms = end_ms


CONSUMING = "consuming"
IDLE = "idle"  # in the group, but without a partition
JOINING = "joining"  # it waits for the coordinator and reads nothing
PAUSED = "paused"  # both threads stand still
WORKING = "working"  # the poll thread processes the records of one poll
GONE = "gone"
DOINGS = (CONSUMING, IDLE, JOINING, PAUSED, WORKING, GONE)

POLL_RECORDS = 500  # the poll that a scenario's "works 400 s on one poll" speaks of


class Client(ABC):
    """The code of a protocol's client in one process of a consumer."""

    @abstractmethod
    def poll(self) -> None:
        """Do what the poll thread does inside poll(), as `Threads.wake_poll` asked for."""

    @abstractmethod
    def poll_interval_exceeded(self) -> None:
        """Do what the heartbeat thread does when ``max.poll.interval.ms`` has passed since the last poll."""

    @abstractmethod
    def subscription_changed(self) -> None:
        """The application has called ``subscribe`` with something else; the next poll acts on it."""

    @abstractmethod
    def close(self) -> None:
        """Send what a consumer sends when the application closes it; the process ends at once."""


class Consumer:
    """One named consumer through all its processes."""

    client: Client  # of the last process

    def __init__(
        self,
        name: str,
        settings: MemberSettings,
        processing_ms: int,
        index: int,
        count: int,
        subscription: Subscription,
    ) -> None:
        """Not started yet; it is number `index` of `count`."""
        self.name = name
        self.first_subscription = self.subscription = subscription  # of each process when it starts, and now
        self.index, self.count = index, count
        self.settings = settings
        self.processing_ms = processing_ms
        self.protocol: str | None = None  # that its next process speaks; None: that of the run
        self.incarnation = 0
        self.is_running = False
        self.owned: tuple[TopicPartition, ...] = ()
        self.is_waiting = False  # for the coordinator; it reads nothing meanwhile
        self.paused_until_ms = 0
        self.disconnected_until_ms = 0
        self.working_until_ms = 0
        self.polled_ms = 0  # a poll that is known for certain; the later ones follow at equal distances
        self.poll_distance_ms = processing_ms
        self.is_called_to_poll = False

    @property
    def instance_id(self) -> str | None:
        """Its ``group.instance.id``; None for a dynamic member."""
        return self.settings.instance_id

    @property
    def label(self) -> str:
        """A name for its present process: ``c1`` for the first, then ``c1/2``."""
        return self.name if self.incarnation == 1 else f"{self.name}/{self.incarnation}"

    def is_alive(self, incarnation: int) -> bool:
        """Whether its process of that number is running."""
        return self.is_running and self.incarnation == incarnation

    def first_heartbeat_ms(self, interval_ms: int) -> int:
        """How long after joining it sends its first heartbeat; then one every interval.

        In a real group the heartbeats of the members drift apart; here they are spread evenly from the start.
        """
        return interval_ms * (self.index + 1) // self.count

    def is_paused(self, now_ms: int) -> bool:
        """Whether both threads stand still."""
        return now_ms < self.paused_until_ms

    def is_working(self, now_ms: int) -> bool:
        """Whether the poll thread processes records for long."""
        return now_ms < self.working_until_ms

    def is_in_poll(self, now_ms: int) -> bool:
        """Whether its poll thread waits inside poll(): for the coordinator, or for records that do not come."""
        return not self.is_working(now_ms) and (self.is_waiting or not self.owned or not self.poll_distance_ms)

    def last_poll_ms(self, now_ms: int) -> int:
        """When its poll thread called poll() last."""
        if self.is_in_poll(now_ms):
            return now_ms
        return now_ms - (now_ms - self.polled_ms) % self.poll_distance_ms

    def next_poll_ms(self, now_ms: int) -> int:
        """When its poll thread is in poll() next; now, if it is."""
        if self.is_in_poll(now_ms):
            return now_ms
        return now_ms + (self.polled_ms - now_ms) % self.poll_distance_ms

    def doing(self, now_ms: int) -> str:
        """One of `DOINGS`."""
        if not self.is_running:
            return GONE
        if self.is_paused(now_ms):
            return PAUSED
        if self.is_working(now_ms):
            return WORKING
        if self.is_waiting:
            return JOINING
        return CONSUMING if self.owned else IDLE


class GroupView(NamedTuple):
    """The group as its coordinator sees it."""

    state: str
    generation: int  # of a KIP-848 group: its epoch
    leader: str | None = None  # the consumer that leads, by name


class Protocol(ABC):
    """One group protocol in one run: its coordinator, and the clients that talk to it."""

    @abstractmethod
    def client(self, consumer: Consumer) -> Client:
        """The client of a process that has just started."""

    @abstractmethod
    def topic_changed(self, topic: str) -> None:
        """A topic of the world was created, was deleted, or has more partitions than before."""

    @abstractmethod
    def view(self) -> GroupView:
        """The group at this moment."""


class MemberMoment(NamedTuple):
    """A consumer at one moment: what it does, and what it believes to own."""

    name: str
    doing: str
    owned: tuple[TopicPartition, ...]


class Moment(NamedTuple):
    """The group and its consumers at one moment; they stay so until the next."""

    time_ms: int
    state: str  # of the group, as its coordinator sees it
    generation: int
    leader: str | None
    members: tuple[MemberMoment, ...]
    topics: tuple[tuple[str, int], ...]

    def member(self, name: str) -> MemberMoment:
        """The consumer of that name."""
        return next(each for each in self.members if each.name == name)

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions there are."""
        return tuple(TopicPartition(topic, number) for topic, count in self.topics for number in range(count))

    def owners(self) -> dict[TopicPartition, tuple[MemberMoment, ...]]:
        """Who believes to own each partition."""
        owners: dict[TopicPartition, tuple[MemberMoment, ...]] = {}
        for member in self.members:
            for partition in member.owned:
                owners[partition] = (*owners.get(partition, ()), member)
        return owners

    def readers(self) -> dict[TopicPartition, int]:
        """How many consumers read each partition; a partition without readers is not in it."""
        readers: dict[TopicPartition, int] = {}
        for member in self.members:
            if member.doing == CONSUMING:
                for partition in member.owned:
                    readers[partition] = readers.get(partition, 0) + 1
        return readers


class Rebalance(NamedTuple):
    """One time in which the group agreed anew."""

    from_ms: int
    to_ms: int | None  # None: it was not over when the scenario ended
    causes: tuple[str, ...]
    generation: int | None  # the one it led to


class Recorder:
    """Keeps the moments of a run and its rebalances, as they come."""

    def __init__(self, clock: Clock) -> None:
        """Nothing has happened yet."""
        self._clock = clock
        self._notes: list[str] = []
        self.trace: list[Frame[Moment, str]] = []
        self.rebalances: list[Rebalance] = []

    @property
    def has_notes(self) -> bool:
        """Whether something was noted since the last moment was kept."""
        return bool(self._notes)

    def note(self, what: str) -> None:
        """Something has happened that is worth a frame; all that happens in one ms shares it. "" needs no words."""
        self._notes.append(what)

    def keep(self, view: GroupView, consumers: Iterable[Consumer], topics: Mapping[str, int]) -> None:
        """Keep the present moment, unless it looks like the last and no note has words."""
        now_ms = self._clock.now_ms
        members = tuple(MemberMoment(each.name, each.doing(now_ms), each.owned) for each in consumers)
        moment = Moment(now_ms, view.state, view.generation, view.leader, members, tuple(topics.items()))
        cause = "; ".join(dict.fromkeys(each for each in self._notes if each))
        self._notes = []
        if self.trace and not cause and moment[1:] == self.trace[-1].state[1:]:
            return
        self.trace.append(Frame(len(self.trace), cause if self.trace else None, moment))

    def rebalance_starts(self, cause: str) -> None:
        """A rebalance begins, or one that is going on has a further cause."""
        if self.rebalances and self.rebalances[-1].to_ms is None:
            last = self.rebalances[-1]
            if cause not in last.causes:
                self.rebalances[-1] = last._replace(causes=(*last.causes, cause))
        else:
            self.rebalances.append(Rebalance(self._clock.now_ms, None, (cause,), None))

    def rebalance_ends(self, generation: int) -> None:
        """The rebalance that is going on, if any, is over."""
        if self.rebalances and self.rebalances[-1].to_ms is None:
            self.rebalances[-1] = self.rebalances[-1]._replace(to_ms=self._clock.now_ms, generation=generation)

    def end(self, end_ms: int) -> None:
        """The scenario is over: the last moment lasts until here."""
        last = self.trace[-1].state
        self.trace.append(Frame(len(self.trace), "the end", last._replace(time_ms=end_ms)))


class Threads:
    """Makes the calls of client code on the two threads of a process, as soon as nothing stops them.

    A call for a process that has ended is never made.
    """

    def __init__(self, clock: Clock) -> None:
        """Of all processes that live by this clock."""
        self._clock = clock

    def at(
        self, when_ms: int, consumer: Consumer, incarnation: int, thread: int, call: Callback, *args: object
    ) -> None:
        """Make a call in one process of a consumer, on its `HEARTBEAT_THREAD` or its `POLL_THREAD`."""
        self._clock.at(when_ms, thread, self._run, consumer, incarnation, thread, call, args)

    def after(self, delay_ms: int, consumer: Consumer, thread: int, call: Callback, *args: object) -> None:
        """Make a call in the present process of a consumer after a time: a timer of the client."""
        self.at(self._clock.now_ms + delay_ms, consumer, consumer.incarnation, thread, call, *args)

    def wake_poll(self, consumer: Consumer) -> None:
        """Have the client's `poll` called as soon as the poll thread is in poll()."""
        if not consumer.is_called_to_poll:
            consumer.is_called_to_poll = True
            due_ms = consumer.next_poll_ms(self._clock.now_ms)
            self.at(due_ms, consumer, consumer.incarnation, POLL_THREAD, self._poll, consumer)

    def _poll(self, consumer: Consumer) -> None:
        consumer.is_called_to_poll = False
        consumer.client.poll()

    def _run(self, consumer: Consumer, incarnation: int, thread: int, call: Callback, args: tuple[object, ...]) -> None:
        """Make the call, or try again when the thread is no longer stopped."""
        if not consumer.is_alive(incarnation):
            return
        due_ms = now_ms = self._clock.now_ms
        if consumer.is_paused(now_ms):
            due_ms = consumer.paused_until_ms
        elif thread == POLL_THREAD and consumer.is_working(now_ms):
            due_ms = min(consumer.next_poll_ms(now_ms), consumer.working_until_ms)
        if due_ms > now_ms:
            self.at(due_ms, consumer, incarnation, thread, call, *args)
        else:
            call(*args)


class Network:
    """Carries requests to the coordinator, and answers back.

    Each takes the latency; a disconnected consumer's arrive once it is back.
    """

    def __init__(self, clock: Clock, threads: Threads, latency_ms: int) -> None:
        """One that takes `latency_ms` for each way."""
        self._clock = clock
        self._threads = threads
        self._latency_ms = latency_ms

    def send(self, consumer: Consumer, receive: Callback, *request: object) -> None:
        """A request goes to the coordinator, which takes it with ``receive(*request)``."""
        leaves_ms = max(self._clock.now_ms, consumer.disconnected_until_ms)
        self._clock.at(leaves_ms + self._latency_ms, NETWORK, self._arrive, consumer, receive, request)

    def _arrive(self, consumer: Consumer, receive: Callback, request: tuple[object, ...]) -> None:
        if self._clock.now_ms < consumer.disconnected_until_ms:
            self._clock.at(consumer.disconnected_until_ms, NETWORK, self._arrive, consumer, receive, request)
        else:
            receive(*request)

    def answer(
        self,
        consumer: Consumer,
        incarnation: int,
        receive: Callback,
        *answer: object,
        thread: int = HEARTBEAT_THREAD,
    ) -> None:
        """An answer goes back to a process, which takes it with ``receive(*answer)`` on one of its threads."""
        arrives_ms = max(self._clock.now_ms, consumer.disconnected_until_ms) + self._latency_ms
        self._threads.at(arrives_ms, consumer, incarnation, thread, receive, *answer)


class Processes:
    """Changes consumers: they start and end, own partitions, stand still, work, lose the network.

    It watches that each polls often enough.
    """

    def __init__(self, clock: Clock, threads: Threads, recorder: Recorder) -> None:
        """Of consumers that live by this clock and these threads; what happens to them is recorded."""
        self._clock = clock
        self._threads = threads
        self._recorder = recorder

    def start(self, consumer: Consumer, new_client: Callable[[Consumer], Client]) -> None:
        """Start a process, unless one is running; its poll thread makes the first poll."""
        if consumer.is_running:
            return
        consumer.incarnation += 1
        consumer.is_running, consumer.is_waiting, consumer.is_called_to_poll = True, True, False
        consumer.paused_until_ms = consumer.working_until_ms = consumer.disconnected_until_ms = 0
        consumer.poll_distance_ms = consumer.processing_ms
        consumer.polled_ms = self._clock.now_ms
        consumer.subscription = consumer.first_subscription
        self._recorder.note(f"{consumer.name} starts")
        consumer.client = new_client(consumer)
        self._threads.wake_poll(consumer)

    def close(self, consumer: Consumer, cause: str) -> None:
        """The application closes the consumer, and the process ends."""
        consumer.client.close()
        self.end(consumer, cause)

    def fail(self, consumer: Consumer, why: str) -> None:
        """The process ends by an error that no client recovers from."""
        self.end(consumer, f"{consumer.name} stops: {why}")

    def end(self, consumer: Consumer, cause: str) -> None:
        """The process ends; nobody else learns of it."""
        consumer.is_running, consumer.is_waiting, consumer.owned = False, False, ()
        self._recorder.note(cause)

    def assign(self, consumer: Consumer, partitions: tuple[TopicPartition, ...]) -> None:
        """The consumer owns what its coordinator has assigned."""
        count = counted(len(partitions), "partition") if partitions else "no partition"
        self.set_owned(consumer, partitions, f"{consumer.name} is assigned {count}")

    def take_away(self, consumer: Consumer, why: str) -> None:
        """The consumer owns nothing any more: ``c1 rejoins``, or ``c1 has lost its partitions``."""
        self.set_owned(consumer, (), f"{consumer.name} {why}" if consumer.owned else "")

    def set_owned(self, consumer: Consumer, partitions: Iterable[TopicPartition], cause: str = "") -> None:
        """Change what the consumer itself believes to own."""
        had, consumer.owned = consumer.owned, tuple(partitions)
        if bool(had) != bool(consumer.owned):
            self._has_polled(consumer)
        if had != consumer.owned or cause:
            self._recorder.note(cause)

    def set_waiting(self, consumer: Consumer, is_waiting: bool) -> None:
        """Change whether the consumer waits for the coordinator and reads nothing meanwhile."""
        if consumer.is_waiting != is_waiting:
            consumer.is_waiting = is_waiting
            self._has_polled(consumer)
            self._recorder.note("")

    def subscribe(self, consumer: Consumer, subscription: Subscription) -> None:
        """The application calls ``subscribe`` again."""
        consumer.subscription = subscription
        self._recorder.note(f"{consumer.name} subscribes to {subscription}")
        consumer.client.subscription_changed()

    def pause(self, consumer: Consumer, for_ms: int) -> None:
        """Both threads stand still for a time."""
        now_ms = self._clock.now_ms
        was_working = consumer.is_working(now_ms)
        consumer.paused_until_ms = max(consumer.paused_until_ms, now_ms + for_ms)
        if was_working:
            consumer.working_until_ms += for_ms
            consumer.poll_distance_ms += for_ms
        self._recorder.note(f"{consumer.name} stands still for {for_ms / 1000:g} s")
        limit_ms = consumer.settings.max_poll_interval_ms
        if limit_ms is not None:
            due_ms = consumer.last_poll_ms(now_ms) + limit_ms - now_ms
            if due_ms <= for_ms and not consumer.is_in_poll(now_ms):
                # After a pause the heartbeat thread is the first to look at the clock.
                self._threads.after(due_ms, consumer, HEARTBEAT_THREAD, consumer.client.poll_interval_exceeded)
        self._clock.at(consumer.paused_until_ms, SCENARIO, self._resume, consumer, consumer.incarnation)

    def _resume(self, consumer: Consumer, incarnation: int) -> None:
        if consumer.is_alive(incarnation) and not consumer.is_paused(self._clock.now_ms):
            self._recorder.note(f"{consumer.name} goes on")
            if not consumer.is_working(self._clock.now_ms):
                consumer.polled_ms = self._clock.now_ms

    def work(self, consumer: Consumer, for_ms: int) -> None:
        """The poll thread processes records for a time; fewer records in a poll make more and shorter polls of it."""
        records = consumer.settings.max_poll_records
        share = 1 if records is None else min(records, POLL_RECORDS) / POLL_RECORDS
        consumer.polled_ms = self._clock.now_ms
        consumer.poll_distance_ms = max(1, round(for_ms * share))
        consumer.working_until_ms = self._clock.now_ms + for_ms
        polls = "one poll" if share == 1 else "a few polls"
        self._recorder.note(f"{consumer.name} works for {for_ms / 1000:g} s on {polls}")
        self._watch_poll_interval(consumer)
        self._finish_work_later(consumer)

    def _finish_work_later(self, consumer: Consumer) -> None:
        self._clock.at(consumer.working_until_ms, POLL_THREAD, self._finish_work, consumer, consumer.incarnation)

    def _finish_work(self, consumer: Consumer, incarnation: int) -> None:
        if not consumer.is_alive(incarnation):
            return
        if consumer.is_working(self._clock.now_ms):  # a pause has prolonged it
            self._finish_work_later(consumer)
            return
        consumer.poll_distance_ms = consumer.processing_ms
        consumer.polled_ms = self._clock.now_ms
        self._recorder.note(f"{consumer.name} has done its work")

    def disconnect(self, consumer: Consumer, for_ms: int) -> None:
        """No request or answer passes for a time."""
        consumer.disconnected_until_ms = max(consumer.disconnected_until_ms, self._clock.now_ms + for_ms)
        self._recorder.note(f"{consumer.name} is cut off for {for_ms / 1000:g} s")
        self._clock.at(consumer.disconnected_until_ms, SCENARIO, self._note_connected, consumer, consumer.incarnation)

    def _note_connected(self, consumer: Consumer, incarnation: int) -> None:
        if consumer.is_alive(incarnation):
            self._recorder.note(f"{consumer.name} is connected again")

    def _has_polled(self, consumer: Consumer) -> None:
        """The poll thread has just come back from poll(): its work on the records begins now."""
        if not consumer.is_working(self._clock.now_ms):
            consumer.polled_ms = self._clock.now_ms
            self._watch_poll_interval(consumer)

    def _watch_poll_interval(self, consumer: Consumer) -> None:
        """If the work on the records of one poll takes too long, the heartbeat thread will notice."""
        limit_ms = consumer.settings.max_poll_interval_ms
        if limit_ms is not None and consumer.poll_distance_ms >= limit_ms:
            self._check_poll_later(limit_ms, consumer, consumer.polled_ms)

    def _check_poll_later(self, delay_ms: int, consumer: Consumer, polled_ms: int) -> None:
        self._threads.after(delay_ms, consumer, HEARTBEAT_THREAD, self._check_poll, consumer, polled_ms)

    def _check_poll(self, consumer: Consumer, polled_ms: int) -> None:
        now_ms, limit_ms = self._clock.now_ms, consumer.settings.max_poll_interval_ms
        if limit_ms is None or (consumer.polled_ms > polled_ms and not consumer.is_working(now_ms)):
            return
        last_ms = consumer.last_poll_ms(now_ms - 1)  # if it polls at this very moment, it is too late
        if now_ms - last_ms >= limit_ms:
            if not consumer.is_working(now_ms):  # ordinary polls take too long: this one is worth being shown
                consumer.working_until_ms = last_ms + consumer.poll_distance_ms
                self._finish_work_later(consumer)
            consumer.client.poll_interval_exceeded()
        next_ms = last_ms + consumer.poll_distance_ms + limit_ms
        if next_ms < consumer.working_until_ms:
            self._check_poll_later(next_ms - now_ms, consumer, polled_ms)
