"""Pods of a group that changes its protocol: what is done to each of them, and all requests that follow from it.

`kafkalearn.groups.mixed` takes requests one by one, with the generation or the epoch that the client knows. Here the
events are a pod that starts, leaves, is killed, or is restarted with the other protocol; time; and a coordinator that
moves. Each pod has a client that knows what it was answered and sends what its protocol asks next, until the group
stands still: nobody has anything left to send, or all wait for somebody who is silent.

`Rollout` is the state, `step` the rule, `simulate` a whole run; what was asked and answered is in ``effects``.
`requests` has the same step as a run of the coordinator, request by request.

Simplified: a request is answered at once, or when the coordinator answers it; pods take turns in the order of their
names; all of them send a heartbeat every 3 s; classic pods assign with ``range`` and give up all while they join
(*eager*). Threads, a network and other assignors are in `kafkalearn.scenarios`.

>>> run = simulate(Settings(), [Starts("c1"), Starts("c2", "consumer")])
>>> {str(partition): names for partition, names in run[-1].state.readers.items()}["orders-5"]
('c2',)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, TypeAlias

from kafkalearn.assignors.members import Member
from kafkalearn.assignors.registry import assign
from kafkalearn.base import events, facts
from kafkalearn.base.checks import Checked, Whole, check_fields, one_of, sequence, text, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown
from kafkalearn.base.promises import Promises, Since, of_inner
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.groups.mixed import simulator as mixed
from kafkalearn.groups.mixed.model import Event as Request
from kafkalearn.groups.mixed.model import Group, ProtocolChanged, Subscription, subscription_of
from kafkalearn.groups.mixed.model import Settings as GroupSettings
from kafkalearn.groups.mixed.model import start as no_group

CLASSIC, CONSUMER = "classic", "consumer"
PROTOCOLS = (CLASSIC, CONSUMER)
MOST_PODS = 12
LONGEST_MS = 600_000  # that pass at once
HEARTBEAT_MS, SESSION_MS, REBALANCE_MS = 3000, 45_000, 300_000  # defaults of the Java client
MOST_TICKS = 8  # heartbeats that a group is given to come to rest
MOST_REQUESTS = 2000  # between two heartbeats


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The group, and the pods that may be in it.

    Parameters
    ----------
    group : kafkalearn.groups.mixed.Settings
        The broker's side, and the topics, to which every pod subscribes.
    pods : sequence of str
        Their names, at most 12, each one word without ``/``.

    Examples
    --------
    >>> Settings().pods
    ('c1', 'c2', 'c3', 'c4')
    """

    group: GroupSettings = field(default_factory=GroupSettings)
    pods: tuple[str, ...] = ("c1", "c2", "c3", "c4")

    def __post_init__(self) -> None:
        """Refuse what are no pods."""
        names = tuple(text("pod", each) for each in sequence("pods", self.pods, of="names of pods"))
        object.__setattr__(self, "pods", names)
        check_fields(self)
        whole_number("the number of pods", len(names), at_least=1, at_most=MOST_PODS)
        wrong = [each for each in names if not each or set(each) & set("/ ,;") or names.count(each) > 1]
        if wrong:
            raise KafkaLearnError(f"pods has {shown(wrong[0])}; each name is one word without / , and ; and comes once")


# What is done to pods.


class Starts(facts.Event, says="{name} is started with the {protocol} protocol"):
    """A pod that does not run is started, with one of the protocols."""

    name: str
    protocol: str = CLASSIC

    def __post_init__(self) -> None:
        """Refuse what is no protocol."""
        facts.Event.__post_init__(self)
        one_of("protocol", self.protocol, PROTOCOLS)


class Leaves(facts.Event, says="{name} closes its consumer and leaves"):
    """A pod closes its consumer, which leaves the group, and ends."""

    name: str


class Dies(facts.Event, says="{name} is killed, and nobody knows it yet"):
    """A pod is killed: it sends nothing any more, and the coordinator counts it until its session ends."""

    name: str


class Switches(facts.Event):
    """A pod closes its consumer, and comes back with the other protocol before anybody else sends a heartbeat."""

    name: str


class TimePassed(events.TimePassed):
    """Time passes; all that run send their heartbeats."""

    ms: Annotated[int, Whole(1, LONGEST_MS)]


