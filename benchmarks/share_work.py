"""A share group's work on Spark, delivery by delivery, beside drawing its records and beside the simulator in Python.

Run it with ``python benchmarks/share_work.py [--rows 10000000] [--rounds 1] [--slow-rows 24000] [--go-on]``. The
simulator, `kafkalearn.sharing.shifts.work_off`, works off a rush at a time in Python's workers; it has fewer rows.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from _measure import Way, machine, measure, parser
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.sharing.shifts import Settings, work_off
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.share_work import OUTCOMES, jobs_of, summed, with_deliveries, work, worked_off

if TYPE_CHECKING:
    import pandas as pd

PARTITIONS = 12
SHARED = {"members": 4 * PARTITIONS, "partition_count": PARTITIONS}
IN_ORDER = {"members": PARTITIONS, "partition_count": PARTITIONS, "protocol": "consumer"}


def counted(deliveries: DataFrame) -> list[tuple[int, ...]]:
    """How many deliveries there were of each outcome, and when they were."""
    rows = deliveries.groupBy("outcome").agg(sf.count("*"), sf.sum("began_ms"), sf.sum("ended_ms"))
    return sorted(map(tuple, rows.collect()))


def by_the_simulator(records: DataFrame) -> DataFrame:
    """What `SHARED` asks for, partition by partition."""

    def off(rush: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        settings, found = Settings(member_count=SHARED["members"] // PARTITIONS), []
        for at in range(PARTITIONS):
            found += work_off(settings, jobs_of(rush[rush["place"] % PARTITIONS == at].to_dict("records")))
        rows = [(OUTCOMES.index(each.end), each.began_ms, each.ended_ms) for each in found]
        return pd.DataFrame(rows, columns=["outcome", "began_ms", "ended_ms"])

    return records.groupBy("rush").applyInPandas(off, "outcome int, began_ms bigint, ended_ms bigint")


def alone(records: DataFrame) -> list[Any]:
    """How often records are delivered, each without the others."""
    rows = records.transform(with_deliveries, lock_ms=30_000)
    return rows.agg(*(sf.sum(name) for name in ("delivery_count", "processed_count", "busy_ms"))).collect()


def main(argv: list[str]) -> None:
    """Measure and print."""
    arguments = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=1, warm_up=0)
    arguments.add_argument("--slow-rows", type=int, default=24_000)
    options = arguments.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    records, few = work(spark, options.rows), work(spark, options.slow_rows)
    shared, wanted = few.transform(worked_off, **SHARED), counted(by_the_simulator(few))
    assert counted(shared) == wanted  # and Java and Python's workers have started
    drawn = "draw the records"
    ways = [
        Way(drawn, lambda: records.agg(sf.sum("arrived_ms"), sf.sum(sf.size("tries"))).collect()),
        Way("with_deliveries: each record alone", lambda: alone(records)),
        Way("worked_off: a share group of 48", lambda: counted(records.transform(worked_off, **SHARED))),
        Way("the same, then summed", lambda: records.transform(worked_off, **SHARED).transform(summed).collect()),
        Way("worked_off: a consumer group of 12", lambda: counted(records.transform(worked_off, **IN_ORDER))),
    ]
    measure("share_work", f"working off {options.rows:,} records", machine(spark), ways, options)
    slow = [
        Way("worked_off: a share group of 48", lambda: counted(shared)),
        Way("the simulator in Python's workers", lambda: counted(by_the_simulator(few)), is_slow=True),
    ]
    print()
    measure("share_work_simulator", f"the same with {options.slow_rows:,}", machine(spark), slow, options)


if __name__ == "__main__":
    main(sys.argv[1:])
