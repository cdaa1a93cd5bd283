"""Topics of a real Kafka as DataFrames: read, streamed and written; and topics recorded in ``data/`` in the same form.

The rows have the columns of Spark's Kafka source, so every query of `kafkalearn.spark` reads them unchanged. What
chapter 14 sends to a real topic are orders with keys, and commits that the simulator has encoded.

Spark asks for a topic's partitions in one of two ways. The newer one, its default, passes over *internal* topics: a
query of ``__consumer_offsets`` then has no rows, and no error says why. The older one knows them; it is a setting of
the session, ``spark.sql.streaming.kafka.useDeprecatedOffsetFetching``. `KafkaTopics` has a second session of the same
Spark in which it is set, and reads and streams internal topics there, so that yours stays as it is. (Spark Connect has
one session, where it is set.) A join or a union runs in the session of its left side: keep the internal topic there.

With the older way, whoever *subscribes* joins a group of its own, which is written into the very topic that is read;
whoever reads by *assignment* leaves no trace.

References
----------
Spark's Kafka connector 4.2, ``ConsumerStrategy.retrieveAllPartitions`` (``filterNot(_.isInternal)``), and
``KafkaOffsetReaderConsumer``, the older way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.base.files import data_directory
from kafkalearn.base.internal_topics import INTERNAL_TOPICS
from kafkalearn.offsets.store import Commit, DeleteGroup, Settings, simulate
from kafkalearn.spark.columns import require
from kafkalearn.spark.session.gateway import is_connect

__all__ = [
    "PLAIN",
    "SUBSCRIBED",
    "KafkaTopics",
    "run_to_the_end",
    "topics_of",
]

ORDERS, OBSERVED = "orders", "observed"
ORDER_COUNT, CUSTOMER_COUNT = 300, 40
COMMITTED_MS = 1_700_000_000_000


def shop_orders(spark: SparkSession) -> DataFrame:
    """300 orders of 40 customers, ``key`` and ``value``, both text."""
    number = sf.col("id").cast("string")
    customer = (sf.col("id") % CUSTOMER_COUNT).cast("string")
    return spark.range(ORDER_COUNT).select(
        sf.concat(sf.lit("user-"), customer).alias("key"), sf.concat(sf.lit("order "), number).alias("value")
    )


def simulated_commits(spark: SparkSession) -> DataFrame:
    """What the coordinator's simulator has written for two groups, one of them deleted: ``key``, ``value``, bytes."""
    events = [Commit(group, "orders", number, 10 * number, COMMITTED_MS) for group in ("a", "b") for number in range(3)]
    log = simulate(Settings(), [*events, DeleteGroup("b")])[-1].state.log
    rows = [(entry.key, entry.value) for entry in log]
    return spark.createDataFrame(rows, "key binary, value binary").coalesce(1)  # one writer keeps the order


IN_BULK = {"kafka.linger.ms": "20", "kafka.batch.size": str(2**18)}
"""How the producer sends many records, unless it is told otherwise: its own default sends them in small batches."""

OLDER_WAY = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
PLAIN, ASSIGNED, SUBSCRIBED = "plain", "assigned", "subscribed"
WAYS = (PLAIN, ASSIGNED, SUBSCRIBED)

RECORDED_COLUMNS = "key string, value string, topic string, partition int, offset bigint, timestamp_ms bigint"


def add_jars(spark: SparkSession, jars: Iterable[Path]) -> None:
    """Give a session that runs already the jars of the connector; one that has them is left as it is.

    Raises
    ------
    KafkaLearnError
        If a file is not there.
    """
    for jar in jars:
        if not Path(jar).is_file():
            raise KafkaLearnError(f"there is no jar {jar}; kafkalearn.live.jars.connector_jars() fetches it")
        known = {row[0].rpartition("/")[2] for row in spark.sql("LIST JARS").collect()}
        if Path(jar).name not in known:
            spark.sql(f"ADD JAR '{jar}'")


