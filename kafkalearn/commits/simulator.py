"""The simulator of one group on one partition: the rule of each event, and what holds of its states.

>>> from kafkalearn.commits import CommitSync, Crash, Poll, Settings, Start, start, step
>>> from kafkalearn.base.search import explore, whole
>>> settings = Settings(record_count=1)
>>> model = whole(settings, step, {NOT_LOST: PROMISES[NOT_LOST]})
>>> found = explore(model, start(settings), [Start(), Poll(), CommitSync(), Crash()])
>>> [type(frame.event).__name__ for frame in found.trace[1:]]
['Start', 'Poll', 'CommitSync', 'Crash']
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import get_args

from kafkalearn.base.checks import LARGEST_LONG, sequence, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown, unknown_name
from kafkalearn.base.promises import Predicate, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.commits import model
from kafkalearn.commits.model import CommitEvent, Consumer, Pipeline, Settings
from kafkalearn.offsets.records import metadata_fits
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least

# Commits: the last one wins.

RETRIABLE, TOO_LARGE = "COORDINATOR_LOAD_IN_PROGRESS", "OFFSET_METADATA_TOO_LARGE"


def commit(settings: Settings, pipeline: Pipeline, event: model.CommitSync | model.CommitAsync) -> Pipeline:
    """A commit by the application: of the position, or of the offset that it names."""
    consumer = running(pipeline, event.by, event)
    offset = consumer.position if event.offset is None else event.offset
    if offset < 0:
        raise IllegalEvent(f"{event!r}: the consumer throws IllegalArgumentException for a negative offset")
    consumer = replace(consumer, requested=max(consumer.requested, offset), requested_ms=pipeline.now_ms, failed=None)
    if isinstance(event, model.CommitSync):
        pipeline = deliver_in_flight(pipeline, consumer)
        if refusal(pipeline, consumer) is None and not metadata_fits(event.metadata, settings.metadata_max_bytes):
            return pipeline.with_effect(model.CommitRefused(offset, TOO_LARGE))
        return _write(pipeline, consumer, offset, event.metadata)
    consumer = replace(consumer, in_flight=(*consumer.in_flight, offset))
    return pipeline.with_consumer(consumer).with_effect(model.CommitSent(offset))


def answer(pipeline: Pipeline, event: model.Answered) -> Pipeline:
    """The oldest asynchronous commit reaches the coordinator; the callback gets its answer."""
    consumer = running(pipeline, event.by, event)
    if not consumer.in_flight:
        raise IllegalEvent(f"{event!r}: no asynchronous commit of {event.by} is on its way")
    offset, *rest = consumer.in_flight
    consumer = replace(consumer, in_flight=tuple(rest), failed=offset if event.is_retriable else consumer.failed)
    pipeline = replace(pipeline, answered=pipeline.answered + 1).with_consumer(consumer)
    if event.is_retriable:
        return pipeline.with_effect(model.CommitRefused(offset, RETRIABLE))
    return _write(pipeline, consumer, offset)


def checkpoint(settings: Settings, pipeline: Pipeline, event: model.Checkpoint) -> Pipeline:
    """Results and next offset count together, if nobody else has gone on from the last checkpoint."""
    consumer = running(pipeline, event.by, event)
    if settings.sink != model.CHECKPOINT:
        raise IllegalEvent(f"{event!r}: there are checkpoints with Settings(sink={model.CHECKPOINT!r}) only")
    if pipeline.sink.stored not in (None, consumer.restored):
        return pipeline.without_consumer(event.by).with_effect(model.CheckpointRefused(consumer.done))
    sink = model.checkpointed(pipeline.sink, event.by, consumer.done)
    consumer = replace(consumer, restored=consumer.done, requested=consumer.done, requested_ms=pipeline.now_ms)
    pipeline = replace(pipeline, sink=sink).with_consumer(consumer).with_effect(model.Checkpointed(consumer.done))
    return _write(pipeline, consumer, consumer.done) if event.is_committed else pipeline


def commit_position(pipeline: Pipeline, consumer: Consumer) -> Pipeline:
    """An auto commit: of the position, whether or not it moved, and whether or not its records were processed."""
    requested = max(consumer.requested, consumer.position)
    consumer = replace(consumer, requested=requested, requested_ms=pipeline.now_ms)
    pipeline = deliver_in_flight(pipeline.with_effect(model.AutoCommitSent(consumer.position)), consumer)
    return _write(pipeline, consumer, consumer.position)


def deliver_in_flight(pipeline: Pipeline, consumer: Consumer) -> Pipeline:
    """All asynchronous commits on their way arrive: what is sent after them on the same connection comes later."""
    for offset in consumer.in_flight:
        pipeline = _write(pipeline, consumer, offset)
    return pipeline.with_consumer(replace(consumer, in_flight=()))


def _write(pipeline: Pipeline, consumer: Consumer, offset: int, metadata: str = "") -> Pipeline:
    """The coordinator looks at who commits, never at which offset was there before."""
    error = refusal(pipeline, consumer)
    if error is not None:
        return pipeline.with_effect(model.CommitRefused(offset, error))
    written = (*pipeline.written, model.Written(pipeline.now_ms, consumer.name, offset, metadata))
    return replace(pipeline, committed=offset, written=written).with_effect(model.Committed(offset))


def refusal(pipeline: Pipeline, consumer: Consumer) -> str | None:
    """The error for a commit of this consumer; None: it is accepted.

    A standalone consumer may commit as long as the group has no members; a member as long as it is one.
    """
    owner = None if consumer.generation == model.NO_GENERATION else consumer.name
    may_commit = pipeline.owner == owner
    return None if may_commit else "UNKNOWN_MEMBER_ID"


def running(pipeline: Pipeline, name: str, event: CommitEvent) -> Consumer:
    """The consumer of that name; IllegalEvent if it does not run."""
    consumer = pipeline.consumer(name)
    if consumer is None:
        names = ", ".join(each.name for each in pipeline.consumers) or "nobody"
        raise IllegalEvent(f"{event!r}: {name} does not run; running: {names}")
    return consumer


# Where a consumer begins.

NO_OFFSET, OUT_OF_RANGE = "NoOffsetForPartitionException", "OffsetOutOfRangeException"
POLICIES = ("earliest", "latest", "none", "by_duration:PT1H")


class NoStart(KafkaLearnError):  # noqa: N818  (named for what it is)
    """``auto.offset.reset=none`` and no offset to begin at: the real consumer's poll throws the exception named."""

    def __init__(self, exception: str) -> None:
        """Name the exception of the Java consumer."""
        self.exception = exception
        super().__init__(f"auto.offset.reset is none: poll throws {exception}; commit or seek to an offset first")


