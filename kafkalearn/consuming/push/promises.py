"""What holds for the log and the queues, and what a user hopes for.

>>> from kafkalearn.consuming.push import Produce, Settings, simulate
>>> settings = Settings(("billing",), queue_limit=2, retention=4)
>>> broken(settings, simulate(settings, [Produce()] * 3)[-1].state)
('a consumer that is pushed to misses no record',)
>>> settings = Settings(("billing",), queue_limit=2, retention=4, when_full="refuse")
>>> broken(settings, simulate(settings, [Produce()] * 3)[-1].state)
('no producer is refused',)
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.consuming.push.load import missed_by_pull
from kafkalearn.consuming.push.state import Brokers, Queue
from kafkalearn.promises import Predicate, judges

PULL_MISSES_NONE = "a consumer that pulls misses no record"
PUSH_MISSES_NONE = "a consumer that is pushed to misses no record"
NONE_REFUSED = "no producer is refused"


def _is_accounted_for(brokers: Brokers, queue: Queue) -> bool:
    taken = brokers.log_end - brokers.refused_count
    return queue.read_count + queue.dropped_count + len(queue.held) == taken


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "the log keeps as many records as retention says": lambda settings, brokers: (
            brokers.log_end - brokers.log_start == min(brokers.log_end, settings.retention)
        ),
        "a position is an offset of the log or its end": lambda settings, brokers: all(
            0 <= reader.position <= brokers.log_end for reader in brokers.readers
        ),
        "a queue holds no more than its limit": lambda settings, brokers: all(
            len(queue.held) <= settings.queue_limit for queue in brokers.queues
        ),
        "no more is sent than prefetch allows, and no less": lambda settings, brokers: all(
            len(queue.unacknowledged) == min(settings.prefetch, len(queue.held)) for queue in brokers.queues
        ),
        "a queue keeps the order of its records": lambda settings, brokers: all(
            list(queue.held) == sorted(set(queue.held)) for queue in brokers.queues
        ),
        "each record that was taken is processed, held or dropped, for each consumer": lambda settings, brokers: all(
            _is_accounted_for(brokers, queue) for queue in brokers.queues
        ),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        PULL_MISSES_NONE: lambda settings, brokers: (
            not any(missed_by_pull(brokers, reader) for reader in brokers.readers)
        ),
        PUSH_MISSES_NONE: lambda settings, brokers: not any(queue.dropped_count for queue in brokers.queues),
        NONE_REFUSED: lambda settings, brokers: not brokers.refused_count,
    }
)
"""What a user hopes for. A consumer slower than retention breaks the first; a slow one the second, or the third."""

check, broken = judges(INVARIANTS, PROMISES)
