"""What holds whenever a group reads a partition, and what a user hopes for.

>>> from kafkalearn.commits import CommitSync, Crash, Poll, Settings, Start, start, step
>>> from kafkalearn.explore import explore, whole
>>> settings = Settings(record_count=1)
>>> model = whole(settings, step, {NOT_LOST: PROMISES[NOT_LOST]})
>>> found = explore(model, start(settings), [Start(), Poll(), CommitSync(), Crash()])
>>> [type(frame.event).__name__ for frame in found.trace[1:]]
['Start', 'Poll', 'CommitSync', 'Crash']
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.commits.lost_and_doubled import doubled, lost
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.sinks import CHECKPOINT, IDEMPOTENT, KEEPS_THE_OFFSET, LOCK
from kafkalearn.commits.state import Pipeline
from kafkalearn.promises import Predicate, Since, judges

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
            settings.sink in KEEPS_THE_OFFSET or pipeline.sink.stored is None
        ),
        "no result takes effect twice in an idempotent sink, past a lock, by checkpoints": lambda settings, pipeline: (
            settings.sink not in (IDEMPOTENT, LOCK, CHECKPOINT) or not doubled(pipeline)
        ),
        "only checkpoints hold results back, each for a consumer that runs": lambda settings, pipeline: all(
            settings.sink == CHECKPOINT and each.by in _names(pipeline) for each in pipeline.sink.held
        ),
        "what was committed or stored stays written": Since(_nothing_is_unwritten),
        "time does not go back": Since(lambda settings, before, pipeline: before.now_ms <= pipeline.now_ms),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NOT_LOST: lambda settings, pipeline: not lost(pipeline),
        NOT_DOUBLED: lambda settings, pipeline: not doubled(pipeline),
        NOT_AHEAD: lambda settings, pipeline: (pipeline.committed or 0) <= pipeline.polled,
    }
)
"""What a user hopes for. Kafka promises none of it: it is the application that has to keep it."""

check, broken = judges(INVARIANTS, PROMISES)
