"""Plans for many clusters at once: what each copies, how long that takes under a throttle, and which racks it keeps.

*Partitions* are rows ``cluster``, ``topic``, ``partition``, ``replicas``, ``leader``, ``size_bytes``, ``bytes_per_s``;
*clusters* have the brokers of each, with their racks, as `kafkalearn.spark.data.clusters` makes both. `with_plans`
hands each cluster to the planners of `kafkalearn.operations.planning`, in Python; all else is expressions over columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, IntegerType, StructType

from kafkalearn.base.checks import one_of, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations import planning
from kafkalearn.operations.placement import Broker
from kafkalearn.spark.columns import NUMBERS, TEXT, refuse_overwrite, require, rule
from kafkalearn.spark.session.worker_code import for_workers

PLANS = {"move least": "move_least", "deal anew": "deal_anew"}
"""The functions of `kafkalearn.operations.planning`, by the names of the columns that `with_plans` adds."""

BROKERS = "array<struct<broker_id:int,rack:string,was:boolean,stays:boolean>>"
REMEDY = "see kafkalearn.spark.data.clusters"
_CLUSTERS = {"cluster": (*NUMBERS, *TEXT), "brokers": (BROKERS,)}
_PARTITIONS = {"cluster": (*NUMBERS, *TEXT), "topic": TEXT, "partition": ("int",), "replicas": ("array<int>",)}


def planners(names: Sequence[str]) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """From the partitions of a cluster and its row of brokers to the partitions with a column for each plan."""

    def plan(partitions: pa.Table, clusters: pa.Table) -> pa.Table:
        table = partitions.sort_by([("topic", "ascending"), ("partition", "ascending")])
        brokers = [each for row in clusters["brokers"].to_pylist() for each in row if each["stays"]]
        replicas = table["replicas"].to_pylist()
        for name in names:
            lists: Sequence[Sequence[int]] = []
            if replicas:
                find = getattr(planning, PLANS[name])
                lists = find(replicas, [Broker(each["broker_id"], each["rack"]) for each in brokers])
            table = table.append_column(name, pa.array(lists, pa.list_(pa.int32())))
        return table

    return plan


@rule(_PARTITIONS, _CLUSTERS, remedy=REMEDY)
def with_plans(partitions: DataFrame, clusters: DataFrame, plans: Sequence[str] = tuple(PLANS)) -> DataFrame:
    """The partitions with the replicas that each plan gives them, a column for each plan.

    Parameters
    ----------
    partitions : DataFrame
        With ``cluster``, ``topic``, ``partition``, ``replicas``, and any others.
    clusters : DataFrame
        A row for each cluster: ``cluster``, ``brokers``.
    plans : sequence of str
        Names in `PLANS`. A cluster's partitions are planned as one list, in order of topic and partition.

    Returns
    -------
    DataFrame
        With arrays of broker ids, the preferred leader first. What is kept whole is one cluster at a time in a worker's
        Python, about 600 bytes a partition.

    Raises
    ------
    KafkaLearnError
        If a plan is not known, or a column is missing or of another type. While it runs the query ends with an error if
        no plan can be made for a cluster: it has too few brokers, or is none of `clusters`.

    Examples
    --------
    >>> from kafkalearn.spark.data.clusters import clusters, partitions_of
    >>> from kafkalearn.spark.session import get_spark
    >>> made = clusters(get_spark(), 1)
    >>> planned = with_plans(partitions_of(made), made).orderBy("partition").limit(3)
    >>> planned.select("replicas", *PLANS).show()
    +---------+----------+---------+
    | replicas|move least|deal anew|
    +---------+----------+---------+
    |[0, 1, 2]| [6, 7, 8]|[7, 5, 3]|
    |[1, 2, 3]| [7, 8, 6]|[8, 6, 1]|
    |[2, 3, 4]| [8, 6, 7]|[0, 4, 2]|
    +---------+----------+---------+
    """
    for name in plans:
        one_of("plan", name, PLANS)
        refuse_overwrite(partitions, name)
    if not plans or len({*plans}) < len(plans):
        raise KafkaLearnError(f"plans must name at least one, each once, got {list(plans)}")
    schema = StructType([*partitions.schema])
    for name in plans:
        schema = schema.add(name, ArrayType(IntegerType()))
    named = clusters.select("cluster", "brokers")
    by_cluster = partitions.groupBy("cluster").cogroup(named.groupBy("cluster"))
    return by_cluster.applyInArrow(for_workers(partitions.sparkSession, planners(list(plans))), schema)


def broker_moves(planned: DataFrame, target: str, by: Sequence[str] = (), sizes: Sequence[str] = ()) -> DataFrame:
    """What each broker receives, sends and may delete: each new replica copies all of its partition from the leader.

    Parameters
    ----------
    planned : DataFrame
        ``replicas``, ``leader``, and the columns that the others name; a partition that nobody leads (null) is left
        out.
    target : str
        The column of the replicas that there are to be.
    by : sequence of str
        What tells clusters apart.
    sizes : sequence of str
        Columns of bytes; by themselves ``size_bytes``.

    Returns
    -------
    DataFrame
        The columns `by`, ``broker_id``, and for each size ``in_``, ``out_`` and ``deleted_`` with its name (without
        ``size_``). What is kept is a row for each broker.
    """
    sizes = tuple(sizes) or ("size_bytes",)
    came, went = sf.array_except(target, "replicas"), sf.array_except("replicas", target)

    def of(broker_id: Column, comes: Column, sends: Column, goes: Column) -> Column:
        return sf.struct(broker_id.alias("broker_id"), comes.alias("in"), sends.alias("out"), goes.alias("deleted"))

    one, none = sf.lit(1), sf.lit(0)
    moves = sf.concat(
        sf.transform(came, lambda each: of(each, one, none, none)),
        sf.filter(sf.array(of(sf.col("leader"), none, sf.size(came), none)), lambda each: each["out"] > 0),
        sf.transform(went, lambda each: of(each, none, none, one)),
    )
    each = planned.where("leader IS NOT NULL").select(*by, *sizes, sf.inline(moves))
    sums = [
        sf.sum(sf.col(size) * sf.col(way)).alias(f"{way}_{size.removeprefix('size_')}")
        for size in sizes
        for way in ("in", "out", "deleted")
    ]
    return each.groupBy(*by, "broker_id").agg(*sums)


_LOADS = {"leader": ("int",), "size_bytes": ("bigint",), "bytes_per_s": ("bigint",)}


@rule(_PARTITIONS | _LOADS, _CLUSTERS, remedy=REMEDY)
def plan_costs(
    planned: DataFrame, clusters: DataFrame, throttle_bytes_per_s: int, plans: Sequence[str] = tuple(PLANS)
) -> DataFrame:
    """What each plan costs each cluster, and how long it takes under a throttle while producers write on.

    Parameters
    ----------
    planned : DataFrame
        From `with_plans`.
    clusters : DataFrame
        A row for each cluster: ``cluster``, ``brokers``.
    throttle_bytes_per_s : int
        What ``--throttle`` is given.
    plans : sequence of str
        Columns of `planned`.

    Returns
    -------
    DataFrame
        For each cluster and plan ``cluster``, ``plan``; ``copied_bytes``; ``busiest_bytes`` and
        ``busiest_bytes_per_s``, the most that one broker receives or sends, and that is written into what it does;
        ``seconds``, null if it never ends: what `kafkalearn.operations.planning.copy_seconds` says; and
        ``shared_before``, ``shared_after``: how many partitions have two replicas in one rack
        (`kafkalearn.operations.planning.shared_rack_count`). What is kept is a row for each broker; one for each
        cluster goes to every worker.

    Examples
    --------
    >>> from kafkalearn.spark.data.clusters import clusters, partitions_of
    >>> from kafkalearn.spark.session import get_spark
    >>> made = clusters(get_spark(), 1)
    >>> costs = plan_costs(with_plans(partitions_of(made), made), made, 50_000_000)
    >>> [(row.plan, row.copied_bytes > 0, row.shared_after) for row in costs.orderBy("plan").collect()]
    [('deal anew', True, 0), ('move least', True, 0)]
    """
    throttle = whole_number("throttle_bytes_per_s", throttle_bytes_per_s, at_least=1)
    found = [_costs(planned, clusters, throttle, name) for name in plans]
    if not found:
        raise KafkaLearnError("plans is empty: name at least one column that with_plans has added")
    costs = found[0]
    for each in found[1:]:
        costs = costs.unionByName(each)
    return costs


def _costs(planned: DataFrame, clusters: DataFrame, throttle: int, plan: str) -> DataFrame:
    require(planned, plan, ("array<int>",), "transform them with with_plans first")
    moved = planned.transform(broker_moves, plan, by=["cluster"], sizes=("size_bytes", "bytes_per_s"))

    def seconds(way: str) -> Column:
        size, left = sf.col(f"{way}_bytes"), throttle - sf.col(f"{way}_bytes_per_s")
        return sf.when(size == 0, sf.lit(0.0)).when(left > 0, size / left)

    slowest = sf.greatest(seconds("in"), seconds("out"))
    never = sf.bool_or(seconds("in").isNull() | seconds("out").isNull())
    times = moved.groupBy("cluster").agg(
        sf.sum("in_bytes").alias("copied_bytes"),
        sf.max(sf.greatest("in_bytes", "out_bytes")).alias("busiest_bytes"),
        sf.max(sf.greatest("in_bytes_per_s", "out_bytes_per_s")).alias("busiest_bytes_per_s"),
        sf.when(~never, sf.max(slowest)).alias("seconds"),
    )
    pairs = sf.transform("brokers", lambda each: sf.struct(each["broker_id"], each["rack"]))
    racks = clusters.select("cluster", sf.map_from_entries(pairs).alias("of"))

    def shared(replicas: str) -> Column:
        used = sf.array_distinct(sf.transform(replicas, lambda each: sf.col("of")[each]))
        return sf.count_if(sf.size(used) < sf.size(replicas))

    in_racks = planned.join(sf.broadcast(racks), "cluster").groupBy("cluster")
    kept = in_racks.agg(shared("replicas").alias("shared_before"), shared(plan).alias("shared_after"))
    nothing = [
        sf.coalesce(name, sf.lit(0)).cast("bigint").alias(name)
        for name in ("copied_bytes", "busiest_bytes", "busiest_bytes_per_s")
    ]
    both = kept.join(times.withColumn("is_moved", sf.lit(True)), "cluster", "left")
    return both.select(
        *("cluster", sf.lit(plan).alias("plan"), *nothing),
        sf.when(sf.col("is_moved"), sf.col("seconds")).otherwise(0.0).alias("seconds"),
        *("shared_before", "shared_after"),
    )
