"""Times and sizes as the words of an answer have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPANS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
_SIZES = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def date_time(at_ms: int) -> str | None:
    """A moment as date and time, to the second; None: no calendar has it.

    >>> date_time(1_795_176_000_999), date_time(1_795_176_000_000_000)
    ('2026-11-20 12:00:00', None)
    """
    try:
        return f"{_EPOCH + timedelta(milliseconds=at_ms):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError):
        return None


def moment(at_ms: int) -> str:
    """A moment in UTC, to the second; one that no calendar has stays a number.

    >>> moment(1_795_176_000_000), moment(1_795_176_000_000_000)
    ('2026-11-20 12:00:00 UTC', 'the timestamp 1795176000000000')
    """
    said = date_time(at_ms)
    return f"the timestamp {at_ms}" if said is None else f"{said} UTC"


def lasting(span_ms: int) -> str:
    """How long, in the largest unit and the next one.

    >>> lasting(93_784_000), lasting(59_000), lasting(1500), lasting(0)
    ('1 d 2 h', '59 s', '1.5 s', '0 ms')
    """
    if 1000 <= span_ms < 10_000 and span_ms % 1000:
        return f"{span_ms / 1000:.1f} s"
    for place, (unit, factor) in enumerate(_SPANS[:-1]):
        if abs(span_ms) >= factor:
            count, rest = divmod(span_ms, factor)
            smaller, size = _SPANS[place + 1]
            more = f" {rest // size} {smaller}" if rest >= size and unit != "s" else ""
            return f"{count} {unit}{more}"
    return f"{span_ms} ms"


def size(size_bytes: int) -> str:
    """Bytes, in thousands as disks count them.

    >>> size(999), size(72_351_744), size(1_000_000_000)
    ('999 bytes', '72.4 MB', '1.0 GB')
    """
    for unit, factor in _SIZES:
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} byte{'' if size_bytes == 1 else 's'}"


def year(at_ms: int) -> int | None:
    """The year of a moment; None: no calendar has it.

    >>> year(1_795_176_000_000), year(1_795_176_000_000_000)
    (2026, None)
    """
    try:
        return (_EPOCH + timedelta(milliseconds=at_ms)).year
    except OverflowError:
        return None
