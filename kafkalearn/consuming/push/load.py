"""What each of the two ways costs the broker, and what its consumers miss."""

from __future__ import annotations

from typing import TypedDict

from kafkalearn.consuming.push.state import Brokers, Reader

Load = TypedDict(
    "Load", {"way": str, "records held": int, "remembered": int, "read": int, "missed": int, "refused": int}
)
"""A row of `broker_load`."""


def missed_by_pull(brokers: Brokers, reader: Reader) -> int:
    """Records that were deleted before a consumer that pulls has read them, those not noticed yet counted.

    >>> missed_by_pull(Brokers((), (), log_start=7, log_end=9), Reader("billing", position=5, missed_count=1))
    3
    """
    return reader.missed_count + max(0, brokers.log_start - max(reader.position, reader.furthest))


def broker_load(brokers: Brokers) -> list[Load]:
    """Two rows, one for each way: what the broker holds and remembers, and what the consumers have got.

    Returns
    -------
    list of dict
        ``way``; ``records held``; ``remembered`` about consumers: an offset for each that pulls, an entry for each
        record of each that is pushed to; ``read``, ``missed`` by all consumers together; ``refused`` by the broker.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Produce, Settings, simulate
    >>> for row in broker_load(simulate(Settings(("billing", "search")), [Produce()] * 5)[-1].state):
    ...     print(row)
    {'way': 'pull', 'records held': 5, 'remembered': 2, 'read': 0, 'missed': 0, 'refused': 0}
    {'way': 'push', 'records held': 10, 'remembered': 10, 'read': 0, 'missed': 0, 'refused': 0}
    """
    held = sum(len(queue.held) for queue in brokers.queues)
    return [
        {
            "way": "pull",
            "records held": brokers.log_end - brokers.log_start,
            "remembered": len(brokers.readers),
            "read": sum(reader.read_count for reader in brokers.readers),
            "missed": sum(missed_by_pull(brokers, reader) for reader in brokers.readers),
            "refused": 0,
        },
        {
            "way": "push",
            "records held": held,
            "remembered": held,
            "read": sum(queue.read_count for queue in brokers.queues),
            "missed": sum(queue.dropped_count for queue in brokers.queues),
            "refused": brokers.refused_count,
        },
    ]
