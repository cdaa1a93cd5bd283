"""The rules as Spark queries, and a Spark session to run them in; the only folder that imports pyspark.

A rule takes and returns DataFrames, so that ``df.transform(with_partition, 12)`` reads like a step of a pipeline.
Records have the columns of Spark's Kafka source (``key`` and ``value`` as binary, ``topic``, ``partition``,
``offset``, ``timestamp``, ``timestampType``), so the same query reads a real topic.

- `kafkalearn.spark.session`: `get_spark`, a session here or on your cluster; `kafkalearn.spark.check`: does it work?
- `kafkalearn.spark.coordinator`: group id -> offsets partition -> broker
- `kafkalearn.spark.partitioner`: key -> partition, by each client's rule
- `kafkalearn.spark.moves`: what happens to keys when a topic gets more partitions
- `kafkalearn.spark.counts`: rows of each partition, the empty ones too
- `kafkalearn.spark.datasets`: group ids, keys and orders by the million, the same from the same seed
- `kafkalearn.spark.progress`: how far a long job is
"""
