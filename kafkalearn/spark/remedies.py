"""What each remedy would have saved in a day of coordinators' logs: rebalances, and the time that groups stood still.

`with_absences` says of each rebalance in which a member went or came back how long it was away, `with_avoided` which
remedies would have avoided it, `by_remedy` sums up. The rule is `kafkalearn.scenarios.remedies.is_avoided`, here an
expression over columns; `kafkalearn.scenarios.remedies.play_absence` plays the same with the simulator.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.remedies import ABSENCES, REMEDIES, Remedy, patience_ms
from kafkalearn.spark.columns import MOMENTS, TEXT, rule

__all__ = ["by_remedy", "with_absences", "with_avoided"]

BACK = "member joined"


_SEE = "see kafkalearn.spark.group_logs.rebalances, and with_absences"
_JUDGED = {"trouble": TEXT, "away_ms": ("bigint",)}


@rule(dict.fromkeys(("cluster", "group_id", "cause", "trouble"), TEXT) | {"started": MOMENTS}, remedy=_SEE)
def with_absences(found: DataFrame) -> DataFrame:
    """Each rebalance with the time that a member was away: the one in which it went, and the one in which it came back.

    Parameters
    ----------
    found : DataFrame
        From `kafkalearn.spark.group_logs.rebalances`.

    Returns
    -------
    DataFrame
        With ``away_ms``, a bigint, from the start of the one to the start of the other; null where nobody came back,
        or nobody went. Nothing is kept whole: one worker has the rebalances of a group in order, on disk if need be.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.scenarios.remedies import Remedy, play_absence
    >>> from kafkalearn.spark.group_logs import EVENT_SCHEMA, log_rows, rebalances
    >>> from kafkalearn.spark.session import get_spark
    >>> played = play_absence("member left", 10_000, Remedy("as it was"))
    >>> logs = get_spark().createDataFrame(log_rows(played, "billing"), EVENT_SCHEMA)
    >>> logs.transform(rebalances).transform(with_absences).select("cause", "trouble", "away_ms").show()
    +-------------+-------------+-------+
    |        cause|      trouble|away_ms|
    +-------------+-------------+-------+
    |member joined|member joined|   NULL|
    |  member left|  member left|  10004|
    |member joined|  member left|  10004|
    +-------------+-------------+-------+
    """
    in_order = Window.partitionBy("cluster", "group_id").orderBy("started")
    started_ms = sf.unix_millis("started")
    is_back = _is_back(sf.col("cause"), sf.col("trouble"))
    comes_back = _is_back(sf.lead("cause").over(in_order), sf.lead("trouble").over(in_order))
    went = sf.col("cause").isin(*ABSENCES) & comes_back & (sf.lead("trouble").over(in_order) == sf.col("cause"))
    away_ms = sf.when(is_back, started_ms - sf.lag(started_ms).over(in_order)).when(
        went, sf.lead(started_ms).over(in_order) - started_ms
    )
    return found.withColumn("away_ms", away_ms)


def _is_back(cause: Column, trouble: Column) -> Column:
    return (cause == BACK) & trouble.isin(*ABSENCES)


@rule(_JUDGED, remedy=_SEE)
def with_avoided(found: DataFrame, remedies: Sequence[Remedy] = REMEDIES) -> DataFrame:
    """Each rebalance with the names of the remedies that would have avoided it.

    Parameters
    ----------
    found : DataFrame
        From `with_absences`.
    remedies : sequence of Remedy
        Each is judged alone, against the same day.

    Returns
    -------
    DataFrame
        With ``avoided_by``, an array of strings in the order of `remedies`: those for which
        `kafkalearn.scenarios.remedies.is_avoided` is true. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If there is no remedy, two have one name, or a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("member left", 10_000), ("member left", 60_000), ("poll interval exceeded", 20_000)]
    >>> absences = get_spark().createDataFrame(rows, "trouble STRING, away_ms BIGINT")
    >>> [row.avoided_by for row in absences.transform(with_avoided).collect()]
    [['group.instance.id'], [], ['group.instance.id', 'max.poll.interval.ms 10 min']]
    """
    names = [sf.when(_is_avoided(each), each.name) for each in _known(remedies)]
    return found.withColumn("avoided_by", sf.array_compact(sf.array(*names)))


@rule({**_JUDGED, "ended": MOMENTS, "duration_ms": ("bigint",)}, remedy=_SEE)
def by_remedy(found: DataFrame, remedies: Sequence[Remedy] = REMEDIES) -> DataFrame:
    """What each remedy would have saved: rebalances, and standstill.

    Parameters
    ----------
    found : DataFrame
        From `with_absences`; rebalances without an end are left out.
    remedies : sequence of Remedy
        Each is judged alone, against the same day.

    Returns
    -------
    DataFrame
        A row for each remedy, in their order: ``remedy``; ``avoided_count``, the rebalances that there surely would not
        have been, and ``avoided_share`` of all; ``saved_ms``, the standstill that there would not have been, and
        ``saved_share`` of all. Saved is the standstill of what is avoided, and with KIP-848 all of it: nobody waits for
        the others. Shares are null where there was nothing. All of it ends in one row.

    Raises
    ------
    KafkaLearnError
        If there is no remedy, two have one name, or a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.data.groups import group_logs
    >>> from kafkalearn.spark.group_logs import rebalances
    >>> from kafkalearn.spark.session import get_spark
    >>> day = group_logs(get_spark(), 20_000).transform(rebalances).transform(with_absences)
    >>> static = day.transform(by_remedy).where("remedy = 'group.instance.id'").first()
    >>> static.avoided_share > 0.2 > 0.1 > static.saved_share
    True
    """
    given = _known(remedies)
    sums = [sf.count("*").alias("count"), sf.sum("duration_ms").alias("ms")]
    for place, remedy in enumerate(given):
        is_avoided = _is_avoided(remedy)
        is_saved = sf.lit(True) if remedy.protocol == "consumer" else is_avoided
        saved_ms = sf.sum(sf.when(is_saved, sf.col("duration_ms")).otherwise(0))
        fields = sf.count_if(is_avoided).alias("avoided_count"), saved_ms.alias("saved_ms")
        sums.append(
            sf.struct(sf.lit(place).alias("place"), sf.lit(remedy.name).alias("remedy"), *fields).alias(f"{place}")
        )
    whole = found.where("ended IS NOT NULL").agg(*sums)
    rows = whole.select("count", "ms", sf.inline(sf.array(*(sf.col(f"{place}") for place in range(len(given))))))
    return rows.orderBy("place").select(
        "remedy",
        "avoided_count",
        sf.round(sf.try_divide("avoided_count", "count"), 3).alias("avoided_share"),
        "saved_ms",
        sf.round(sf.try_divide("saved_ms", "ms"), 3).alias("saved_share"),
    )


def _known(remedies: Sequence[Remedy]) -> list[Remedy]:
    """The remedies, if they and the columns are right."""
    given = list(remedies)
    if not given or len({each.name for each in given}) < len(given):
        raise KafkaLearnError(f"remedies must be at least one, each with a name of its own, got {given!r}")
    return given


def _is_avoided(remedy: Remedy) -> Column:
    """Null, as where nobody came back, is not avoided."""
    limit_ms = sf.lit(0)
    for trouble in ABSENCES:
        limit_ms = sf.when(sf.col("trouble") == trouble, patience_ms(remedy, trouble)).otherwise(limit_ms)
    return sf.coalesce(sf.col("away_ms") < limit_ms, sf.lit(False))