def start_offset(
    committed: int | None,
    log_start: int,
    log_end: int,
    auto_offset_reset: str = "latest",
    *,
    timestamps_ms: Sequence[int] = (),
    now_ms: int = 0,
    release: str = DEFAULT_RELEASE,
) -> int:
    """The offset at which a consumer begins to read.

    Parameters
    ----------
    committed : int or None
        The committed offset of its group; None (OffsetFetch answers -1): there is none.
    log_start, log_end : int
        The oldest offset that is still there, and the one the next record will get.
    auto_offset_reset : str
        ``earliest``, ``latest``, ``none`` or, since 4.0, ``by_duration:`` with an ISO duration such as ``PT1H``,
        ``P2D`` or ``PT90S``. It counts only where the committed offset is missing or out of range.
    timestamps_ms : sequence of int
        Of the records from `log_start` on, rising; for ``by_duration`` only.
    now_ms : int
        The consumer's clock; for ``by_duration`` only.
    release : str
        Of the consumer.

    Raises
    ------
    NoStart
        With ``none``, as the real consumer throws.
    KafkaLearnError
        If the policy is not known, or not to this release.

    Examples
    --------
    >>> start_offset(40, 0, 100, "earliest"), start_offset(None, 0, 100, "earliest"), start_offset(None, 0, 100)
    (40, 0, 100)
    >>> start_offset(40, 60, 100)  # retention was faster: records 40 to 99 are not read
    100
    >>> start_offset(None, 0, 3, "by_duration:PT10S", timestamps_ms=[1_000, 50_000, 59_000], now_ms=60_000)
    1

    References
    ----------
    Apache Kafka: ``OffsetFetcherUtils``, ``SubscriptionState``; KIP-1106 (4.0).
    """
    whole_number("log_start", log_start, at_least=0)
    whole_number("log_end", log_end, at_least=log_start)
    if committed is not None and log_start <= whole_number("committed", committed, at_least=0) <= log_end:
        return committed
    if auto_offset_reset == "earliest":
        return log_start
    if auto_offset_reset == "latest":
        return log_end
    if auto_offset_reset == "none":
        raise NoStart(NO_OFFSET if committed is None else OUT_OF_RANGE)
    since_ms = whole_number("now_ms", now_ms, at_least=0) - _duration_ms(auto_offset_reset, release)
    times_ms = [
        whole_number("each of timestamps_ms", each, at_least=-1) for each in sequence("timestamps_ms", timestamps_ms)
    ]
    return min(log_start + bisect_left(times_ms, since_ms), log_end)


