"""Segment files of any topic, as a broker's disk has them: record batches, records, compression, transactions.

`read_disk` reads every segment below a directory, `read_segment` one file, `parse_segment` its bytes, `read_batch` one
batch. `committed_records` leaves out what aborted transactions wrote, `source_rows` gives records the columns of
Spark's Kafka source. What cannot be read raises `kafkalearn.wire.Undecodable`, or is the `rest` of its segment.

>>> from kafkalearn.datafiles import data_directory
>>> segments = read_disk(data_directory("offsets-topic") / "disk")
>>> sum(len(batch.records) for segment in segments for batch in segment.batches), len(list(committed_records(segments)))
(796, 791)
"""

from kafkalearn.segments.batches import read_batch
from kafkalearn.segments.disk import read_disk
from kafkalearn.segments.files import parse_segment, read_segment
from kafkalearn.segments.rows import source_rows
from kafkalearn.segments.transactions import committed_records

__all__ = [
    "committed_records",
    "parse_segment",
    "read_batch",
    "read_disk",
    "read_segment",
    "source_rows",
]
