"""Programs that share the work of a topic: what each polls, processes and says; and who has done what in the end.

The simulator above `kafkalearn.sharing`: a program's calls become requests, with the epochs that its session wants. A
program remembers what it polled until it has said what became of it; whether its locks still hold it does not know.
That a record is *processed* is what a program has done, whether the broker takes its word for it or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import Checked, Count, Millis, RecordCount, one_of
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, counted, no_event, refusing_events, shown
from kafkalearn.base.events import TimePassed
from kafkalearn.base.promises import Promises, judges, of_inner
from kafkalearn.base.trace import Trace, run
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.sharing import events, model, simulator
from kafkalearn.sharing.events import (
    ACCEPT,
    BATCH_OPTIMIZED,
    MODES,
    REJECT,
    RELEASE,
    RENEW,
    AcknowledgeAnswer,
    Acknowledgement,
    FetchAnswer,
)
from kafkalearn.sharing.model import Cluster

GROUP = "orders-workers"
TOPIC = "t"

PROCESSED_ONCE = "no record is processed by two programs, or twice"
PROCESSED_IN_ORDER = "records of a partition are processed in their order"
PROCESSED_AT_ALL = "a record that the group has given up was processed by somebody"

FROM_EARLIEST = ((GROUP, (("share.auto.offset.reset", "earliest"),)),)

ACKNOWLEDGING = ("explicit", "implicit")
"""``share.acknowledgement.mode`` of a program: it says what became of each record, or the next poll accepts all."""

MOST_RENEWALS = 1000
"""How often one `Keep` renews: each time is a request and an answer."""


@dataclass(frozen=True)
class Settings(Checked):
    """The cluster, and how its programs poll.

    ``acquire_mode`` is ``share.acquire.mode``, ``max_poll_records`` and ``acknowledging`` likewise.

    >>> Settings(acknowledging="never")
    Traceback (most recent call last):
        ...
    kafkalearn.base.errors.KafkaLearnError: unknown acknowledging 'never'; Known: 'explicit', 'implicit'
    """

    cluster: model.Settings = field(
        default_factory=lambda: model.Settings(topics=((TOPIC, 1),), group_configs=FROM_EARLIEST)
    )
    programs: tuple[str, ...] = ("c1", "c2")
    max_poll_records: Count = 500
    acquire_mode: str = BATCH_OPTIMIZED
    acknowledging: str = "explicit"

    def __post_init__(self) -> None:
        """Refuse modes that there are none of."""
        super().__post_init__()
        one_of("acquire_mode", self.acquire_mode, MODES)
        one_of("acknowledging", self.acknowledging, ACKNOWLEDGING)
        if not self.programs:
            raise KafkaLearnError("programs must have at least one name, got none")


def settings(
    *,
    lock_ms: int = 30_000,
    delivery_limit: int = 5,
    max_locks: int = 2_000,
    programs: tuple[str, ...] = ("c1", "c2"),
    max_poll_records: int = 500,
    acquire_mode: str = BATCH_OPTIMIZED,
    acknowledging: str = "explicit",
    topics: Mapping[str, int] | None = None,
    configs: Mapping[str, str] | None = None,
    topic_configs: Mapping[str, Mapping[str, str]] | None = None,
    release: str = DEFAULT_RELEASE,
) -> Settings:
    """Settings of a lesson: the numbers that matter, and a group that reads from the earliest offset.

    `configs` are further settings of the group, by Kafka's names.

    >>> settings(delivery_limit=2).cluster.delivery_count_limit
    2
    """
    of_group = (("share.auto.offset.reset", "earliest"), *(configs or {}).items())
    of_topics = tuple((topic, tuple(each.items())) for topic, each in (topic_configs or {}).items())
    cluster = model.Settings(
        release, topics=tuple((topics or {TOPIC: 1}).items()), group_configs=((GROUP, of_group),),
        topic_configs=of_topics, record_lock_duration_ms=lock_ms, delivery_count_limit=delivery_limit,
        max_record_locks=max_locks,
    )  # fmt: skip
    return Settings(cluster, programs, max_poll_records, acquire_mode, acknowledging)


@dataclass(frozen=True)
class Program:
    """A member of the group: the epoch of its next request, and what it has polled and not said a word about yet."""

    name: str
    epoch: int = 0
    has: tuple[tuple[str, int], ...] = ()

    @property
    def is_connected(self) -> bool:
        """Whether it has a session."""
        return self.epoch > 0


@dataclass(frozen=True)
class Processed:
    """A record that a program has processed, and whether the broker took its word for it."""

    program: str
    partition: str
    offset: int
    is_taken: bool


@dataclass(frozen=True)
class Work:
    """The cluster, its programs, and what has been processed in which order."""

    cluster: Cluster
    programs: tuple[Program, ...]
    processed: tuple[Processed, ...] = ()
    effects: tuple[object, ...] = field(default=(), compare=False)

    def program(self, name: str) -> Program:
        """A program by its name."""
        found = next((each for each in self.programs if each.name == name), None)
        if found is None:
            raise IllegalEvent(
                f"there is no program {shown(name)}; there are {', '.join(each.name for each in self.programs)}"
            )
        return found


# Events.


class Arrive(facts.Event):
    """Records come to a partition of the topic, as one batch."""

    record_count: RecordCount = 1
    partition: str = f"{TOPIC}-0"


class Poll(facts.Event, says="{program} polls"):
    """A program asks for records; the first time it opens its session. It takes what there is now."""

    program: str


class Accept(facts.Event, says="{program} has processed what it has, and accepts it"):
    """A program has processed the records that it has, or those at these offsets, and says so.

    With implicit acknowledgement that is ``commitSync``, which accepts all.
    """

    program: str
    offsets: tuple[int, ...] | None = None


class Release(facts.Event, says="{program} gives back what it has"):
    """A program gives records back: it could not process them now."""

    program: str
    offsets: tuple[int, ...] | None = None


class Reject(facts.Event, says="{program} rejects what it has: nobody will be able to process it"):
    """A program says that nobody will ever be able to process these records."""

    program: str
    offsets: tuple[int, ...] | None = None


class Renew(facts.Event, says="{program} needs more time, and renews its locks"):
    """A program says that it needs more time."""

    program: str
    offsets: tuple[int, ...] | None = None


class Keep(facts.Event):
    """A program works on at what it has, and renews its locks each time that half of their duration is over."""

    program: str
    ms: Millis


class Crash(facts.Event, says="{program} dies, and its connection ends: what it has is given back"):
    """A program dies; its connection ends with it."""

    program: str


class Close(facts.Event, says="{program} ends as it should, and gives back what it has"):
    """A program ends as it should: its session ends, and what it has not said a word about is given back.

    So it is with implicit acknowledgement, too: it is the next poll that accepts, not the end.
    """

    program: str


class Hang(facts.Event, says="{program} forgets what it has, and its connection lives on"):
    """A program loses its memory of what it polled, and its connection lives on: a thread that died alone."""

    program: str


Event: TypeAlias = (
    Arrive | Poll | Accept | Release | Reject | Renew | Keep | Crash | Close | Hang | TimePassed
    | events.DeleteRecords | events.AlterGroupConfigs | events.BrokerRestarted
)  # fmt: skip


def start(settings: Settings) -> Work:
    """The group has been there before: its partitions are initialised, and each program is a member.

    >>> start(Settings()).cluster.group(GROUP).members[1].id
    'c2'
    """
    cluster = model.start(settings.cluster)
    topics = tuple(topic for topic, _ in settings.cluster.topics)
    for name in settings.programs:
        cluster = simulator.step(settings.cluster, cluster, events.ShareGroupHeartbeat(GROUP, name, 0, topics))
    cluster = simulator.step(settings.cluster, cluster, TimePassed(settings.cluster.assignment_interval_ms))
    for name in settings.programs:
        member = _member(cluster, name)
        cluster = simulator.step(settings.cluster, cluster, events.ShareGroupHeartbeat(GROUP, name, member.epoch))
    return Work(replace(cluster, effects=()), tuple(Program(name) for name in settings.programs))


def _member(cluster: Cluster, name: str) -> model.Member:
    group = cluster.group(GROUP)
    member = group.member(name) if group is not None else None
    if member is None:
        raise KafkaLearnError(
            f"program {shown(name)} is no member when the run begins: a program has a name, there are at most "
            "max_group_size, and a session lasts longer than assignment_interval_ms"
        )
    return member


def _asked(settings: Settings, work: Work, event: events.Event) -> Work:
    after = simulator.step(settings.cluster, work.cluster, event)
    return replace(work, cluster=after, effects=(*work.effects, *after.effects))


def _put(work: Work, program: Program) -> Work:
    return replace(work, programs=tuple(program if each.name == program.name else each for each in work.programs))


def _arrive(settings: Settings, work: Work, event: Arrive) -> Work:
    return _asked(settings, work, events.Produce(event.partition, event.record_count))


def _poll(settings: Settings, work: Work, event: Poll) -> Work:
    program = work.program(event.program)
    said: tuple[Acknowledgement, ...] = ()
    if settings.acknowledging == "implicit" and program.is_connected:
        said = _said(program.has, ACCEPT)
        work = _has_processed(work, program, program.has)
    elif program.has and settings.acknowledging == "explicit":
        names = ", ".join(str(offset) for _, offset in program.has)
        raise IllegalEvent(f"{shown(event, 200)}: {program.name} has to say first what became of {names}")
    partitions = () if program.is_connected else tuple(each.name for each in work.cluster.logs)
    request = events.ShareFetch(
        GROUP, program.name, program.epoch, partitions, said, max_records=settings.max_poll_records,
        mode=settings.acquire_mode, max_wait_ms=0,
    )  # fmt: skip
    work = _asked(settings, work, request)
    answers = [each for each in work.effects if isinstance(each, FetchAnswer) and each.member == program.name]
    if not answers or answers[-1].error != "NONE":
        return _put(work, Program(program.name))
    got = tuple(
        (each.partition, offset)
        for each in answers[-1].partitions
        for first, last, _ in each.acquired
        for offset in range(first, last + 1)
    )
    return _put(_told(work, program, said, answers[-1]), Program(program.name, program.epoch + 1, got))


def _said(names: Iterable[tuple[str, int]], kind: int) -> tuple[Acknowledgement, ...]:
    return tuple(Acknowledgement(partition, offset, offset, (kind,)) for partition, offset in sorted(names))


def _has_processed(work: Work, program: Program, names: Iterable[tuple[str, int]]) -> Work:
    """Note what a program has done; whether its word is taken stands there once it is answered."""
    more = tuple(Processed(program.name, partition, offset, False) for partition, offset in sorted(names))
    return replace(work, processed=(*work.processed, *more))


def _told(
    work: Work, program: Program, said: tuple[Acknowledgement, ...], answer: FetchAnswer | AcknowledgeAnswer
) -> Work:
    """Note whether the broker took a program's word."""
    refused = set()
    for each in answer.partitions:
        error = each.error if isinstance(each, events.AcknowledgedPartition) else each.acknowledge_error
        if error != "NONE":
            refused.add(each.partition)
    accepted = {(each.partition, each.first) for each in said if ACCEPT in each.types and each.partition not in refused}
    count = sum(ACCEPT in each.types for each in said)
    kept = work.processed[: len(work.processed) - count] if count else work.processed
    new = work.processed[len(kept) :]
    return replace(
        work, processed=(*kept, *(replace(each, is_taken=(each.partition, each.offset) in accepted) for each in new))
    )


