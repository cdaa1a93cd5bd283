"""Where the logs of a topic end, as ``GetOffsetShell`` prints it: ``topic:partition:offset``, by release."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.arguments import LARGEST_LONG, sequence, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least


def log_end_lines(topic: str, offsets: Sequence[int | None], release: str | Release = DEFAULT_RELEASE) -> str:
    """What the tool prints on standard output for a topic.

    Today it is ``kafka-get-offsets.sh``, once ``kafka-run-class.sh kafka.tools.GetOffsetShell``. A topic with more than
    ten partitions tells the release: since 3.7 the lines are sorted as text.

    Parameters
    ----------
    topic : str
        Its name.
    offsets : sequence of int or None
        ``offsets[p]`` is the offset of partition `p`: with ``--time -1`` (latest, the default) the offset that the next
        record will get. None: no record has the time that was asked for. A partition without a leader is not printed
        either; the tool says so on standard error.
    release : str or Release
        Of the tool, at least 0.8.2.

    Returns
    -------
    str
        One line a partition, each with its line break.

    Raises
    ------
    KafkaLearnError
        If an argument is not as described.

    Examples
    --------
    >>> print(log_end_lines("orders", [60, 0, 0]), end="")
    orders:0:60
    orders:1:0
    orders:2:0
    >>> [line.split(":")[1] for line in log_end_lines("orders", [0] * 12).splitlines()]
    ['0', '1', '10', '11', '2', '3', '4', '5', '6', '7', '8', '9']

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``GetOffsetShell``.
    """
    if not at_least("0.8.2", release):
        raise KafkaLearnError(f"what GetOffsetShell printed is modelled since 0.8.2, got release {release!s}")
    text("topic", topic)
    given = sequence("offsets", offsets, of="offsets, one for each partition")
    for partition, offset in enumerate(given):
        if offset is not None:
            whole_number(f"offsets[{partition}]", offset, 0, LARGEST_LONG)
    partitions = range(len(given))
    if at_least("3.7", release):
        partitions = sorted(partitions, key=str)
    if at_least("3.2", release):
        partitions = [each for each in partitions if given[each] is not None]
    return "".join(f"{topic}:{each}:{'' if given[each] is None else given[each]}\n" for each in partitions)
