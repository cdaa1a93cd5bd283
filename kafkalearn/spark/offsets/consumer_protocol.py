"""Subscriptions and assignments of classic consumers, the bytes inside a group's record, as columns.

As `kafkalearn.offsets.decode_subscription` and `decode_assignment` read one: a newer version as the newest known, bytes
that follow passed over; what cannot be read is null.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.spark.columns.big_endian import int16_at, int32_at

STRING_BYTES = 2  # the least that a text takes
_TOPICS = "struct<at:int,topics:array<string>>"
_PARTITIONS = "struct<at:int,assigned:array<struct<topic:string,partition:int>>>"


def subscribed_in(df: DataFrame, blob: Column) -> Column:
    """The topics in a subscription, an array of texts; null if it cannot be read."""
    blobs = _Blob(df, blob)
    version = blobs.int16(sf.lit(0))

    def whole(read: Column) -> Column:
        """The topics, if all that follows them in the version fits too."""
        after = blobs.bytes_end(read["at"])
        owned = sf.when(version >= 1, blobs.topic_partitions(after)["at"]).otherwise(after)
        return sf.when(_of(owned, lambda at: _rest_fits(blobs, version, at)), read["topics"])

    return sf.when(version >= 0, _of(blobs.topics(sf.lit(2)), whole))


def _rest_fits(blobs: _Blob, version: Column, at: Column) -> Column:
    """Whether generation (since version 2) and rack (since 3) fit behind a place."""
    generation_end = sf.when(version >= 2, at + 4).otherwise(at)
    rack_end = sf.when(version >= 3, blobs.text_end(generation_end, is_nullable=True)).otherwise(generation_end)
    return sf.coalesce(rack_end <= blobs.length, sf.lit(False))


def assigned_in(df: DataFrame, blob: Column) -> Column:
    """The partitions in an assignment, an array of (topic, partition); empty of no bytes, null if it cannot be read."""
    blobs = _Blob(df, blob)

    def whole(read: Column) -> Column:
        return sf.when(blobs.bytes_end(read["at"]).isNotNull(), read["assigned"])

    return sf.when(blobs.int16(sf.lit(0)) >= 0, _of(blobs.topic_partitions(sf.lit(2)), whole))


def _of(column: Column, use: Callable[[Column], Column]) -> Column:
    """What `use` makes of a column that is computed once, however often it is used."""
    return sf.get(sf.transform(sf.array(column), use), sf.lit(0))


class _Blob:
    """Places in the bytes of one column; each is null if what should be there does not fit."""

    def __init__(self, df: DataFrame, blob: Column) -> None:
        self.df, self.blob, self.length = df, blob, sf.octet_length(blob)

    def int16(self, at: Column) -> Column:
        return int16_at(self.df, self.blob, at, self.length)

    def int32(self, at: Column) -> Column:
        return int32_at(self.df, self.blob, at, self.length)

    def text_end(self, at: Column, is_nullable: bool = False) -> Column:
        """Where a text that begins at a place ends."""
        least = -1 if is_nullable else 0
        return _of(self.int16(at), lambda size: self._end(at + 2, size, least))

    def bytes_end(self, at: Column) -> Column:
        """Where nullable bytes that begin at a place end."""
        return _of(self.int32(at), lambda size: self._end(at + 4, size, -1))

    def _end(self, start: Column, size: Column, least: int) -> Column:
        end = start + sf.greatest(size, sf.lit(0))
        return sf.when((size >= least) & (size <= self.length - start) & (end <= self.length), end)

    def counted(self, at: Column, least_bytes: int) -> Column:
        """The numbers from 1 to a count at a place, empty for 0; null if so many elements cannot follow."""
        return _of(
            self.int32(at),
            lambda count: sf.when((count >= 0) & (count <= (self.length - at - 4) / least_bytes), _up_to(count)),
        )

    def text(self, at: Column, end: Column) -> Column:
        return sf.substring(self.blob, at + 3, end - at - 2)

    def topics(self, at: Column) -> Column:
        """Place and topics behind an array of texts."""

        def add(read: Column, number: Column) -> Column:
            place = read["at"]

            def added(end: Column) -> Column:
                topic = self.text(place, end)
                grown = sf.concat(read["topics"], sf.array(topic.cast("string")))
                fits = end.isNotNull() & sf.is_valid_utf8(topic.cast("string"))
                return sf.when(fits, sf.struct(end.alias("at"), grown.alias("topics"))).cast(_TOPICS)

            return _of(self.text_end(place), added)

        first = sf.struct((at + 4).alias("at"), sf.array().alias("topics")).cast(_TOPICS)
        return sf.aggregate(self.counted(at, STRING_BYTES), first, add)

    def topic_partitions(self, at: Column) -> Column:
        """Place and partitions behind an array of topics, each with an array of partitions."""

        def add(read: Column, number: Column) -> Column:
            place = read["at"]
            return _of(self.text_end(place), lambda end: _of(self.counted(end, 4), lambda numbers: grown(
                read, self.text(place, end).cast("string"), end, numbers
            )))  # fmt: skip

        def grown(read: Column, topic: Column, end: Column, numbers: Column) -> Column:
            partitions = sf.transform(
                numbers, lambda nth: sf.struct(topic.alias("topic"), self.int32(end + nth * 4).alias("partition"))
            )
            place = (end + 4 + 4 * sf.size(numbers)).alias("at")
            fits = numbers.isNotNull() & sf.is_valid_utf8(topic)
            both = sf.concat(read["assigned"], partitions).alias("assigned")
            return sf.when(fits, sf.struct(place, both)).cast(_PARTITIONS)

        first = sf.struct((at + 4).alias("at"), sf.array().alias("assigned")).cast(_PARTITIONS)
        return sf.aggregate(self.counted(at, STRING_BYTES + 4), first, add)


def _up_to(count: Column) -> Column:
    return sf.when(count == 0, sf.array().cast("array<int>")).otherwise(sf.sequence(sf.lit(1), count))
