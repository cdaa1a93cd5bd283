"""Whole partitions of the offsets topic as the console consumer prints them with one of Kafka's formatters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kafkalearn.arguments import LARGEST_INT, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.records.formatter import formatter_line
from kafkalearn.segments.disk import read_disk
from kafkalearn.segments.files import Segment
from kafkalearn.segments.rows import by_partition
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least


def formatter_lines(
    disk: str | Path | Iterable[Segment],
    partition: int | None = None,
    release: str = DEFAULT_RELEASE,
    formatter: str = "offsets",
) -> Iterator[str]:
    """What ``kafka-console-consumer --formatter`` prints of a broker's files, record by record.

    The tool reads the topic from a broker, this function the same records from its disk. Where the tool stops with an
    error, so do the lines. Commits of aborted transactions are printed like all others: that is the tool's default.

    Parameters
    ----------
    disk : str, Path, or iterable of Segment
        A log dir, the folder of one partition, or what `kafkalearn.segments.read_disk` read of them.
    partition : int, optional
        Of ``__consumer_offsets``, as with ``--partition``; without it all that are there, one after the other. (The
        tool prints partitions as their answers come.)
    release : str
        Of the tool; without one, Kafka 4.3.
    formatter : str
        ``"offsets"`` or ``"groups"``, as in `formatter_line`.

    Returns
    -------
    iterator of str
        A text for each record that is printed, without a line break. (Since 3.9 the tool puts none between them either:
        see `ends_lines`.)

    Raises
    ------
    Undecodable
        At the record where the tool stops.
    KafkaLearnError
        If there is no such folder or partition, or what is given does not fit.

    Examples
    --------
    >>> from kafkalearn.datafiles import data_directory
    >>> lines = list(formatter_lines(data_directory("command-walk") / "disk", 41))
    >>> len(lines), lines[-1][:90]
    (5, '{"key":{"type":1,"data":{"group":"console-consumer-77682","topic":"tp_test_01","partition"')

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``ConsoleConsumer`` with the formatters that `formatter_line` names.
    """
    if partition is not None:
        whole_number("partition", partition, 0, LARGEST_INT)
    logs = by_partition(read_disk(disk, OFFSETS_TOPIC) if isinstance(disk, str | Path) else disk)
    logs = {number: log for (topic, number), log in sorted(logs.items()) if topic == OFFSETS_TOPIC}
    if partition is not None and partition not in logs:
        there = ", ".join(map(str, logs)) or "none"
        raise KafkaLearnError(f"there is no partition {partition} of {OFFSETS_TOPIC}; those here: {there}")
    chosen = logs if partition is None else {partition: logs[partition]}
    return _lines(chosen.values(), release, formatter)


def ends_lines(release: str = DEFAULT_RELEASE) -> bool:
    """Whether the formatter of a release puts a line break behind each record.

    >>> ends_lines("3.8"), ends_lines()
    (True, False)
    """
    return not at_least("3.9", release)


def _lines(logs: Iterable[tuple[Segment, ...]], release: str, formatter: str) -> Iterator[str]:
    for log in logs:
        for record in (each for segment in log for batch in segment.batches for each in batch.records):
            line = None if record.control else formatter_line(record.key, record.value, release, formatter)
            if line is not None:
                yield line