_DURATION = re.compile(r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1_000)


def _duration_ms(policy: str, release: str) -> int:
    found = _DURATION.fullmatch(policy) if isinstance(policy, str) else None
    if found is None or not any(found.groups()):
        raise unknown_name("auto_offset_reset", policy, POLICIES)
    if not at_least("4.0", release):
        raise KafkaLearnError(f"auto_offset_reset by_duration came with Kafka 4.0 (KIP-1106), not in {release}")
    reach_ms = sum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS_MS, strict=True))
    if reach_ms > LARGEST_LONG:
        raise KafkaLearnError(f"auto_offset_reset {shown(policy)} is longer than any clock has run; give a shorter one")
    return round(reach_ms)


# What happens to consumers.


def start_consumer(settings: Settings, pipeline: Pipeline, name: str, is_standalone: bool = False) -> Pipeline:
    """A consumer begins at the stored or committed offset, or by auto.offset.reset."""
    if pipeline.consumer(name) is not None:
        raise IllegalEvent(f"{name} runs already; it can start again once it has ended, and one of another name now")
    keeps_offset = settings.sink in model.KEEPS_THE_OFFSET and pipeline.sink.stored is not None
    offset = pipeline.sink.stored if keeps_offset else pipeline.committed
    try:
        begins_at = start_offset(offset, pipeline.log_start, pipeline.log_end, settings.auto_offset_reset)
    except NoStart as error:
        return pipeline.with_effect(model.Failed(error.exception))
    consumer = Consumer(
        name,
        model.NO_GENERATION if is_standalone else pipeline.generation + 1,
        position=begins_at,
        done=begins_at,
        requested=begins_at,
        requested_ms=pipeline.now_ms,
        auto_due_ms=pipeline.now_ms + settings.auto_commit_interval_ms if settings.is_auto else None,
        restored=begins_at,
    )
    if not is_standalone:
        pipeline = replace(pipeline, owner=name, generation=consumer.generation)
    effect = model.Started(begins_at) if begins_at == offset else model.Reset(begins_at)
    return pipeline.with_consumer(consumer).with_effect(effect)


def rebalance(settings: Settings, pipeline: Pipeline, event: model.Rebalance) -> Pipeline:
    """The owner gives the partition up, with an auto commit if that is on, and another member gets it."""
    if pipeline.owner is None:
        raise IllegalEvent(f"{event!r}: nobody owns the partition; Start {event.to}")
    before = running(pipeline, pipeline.owner, event)
    if before.auto_due_ms is not None:
        pipeline = commit_position(pipeline, before)
    pipeline = pipeline.without_consumer(before.name).with_effect(model.Revoked(before.unprocessed))
    return start_consumer(settings, pipeline, event.to)