class CoordinatorMoved(facts.Event, says="the coordinator dies; another one has read what was written"):
    """The coordinator's broker dies; the next one has what was written, and requests that waited are sent again."""


OfAPod: TypeAlias = Starts | Leaves | Dies | Switches
Event: TypeAlias = OfAPod | TimePassed | CoordinatorMoved

# What a client does next.
JOINS, WAITS, SYNCS, REPORTS, READS = "joins", "waits", "syncs", "reports", "reads"
STOPPED, KILLED, FAILED = "stopped", "killed", "failed"
RUNNING = (JOINS, WAITS, SYNCS, REPORTS, READS)


class Pod(NamedTuple):
    """A pod and what its client knows."""

    name: str
    protocol: str = CLASSIC
    process: int = 0  # how many of this name there were
    does: str = STOPPED
    member_id: str = ""
    epoch: int = 0  # of its membership; with the classic protocol the generation
    owned: tuple[TopicPartition, ...] = ()  # what it reads
    error: str = ""  # that it has failed with
    leads: tuple[tuple[str, str | None, Hashable], ...] = ()  # of a classic leader: the members that it assigns to

    @property
    def is_running(self) -> bool:
        """Whether its process is there and goes on."""
        return self.does in RUNNING

    @property
    def label(self) -> str:
        """The name of its process, and what its member id will be."""
        return self.name if self.process < 2 else f"{self.name}/{self.process}"


class Asked(facts.Effect):
    """A request of a pod with its answer; or an answer that comes later, to a request that has waited.

    Heartbeats that bring nothing new are left out.
    """

    at_ms: int
    pod: str
    request: str  # by Kafka's name
    knew: int | None = None  # the generation or epoch that was sent
    error: str | None = None  # None: it waits for its answer
    epoch: int | None = None  # the generation or epoch that was answered
    partitions: tuple[TopicPartition, ...] | None = None  # those that were answered
    has_waited: bool = False


@dataclass(frozen=True, slots=True)
class Rollout:
    """A group at one moment, and its pods."""

    group: Group
    pods: tuple[Pod, ...]
    effects: tuple[Asked | ProtocolChanged | consumer.MemberFenced | classic.MemberRemoved, ...] = field(
        default=(), compare=False
    )

    def pod(self, name: str) -> Pod:
        """One of them; IllegalEvent if there is none of this name."""
        for pod in self.pods:
            if pod.name == name:
                return pod
        raise IllegalEvent(f"{shown(name)} is no pod; there are {', '.join(each.name for each in self.pods)}")

    @property
    def readers(self) -> dict[TopicPartition, tuple[str, ...]]:
        """For each partition that is read, by which pods."""
        found: dict[TopicPartition, tuple[str, ...]] = {}
        for pod in self.pods:
            for partition in pod.owned:
                found[partition] = (*found.get(partition, ()), pod.name)
        return found

    def given_to(self, name: str) -> dict[TopicPartition, str]:
        """What the coordinator has given to processes of a pod, also to one that is gone; with the member id."""
        return {
            partition: member_id
            for partition, owners in self.group.owners.items()
            for member_id in owners
            if member_id.partition("/")[0] == name
        }


def start(settings: Settings) -> Rollout:
    """A group that nobody has asked for, and pods that have not started."""
    return Rollout(no_group(settings.group), tuple(map(Pod, settings.pods)))


def step(settings: Settings, rollout: Rollout, event: Event) -> Rollout:
    """The group and its pods after an event and all requests that follow from it.

    Raises
    ------
    IllegalEvent
        If it makes no sense: a pod starts that runs, or one leaves that does not.

    Examples
    --------
    >>> settings = Settings()
    >>> run = simulate(settings, [Starts("c1"), Starts("c2"), Switches("c2"), Leaves("c2")])
    >>> [(frame.state.group.group_type, frame.state.group.epoch) for frame in run]
    [(None, 0), ('Classic', 1), ('Classic', 2), ('Consumer', 3), ('Classic', 4)]
    >>> [each.request for each in run[3].state.effects if isinstance(each, Asked) and each.pod == "c1"]
    ['Heartbeat', 'JoinGroup', 'SyncGroup']
    """
    return _played(settings, rollout, event).rollout


