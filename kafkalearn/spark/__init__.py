"""The rules as Spark queries, and a Spark session to run them in; the only folder that imports pyspark.

A rule takes and returns DataFrames, so that ``df.transform(with_partition, 12)`` reads like a step of a pipeline.
Records have the columns of Spark's Kafka source (``key`` and ``value`` as binary, ``topic``, ``partition``,
``offset``, ``timestamp``, ``timestampType``), so the same query reads a real topic.

- `kafkalearn.spark.session`: `get_spark`, a session here or on your cluster; `kafkalearn.spark.session.check`: does it
  work?
- `kafkalearn.spark.coordinator`: group id -> offsets partition -> broker
- `kafkalearn.spark.partitioning.keyed`: key -> partition, by each client's rule
- `kafkalearn.spark.partitioning.resizing`: what happens to keys when a topic gets more partitions
- `kafkalearn.spark.lag`: the lag of groups by partition, by member and over time; `kafkalearn.spark.data.commits`: such
  commits, made up
- `kafkalearn.spark.rebalances.costs`: thousands of rebalances by every assignor;
  `kafkalearn.spark.session.worker_code`: their code to the workers
- `kafkalearn.spark.data.deliveries`, `kafkalearn.spark.crash_cost`: what crashes lose and double, by commit strategy
- `kafkalearn.spark.group_logs.standstill`: the logs of coordinators -> rebalances -> how long groups stood still, and
  why
- `kafkalearn.spark.replication.marks`: the fetches that leaders saw -> LEO, HW, ISR of thousands of partitions
- `kafkalearn.spark.data.fetch_log`: such fetches; `kafkalearn.spark.replication.replay`: one partition of them, by the
  simulator
- `kafkalearn.spark.columns.counts`: rows of each partition, the empty ones too
- `kafkalearn.spark.offsets.decode`: raw records of the offsets topic, decoded; `kafkalearn.spark.offsets.segments`: a
  broker's files; `kafkalearn.spark.offsets.state`: the state, lag and death of groups;
  `kafkalearn.spark.data.offsets_records`: records
- `kafkalearn.spark.data.datasets`: group ids, keys and orders by the million, the same from the same seed
- `kafkalearn.spark.data.group_logs`: a day of such logs; `kafkalearn.spark.group_logs.rows`: that of a scenario
- `kafkalearn.spark.session.progress`: how far a long job is
"""