def poll(settings: Settings, pipeline: Pipeline, event: model.Poll) -> Pipeline:
    """An auto commit if one is due, of the position as earlier polls left it; then the next records."""
    consumer = running(pipeline, event.by, event)
    if consumer.auto_due_ms is not None and pipeline.now_ms >= consumer.auto_due_ms:
        pipeline = commit_position(pipeline, consumer)
        due_ms = pipeline.now_ms + settings.auto_commit_interval_ms
        consumer = replace(running(pipeline, event.by, event), auto_due_ms=due_ms)
    if consumer.position < pipeline.log_start:  # retention has overtaken it
        try:
            position = start_offset(consumer.position, pipeline.log_start, pipeline.log_end, settings.auto_offset_reset)
        except NoStart as error:
            return pipeline.with_consumer(consumer).with_effect(model.Failed(error.exception))
        consumer = replace(consumer, position=position)
        pipeline = pipeline.with_effect(model.Reset(position))
    most = settings.max_poll_records if event.at_most is None else min(event.at_most, settings.max_poll_records)
    offsets = tuple(range(consumer.position, min(consumer.position + most, pipeline.log_end)))
    position = consumer.position + len(offsets)
    consumer = replace(consumer, position=position, unprocessed=(*consumer.unprocessed, *offsets))
    pipeline = replace(pipeline, polled=max(pipeline.polled, position))
    return pipeline.with_consumer(consumer).with_effect(model.Polled(offsets))


def process(settings: Settings, pipeline: Pipeline, event: model.Process) -> Pipeline:
    """A record that was polled is processed, and its result goes to the sink."""
    consumer = running(pipeline, event.by, event)
    if not consumer.unprocessed:
        raise IllegalEvent(f"{event!r}: {event.by} has no unprocessed record; let it Poll first")
    offset = consumer.unprocessed[0] if event.offset is None else event.offset
    if offset not in consumer.unprocessed:
        raise IllegalEvent(f"{event!r}: the unprocessed records of {event.by} are {list(consumer.unprocessed)}")
    unprocessed = tuple(each for each in consumer.unprocessed if each != offset)
    consumer = replace(consumer, unprocessed=unprocessed, done=max(consumer.done, offset + 1))
    sink = model.write(settings.sink, pipeline.sink, offset, event.by)
    pipeline = replace(pipeline, sink=sink, now_ms=pipeline.now_ms + event.took_ms)
    (*_, last) = sink.held if settings.sink == model.CHECKPOINT else sink.writes
    return pipeline.with_consumer(consumer).with_effect(model.Processed(offset, last.answer))


def close(pipeline: Pipeline, event: model.Close) -> Pipeline:
    """A last auto commit, of the position and not of what was processed; then the consumer is gone."""
    consumer = running(pipeline, event.by, event)
    if consumer.auto_due_ms is not None:
        pipeline = commit_position(pipeline, consumer)
    pipeline = deliver_in_flight(pipeline, running(pipeline, event.by, event))
    return pipeline.without_consumer(event.by).with_effect(model.Closed(consumer.unprocessed))


def crash(pipeline: Pipeline, event: model.Crash) -> Pipeline:
    """The consumer is gone, and with it all that is not in the sink or with the coordinator."""
    consumer = running(pipeline, event.by, event)
    return pipeline.without_consumer(event.by).with_effect(model.Crashed(consumer.unprocessed))


