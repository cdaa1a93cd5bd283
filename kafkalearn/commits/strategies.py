"""When to commit: the ways that applications have, as data, and what an application does next under each."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from kafkalearn.base.checks import (
    LARGEST_INT,
    MOST_RECORDS,
    Checked,
    Count,
    Index,
    Millis,
    Whole,
    check_fields,
    one_of,
    whole_number,
)
from kafkalearn.commits import model
from kafkalearn.commits.model import Consumer, Pipeline
from kafkalearn.commits.simulator import refusal
from kafkalearn.formats.records import BATCH_HEADER_BYTES, record_bytes
from kafkalearn.offsets.store.entries import commit_entry
from kafkalearn.offsets.store.model import Commit
from kafkalearn.offsets.store.model import Settings as StoreSettings
from kafkalearn.releases.defaults import whole_default
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least

BEFORE, RECORD, BATCH, AUTO, NEVER = "before the batch", "after records", "after the batch", "auto", "never"
RETRIES = ("", "always", "if newest")


@dataclass(frozen=True, slots=True)
class Strategy(Checked):
    """When an application commits, and where its results go.

    Parameters
    ----------
    name, words : str
        What it is called, and what it does in a sentence.
    when : str
        ``before the batch``, ``after records``, ``after the batch``, ``auto`` (enable.auto.commit) or ``never``.
    every : int
        With ``after records``: commit once so many are done.
    interval_ms : int
        With ``after the batch``: commit only if the last commit is so long ago. With ``auto``:
        auto.commit.interval.ms. With the sink ``checkpoint``: from one checkpoint to the next.
    is_async : bool
        commitAsync instead of commitSync.
    retries : str
        What the callback does with a retriable error: "" nothing, "always" or "if newest" sends the commit again.
    off_by : int
        Added to the offset it commits: -1 for the mistake of committing the last record instead of the next.
    hands_over : bool
        Polls again while the records of the last poll are still being processed, in other threads.
    at_the_end : bool
        On close, and when partitions are revoked, commits what has been processed, and waits for it.
    sink : str
        A name in `kafkalearn.commits.model.SINKS`.
    """

    name: str
    words: str
    when: str
    every: Count = 1
    interval_ms: Annotated[int, Whole(0, LARGEST_INT)] = 0
    is_async: bool = False
    retries: str = ""
    off_by: int = 0
    hands_over: bool = False
    at_the_end: bool = False
    sink: str = model.PLAIN

    def __post_init__(self) -> None:
        """Refuse what is no time to commit, and sinks that are not known."""
        check_fields(self)
        one_of("when", self.when, (BEFORE, RECORD, BATCH, AUTO, NEVER))
        one_of("retries", self.retries, RETRIES)
        one_of("sink", self.sink, model.SINKS)


_ALL = (
    Strategy("before the batch", "commitSync after poll, then process", BEFORE),
    Strategy("each record", "process a record, commitSync, and so on", RECORD),
    Strategy("each batch", "process what poll returned, commitSync, poll again", BATCH),
    Strategy("each second", "after a batch, commitSync if the last one is a second ago", BATCH, interval_ms=1000),
    Strategy("auto", "enable.auto.commit: poll commits every 5 s what earlier polls returned", AUTO, interval_ms=5000),
    Strategy(
        "auto, other threads",
        "enable.auto.commit, and poll goes on while other threads still process",
        AUTO,
        interval_ms=5000,
        hands_over=True,
    ),
    Strategy("async", "process the batch, commitAsync, poll again; failures are left alone", BATCH, is_async=True),
    Strategy("async, retried", "as async; a commit that failed is sent again", BATCH, is_async=True, retries="always"),
    Strategy(
        "async, sync at the end",
        "as async; on close and on revocation commitSync of what is done",
        BATCH,
        is_async=True,
        at_the_end=True,
    ),
    Strategy("last, not next", "commitSync after each batch, of the last record's own offset", BATCH, off_by=-1),
    Strategy("idempotent sink", "each batch, into a sink that knows each record", BATCH, sink=model.IDEMPOTENT),
    Strategy(
        "offset in the sink", "result and next offset in one transaction of the sink", NEVER, sink=model.TRANSACTION
    ),
    Strategy("offset as a lock", "the same, if the stored offset is the record's", NEVER, sink=model.LOCK),
    Strategy(
        "checkpoints",
        "hold results and offset back; every 5 s a checkpoint makes both count, as in Flink",
        NEVER,
        interval_ms=5000,
        sink=model.CHECKPOINT,
    ),
)

STRATEGIES: MappingProxyType[str, Strategy] = MappingProxyType({each.name: each for each in _ALL})
"""Strategies by name. The last four are the cures; ``last, not next`` is a bug that clients have shipped."""


@dataclass(frozen=True, slots=True)
class Workload(Checked):
    """What there is to read, and how: so many records, so many a poll, so long for each.

    Parameters
    ----------
    record_count : int
        Records in the partition, the first of them committed offset 0.
    max_poll_records : int
        The most that a poll returns.
    process_ms : int
        To process a record.
    refused : tuple of int
        Which asynchronous commits the coordinator refuses with a retriable error: 0 is the first one.
    """

    record_count: Annotated[int, Whole(0, MOST_RECORDS)] = 9
    max_poll_records: Count = 3
    process_ms: Millis = 1000
    refused: tuple[Index, ...] = ()


def strategy_of(strategy: str | Strategy) -> Strategy:
    """The strategy of that name, or the strategy itself.

    >>> strategy_of("each record").when
    'after records'
    """
    if isinstance(strategy, Strategy):
        return strategy
    return STRATEGIES[one_of("strategy", strategy, STRATEGIES)]


def settings_for(strategy: str | Strategy, workload: Workload | None = None) -> model.Settings:
    """The settings of an application that follows a strategy through a workload.

    >>> settings_for("auto").is_auto, settings_for("offset as a lock").sink
    (True, 'lock')
    """
    strategy, workload = strategy_of(strategy), workload or Workload()
    is_auto = strategy.when == AUTO
    return model.Settings(
        workload.record_count,
        is_auto=is_auto,
        auto_commit_interval_ms=strategy.interval_ms if is_auto else None,
        max_poll_records=workload.max_poll_records,
        sink=strategy.sink,
    )


def commit_wanted(strategy: Strategy, pipeline: Pipeline, consumer: Consumer) -> int | None:
    """The offset that the application itself commits now; None: it does something else first."""
    target = (consumer.position if strategy.when == BEFORE else consumer.done) + strategy.off_by
    if target <= consumer.requested or strategy.when in (AUTO, NEVER):
        return None
    if strategy.when == RECORD:
        return target if consumer.done - consumer.requested >= strategy.every else None
    is_due = pipeline.now_ms - consumer.requested_ms >= strategy.interval_ms
    if strategy.when == BATCH and (consumer.unprocessed or not is_due):
        return None
    return target


def next_event(strategy: Strategy, workload: Workload, pipeline: Pipeline, by: str = "A") -> model.CommitEvent | None:
    """What an application that follows a strategy does next; None: it has read all, or knows that it is out.

    >>> from kafkalearn.commits import Start, simulate
    >>> begun = simulate(settings_for("each batch"), [Start()])
    >>> next_event(STRATEGIES["each batch"], Workload(), begun[-1].state)
    Poll(by='A', at_most=None)
    """
    consumer = pipeline.consumer(by)
    if consumer is None:
        return None
    if _retries(strategy, consumer):
        return model.CommitAsync(by, consumer.failed)
    if _checkpoints(strategy, pipeline, consumer):
        return model.Checkpoint(by)
    wanted = commit_wanted(strategy, pipeline, consumer)
    if wanted is not None:
        return model.CommitAsync(by, wanted) if strategy.is_async else model.CommitSync(by, wanted)
    if len(consumer.in_flight) > 1:
        return _answered(workload, pipeline, consumer)
    # Other threads have at most one poll's worth of unprocessed records.
    hands_over = strategy.hands_over and len(consumer.unprocessed) <= workload.max_poll_records
    if _polls(pipeline, consumer) and (not consumer.unprocessed or hands_over):
        return model.Poll(by)
    if consumer.unprocessed:
        return model.Process(by, took_ms=workload.process_ms)
    return _answered(workload, pipeline, consumer) if consumer.in_flight else None


def _checkpoints(strategy: Strategy, pipeline: Pipeline, consumer: Consumer) -> bool:
    """Whether a checkpoint is due, or the last one after all is read; between batches, as nothing is half done then."""
    if strategy.sink != model.CHECKPOINT or consumer.unprocessed or consumer.done == consumer.restored:
        return False
    is_due = pipeline.now_ms - consumer.requested_ms >= strategy.interval_ms
    return is_due or not _polls(pipeline, consumer)


def _polls(pipeline: Pipeline, consumer: Consumer) -> bool:
    """Whether a poll would bring records, or an auto commit; an idle application polls on and on, which is left out."""
    if refusal(pipeline, consumer) is not None:
        return False
    is_due = consumer.auto_due_ms is not None and pipeline.now_ms >= consumer.auto_due_ms
    return consumer.position < pipeline.log_end or (is_due and consumer.position != pipeline.committed)


def _retries(strategy: Strategy, consumer: Consumer) -> bool:
    """Whether the callback sends the commit again that has just failed."""
    if consumer.failed is None:
        return False
    return strategy.retries == "always" or (strategy.retries == "if newest" and consumer.failed == consumer.requested)


def _answered(workload: Workload, pipeline: Pipeline, consumer: Consumer) -> model.Answered:
    """The answer to the oldest commit on its way; the workload says which of them fail, each once."""
    return model.Answered(consumer.name, is_retriable=pipeline.answered in workload.refused)


# What commits cost.

HOUR_MS = 3_600_000
SOME_TOPIC_ID = "AAAAAAAAAAEAAAAAAAAAAQ"  # any: all have 16 bytes


def commit_bytes(
    group_id: str = "billing",
    topic: str = "orders",
    partition: int = 0,
    release: str = DEFAULT_RELEASE,
    metadata: str = "",
) -> int:
    """The bytes that one commit of one partition adds to the offsets topic, on each replica.

    A batch header and one record. A request that commits several partitions has them in one batch, and they share the
    header; so may several requests since 4.0. The offset does not matter: it always takes eight bytes.

    Since 4.3 the record has the id of the topic; brokers of 4.2 write it only where the request names topics by their
    ids, which is not counted here, and those of 4.1 never.

    Examples
    --------
    >>> commit_bytes(), commit_bytes(release="4.2"), commit_bytes(group_id="a-rather-long-name-of-a-group")
    (134, 115, 156)

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``OffsetCommitKey``, ``OffsetCommitValue``, ``DefaultRecord``.
    """
    topic_id = SOME_TOPIC_ID if at_least("4.3", release) else None
    commit = Commit(group_id, topic, partition, offset=0, now_ms=0, metadata=metadata, topic_id=topic_id)
    entry = commit_entry(StoreSettings(release), commit)
    return BATCH_HEADER_BYTES + record_bytes(len(entry.key or b""), len(entry.value or b""))


@dataclass(frozen=True, slots=True)
class IdleCost:
    """What a group that polls and gets nothing writes."""

    commit_count: int  # records in __consumer_offsets
    byte_count: int  # on each replica, before the cleaner comes


def idle_cost(
    partition_count: int,
    hours: int = 24,
    interval_ms: int | None = None,
    member_count: int = 1,
    group_id: str = "billing",
    topic: str = "orders",
    release: str = DEFAULT_RELEASE,
) -> IdleCost:
    """What auto commit writes for a group that polls all the time and gets no record.

    Each auto commit covers every partition the group owns, whether or not its position moved.

    Parameters
    ----------
    partition_count : int
        Partitions that the group's members own together.
    hours : int
        For how long.
    interval_ms : int or None
        ``auto.commit.interval.ms``; None: the default of the release.
    member_count : int
        Each member commits its partitions in a request of its own, which becomes a batch.

    Examples
    --------
    >>> idle_cost(12, hours=24)
    IdleCost(commit_count=207360, byte_count=16191360)
    """
    whole_number("partition_count", partition_count, at_least=0)
    whole_number("hours", hours, at_least=0)
    if interval_ms is None:
        interval_ms = whole_default("auto.commit.interval.ms", release, side="consumer")
    rounds = hours * HOUR_MS // whole_number("interval_ms", interval_ms, at_least=1)
    requests = min(whole_number("member_count", member_count, at_least=1), partition_count)
    each = commit_bytes(group_id, topic, release=release) - BATCH_HEADER_BYTES
    return IdleCost(rounds * partition_count, rounds * (requests * BATCH_HEADER_BYTES + partition_count * each))
