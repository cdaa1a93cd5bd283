"""What Kafka's console tools print of a record of the offsets topic, release by release.

``kafka-console-consumer`` has two formatters for this topic: one prints the committed offsets and nothing else, the
other the groups of the classic protocol and nothing else. Four forms of line followed each other; since 3.9 it is
JSON, and since 4.0 the number in front of a key is called ``type`` there.

`formatter_line` gives the line, None where the tool prints nothing, and an error where it stops with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kafkalearn.base.checks import LARGEST_INT, key_bytes, one_of, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.formats.disk import by_partition, read_disk
from kafkalearn.formats.segments import Segment
from kafkalearn.formats.wire import INT16, Reader, Undecodable
from kafkalearn.offsets.records import (
    GROUP_TYPE,
    OFFSET_TYPES,
    RECORD_TYPES,
    decode_key,
    decode_value,
    json_text,
    to_json,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, parse_release

FORMATTERS: Mapping[str, tuple[int, ...]] = {"offsets": OFFSET_TYPES, "groups": (GROUP_TYPE,)}
"""The formatters by what they print, with the record types they know."""

OFFSET_VALUE, GROUP_VALUE = 1, 2  # record types whose values the formatters read
FORGOTTEN_TYPE = 9  # written by Kafka 4.0 only; later releases do not know it any more


def formatter_line(
    key: bytes | None, value: bytes | None, release: str = DEFAULT_RELEASE, formatter: str = "offsets"
) -> str | None:
    """The line that the console consumer of a release prints for one record, without a line end.

    Parameters
    ----------
    key, value : bytes or None
        As the topic has them.
    release : str
        Of the tool; without one, the newest line.
    formatter : str
        A name in `FORMATTERS`. ``"groups"`` is known since 3.9: before, it printed a text of Scala objects that
        was not meant to be read by programs.

    Returns
    -------
    str or None
        None: the tool prints nothing for such a record.

    Raises
    ------
    Undecodable
        Where the tool stops with an error: bytes it cannot read, or versions the release does not know.
    KafkaLearnError
        If release or formatter is unknown.

    Examples
    --------
    >>> key = bytes.fromhex("0001000a746573742d67726f757000047465737400000000")
    >>> value = bytes.fromhex("0001000000000000006400016d000001610db7ba000000016112de1600")
    >>> for release in ("2.0", "3.8", "4.3"):
    ...     print(formatter_line(key, value, release))
    [test-group,test,0]::[OffsetMetadata[100,m],CommitTime 1516353600000,ExpirationTime 1516440000000]
    [test-group,test,0]::OffsetAndMetadata(offset=100, leaderEpoch=Optional.empty, metadata=m, \
commitTimestamp=1516353600000, expireTimestamp=Some(1516440000000))
    {"key":{"type":1,"data":{"group":"test-group","topic":"test","partition":0}},\
"value":{"version":1,"data":{"offset":100,"metadata":"m","commitTimestamp":1516353600000,\
"expireTimestamp":1516440000000}}}

    References
    ----------
    Apache Kafka: ``OffsetManager$OffsetsMessageFormatter`` (0.8.2), ``GroupMetadataManager$OffsetsMessageFormatter``
    (0.9 to 3.8), ``ApiMessageFormatter`` (3.9), ``CoordinatorRecordMessageFormatter`` (since 4.1).
    """
    parse_release(release)
    one_of("formatter", formatter, FORMATTERS)
    key = None if key is None else key_bytes("key", key)
    value = None if value is None else key_bytes("value", value)
    if at_least("4.0", release):
        return _json_by_type(key, value, release, formatter)
    if at_least("3.9", release):
        return _json_by_version(key, value, formatter)
    if formatter != "offsets":
        raise KafkaLearnError(f"the lines of the groups formatter are known since 3.9, got release {release}")
    return _text(key, value, release)


def newest_offset_value(release: str) -> int:
    """The newest version of an offset value that a release can read.

    >>> [newest_offset_value(release) for release in ("0.8.2", "2.0", "3.4.0", "3.4.1", "4.3")]
    [0, 1, 3, 4, 4]
    """
    steps = (("0.9.0", 1), ("2.1", 3), ("3.4.1", 4))
    return max((newest for since, newest in steps if at_least(since, release)), default=0)


def _json_by_type(key: bytes | None, value: bytes | None, release: str, formatter: str) -> str | None:
    """Since 4.0: only the formatter's own record types are printed."""
    if key is None:
        return None
    number = _number(key, "key")
    if at_least("4.1", release) and number in RECORD_TYPES and number != FORGOTTEN_TYPE:
        _refuse_unreadable(number, key, value)  # since 4.1 every record is read before any is passed over
    if number not in FORMATTERS[formatter]:
        return None
    read = _value_json if at_least("4.1", release) else _value_json_or_unknown
    printed = {"type": number, "data": _key_json(key)}
    return json_text({"key": printed, "value": read(number, value, release)})


