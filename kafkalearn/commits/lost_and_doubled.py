"""Which records a group has lost, and the results of which took effect more than once."""

from __future__ import annotations

from collections import Counter

from kafkalearn.commits.sinks import APPLIED
from kafkalearn.commits.state import Pipeline


def lost(pipeline: Pipeline) -> tuple[int, ...]:
    """The records that the group has to process, has passed by, and will never have a result of.

    Passed by: below the position of the owner, or where nobody runs, below the offset that is stored or committed.
    Unprocessed records of a consumer that runs are not lost yet.
    """
    unprocessed = {offset for consumer in pipeline.consumers for offset in consumer.unprocessed}
    done = {each.offset for each in (*pipeline.sink.writes, *pipeline.sink.held)}
    passed = range(pipeline.first, _reached(pipeline))
    return tuple(offset for offset in passed if offset not in done and offset not in unprocessed)


def _reached(pipeline: Pipeline) -> int:
    """How far the group has come: the position of its reader, or what is stored or committed."""
    readers = [each for each in pipeline.consumers if each.name == pipeline.owner] or pipeline.consumers
    if readers:
        return max(each.position for each in readers)
    kept = pipeline.committed if pipeline.sink.stored is None else pipeline.sink.stored
    return pipeline.first if kept is None else min(kept, pipeline.log_end)


def doubled(pipeline: Pipeline) -> tuple[int, ...]:
    """The records whose result took effect more than once."""
    times = Counter(each.offset for each in pipeline.sink.writes if each.answer == APPLIED)
    return tuple(sorted(offset for offset, count in times.items() if count > 1))
