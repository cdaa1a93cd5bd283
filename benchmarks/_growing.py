"""One rule at one size, in a process of its own: what `growth` starts for each of its lines.

``python benchmarks/_growing.py NAME ROWS MASTER [MEMORY KEYS]`` prints one line of JSON, ``took`` or ``cannot``. The
data are made first, and the query runs once over few rows, so that Java has loaded what it needs; neither is counted.
The line says which joins Spark chose, once it knew the sizes, and which of its operators held most; MEMORY is the
driver's.
"""

from __future__ import annotations

import json
import re
import sys
from time import perf_counter

from _processes import Watch
from _reasons import reason_of
from _rules import KEYED, RULES, Rule
from pyspark.sql import DataFrame, SparkSession

from kafkalearn.spark.session.spark_session import get_spark, is_this_machine

WARM_UP_ROWS = 100_000
LONGEST_REASON = 110  # characters
SETTINGS = {"spark.ui.enabled": "false"}
OF_A_CLUSTER = {"spark.executor.memory": "2g", "spark.sql.shuffle.partitions": "4"}  # four, as `get_spark` has it here
OF_KEYS = {"spark.buffer.pageSize": "1m"}  # small pages: what an operator held is what it needed
MIB = 2**20
BYTES = {"B": 1, "KiB": 2**10, "MiB": MIB, "GiB": 2**30}


def run(query: DataFrame) -> None:
    """Compute every row and column, and keep none."""
    query.write.format("noop").mode("overwrite").save()


def measured(spark: SparkSession, rule: Rule, rows: int, *keys: int) -> dict[str, object]:
    """What the rule takes for so many rows, of so many keys, and which joins were its."""
    few = max(WARM_UP_ROWS // rule.one_in, 1)
    run(rule.query(spark, few, *(min(count, few // rule.least) for count in keys)))
    query = rule.query(spark, rows, *keys)
    spilled = spilled_bytes(spark)
    begin = perf_counter()
    with Watch() as watch:
        run(query)
    return {
        "seconds": round(perf_counter() - begin, 1),
        "processor_seconds": watch.processor_seconds,
        "java_mib": watch.peak.java_mib,
        "python_mib": watch.peak.python_mib,
        "spilled_mib": (spilled_bytes(spark) - spilled) // MIB,
        "joins": joins_of_last(spark),
        "held": held_by_last(spark),
    }


def spilled_bytes(spark: SparkSession) -> int:
    """What all stages so far have written to disk because it did not fit into memory, by Spark's own status."""
    gateway = spark.sparkContext._gateway
    store = spark.sparkContext._jsc.sc().statusStore()
    nothing, no_numbers = gateway.jvm.java.util.ArrayList(), gateway.new_array(gateway.jvm.double, 0)
    stages = store.stageList(nothing, False, False, no_numbers, nothing)
    return sum(stages.apply(at).diskBytesSpilled() for at in range(stages.size()))


def joins_of_last(spark: SparkSession) -> list[str]:
    """The joins of the last query, in the plan that it ended with: ``["SortMergeJoin"]``."""
    plan = last_query(spark)[1].physicalPlanDescription()
    ended_with = plan.partition("== Final Plan ==")[2].partition("== Initial Plan ==")[0]
    return re.findall(r"\w+(?:Join|Product)\b", ended_with or plan.partition("\n\n")[0])


def held_by_last(spark: SparkSession) -> dict[str, int]:
    """What the operators of the last query held at most, all tasks of each added up, by Spark's own metric.

    Sorts and hash tables say it; two of one name count as the larger. In bytes: ``{"HashAggregate": 52_428_800}``.
    """
    store, query = last_query(spark)
    values = store.executionMetrics(query.executionId())
    nodes = store.planGraph(query.executionId()).allNodes()
    held: dict[str, int] = {}
    for node in map(nodes.apply, range(nodes.size())):
        for metric in map(node.metrics().apply, range(node.metrics().size())):
            text = values.get(metric.accumulatorId()) if metric.name() == "peak memory" else None
            if text is not None and text.isDefined():
                held[node.name()] = max(held.get(node.name(), 0), _bytes_in(text.get()))
    return held


def _bytes_in(text: str) -> int:
    """The first size in a metric's text, which is that of all tasks: ``"total (min, ...)\n4.0 MiB (1.0 MiB, ...)"``."""
    number, unit = re.search(r"([\d.]+) ([KMG]i)?B", text).group(1, 2)
    return int(float(number) * BYTES[f"{unit or ''}B"])


def last_query(spark: SparkSession) -> tuple[object, object]:
    """Where Spark keeps what its queries did, and the last of them, all of whose events have arrived."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    queries = store.executionsList()
    return store, queries.apply(queries.size() - 1)


def main(name: str, rows: str, master: str, memory: str = "", *keys: str) -> None:
    """Measure and print."""
    rule = next(each for each in RULES + KEYED if each.name == name)
    spark = None
    try:
        settings = SETTINGS if is_this_machine(master) else SETTINGS | OF_A_CLUSTER
        settings = settings | {"spark.driver.memory": memory} | OF_KEYS if memory else settings
        spark = get_spark("kafkalearn growth", master=master, **settings)
        said: dict[str, object] = {"took": measured(spark, rule, int(rows), *map(int, keys))}
    except Exception as error:  # whatever Spark raises where it gives up is the answer
        said = {"cannot": reason_of(error, LONGEST_REASON)}
    print(json.dumps(said), flush=True)
    if spark is not None:
        spark.stop()  # else a cluster starts executors anew while it ends, in a folder that is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
