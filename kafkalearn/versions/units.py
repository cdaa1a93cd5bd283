"""Defaults as people read them: 604800000 is a week, 1073741824 a gibibyte, 2147483647 the largest Java int."""

from __future__ import annotations

from kafkalearn.versions.settings import Special, Value

_MILLISECONDS = {"ms": 1, "seconds": 1_000, "minutes": 60_000, "hours": 3_600_000}
_TIMES = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_LARGEST = {2**31 - 1: "Int.MAX", 2**63 - 1: "Long.MAX", 1.7976931348623157e308: "Double.MAX"}
_SIZE_ENDINGS = (".bytes", ".buffer.size", "batch.size", "buffer.memory", "max.request.size")


def value_text(setting: str, value: Value) -> str:
    """A default as a properties file has it, then the number in a larger unit; classes without their package.

    >>> value_text("session.timeout.ms", 45000), value_text("enable.auto.commit", True)
    ('45000 (45 s)', 'true')
    >>> value_text("cleanup.policy", ("compact", "delete")), value_text("broker.rack", None)
    ('compact,delete', 'unset')
    >>> value_text("group.consumer.assignors", ("org.apache.kafka.coordinator.group.assignor.RangeAssignor",))
    'RangeAssignor'
    """
    match value:
        case None:
            return "unset"
        case Special():
            return value.value
        case bool():
            return str(value).lower()
        case int() | float():
            return number_text(setting, value)
        case tuple():
            return ",".join(map(_without_package, value)) or "empty"
        case str():
            return _without_package(value) or "empty"


def number_text(setting: str, number: int | float) -> str:
    """A setting's number, and the same in a larger unit.

    >>> number_text("segment.bytes", 1048576), number_text("segment.bytes", 14)
    ('1048576 (1 MiB)', '14')
    """
    words = in_words(setting, number)
    return f"{number} ({words})" if words else str(number)


def in_words(setting: str, number: int | float) -> str:
    """A setting's number in a larger unit, if it is a whole number of that; else the empty text.

    Parameters
    ----------
    setting : str
        The setting's name: its last word is the unit of the number.
    number : int or float
        Its value; 0 and negative numbers have meanings of their own and stay as they are.

    Examples
    --------
    >>> in_words("session.timeout.ms", 45000), in_words("offsets.retention.minutes", 10080)
    ('45 s', '7 d')
    >>> in_words("log.segment.bytes", 1073741824), in_words("retries", 2147483647)
    ('1 GiB', 'Int.MAX')
    >>> in_words("message.max.bytes", 1048588), in_words("linger.ms", 5), in_words("retention.bytes", -1)
    ('', '', '')
    """
    if number in _LARGEST:
        return _LARGEST[number]
    milliseconds = _MILLISECONDS.get(setting.rpartition(".")[2])
    if milliseconds:
        return _in_largest(_TIMES, number * milliseconds, given_unit=milliseconds)
    return _in_largest(_SIZES, number, given_unit=1) if setting.endswith(_SIZE_ENDINGS) else ""


def _in_largest(units: tuple[tuple[str, int], ...], amount: float, given_unit: int) -> str:
    for unit, factor in units:
        if amount > 0 and amount % factor == 0 and factor > given_unit:
            return f"{int(amount // factor)} {unit}"
    return ""


def _without_package(text: str) -> str:
    return text.rpartition(".")[2] if text.startswith("org.apache.kafka.") else text
