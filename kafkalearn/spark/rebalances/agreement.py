"""When old consumers agree, for many groups at once in NumPy: what workers run for `kafkalearn.spark.zookeeper`.

A group's members stand behind one another in an array, the newcomer last, and the groups behind one another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from kafkalearn.zookeeper.eras.durations import LATENCY_MS

REQUEST_MS = 2 * LATENCY_MS
OWN_VIEW, REGISTERS, WHOLE_VIEW = 5, 7, 4
"""Requests: of step 1, with one broker; to register and to listen; of step 4, besides one for each member."""

AGREEMENT = pa.struct([("agreement_ms", pa.int64()), ("failed_attempts", pa.int32()), ("given_up", pa.int32())])
"""What a group gets."""


def agreeing(backoff_ms: int, max_retries: int) -> Callable[[pa.Array, pa.Array], pa.Array]:
    """From the pauses of the members of groups, and the groups' partition counts, to `AGREEMENT`.

    >>> agreements = agreeing(backoff_ms=2000, max_retries=4)
    >>> agreements(pa.array([[0, 0, 0], [0, 0, 3001]]), pa.array([6, 6])).to_pylist()[1]
    {'agreement_ms': 4216, 'failed_attempts': 2, 'given_up': 0}
    """

    def agreements(pause_ms: pa.Array, partition_count: pa.Array) -> pa.Array:
        if not len(pause_ms):
            return pa.array([], AGREEMENT)
        sizes = pause_ms.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        counts = partition_count.to_numpy(zero_copy_only=False).astype(np.int64)
        starts = np.cumsum(sizes + 1) - (sizes + 1)
        gets, tries_ms, again_ms, free_ms = _plans(pause_ms.flatten().to_numpy(), sizes, counts, starts, backoff_ms)

        # Until the last old owner has released, every try fails.
        needed = np.where(gets > 0, -(-np.maximum(free_ms - tries_ms, 0) // again_ms), 0)
        has_given_up, failed = needed >= max_retries, np.minimum(needed, max_retries)
        done_ms = tries_ms + failed * again_ms + gets * REQUEST_MS
        gave_up_ms = tries_ms + (max_retries - 1) * again_ms + 2 * gets * REQUEST_MS + backoff_ms
        end_ms = np.maximum.reduceat(np.where(has_given_up, gave_up_ms, done_ms), starts)
        sums = (np.add.reduceat(each, starts, dtype=np.int32) for each in (failed, has_given_up))
        return pa.StructArray.from_arrays([pa.array(each) for each in (end_ms, *sums)], fields=list(AGREEMENT))

    return agreements


def _plans(pause_ms: np.ndarray, sizes: np.ndarray, counts: np.ndarray, starts: np.ndarray, backoff_ms: int) -> tuple:
    """How many partitions a member gets, when it tries first, how much later again, and when they are free."""
    group = np.repeat(np.arange(len(sizes)), sizes + 1)
    at, size = np.arange(len(group)) - starts[group], sizes[group]
    each, more = (of_group[group] for of_group in np.divmod(counts, sizes))
    new_each, new_more = (of_group[group] for of_group in np.divmod(counts, sizes + 1))
    had, gets = each + (at < more), new_each + (at < new_more)

    # Notified, or awake again, a member does the first three steps; one number more stands for the last newcomer.
    released_ms = np.append(np.maximum(pause_ms, LATENCY_MS) + OWN_VIEW * REQUEST_MS, 0)
    begin = starts[group] - group  # of the group in it: no newcomer has anything to release
    view_ms = (size + 1 + WHOLE_VIEW + gets) * REQUEST_MS
    first_ms = np.where(at == size, (REGISTERS + OWN_VIEW) * REQUEST_MS, released_ms[begin + at] + had * REQUEST_MS)
    again_ms = 2 * gets * REQUEST_MS + backoff_ms + OWN_VIEW * REQUEST_MS + view_ms

    first = new_each * at + np.minimum(at, new_more)
    owners = begin + _old_owner(first, each, more), begin + _old_owner(first + gets - 1, each, more) + 1
    free_ms = np.maximum.reduceat(released_ms, np.column_stack(owners).ravel())[::2]
    return gets, first_ms + view_ms, again_ms, free_ms


def _old_owner(partition: np.ndarray, each: np.ndarray, more: np.ndarray) -> np.ndarray:
    """The place of the member that had a partition: by ``range`` the first members have one more."""
    larger = more * (each + 1)
    of_others = more + (partition - larger) // np.maximum(each, 1)
    return np.where(partition < larger, partition // (each + 1), of_others)