class KafkaTopics:
    """The topics of a cluster.

    Parameters
    ----------
    spark : SparkSession
        With the connector: `add_jars`, or ``spark.jars.packages`` on a cluster.
    address : str
        As ``bootstrap.servers`` has it.
    options : mapping, optional
        More of Spark's Kafka source and sink, such as ``kafka.security.protocol``.
    """

    def __init__(self, spark: SparkSession, address: str, options: Mapping[str, object] | None = None) -> None:
        """Remember them; nothing is asked yet."""
        self.spark, self.address = spark, address
        self.options = {"kafka.bootstrap.servers": address, **{key: str(each) for key, each in (options or {}).items()}}
        self._older: SparkSession | None = None

    def read(self, topic: str, partition_count: int, way: str | None = None) -> DataFrame:
        """All records of a topic, from its first offset to its end at this moment.

        Parameters
        ----------
        topic : str
            Its name.
        partition_count : int
            How many partitions it has.
        way : str or None
            How Spark asks for the partitions: ``"plain"``, as Spark does by itself; ``"assigned"``, the older way, by
            number; ``"subscribed"``, the older way, in a group. None: what shows all and leaves no trace.

        Raises
        ------
        KafkaLearnError
            If the way is another.
        """
        way = _way(topic, way)
        which = _assigned(topic, partition_count) if way == ASSIGNED else {"subscribe": topic}
        reader = self._session(way).read.format("kafka")
        return reader.options(**self.options, **which, startingOffsets="earliest").load()

    def _session(self, way: str) -> SparkSession:
        """The session whose setting is that of the way; it is looked at when a query runs."""
        if way == PLAIN:
            return self.spark
        if self._older is None:
            self._older = self.spark if is_connect(self.spark) else self.spark.newSession()
            self._older.conf.set(OLDER_WAY, "true")
        return self._older

    def stream(self, topic: str, most_per_batch: int | None = None, partition_count: int | None = None) -> DataFrame:
        """A topic as a stream, from its first offset on, for Structured Streaming.

        Parameters
        ----------
        topic : str
            Its name.
        most_per_batch : int or None
            How many records a micro-batch takes at most.
        partition_count : int or None
            How many partitions an internal topic has; needed for these alone.

        Raises
        ------
        KafkaLearnError
            If the topic is internal, and how many partitions it has is not said.
        """
        way = _way(topic, None)
        if way == ASSIGNED and partition_count is None:
            raise KafkaLearnError(
                f"{topic} is internal, and Spark streams such a topic by the numbers of its partitions: give "
                "partition_count, as kafka-topics.sh --describe prints it (50, if nobody has changed it)"
            )
        limit = {} if most_per_batch is None else {"maxOffsetsPerTrigger": most_per_batch}
        which = {"subscribe": topic} if partition_count is None else _assigned(topic, partition_count)
        options = {**self.options, **which, "startingOffsets": "earliest", **limit}
        return self._session(way).readStream.format("kafka").options(**options).load()

    def write(self, records: DataFrame, topic: str) -> None:
        """Send records to a topic: the columns ``key`` and ``value``, and ``partition`` where there is one.

        Without a ``partition`` the Java producer decides, by the rule of `kafkalearn.spark.partitioning`. What the
        broker gives, offset and timestamp, is not sent.

        Raises
        ------
        KafkaLearnError
            If a column is missing or of another type.
        """
        for column in ("key", "value"):
            require(records, column, ("binary", "string"), "records have bytes")
        sent = [name for name in ("key", "value", "partition") if name in records.columns]
        records.select(*sent).write.format("kafka").options(**{**IN_BULK, **self.options}, topic=topic).save()