def requests(settings: Settings, rollout: Rollout, event: Event) -> Trace[Group, Request]:
    """What one step is for the coordinator: the run of the group from before it, request by request.

    Heartbeats that change nothing are left out.

    >>> settings = Settings()
    >>> two = simulate(settings, [Starts("c1"), Starts("c2")])[-1].state
    >>> run = requests(settings, two, Switches("c2"))
    >>> [type(frame.event).__name__ for frame in run[1:4]]
    ['LeaveGroup', 'ConsumerGroupHeartbeat', 'TimePassed']
    """
    kept: list[Frame[Group, Request]] = [Frame(0, None, rollout.group)]
    for request, group in _played(settings, rollout, event).sent:
        kept.append(Frame(len(kept), request, group))
    return Trace(kept)


def tried(settings: Settings, rollout: Rollout, event: Event) -> Rollout:
    """The event alone, without what the others send then: enough to know whether it may happen."""
    turns = _Turns(settings, rollout)
    turns.happen(TimePassed(1) if isinstance(event, CoordinatorMoved | TimePassed) else event)
    return turns.rollout


def _played(settings: Settings, rollout: Rollout, event: Event) -> _Turns:
    turns = _Turns(settings, rollout)
    turns.happen(event)
    if not isinstance(event, Dies | TimePassed):  # of who is killed nobody knows yet
        turns.settle()
    return turns


