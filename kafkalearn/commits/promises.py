"""What one would like to be promised of a group, by name: for `kafkalearn.explore` to search a run that breaks it.

>>> from functools import partial
>>> from kafkalearn.commits import CommitSync, Crash, Poll, Settings, Start, new_pipeline, step
>>> from kafkalearn.explore import explore, whole
>>> model = whole(partial(step, Settings()), {NOT_LOST: PROMISES[NOT_LOST]})
>>> found = explore(model, new_pipeline(1), [Start(), Poll(), CommitSync(), Crash()])
>>> [type(frame.event).__name__ for frame in found.trace[1:]]
['Start', 'Poll', 'CommitSync', 'Crash']
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from kafkalearn.commits.model import Pipeline
from kafkalearn.commits.simulator import doubled, lost

NOT_LOST = "no record is lost"
NOT_DOUBLED = "no result takes effect twice"
NOT_AHEAD = "nothing is committed that was not polled"

PROMISES: MappingProxyType[str, Callable[[Pipeline], bool]] = MappingProxyType(
    {
        NOT_LOST: lambda pipeline: not lost(pipeline),
        NOT_DOUBLED: lambda pipeline: not doubled(pipeline),
        NOT_AHEAD: lambda pipeline: (pipeline.committed or 0) <= pipeline.polled,
    }
)
"""Whether each holds in a state. Kafka promises none of them: they are the application's to keep."""
