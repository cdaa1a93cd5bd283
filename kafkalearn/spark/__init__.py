"""The rules as Spark queries, and a Spark session to run them in; the only folder that imports pyspark.

A rule takes and returns DataFrames, so that ``df.transform(with_partition, 12)`` reads like a step of a pipeline.
Records have the columns of Spark's Kafka source (``key`` and ``value`` as binary, ``topic``, ``partition``,
``offset``, ``timestamp``, ``timestampType``), so the same query reads a real topic.

Rules, by their subject:

- `kafkalearn.spark.coordinator`: group id -> offsets partition -> broker
- `kafkalearn.spark.partitioning`: key -> partition, by each client's rule; what another number of partitions changes
- `kafkalearn.spark.rebalances`: thousands of rebalances by every assignor, and what they cost
- `kafkalearn.spark.group_logs`: the logs of coordinators -> rebalances -> how long groups stood still, and why
- `kafkalearn.spark.lag`: the lag of groups by partition, by member and over time
- `kafkalearn.spark.lag`: partitions that go to another member; many consumers, pulled from a log or pushed to
- `kafkalearn.spark.delivery`: what crashes lose and double, by commit strategy
- `kafkalearn.spark.offsets`: raw records and segment files of the offsets topic -> the state and lag of groups
- `kafkalearn.spark.compaction`: what the cleaner leaves of a log
- `kafkalearn.spark.compaction`: which segments of thousands of partitions are deleted, and by which rule
- `kafkalearn.spark.replication`: the fetches that leaders saw -> LEO, HW and ISR of thousands of partitions
- `kafkalearn.spark.delivery`: what was acknowledged, against what the log holds
- `kafkalearn.spark.real_topic`: topics of a real Kafka, read, streamed and written; topics that were recorded
- `kafkalearn.spark.waiting`: timers in wheels
- `kafkalearn.spark.waiting`: how long writes with acks=all and fetches wait

What they share:

- `kafkalearn.spark.session`: `get_spark`, a session here or on your cluster; whether it works; how far a job is; the
  one way in which our code gets to Spark's workers
- `kafkalearn.spark.columns`: columns checked, rows counted by partition, Java's own functions
- `kafkalearn.spark.data`: group ids, keys, orders, logs and records by the million, the same from the same seed
"""

from kafkalearn.base.errors import require

require(__name__, "pyspark", "pyarrow", "numpy")