class _Turns:
    """One step under way: the group, what each pod knows, and what was sent so far."""

    def __init__(self, settings: Settings, rollout: Rollout) -> None:
        self.settings = settings
        self.group = rollout.group
        self.pods = {each.name: each for each in rollout.pods}
        self.effects: list[Any] = []
        self.sent: list[tuple[Request, Group]] = []

    @property
    def rollout(self) -> Rollout:
        """As it stands now."""
        return Rollout(replace(self.group, effects=()), tuple(self.pods.values()), tuple(self.effects))

    # What happens.

    def happen(self, event: Event) -> None:
        match event:
            case Starts() | Leaves() | Dies() | Switches():
                self._do(self.rollout.pod(event.name), event)
            case TimePassed(ms=ms):
                for until_ms in (*range(HEARTBEAT_MS, ms, HEARTBEAT_MS), ms):
                    self._tick((until_ms - 1) % HEARTBEAT_MS + 1)
            case CoordinatorMoved():
                self._take(consumer.PartitionMoved())
                for pod in self.pods.values():
                    if pod.does == WAITS:
                        self._keep(pod._replace(does=JOINS))
            case _:
                raise no_event(event, (Starts, Leaves, Dies, Switches, TimePassed, CoordinatorMoved))

    def _do(self, pod: Pod, event: OfAPod) -> None:
        if isinstance(event, Starts) == pod.is_running:
            raise IllegalEvent(f"{event!r}: {pod.name} {'runs already' if pod.is_running else 'does not run'}")
        if isinstance(event, Dies):
            self._keep(Pod(pod.name, pod.protocol, pod.process, KILLED))
            return
        self._close(pod)
        if isinstance(event, Starts):
            self._keep(Pod(pod.name, event.protocol, pod.process + 1, JOINS))
        elif isinstance(event, Switches):
            other = CLASSIC if pod.protocol == CONSUMER else CONSUMER
            self._keep(Pod(pod.name, other, pod.process + 1, JOINS))

    def _close(self, pod: Pod) -> None:
        self._keep(Pod(pod.name, pod.protocol, pod.process))
        if pod.protocol == CONSUMER and pod.epoch:
            leaving = consumer.leave(pod.label)
            self._send(pod, leaving, leaving.member_epoch)
        elif pod.protocol == CLASSIC and pod.member_id:
            self._send(pod, classic.LeaveGroup(pod.label, pod.member_id))

    def _tick(self, ms: int) -> None:
        """Time passes, and all that read send a heartbeat; who was answered something new does it."""
        self._take(consumer.TimePassed(ms))
        for name in self.pods:
            if self.pods[name].does == READS:
                self._turn(self.pods[name])
        self._rest()

    def settle(self) -> None:
        """All that follows: clients take turns, and send heartbeats, until there is nothing more."""
        self._rest()
        for _ in range(MOST_TICKS):
            self._tick(HEARTBEAT_MS)
            if self._is_at_rest():
                return

    def _is_at_rest(self) -> bool:
        is_quiet = all(each.does == READS for each in self.pods.values() if each.is_running)
        return is_quiet and self.group.state in (STABLE, EMPTY)

    def _rest(self) -> None:
        """All that have something to send take turns until nobody has."""
        for _ in range(MOST_REQUESTS):
            due = [each for each in self.pods.values() if each.does in (JOINS, SYNCS, REPORTS)]
            if not due:
                return
            self._turn(due[0])
        raise KafkaLearnError(f"after {MOST_REQUESTS:,} requests the pods still have something to send")

    # Requests and answers.

    def _turn(self, pod: Pod) -> None:
        """What the pod sends next."""
        topics = tuple(name for name, _ in self.settings.group.consumer.topics)
        if pod.protocol == CONSUMER:
            if pod.does == JOINS:
                pod = pod._replace(owned=(), epoch=0, member_id=pod.label)
                request: Any = consumer.join(pod.label, topics, rebalance_timeout_ms=REBALANCE_MS)
            else:
                owned = pod.owned if pod.does == REPORTS else None
                request = consumer.ConsumerGroupHeartbeat(pod.label, pod.epoch, owned=owned)
            self._keep(pod._replace(does=READS))
            return self._send(pod, request, pod.epoch)
        if pod.does == JOINS:
            reads = (("range", Subscription(topics)),)
            times = {"session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": REBALANCE_MS}
            request = classic.JoinGroup(pod.label, pod.member_id, protocols=reads, drawn_id=pod.label, **times)
            self._keep(pod._replace(does=WAITS, owned=(), leads=()))
            return self._send(pod, request)
        if pod.does == SYNCS:
            request = classic.SyncGroup(pod.label, pod.member_id, pod.epoch, self._plan(pod))
            self._keep(pod._replace(does=WAITS))
            return self._send(pod, request, pod.epoch)
        return self._send(pod, classic.Heartbeat(pod.label, pod.member_id, pod.epoch), pod.epoch)

    def _plan(self, pod: Pod) -> tuple[tuple[str, tuple[TopicPartition, ...]], ...]:
        """What a classic leader assigns to each member."""
        members = [Member(each, subscription_of(sent).topics) for each, _, sent in pod.leads]
        counts = self.group.consumer.partition_counts
        return tuple(assign("range", counts, members, side="client").items()) if members else ()

    def _send(self, pod: Pod, request: Request, knew: int | None = None) -> None:
        name, place = type(request).__name__, len(self.effects)
        before = self.group
        self.effects.append(Asked(self.group.now_ms, pod.name, name, knew))
        self._take(request, of=pod, place=place)
        asked = self.effects[place]
        is_heartbeat = isinstance(request, classic.Heartbeat) or (knew or 0) > 0  # not to join with, nor to leave with
        is_quiet = asked.error == "NONE" and asked.epoch in (None, knew) and asked.partitions is None
        if is_heartbeat and is_quiet and not isinstance(request, classic.SyncGroup):
            del self.effects[place]
            if before.epoch == self.group.epoch and before.state == self.group.state:
                del self.sent[-1]

    def _take(self, request: Request, of: Pod | None = None, place: int = -1) -> None:
        """The coordinator takes a request or a time, and whoever is answered hears it."""
        self.group = mixed.step(self.settings.group, self.group, request)
        last = self.sent[-1][0] if self.sent else None
        if isinstance(request, consumer.TimePassed) and isinstance(last, consumer.TimePassed):
            self.sent.pop()
            request = consumer.TimePassed(request.ms + last.ms)
        self.sent.append((request, self.group))
        is_first = of is not None
        for effect in self.group.effects:
            if isinstance(effect, ProtocolChanged | consumer.MemberFenced | classic.MemberRemoved):
                self.effects.append(effect)
            label = getattr(effect, "client", None) or getattr(effect, "member_id", None)
            answer = _answer(effect)
            if answer is None:
                continue
            if of is not None and is_first and label == of.label:
                self.effects[place] = replace(self.effects[place], **answer)
                is_first = False
            pod = next((each for each in self.pods.values() if each.is_running and each.label == label), None)
            if pod is None:
                continue
            if of is None or label != of.label:
                name = "JoinGroup" if isinstance(effect, classic.JoinAnswered) else "SyncGroup"
                self.effects.append(Asked(self.group.now_ms, pod.name, name, **answer, has_waited=True))
            self._keep(_heard(pod, effect))

    def _keep(self, pod: Pod) -> None:
        self.pods[pod.name] = pod