def step(settings: Settings, pipeline: Pipeline, event: CommitEvent) -> Pipeline:
    """The pipeline after `event`; its ``effects`` are what the event led to, refusals of the coordinator included.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state: a consumer that does not run, a record that it has not polled.

    Examples
    --------
    >>> from kafkalearn.commits import Poll, Start, start
    >>> settings = Settings(6, max_poll_records=3)
    >>> pipeline = step(settings, step(settings, start(settings), Start()), Poll())
    >>> pipeline.effects, pipeline.consumer("A").unprocessed
    ((Polled(offsets=(0, 1, 2)),), (0, 1, 2))

    References
    ----------
    Apache Kafka: ``ConsumerCoordinator`` (the classic consumer), ``SubscriptionState.allConsumed``,
    ``GroupMetadataManager`` and ``OffsetMetadataManager`` (who may commit).
    """
    pipeline = replace(pipeline, effects=())
    match event:
        case model.Start(by) | model.Assign(by):
            return start_consumer(settings, pipeline, by, is_standalone=isinstance(event, model.Assign))
        case model.Rebalance():
            return rebalance(settings, pipeline, event)
        case model.Poll():
            return poll(settings, pipeline, event)
        case model.Process():
            return process(settings, pipeline, event)
        case model.CommitSync() | model.CommitAsync():
            return commit(settings, pipeline, event)
        case model.Answered():
            return answer(pipeline, event)
        case model.Checkpoint():
            return checkpoint(settings, pipeline, event)
        case model.Close():
            return close(pipeline, event)
        case model.Crash():
            return crash(pipeline, event)
        case model.Produce(record_count):
            return replace(pipeline, log_end=pipeline.log_end + record_count)
        case model.Delete(log_start) if pipeline.log_start <= log_start <= pipeline.log_end:
            return replace(pipeline, log_start=log_start)
        case model.TimePassed(ms):
            return replace(pipeline, now_ms=pipeline.now_ms + ms)
        case model.Delete():
            raise IllegalEvent(f"{event!r}: the log is {pipeline.log_start} to {pipeline.log_end}; delete up to there")
    raise no_event(event, get_args(CommitEvent))


# What holds of every state, and what a user hopes for.

NOT_LOST = "no record is lost"
NOT_DOUBLED = "no result takes effect twice"
NOT_AHEAD = "nothing is committed that was not polled"


def _names(pipeline: Pipeline) -> list[str]:
    return [each.name for each in pipeline.consumers]


def _nothing_is_unwritten(settings: Settings, before: Pipeline, pipeline: Pipeline) -> bool:
    commits, writes = before.written, before.sink.writes
    return pipeline.written[: len(commits)] == commits and pipeline.sink.writes[: len(writes)] == writes


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "a consumer runs once": lambda settings, pipeline: _names(pipeline) == sorted(set(_names(pipeline))),
        "the owner of the partition runs": lambda settings, pipeline: pipeline.owner in (None, *_names(pipeline)),
        "unprocessed records were polled": lambda settings, pipeline: all(
            offset < each.position for each in pipeline.consumers for offset in each.unprocessed
        ),
        "a position is at most the log end": lambda settings, pipeline: all(
            each.position <= pipeline.log_end for each in pipeline.consumers
        ),
        "no consumer is in a generation that is yet to come": lambda settings, pipeline: all(
            each.generation <= pipeline.generation for each in pipeline.consumers
        ),
        "the last commit wins": lambda settings, pipeline: (
            not pipeline.written or pipeline.committed == pipeline.written[-1].offset
        ),
        "only records that exist have results": lambda settings, pipeline: all(
            pipeline.log_end > each.offset >= 0 for each in pipeline.sink.writes
        ),
        "only a sink in transactions stores an offset": lambda settings, pipeline: (
            settings.sink in model.KEEPS_THE_OFFSET or pipeline.sink.stored is None
        ),
        "no result takes effect twice in an idempotent sink, past a lock, by checkpoints": lambda settings, pipeline: (
            settings.sink not in (model.IDEMPOTENT, model.LOCK, model.CHECKPOINT) or not model.doubled(pipeline)
        ),
        "only checkpoints hold results back, each for a consumer that runs": lambda settings, pipeline: all(
            settings.sink == model.CHECKPOINT and each.by in _names(pipeline) for each in pipeline.sink.held
        ),
        "what was committed or stored stays written": Since(_nothing_is_unwritten),
        "time does not go back": Since(lambda settings, before, pipeline: before.now_ms <= pipeline.now_ms),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NOT_LOST: lambda settings, pipeline: not model.lost(pipeline),
        NOT_DOUBLED: lambda settings, pipeline: not model.doubled(pipeline),
        NOT_AHEAD: lambda settings, pipeline: (pipeline.committed or 0) <= pipeline.polled,
    }
)
"""What a user hopes for. Kafka promises none of it: it is the application that has to keep it."""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
