"""How long groups of old consumers take to agree when one more joins, who gives up, and what nobody reads then.

Everybody reads the same members and computes the same assignment, so all that counts is who is slower: a consumer that
wants a partition before its old owner has released it fails, waits ``rebalance.backoff.ms`` and tries again, four times
in all. When each releases, and when each tries, follows from its pause and from the number of its requests to
ZooKeeper. So a whole rebalance is arithmetic, which NumPy does on Spark's workers for many groups at once. There a
group's members stand behind one another in an array, the newcomer last, and the groups behind one another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_type

from kafkalearn.base.checks import whole_number
from kafkalearn.spark.columns import INT_ARRAYS, NUMBERS, rule
from kafkalearn.spark.session.worker_code import arrow_function, for_workers
from kafkalearn.zookeeper.eras import LATENCY_MS

REQUEST_MS = 2 * LATENCY_MS
OWN_VIEW, REGISTERS, WHOLE_VIEW = 5, 7, 4
"""Requests: of step 1, with one broker; to register and to listen; of step 4, besides one for each member."""

AGREEMENT = pa.struct(
    [("agreement_ms", pa.int64()), ("failed_attempts", pa.int32()), ("given_up", pa.int32()), ("unread", pa.int32())]
)
"""What a group gets."""


def agreeing(backoff_ms: int, max_retries: int) -> Callable[[pa.Array, pa.Array], pa.Array]:
    """From the pauses of the members of groups, and the groups' partition counts, to `AGREEMENT`.

    >>> agreements = agreeing(backoff_ms=2000, max_retries=4)
    >>> agreements(pa.array([[0, 0, 0], [0, 0, 3001]]), pa.array([6, 6])).to_pylist()[1]
    {'agreement_ms': 4216, 'failed_attempts': 2, 'given_up': 0, 'unread': 0}
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
        sums = (np.add.reduceat(each, starts, dtype=np.int32) for each in (failed, has_given_up, gets * has_given_up))
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


GROUP_SCHEMA = "group_id STRING, partition_count INT, pause_ms ARRAY<INT>, uncommitted ARRAY<INT>"
"""The columns of a group: for each member its pause, and the records it has read since its last commit."""

NO_PAUSES = "pause_ms is empty or has a null in it: a group has one member or more, each with a pause, and be it 0"
NO_PARTITIONS = "partition_count is below 1, or null: it counts the partitions of the one topic that the group reads"


@rule(
    {"partition_count": NUMBERS, "pause_ms": INT_ARRAYS, "uncommitted": INT_ARRAYS},
    remedy="groups have the columns of kafkalearn.spark.agreement.GROUP_SCHEMA",
)
def with_agreement(groups: DataFrame, backoff_ms: int = 2000, max_retries: int = 4) -> DataFrame:
    """Each group with what it costs that one more consumer joins.

    Parameters
    ----------
    groups : DataFrame
        With the columns of `GROUP_SCHEMA`, and any others. One broker, one topic, ``range``.
    backoff_ms, max_retries : int
        ``rebalance.backoff.ms`` and ``rebalance.max.retries``.

    Returns
    -------
    DataFrame
        With ``agreement_ms`` (bigint), ``failed_attempts``, ``given_up`` and ``unread`` (int): what
        `kafkalearn.zookeeper.eras.newcomer` gives for each row; and ``read_twice`` (bigint), the records that are read
        again if nobody commits before it gives up its partitions (``auto.commit.enable=false``). At the very same
        millisecond the release comes first, which is so up to four partitions a member. Row by row: a worker's Python
        has one batch of groups at a time, 10,000 at most.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type, or a number is too small. While it runs the query ends with an
        error if a group has no member, a pause is null, or there is no partition.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("a", 6, [0, 0, 0], [5, 0, 7]), ("b", 6, [0, 0, 3001], [0, 0, 0])]
    >>> groups = get_spark().createDataFrame(rows, GROUP_SCHEMA).transform(with_agreement)
    >>> groups.select("group_id", "agreement_ms", "failed_attempts", "given_up", "read_twice").show()
    +--------+------------+---------------+--------+----------+
    |group_id|agreement_ms|failed_attempts|given_up|read_twice|
    +--------+------------+---------------+--------+----------+
    |       a|          88|              0|       0|        12|
    |       b|        4216|              2|       0|         0|
    +--------+------------+---------------+--------+----------+
    """
    whole_number("backoff_ms", backoff_ms, at_least=0)
    whole_number("max_retries", max_retries, at_least=1)
    pauses, count = sf.col("pause_ms"), sf.col("partition_count")
    has_members = (sf.size(pauses) > 0) & sf.forall(pauses, lambda pause: pause.isNotNull())
    pauses = sf.when(has_members, pauses).otherwise(sf.raise_error(sf.lit(NO_PAUSES)))
    count = sf.when(count > 0, count).otherwise(sf.raise_error(sf.lit(NO_PARTITIONS)))
    agreements = for_workers(groups.sparkSession, agreeing(backoff_ms, max_retries), needs_core=False)
    agreement = arrow_function(agreements, from_arrow_type(AGREEMENT))(pauses, count)
    added = {each.name: sf.col("_agreement")[each.name] for each in AGREEMENT}
    costs = groups.withColumn("_agreement", agreement).withColumns(added | {"read_twice": total("uncommitted")})
    return costs.drop("_agreement")


def total(column: str | Column) -> Column:
    """The sum of the numbers in an array, a bigint."""
    return sf.aggregate(column, sf.lit(0).cast("bigint"), lambda so_far, each: so_far + each)
