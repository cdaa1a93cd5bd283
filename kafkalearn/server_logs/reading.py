"""Lines and files of logs -> all that they say about groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from kafkalearn.arguments import text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import Torn
from kafkalearn.phrases import listed, shown
from kafkalearn.server_logs.files import lines_of, sorted_files
from kafkalearn.server_logs.limits import LONGEST_LINE
from kafkalearn.server_logs.reader import LINES, Reader, Reading

MOST_NAMED = 5  # files that an error names


def read(lines: Iterable[str], zone: str = "UTC", source: str = LINES) -> Reading:
    """The events that are in lines of logs.

    Parameters
    ----------
    lines : iterable of str
        Of one source, in their order; line ends are passed over.
    zone : str
        Of times that say none: ``UTC``, ``+08:00``, ``Europe/Berlin``.
    source : str
        What the events call it.

    Returns
    -------
    Reading
        With times in milliseconds since 1970, UTC.

    Raises
    ------
    KafkaLearnError
        If `lines` is no iterable of text, `source` no text, the zone is unknown, or there are more than `MOST_EVENTS`
        events.

    Examples
    --------
    >>> found = read(["[2026-11-22 15:46:20,472] INFO Stabilized group billing generation 7 with 3 members. (a.B)"])
    >>> found.events[0].kind, found.events[0].group, found.events[0].generation, found.events[0].time_ms
    ('CompletingRebalance', 'billing', 7, 1795362380472)

    References
    ----------
    Apache Kafka 0.11 to 4.3, the classes that `kafkalearn.server_logs.patterns` names; librdkafka, kafka-python,
    aiokafka.
    """
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise KafkaLearnError(f"lines are a list or an open file, a text for each line; got {shown(lines)}")
    text("source", source)
    reader = Reader(zone)
    for line in lines:
        if not isinstance(line, str):
            raise KafkaLearnError(f"a line is text; got {shown(line)}")
        reader.feed(line.rstrip("\r\n")[:LONGEST_LINE], source)
    return reader.result()


def read_files(paths: Iterable[str | os.PathLike[str]], zone: str | Mapping[str, str] = "UTC") -> Reading:
    """The events that are in log files, in the order of their times across all of them.

    Parameters
    ----------
    paths : iterable of path
        Files, plain or gzipped, rotated ones among them; folders, of which every file is read; ``-`` is the standard
        input.
    zone : str, or mapping of file name to str
        Of times that say none; by path, or by the last part of it, if the files differ. Files that are not named are
        UTC.

    Raises
    ------
    KafkaLearnError
        If a path is none, nothing can be read, a zone is unknown or of no file, or there are more than `MOST_EVENTS`
        events. A gzipped file that is torn is read as far as it goes, and named in what is returned.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "server.log")
    ...     _ = log.write_text("[2026-11-22 15:46:20,472] INFO Group billing with generation 7 is now empty (a.B)\\n")
    ...     str(read_files([log]))
    '1 line, 1 event, 0 unknown lines about groups'
    """
    files = sorted_files(paths)
    reader = Reader("UTC" if isinstance(zone, Mapping) else zone)
    by_file = _by_file(zone, files) if isinstance(zone, Mapping) else None
    for path in files:
        if by_file is not None:
            reader.set_zone(by_file.get(path, "UTC"))
        try:
            for line in lines_of(path):
                reader.feed(line, str(path))
        except Torn:
            reader.torn.append(str(path))
    return reader.result()


def _by_file(zones: Mapping[str, str], files: Sequence[str | os.PathLike[str]]) -> dict[str | os.PathLike[str], str]:
    """The zone of each file that is named: by its whole path, else by the last part of it."""
    found: dict[str | os.PathLike[str], str] = {}
    for name, zone in zones.items():
        named = [path for path in files if str(path) == name]
        named = named or [path for path in files if os.path.basename(path) == name]
        if not named:
            some = listed(dict.fromkeys(os.path.basename(path) for path in files[:MOST_NAMED]))
            raise KafkaLearnError(
                f"a zone is given for {shown(name)}, and none of the files has that name; read: {some}"
            )
        if len(named) > 1 and len({os.path.dirname(path) for path in named}) > 1:
            both = listed(map(str, named[:MOST_NAMED]))
            raise KafkaLearnError(f"a zone is given for {shown(name)}, which may be {both}; name the whole path")
        found |= dict.fromkeys(named, zone)
    return found
