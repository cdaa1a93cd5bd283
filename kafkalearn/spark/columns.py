"""What every rule on Spark shares: columns checked, rows counted by partition, Java's own functions, numbers in bytes.

Kafka writes the highest byte of a number first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from py4j.protocol import Py4JError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.session.gateway import is_connect

RECORD_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
)
"""The columns of a record, as Spark's Kafka source has them."""
TEXT = ("string",)
BYTES = ("binary",)
WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = ("int", "bigint")
INT_ARRAYS = ("array<int>", "array<bigint>")
MOMENTS = ("timestamp", "timestamp_ntz")

Given = ParamSpec("Given")
Made = TypeVar("Made")
Columns = Mapping[str, tuple[str, ...]]


class Declared(NamedTuple):
    """What a rule declares: the columns of each DataFrame that it takes, with their types, and the columns it adds."""

    columns: tuple[Columns, ...]
    adds: tuple[str, ...]


DECLARED: dict[Callable[..., object], Declared] = {}
"""By rule."""


def rule(
    *columns: Columns, remedy: str, adds: tuple[str, ...] = (), needs_all: bool = False
) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Declare what a rule needs of its rows; it is checked whenever the rule is called, before all else.

    Parameters
    ----------
    *columns : mapping of str to tuple of str
        For each DataFrame that the rule takes, in order, its columns and their types, as `require` takes them. A name
        in braces is that of a parameter, which names the column: ``"{group}"``.
    remedy : str
        What to do if a type is another.
    adds : tuple of str
        The columns that the rule adds to its first DataFrame, which must not be there already.
    needs_all : bool
        Whether it looks at all rows, and so takes no stream.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> from pyspark.sql import functions as sf
    >>> @rule({"{size}": NUMBERS}, remedy="cast it", adds=("twice",))
    ... def with_twice(df: DataFrame, size: str = "size") -> DataFrame:
    ...     return df.withColumn("twice", 2 * sf.col(size))
    >>> with_twice(get_spark().sql("SELECT '3' AS bytes"), "bytes")
    Traceback (most recent call last):
    kafkalearn.base.errors.KafkaLearnError: column 'bytes' must be int or bigint, it is string; cast it
    """

    def declare(function: Callable[Given, Made]) -> Callable[Given, Made]:
        signature = inspect.signature(function)
        frames = [name for name, each in signature.parameters.items() if "DataFrame" in str(each.annotation)]

        @wraps(function)
        def checked(*given: Given.args, **named: Given.kwargs) -> Made:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            for frame in frames if needs_all else ():
                refuse_stream(bound.arguments[frame], function.__name__)
            for frame, needed in zip(frames, columns, strict=False):
                rows = bound.arguments[frame]
                for column, types in needed.items() if rows is not None else ():
                    require(rows, column.format(**bound.arguments), types, remedy)
            for column in adds:
                refuse_overwrite(bound.arguments[frames[0]], column.format(**bound.arguments))
            return function(*given, **named)

        DECLARED[checked] = Declared(columns, adds)
        return checked

    return declare


def typed(schema: StructType, *names: str) -> dict[str, tuple[str, ...]]:
    """Some columns of a schema with their types, as a rule declares that it needs them.

    >>> typed(StructType.fromDDL("group_id STRING, offset BIGINT"), "offset")
    {'offset': ('bigint',)}
    """
    return {name: (schema[name].dataType.simpleString(),) for name in names}


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


def refuse_stream(df: DataFrame, rule: str) -> None:
    """Raise if the rows are a stream: a rule that looks at all rows has no answer before the last of them.

    >>> from kafkalearn.spark.session import get_spark
    >>> refuse_stream(get_spark().readStream.format("rate").load(), "latest_state")
    Traceback (most recent call last):
    kafkalearn.base.errors.KafkaLearnError: latest_state looks at all rows, and these are a stream, which does not end;
    kafkalearn.spark.offsets.live keeps the groups of a stream; any other rule takes a batch of it: foreachBatch
    """
    if df.isStreaming:
        raise KafkaLearnError(
            f"{rule} looks at all rows, and these are a stream, which does not end; kafkalearn.spark.offsets.live "
            "keeps the groups of a stream; any other rule takes a batch of it: foreachBatch"
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


@rule({"{partition}": WHOLE_NUMBERS}, remedy="a partition id is a whole number")
def counts_by_partition(df: DataFrame, partition_count: int, partition: str = "partition") -> tuple[int, ...]:
    """How many rows each partition has; runs the query.

    Parameters
    ----------
    df : DataFrame
        Has a column of partition ids.
    partition_count : int
        Partitions of the topic, at least 1: a partition without rows has its 0 in the result.
    partition : str
        The column; rows where it is null (no key, no group) are not counted.

    Returns
    -------
    tuple of int
        ``counts[p]`` is the number of rows of partition ``p``; its length is `partition_count`. So many rows, about
        500 bytes each, come to this Python.

    Raises
    ------
    KafkaLearnError
        If the column is missing or no whole number, or holds an id outside ``[0, partition_count)``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([(0,), (2,), (2,), (None,)], "partition int")
    >>> counts_by_partition(records, 4)
    (1, 0, 2, 0)
    """
    whole_number("partition_count", partition_count, at_least=1)
    grouped = df.groupBy(sf.col(partition).alias("id")).agg(sf.count("*").alias("count"))
    counts = {row["id"]: row["count"] for row in grouped.collect() if row["id"] is not None}
    outside = sorted(counts.keys() - set(range(partition_count)))
    if outside:
        raise KafkaLearnError(
            f"column {partition!r} holds ids outside 0 to {partition_count - 1}, the first is {outside[0]}; "
            "was partition_count another when it was computed?"
        )
    return tuple(counts.get(id_, 0) for id_ in range(partition_count))


def quotient(number: Column, by: Column | int) -> Column:
    """How many times `by` goes into `number`, as a bigint.

    >>> from kafkalearn.spark.session import get_spark
    >>> get_spark().range(7, 8).select(quotient(sf.col("id"), 2).alias("halves")).first().halves
    3
    """
    return sf.call_function("div", number, sf.lit(by) if isinstance(by, int) else by)


# Java's own functions as Spark expressions, compiled into the query.
#
# Spark SQL can call a static Java method by name, ``java_method('java.util.Objects', 'hashCode', text)``, but by
# reflection and through text: three to five times slower than the query it is part of. Inside, Spark has a better
# expression, ``StaticInvoke``, which it uses for its own functions: the call stands in the generated code. It takes
# bytes as they are, and a null argument makes the result null.
#
# It is not part of Spark's public interface, so `static_call` answers None where it is not there (Spark Connect, a
# Spark of another version), and the rules then take a slower way that is.

SQL = "org.apache.spark.sql"


def computed_once(column: Column) -> Column:
    """The same column, computed in the stage that adds it.

    Spark pushes filters down through stages, with a copy of all that they name: Python on the workers would read each
    row twice. What is not deterministic stays; the number of a task is not, and is never below 0.
    """
    return sf.when(sf.spark_partition_id() >= 0, column)


def static_call(df: DataFrame, class_name: str, method: str, returns: str, *arguments: Column | None) -> Column | None:
    """The column of a static Java method's answers, or None where this Spark offers no such expression.

    Parameters
    ----------
    df : DataFrame
        The rows it is meant for; their session shows which Spark it is.
    class_name, method : str
        A public static method of a class in Spark's own jars, which every worker has.
    returns : str
        A Spark type such as ``"int"``, or the name of a Java class if the answer only goes into another call.
    *arguments : Column
        Strings arrive as Spark's UTF8String, binaries as ``byte[]``; None, of a call that is not there, gives None.
    """
    given = [each for each in arguments if each is not None]
    if len(given) < len(arguments):  # None: an inner call is not there
        return None
    if is_connect(df.sparkSession):
        return None
    try:
        return Column(_static_invoke(df.sparkSession._jvm, class_name, method, returns, given))
    except (Py4JError, TypeError, AttributeError):
        # TypeError: py4j takes a class that is not there for a package; AttributeError: a platform that hides Java
        return None


def _static_invoke(jvm: Any, class_name: str, method: str, returns: str, arguments: list[Column]):
    columns = getattr(jvm, f"{SQL}.classic.ExpressionUtils")
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    expression = getattr(jvm, f"{SQL}.catalyst.expressions.objects.StaticInvoke")(
        _class(jvm, class_name),
        _type(jvm, returns),
        method,
        sequence([columns.expression(column._jc) for column in arguments]),
        sequence([]),  # no casts of the arguments
        True,  # null in, null out
        False,  # never null otherwise
        True,  # the same answer each time
        jvm.scala.Option.empty(),
    )
    return columns.column(expression)


def _type(jvm: Any, name: str):
    if "." in name:
        return getattr(jvm, f"{SQL}.types.ObjectType")(_class(jvm, name))
    return getattr(jvm, f"{SQL}.types.DataType").fromDDL(name)


def _class(jvm: Any, name: str):
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()  # Spark's own, which knows its jars
    return jvm.java.lang.Class.forName(name, True, loader)


READER = "org.apache.hadoop.io.WritableComparator"  # Hadoop's reader of big-endian numbers, in Spark's own jars


def int16_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The signed number in two bytes of a binary column, or null where they would reach beyond its `length`.

    `df` are the rows it is meant for, as for `kafkalearn.spark.columns.static_call`; so in the other functions.
    """
    return sf.shiftright(sf.shiftleft(uint16_at(df, data, at, length), 16), 16)