def _answer(effect: object) -> dict[str, Any] | None:
    """What an answer says, for `Asked`; None for what is none."""
    match effect:
        case classic.JoinAnswered(error=error, generation=generation):
            return {"error": error, "epoch": generation if error == "NONE" else None}
        case classic.SyncAnswered(error=error, assignment=assignment):
            return {"error": error, "partitions": tuple(assignment or ()) if error == "NONE" else None}  # type: ignore[arg-type]
        case classic.HeartbeatAnswered(error=error) | classic.LeaveAnswered(error=error):
            return {"error": error}
        case consumer.HeartbeatAnswered(error=error, member_epoch=epoch, assignment=assignment):
            return {"error": error, "epoch": epoch, "partitions": assignment}
    return None


# What a classic client does with an error; with any other it fails, as a new one does.
SENT_AGAIN = ("MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION")
LOST = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH")


def _heard(pod: Pod, answer: object) -> Pod:
    """The pod after an answer.

    References
    ----------
    Apache Kafka 4.4, ``AbstractCoordinator``; ``ConsumerHeartbeatRequestManager``, ``ConsumerMembershipManager``.
    """
    error = getattr(answer, "error", "NONE")
    if isinstance(answer, consumer.HeartbeatAnswered):
        if error in LOST:
            return pod._replace(does=JOINS, owned=())
        if error != "NONE":
            return Pod(pod.name, pod.protocol, pod.process, FAILED, error=error)
        epoch, given = answer.member_epoch or 0, answer.assignment
        if given is None or set(given) == set(pod.owned):
            return pod._replace(epoch=epoch)
        return pod._replace(epoch=epoch, owned=tuple(sorted(given)), does=REPORTS)
    if error in SENT_AGAIN:
        member_id = "" if error == "UNKNOWN_MEMBER_ID" else pod.member_id
        if isinstance(answer, classic.JoinAnswered) and error == "MEMBER_ID_REQUIRED":
            member_id = answer.member_id
        return pod._replace(does=JOINS, member_id=member_id, owned=())
    if error != "NONE":
        return Pod(pod.name, pod.protocol, pod.process, FAILED, error=error)
    match answer:
        case classic.JoinAnswered(member_id=member_id, generation=generation, members=members):
            return pod._replace(does=SYNCS, member_id=member_id, epoch=generation, leads=members)
        case classic.SyncAnswered(assignment=assignment):
            given: Any = assignment or ()
            return pod._replace(does=READS, owned=tuple(sorted(given)), leads=())
    return pod


# What holds.

ALL_READ = "every partition is read"
ALL_IN = "every pod that was started is in the group"


def _reads_what_it_was_given(settings: Settings, rollout: Rollout) -> bool:
    owners = rollout.group.owners
    return all(pod.label in owners.get(each, ()) for pod in rollout.pods if pod.is_running for each in pod.owned)


def partitions_of(settings: Settings) -> Iterator[TopicPartition]:
    """All that is to be read.

    >>> len(list(partitions_of(Settings())))
    6
    """
    for topic, count in settings.group.consumer.topics:
        yield from (TopicPartition(topic, number) for number in range(count))


_OF_A_STATE = {name: rule for name, rule in mixed.INVARIANTS.items() if not isinstance(rule, Since)}
"""Those of the group; what holds of one request and the next does not hold of a step that is many."""

INVARIANTS: Promises = {
    **of_inner(_OF_A_STATE, lambda rollout: rollout.group, lambda settings: settings.group),
    "no partition is read by two pods": lambda settings, rollout: all(len(by) == 1 for by in rollout.readers.values()),
    "a pod reads what it was given": _reads_what_it_was_given,
    "nobody has anything left to send": lambda settings, rollout: (
        not any(pod.does in (JOINS, SYNCS, REPORTS) for pod in rollout.pods)
    ),
}
"""What holds in every state that the simulator reaches."""

PROMISES: Promises = {
    ALL_READ: lambda settings, rollout: (
        rollout.group.group_type is None or set(rollout.readers) == set(partitions_of(settings))
    ),
    ALL_IN: lambda settings, rollout: not any(pod.does == FAILED for pod in rollout.pods),
}
"""What users hope for: a pod that is killed breaks the first for a while, the brokers' policy the second."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