def _say(settings: Settings, work: Work, event: Accept | Release | Reject | Renew, kind: int) -> Work:
    program = work.program(event.program)
    if settings.acknowledging == "implicit" and (kind != ACCEPT or event.offsets is not None):
        raise IllegalEvent(
            f"{event!r}: with implicit acknowledgement a program says nothing of single records; it accepts all that "
            "it has by the next Poll, or by Accept without offsets"
        )
    chosen = tuple(each for each in program.has if event.offsets is None or each[1] in event.offsets)
    if not chosen:
        raise IllegalEvent(f"{shown(event, 200)}: {program.name} has no such record; it has {program.has or 'none'}")
    said = _said(chosen, kind)
    if kind == ACCEPT:
        work = _has_processed(work, program, chosen)
    work = _asked(
        settings, work, events.ShareAcknowledge(GROUP, program.name, program.epoch, said, is_renew=kind == RENEW)
    )
    answer = next(each for each in work.effects if isinstance(each, AcknowledgeAnswer))
    if answer.error != "NONE":
        return _put(work, Program(program.name))
    left = program.has if kind == RENEW else tuple(each for each in program.has if each not in chosen)
    return _put(_told(work, program, said, answer), Program(program.name, program.epoch + 1, left))


def _keep(settings: Settings, work: Work, event: Keep) -> Work:
    left, half = event.ms, max(1, settings.cluster.record_lock_duration_ms // 2)
    if left // half > MOST_RENEWALS:
        renewals = counted(left // half, "renewal")
        raise IllegalEvent(
            f"{shown(event, 200)}: that is {renewals}, and at most {MOST_RENEWALS:,} are stepped through; "
            f"keep at most {MOST_RENEWALS * half:,} ms"
        )
    work = _say(settings, work, Renew(event.program), RENEW)
    while left > 0 and work.program(event.program).has:
        work = _say(settings, _asked(settings, work, TimePassed(min(left, half))), Renew(event.program), RENEW)
        left -= half
    return work


def _crash(settings: Settings, work: Work, event: Crash) -> Work:
    program = work.program(event.program)
    if not program.is_connected:
        raise IllegalEvent(f"{shown(event, 200)}: {program.name} has no connection that could end")
    return _put(_asked(settings, work, events.ConnectionClosed(program.name)), Program(program.name))


def _close(settings: Settings, work: Work, event: Close) -> Work:
    program = work.program(event.program)
    if not program.is_connected:
        raise IllegalEvent(f"{event!r}: {program.name} has no session that could end")
    return _put(_asked(settings, work, events.ShareAcknowledge(GROUP, program.name, -1)), Program(program.name))


def _hang(settings: Settings, work: Work, event: Hang) -> Work:
    program = work.program(event.program)
    if not program.has:
        raise IllegalEvent(f"{shown(event, 200)}: {program.name} has no record that it could forget")
    return _put(work, replace(program, has=()))


def _restarted(settings: Settings, work: Work, event: events.BrokerRestarted) -> Work:
    return replace(
        _asked(settings, work, event), programs=tuple(Program(each.name, 0, each.has) for each in work.programs)
    )


_Rule = Callable[[Settings, Work, Any], Work]

RULES: Mapping[type, _Rule] = MappingProxyType(
    {
        Arrive: _arrive,
        Poll: _poll,
        Accept: lambda settings, work, event: _say(settings, work, event, ACCEPT),
        Release: lambda settings, work, event: _say(settings, work, event, RELEASE),
        Reject: lambda settings, work, event: _say(settings, work, event, REJECT),
        Renew: lambda settings, work, event: _say(settings, work, event, RENEW),
        Keep: _keep,
        Crash: _crash,
        Close: _close,
        Hang: _hang,
        TimePassed: _asked,
        events.DeleteRecords: _asked,
        events.AlterGroupConfigs: _asked,
        events.BrokerRestarted: _restarted,
    }
)
"""For each event the function that has its rule."""


@refusing_events
def step(settings: Settings, state: Work, event: Event) -> Work:
    """The work after an event.

    >>> chosen = settings(lock_ms=30_000)
    >>> trace = simulate(chosen, [Arrive(), Poll("c1"), TimePassed(30_000), Poll("c2"), Accept("c1"), Accept("c2")])
    >>> [(each.program, each.offset, each.is_taken) for each in trace[-1].state.processed]
    [('c1', 0, False), ('c2', 0, True)]
    """
    rule = RULES.get(type(event))
    if rule is None:
        raise no_event(event, RULES)
    return rule(settings, replace(state, effects=()), event)


def simulate(settings: Settings, events: Iterable[Event], initial: Work | None = None) -> Trace[Work, Event]:
    """A whole run, as a trace of states."""
    return run(step, settings, start(settings) if initial is None else initial, events)


def _once(settings: Settings, work: Work) -> bool:
    names = [(each.partition, each.offset) for each in work.processed]
    return len(names) == len(set(names))


def _in_order(settings: Settings, work: Work) -> bool:
    last: dict[str, int] = {}
    for each in work.processed:
        if each.offset < last.get(each.partition, -1):
            return False
        last[each.partition] = each.offset
    return True


def _at_all(settings: Settings, work: Work) -> bool:
    done = {(each.partition, each.offset) for each in work.processed}
    return all((partition, offset) in done for _, partition, offset in work.cluster.given_up)


INVARIANTS: Promises = of_inner(
    simulator.INVARIANTS, lambda work: work.cluster, settings_of=lambda settings: settings.cluster
)
"""What holds in every state of the cluster."""

PROMISES: Promises = MappingProxyType({PROCESSED_ONCE: _once, PROCESSED_IN_ORDER: _in_order, PROCESSED_AT_ALL: _at_all})
"""What users hope for: each record is processed, once, in order. A share group promises none of the three."""

check, broken = judges(INVARIANTS, PROMISES)
