"""The time of a line as milliseconds since 1970: dates with a zone and without, and the collector's beside them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from importlib import import_module

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

QUARTER_MS = 15 * 60_000  # no zone of today is off by anything finer
FARTHEST_MS = 14 * 3_600_000  # no zone is farther from UTC
SHUFFLED_MS = 60_000  # by so much lines of one log may stand in another order than that of their times
ZONE = r"Z|UTC|GMT|[+-]\d\d(?::?\d\d)?"
DATE_TIME = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d"

_OFFSET = re.compile(r"([+-])(\d\d)(?::?(\d\d))?")
_MONTHS = {
    name: at
    for at, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)  # noqa: SIM905
}
_NAMED_MONTH = re.compile(r"(\d{1,2})[ /-]([A-Z][a-z]{2})[ /-](\d{4})[ :](\d\d:\d\d:\d\d)")


def zone_named(name: str) -> tzinfo:
    """A time zone: ``UTC``, ``+08:00``, ``Europe/Berlin``.

    Raises
    ------
    KafkaLearnError
        If there is none of that name.

    Examples
    --------
    >>> zone_named("+08:00")
    datetime.timezone(datetime.timedelta(seconds=28800))
    """
    try:
        if found := _OFFSET.fullmatch(name):
            minutes = 60 * int(found[2]) + int(found[3] or 0)
            return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes))
        if name in ("Z", "UTC", "GMT"):
            return UTC
        return import_module("zoneinfo").ZoneInfo(name)  # it looks at how Python was built: only where it is needed
    except (KeyError, OSError, TypeError, ValueError):
        raise KafkaLearnError(
            f"there is no time zone {shown(name)}; it is UTC, an offset such as +08:00, or a name such as Europe/Berlin"
        ) from None


class Clock:
    """Reads the times of one log, which are of one zone; lines of one second are read once.

    In autumn an hour comes twice where clocks are set back. Whether a time is of the first or of the second is seen by
    the times before it.

    Examples
    --------
    >>> Clock(UTC).ms("2026-11-22 15:46:13", "448", None)
    1795362373448
    >>> Clock(UTC).ms("2026-11-22T16:46:13", "448123", "+01:00")
    1795362373448
    >>> Clock(UTC).ms("2026-02-30 00:00:00", None, None) is None
    True
    """

    def __init__(self, zone: tzinfo) -> None:
        """Times without a zone are of this one."""
        self.zone = zone
        self._latest_ms: int | None = None
        self._text: str | None = None
        self._zone_text: str | None = None
        self._second_ms: int | None = None

    def ms(self, text: str, fraction: str | None, zone: str | None) -> int | None:
        """The time; None if there is no such date."""
        if text != self._text or zone != self._zone_text:
            self._text, self._zone_text, self._second_ms = text, zone, self._read(text, zone)
        if self._second_ms is None or not fraction:
            return self._second_ms
        return self._second_ms + int(f"{fraction}00"[:3])

    def _read(self, text: str, zone: str | None) -> int | None:
        try:
            if text[4] in "-/":
                moment = datetime.fromisoformat(f"{text[:10].replace('/', '-')}T{text[11:19]}")
            else:
                found = _NAMED_MONTH.fullmatch(text)
                if found is None:
                    return None
                day, month, year, clock = found.groups()
                moment = datetime.fromisoformat(f"{year}-{_MONTHS[month]:02}-{int(day):02}T{clock}")
            known = self.zone if zone is None else zone_named(zone)
            read_ms = round(moment.replace(tzinfo=known).timestamp() * 1000)
            if self._latest_ms is not None and read_ms < self._latest_ms - SHUFFLED_MS:
                read_ms = round(moment.replace(tzinfo=known, fold=1).timestamp() * 1000)
            self._latest_ms = max(read_ms, self._latest_ms or read_ms)
            return read_ms
        except (AttributeError, KeyError, OverflowError, ValueError, OSError):
            return None


def with_outer(inner_ms: int | None, outer_ms: int | None) -> int | None:
    """The time of a line that has two: the writer's, of a zone nobody knows, and the collector's, of a known one.

    The writer's is the finer one; the whole quarters of an hour between both are its zone. What is farther apart than
    any zone was collected later than it was written.

    >>> with_outer(7_200_448, 7_900), with_outer(None, 7_900), with_outer(448, None), with_outer(448, 90_000_000)
    (448, 7900, 448, 448)
    """
    if inner_ms is None or outer_ms is None:
        return outer_ms if inner_ms is None else inner_ms
    if abs(outer_ms - inner_ms) > FARTHEST_MS + QUARTER_MS:
        return inner_ms
    return inner_ms + round((outer_ms - inner_ms) / QUARTER_MS) * QUARTER_MS
