"""The columns a rule needs, and the one it adds; one sentence says what does not fit."""

from __future__ import annotations

from pyspark.sql import DataFrame

from kafkalearn.errors import KafkaLearnError

# The columns of a record, as Spark's Kafka source has them.
RECORD_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
)


def require(df: DataFrame, column: str, types: tuple[str, ...], remedy: str) -> None:
    """Raise unless `df` has that column in one of those types.

    Parameters
    ----------
    df : DataFrame
        Any.
    column : str
        A name, matched as Spark matches it: upper and lower case are one.
    types : tuple of str
        Spark's simple names: ``"string"``, ``"binary"``, ``"int"``.
    remedy : str
        What to do if the type is another.

    Raises
    ------
    KafkaLearnError
        Says which columns there are, or which type came.
    """
    there = {field.name.lower(): field.dataType.simpleString() for field in df.schema}
    if column.lower() not in there:
        raise KafkaLearnError(f"the rows have no column {column!r}; they have {df.columns}")
    came = there[column.lower()]
    if came not in types:
        raise KafkaLearnError(f"column {column!r} must be {' or '.join(types)}, it is {came}; {remedy}")


def refuse_overwrite(df: DataFrame, output: str) -> None:
    """Raise if `df` has a column `output` already: a record's real partition must not vanish under a computed one."""
    if output.lower() in (column.lower() for column in df.columns):
        raise KafkaLearnError(
            f"the rows have a column {output!r} already; name another with output=, or drop it first: "
            f"df.drop({output!r})"
        )


COPIES = "copies"
"""In the metadata of a column: the rows hold several copies of one partition, and how to choose one."""


def require_one_copy(df: DataFrame) -> None:
    """Raise if the rows are known to hold several copies of one partition, as segment files of several brokers do."""
    _raise_noted(df, COPIES)


UNREAD = "unread"
"""In the metadata of a column: some of the rows were not read, and how to read them."""


def require_all_read(df: DataFrame) -> None:
    """Raise if rows are known to be left unread, as `decode_offsets` leaves some without Python."""
    _raise_noted(df, UNREAD)


def _raise_noted(df: DataFrame, key: str) -> None:
    """Raise with what the metadata of a column have under a key, if one has it."""
    for field in df.schema:
        if key in field.metadata:
            raise KafkaLearnError(field.metadata[key])