class RecordedTopics:
    """Topics that were read once, by `record`, and lie in a folder: the same rows where no Kafka can be started.

    What came later has files of its own: ``.observed`` after the topic was read by subscribing, ``.1`` and ``.2`` after
    the orders were sent for the first and the second time.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        """Remember them."""
        self.spark, self.folder = spark, folder
        self._is_observed = False
        self._sent_count = 0

    def read(self, topic: str, partition_count: int, way: str | None = None) -> DataFrame:
        """What `KafkaTopics.read` gave of it, in this way."""
        way = _way(topic, way)
        rows = self._rows(topic)
        if way == SUBSCRIBED:
            self._is_observed = True
            rows = self._rows(topic)
        return rows.where("false") if topic in INTERNAL_TOPICS and way == PLAIN else rows

    def stream(self, topic: str, most_per_batch: int | None = None, partition_count: int | None = None) -> DataFrame:
        """What `KafkaTopics.stream` gave of it, in one micro-batch; what came later, in another."""
        kinds = self.spark.read.schema(RECORDED_COLUMNS).json(str(self._path(topic))).schema
        names = ",".join(path.name for path in self._paths(topic))
        options = {"pathGlobFilter": f"{{{names}}}", "maxFileAge": "36500d"}
        return _as_source(self.spark.readStream.schema(kinds).options(**options).json(str(self.folder)))

    def write(self, records: DataFrame, topic: str) -> None:
        """Nothing is sent: the recording holds what these records became.

        Raises
        ------
        KafkaLearnError
            If they are not the records that were sent to it.
        """
        given = records.select(sf.col("key").cast("binary"), sf.col("value").cast("binary"))
        if given.exceptAll(self._rows(topic).select("key", "value")).limit(1).count():
            raise KafkaLearnError(
                f"the recorded topic {topic!r} holds other records; these can be sent to a real Kafka only"
            )
        self._sent_count += topic == ORDERS

    def _rows(self, name: str) -> DataFrame:
        paths = [str(path) for path in self._paths(name)]
        return _as_source(self.spark.read.schema(RECORDED_COLUMNS).json(paths))

    def _paths(self, name: str) -> list[Path]:
        """The files of what is in a topic by now."""
        later = [OBSERVED] * self._is_observed + [str(number + 1) for number in range(self._sent_count)]
        paths = [self.folder / file_of(f"{name}.{part}") for part in later]
        return [self._path(name), *(path for path in paths if path.is_file())]

    def _path(self, name: str) -> Path:
        path = self.folder / file_of(name)
        if not path.is_file():
            there = sorted({each.name.partition(".")[0] for each in self.folder.glob("*.jsonl")})
            raise KafkaLearnError(f"no topic {name!r} is recorded; there are {listed(there)}")
        return path


def topics_of(spark: SparkSession, address: str | None, jars: Iterable[Path] = ()) -> KafkaTopics | RecordedTopics:
    """The topics of a cluster; without an address those that are recorded in ``data/real-kafka``.

    Parameters
    ----------
    spark : SparkSession
        A session; it gets the connector.
    address : str or None
        As ``bootstrap.servers`` has it.
    jars : iterable of Path
        The connector's: `kafkalearn.live.jars.connector_jars`. None where the session has it already.
    """
    if address is None:
        return RecordedTopics(spark, data_directory("real-kafka") / "topics")
    add_jars(spark, jars)
    return KafkaTopics(spark, address)


def file_of(name: str) -> str:
    """The file of a recorded topic; Spark would pass over one whose name begins with an underscore.

    >>> file_of("__consumer_offsets")
    'consumer_offsets.jsonl'
    """
    return f"{name.lstrip('_')}.jsonl"


def record(rows: DataFrame, path: Path) -> None:
    """Write the rows of a topic into a file that `RecordedTopics` reads, a line for each, by partition and offset."""
    columns = (
        sf.hex("key").alias("key"),
        sf.hex("value").alias("value"),
        "topic",
        "partition",
        "offset",
        sf.unix_millis("timestamp").alias("timestamp_ms"),
    )
    with path.open("w", encoding="utf-8") as file:
        for row in rows.select(*columns).orderBy("partition", "offset").toLocalIterator():
            file.write(json.dumps(row.asDict()) + "\n")


def run_to_the_end(stream: DataFrame, name: str, timeout_s: float = 120.0) -> DataFrame:
    """What a stream holds now, read in micro-batches (``availableNow``) into a table of this name.

    All rows are kept in the driver's Java: it is for a lesson's topic.

    Raises
    ------
    KafkaLearnError
        If it has not come to the end in time.
    """
    query: Any = (  # it waits for parts of a second too, which its annotations do not say
        stream.writeStream.format("memory").queryName(name).trigger(availableNow=True).outputMode("append").start()
    )
    try:
        if not query.awaitTermination(timeout_s):
            raise KafkaLearnError(f"the stream {name!r} has not come to its end in {timeout_s:.0f} s")
    finally:
        query.stop()
    return stream.sparkSession.table(name)


def _assigned(topic: str, partition_count: int) -> dict[str, str]:
    return {"assign": json.dumps({topic: list(range(partition_count))})}


def _way(topic: str, way: str | None) -> str:
    if way is None:
        return ASSIGNED if topic in INTERNAL_TOPICS else PLAIN
    one_of("way", way, WAYS)
    return way


def _as_source(rows: DataFrame) -> DataFrame:
    """Recorded rows with the columns of Spark's Kafka source."""
    return rows.select(
        sf.unhex("key").alias("key"),
        sf.unhex("value").alias("value"),
        "topic",
        "partition",
        "offset",
        sf.timestamp_millis("timestamp_ms").alias("timestamp"),
        sf.lit(0).alias("timestampType"),
    )
