"""When to commit: the ways that applications have, as data, and what an application does next under each."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from kafkalearn.arguments import LARGEST_INT, one_of
from kafkalearn.commits.committing import refusal
from kafkalearn.commits.events import Answered, Checkpoint, CommitAsync, CommitEvent, CommitSync, Poll, Process
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.sinks import CHECKPOINT, IDEMPOTENT, LOCK, PLAIN, SINKS, TRANSACTION
from kafkalearn.commits.state import Consumer, Pipeline
from kafkalearn.fields import MOST_RECORDS, Checked, Count, Index, Millis, Whole, check_fields

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
        A name in `kafkalearn.commits.sinks.SINKS`.
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
    sink: str = PLAIN

    def __post_init__(self) -> None:
        """Refuse what is no time to commit, and sinks that are not known."""
        check_fields(self)
        one_of("when", self.when, (BEFORE, RECORD, BATCH, AUTO, NEVER))
        one_of("retries", self.retries, RETRIES)
        one_of("sink", self.sink, SINKS)


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
    Strategy("idempotent sink", "each batch, into a sink that knows each record", BATCH, sink=IDEMPOTENT),
    Strategy("offset in the sink", "result and next offset in one transaction of the sink", NEVER, sink=TRANSACTION),
    Strategy("offset as a lock", "the same, if the stored offset is the record's", NEVER, sink=LOCK),
    Strategy(
        "checkpoints",
        "hold results and offset back; every 5 s a checkpoint makes both count, as in Flink",
        NEVER,
        interval_ms=5000,
        sink=CHECKPOINT,
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


def settings_for(strategy: str | Strategy, workload: Workload | None = None) -> Settings:
    """The settings of an application that follows a strategy through a workload.

    >>> settings_for("auto").is_auto, settings_for("offset as a lock").sink
    (True, 'lock')
    """
    strategy, workload = strategy_of(strategy), workload or Workload()
    is_auto = strategy.when == AUTO
    return Settings(
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


def next_event(strategy: Strategy, workload: Workload, pipeline: Pipeline, by: str = "A") -> CommitEvent | None:
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
        return CommitAsync(by, consumer.failed)
    if _checkpoints(strategy, pipeline, consumer):
        return Checkpoint(by)
    wanted = commit_wanted(strategy, pipeline, consumer)
    if wanted is not None:
        return CommitAsync(by, wanted) if strategy.is_async else CommitSync(by, wanted)
    if len(consumer.in_flight) > 1:
        return _answered(workload, pipeline, consumer)
    if _polls(pipeline, consumer) and (not consumer.unprocessed or _hands_over(strategy, workload, consumer)):
        return Poll(by)
    if consumer.unprocessed:
        return Process(by, took_ms=workload.process_ms)
    return _answered(workload, pipeline, consumer) if consumer.in_flight else None


def _checkpoints(strategy: Strategy, pipeline: Pipeline, consumer: Consumer) -> bool:
    """Whether a checkpoint is due, or the last one after all is read; between batches, as nothing is half done then."""
    if strategy.sink != CHECKPOINT or consumer.unprocessed or consumer.done == consumer.restored:
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


def _hands_over(strategy: Strategy, workload: Workload, consumer: Consumer) -> bool:
    """Whether it polls although records are unprocessed: other threads have at most one poll's worth of them."""
    return strategy.hands_over and len(consumer.unprocessed) <= workload.max_poll_records


def _answered(workload: Workload, pipeline: Pipeline, consumer: Consumer) -> Answered:
    """The answer to the oldest commit on its way; the workload says which of them fail, each once."""
    is_refused = pipeline.answered in workload.refused
    return Answered(consumer.name, is_retriable=is_refused)