def uint16_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The unsigned number in two bytes, or null."""
    return _number(df, "readUnsignedShort", 2, data, at, length)


def int32_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The signed number in four bytes, or null."""
    return _number(df, "readInt", 4, data, at, length)


def int64_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The signed number in eight bytes, or null."""
    return _number(df, "readLong", 8, data, at, length)


def _number(df: DataFrame, method: str, width: int, data: Column, at: Column | int, length: Column) -> Column:
    position, returns = sf.lit(at) if isinstance(at, int) else at, "bigint" if width == 8 else "int"
    number = static_call(df, READER, method, returns, data, position)
    if number is None:  # Spark Connect: the public way, several times slower
        digits = sf.hex(sf.substring(data, position + 1, sf.lit(width)))
        number = sf.conv(digits, 16, -10 if width == 8 else 10).cast("bigint")
        if width == 4:
            number = sf.pmod(number + 2**31, sf.lit(2**32)) - 2**31
        number = number.cast(returns)
    return sf.when(position + width <= length, number)


CHECKER = "com.google.common.base.Utf8"  # Guava's, in Spark's own jars: it looks at the bytes where they lie


def is_utf8(df: DataFrame, data: Column, start: Column, size: Column) -> Column:
    """Whether `size` bytes of a binary column from a place on, which must be within it, are UTF-8; null for null."""
    checked = static_call(df, CHECKER, "isWellFormed", "boolean", data, start, size)
    if checked is None:  # Spark Connect: the public way copies them first
        return sf.is_valid_utf8(sf.substring(data, start + 1, size).cast("string"))
    return checked


def topic_id_text(uuid: Column) -> Column:
    """The 22 characters that Kafka prints of the 16 bytes of a topic id (``Uuid.toString``)."""
    padded = sf.base64(uuid)
    # Not `translate`, which makes a text of each character: a sixth of the time of all that is decoded.
    return sf.substring(sf.replace(sf.replace(padded, sf.lit("+"), sf.lit("-")), sf.lit("/"), sf.lit("_")), 1, 22)


def in_ranges(column: str, ranges: Mapping[str, int]) -> Column:
    """The range that a number lies in, by its name: the first whose largest is not below it; null if there is none.

    >>> from kafkalearn.spark.session import get_spark
    >>> numbers = get_spark().range(2, 8, 2)
    >>> [row[0] for row in numbers.select(in_ranges("id", {"few": 3, "some": 5})).collect()]
    ['few', 'some', None]
    """
    label = sf.lit(None)
    for name, most in reversed([*ranges.items()]):
        label = sf.when(sf.col(column) <= most, name).otherwise(label)
    return label
