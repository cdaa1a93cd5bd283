"""How far each commit moves its group: `kafkalearn.commits.changes.moves` over a whole offsets topic."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.spark.columns import NUMBERS, TEXT, require_one_copy, rule

KEY_COLUMNS = ("committed_partition", "group_id", "committed_topic")  # the one that tells most apart first: it sorts


@rule(
    {"group_id": TEXT, "committed_topic": TEXT, "committed_partition": ("int",), "committed_offset": ("bigint",)}
    | {"offset": NUMBERS},
    remedy="decode the records first, with decode_offsets; the offset of each says which came last",
    adds=("{output}",),
    needs_all=True,
)
def with_moved_by(commits: DataFrame, *, output: str = "moved_by") -> DataFrame:
    """How many records each commit moves its partition: 0 says nothing new, less than 0 goes back.

    Nothing is kept whole: one worker has the commits of a partition in order, some 60 bytes each, on disk if need be.

    Parameters
    ----------
    commits : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`, with the column ``offset`` of the records; at least
        ``group_id``, ``committed_topic``, ``committed_partition``, ``committed_offset`` and ``offset``. A group lies in
        one partition of the offsets topic, so that its records are in order by their offsets.
    output : str
        The column to add.

    Returns
    -------
    DataFrame
        The rows with a bigint column: null for tombstones and for what is no commit, for the first commit of a group
        to a partition, and for the first behind a tombstone.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, `output` is there already, or the rows hold several copies of a
        partition.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("billing", "orders", 0, offset, at) for at, offset in enumerate((3, 9, 6, 6))]
    >>> types = "group_id STRING, committed_topic STRING, committed_partition INT"
    >>> types += ", committed_offset BIGINT, offset BIGINT"
    >>> moved = get_spark().createDataFrame(rows, types).transform(with_moved_by)
    >>> [row.moved_by for row in moved.orderBy("offset").collect()]
    [None, 6, -3, 0]

    References
    ----------
    Apache Kafka 4.3, ``OffsetMetadataManager.commitOffset``: no look at the offset that is there.
    """
    require_one_copy(commits)
    before = sf.lag("committed_offset").over(Window.partitionBy(*KEY_COLUMNS).orderBy("offset"))
    return commits.withColumn(output, sf.col("committed_offset") - before)