def _json_by_version(key: bytes | None, value: bytes | None, formatter: str) -> str | None:
    """3.9: the other formatter's types are passed over, all else is printed as unknown, with its value as if own."""
    of_value = OFFSET_VALUE if formatter == "offsets" else GROUP_VALUE
    if key is None:
        return json_text({"key": None, "value": _value_json_or_unknown(of_value, value, "3.9")})
    number = _number(key, "key")
    data = _key_json(key) if number in (*OFFSET_TYPES, GROUP_TYPE) else "unknown"
    if data != "unknown" and number not in FORMATTERS[formatter]:
        return None
    printed = {"version": number, "data": data}
    return json_text({"key": printed, "value": _value_json_or_unknown(of_value, value, "3.9")})


def _refuse_unreadable(number: int, key: bytes, value: bytes | None) -> None:
    decode_key(key, is_strict=False)
    version, _ = decode_value(number, value, is_strict=False)
    if number == OFFSET_TYPES[0] and version:
        what = f"OffsetCommitValue: version {version} at byte 0 is unknown under record type 0"
        raise Undecodable(what, "version", 0)


def _key_json(key: bytes) -> object:
    return to_json(decode_key(key, is_strict=False)[1])


def _value_json(number: int, value: bytes | None, release: str) -> dict[str, object] | None:
    if value is None:
        return None
    version, fields = decode_value(number, value, is_strict=False)
    if not at_least("4.1", release):
        fields.pop("topicId", None)  # a tagged field that these tools do not know yet
    return {"version": version, "data": to_json(fields)}


def _value_json_or_unknown(number: int, value: bytes | None, release: str) -> dict[str, object] | None:
    if value is not None:
        version = _number(value, "value")
        if not 0 <= version <= RECORD_TYPES[number].value.newest:
            return {"version": version, "data": "unknown"}
    return _value_json(number, value, release)


def _number(data: bytes, name: str) -> int:
    return Reader(data, name).number(INT16, role="version")


def _text(key: bytes | None, value: bytes | None, release: str) -> str | None:
    """Up to 3.8: one line of text for a committed offset."""
    is_first = not at_least("0.9.0", release)
    if key is None:
        return f"NULL::{_value_text(value, release)}" if is_first else None
    number = _number(key, "key")
    if number not in OFFSET_TYPES:
        return _refuse_or_skip(number, release)
    if is_first and number != OFFSET_TYPES[0]:
        _refuse_or_skip(number, release)
    fields = decode_key(key, is_strict=False)[1]
    return f"[{fields['group']},{fields['topic']},{fields['partition']}]::{_value_text(value, release)}"


def _refuse_or_skip(number: int, release: str) -> None:
    is_known = number == GROUP_TYPE and at_least("0.9.0", release)
    if not is_known and not at_least("3.4.1", release):
        raise Undecodable(f"key: record type {number} at byte 0 is unknown to Kafka {release}", "record type", 0)


def _value_text(value: bytes | None, release: str) -> str:
    if value is None:
        return "NULL"
    version, fields = decode_value(OFFSET_VALUE, value, is_strict=False)
    if version > newest_offset_value(release):
        what = f"OffsetCommitValue: version {version} at byte 0 is unknown to Kafka {release}"
        raise Undecodable(what, "version", 0)
    if at_least("2.1", release):
        return _text_since_2_1(version, fields, release)
    metadata = fields["metadata"] or "NO_METADATA"
    committed, expires = fields["commitTimestamp"], fields.get("expireTimestamp", -1)
    if at_least("0.9.0", release):
        return f"[OffsetMetadata[{fields['offset']},{metadata}],CommitTime {committed},ExpirationTime {expires}]"
    time = "" if committed == -1 else f",{committed}"
    return f"OffsetAndMetadata[{fields['offset']},{metadata}{time}]"


def _text_since_2_1(version: int, fields: Mapping[str, Any], release: str) -> str:
    epoch, expires = fields.get("leaderEpoch", -1), fields.get("expireTimestamp", -1)
    has_expiry = expires != -1 or (version == 1 and not at_least("2.2", release))  # to 2.1, -1 was not nothing
    return (
        f"OffsetAndMetadata(offset={fields['offset']}"
        f", leaderEpoch={f'Optional[{epoch}]' if epoch >= 0 else 'Optional.empty'}"
        f", metadata={fields['metadata']}"
        f", commitTimestamp={fields['commitTimestamp']}"
        f", expireTimestamp={f'Some({expires})' if has_expiry else 'None'})"
    )


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
        A log dir, the folder of one partition, or what `kafkalearn.formats.disk.read_disk` read of them.
    partition : int, optional
        Of ``__consumer_offsets``, as with ``--partition``; without it all that are there, one after the other. (The
        tool prints partitions as their answers come.)
    release : str
        Of the tool; without one, the newest line.
    formatter : str
        ``"offsets"`` or ``"groups"``, as in `formatter_line`.

    Returns
    -------
    iterator of str
        A text for each record that is printed, without a line break. Since 3.9 the tool puts none between them either.

    Raises
    ------
    Undecodable
        At the record where the tool stops.
    KafkaLearnError
        If there is no such folder or partition, or what is given does not fit.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
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


def _lines(logs: Iterable[tuple[Segment, ...]], release: str, formatter: str) -> Iterator[str]:
    for log in logs:
        for record in (each for segment in log for batch in segment.batches for each in batch.records):
            line = None if record.control else formatter_line(record.key, record.value, release, formatter)
            if line is not None:
                yield line
