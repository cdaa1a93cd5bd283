"""Lines at the edge of a screen: those that a terminal or a mail has wrapped, and those that were shortened.

A record begins with a time, or with what a logger writes in front. A line without either, behind one that reaches the
edge, goes on with it: both are one record again if the record says something then. What was cut off is gone: an id, a
group or a number that ends at the edge may be longer than what is seen, so that nothing is said by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kafkalearn.oncall.logs.causes import cause_of_reason
from kafkalearn.oncall.logs.lines import ANY_CLIENT, LogEvent

NARROWEST = 60  # characters; no screen is narrower
LEAST_LONG = 30  # characters of a line behind which its record may go on
RAGGED = 55  # characters that a line may be short of the edge where words, a member id among them, are kept whole
LONGEST_CLASS = 160  # characters
MOST_PIECES = 12  # lines of one record
LEAST_CUT = 3  # lines that end at one column, each in another way, before it counts as an edge

_BEGINS = re.compile(
    r"\s*+(?:[\[{%>│|]|(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE|NOTICE|CRITICAL)\b|Caused by:|at |\.\.\. \d"
    r"|[\w.$]*(?:Exception|Error)\b|[\w.$/-]{1,80} *\| |.{0,60}?(?<!\d)\d\d:\d\d:\d\d|\d{10,}\b|\w+=\S+ \w+=)"
)
_HAS_TIME = re.compile(r".{0,120}?(?:\d\d:\d\d:\d\d|%\d\|\d{9,11}\.|\b1\d{9,12}\b)")
_CLASS = re.compile(r" \([\w$]+(?:\.[\w$]+)+(?::\d+)?\)$")
_NUMBER = re.compile(r"[0-9a-f]*\d[0-9a-f]*")  # lines of one form that count, or name one id after the other, end alike
_FRAME = "\"'│|" + "".join(filter(str.isspace, map(chr, range(0x3001))))  # what a screen has around a text


def begins_record(text: str) -> bool:
    """Whether a line is a record of its own, by what it begins with.

    >>> begins_record("[2026-11-22 15:46:13,448] INFO x"), begins_record("expiration.) (a.B)")
    (True, False)
    """
    return text[0] in "[{%" or _BEGINS.match(text) is not None


def may_go_on(text: str, is_at_edge: bool) -> bool:
    """Whether a record may go on in the next line: it is long, has a time, and does not end as loggers end one.

    At an edge where others end, too, a quotation mark or a full stop may stand by chance.
    """
    last = text[-1]
    if len(text) < LEAST_LONG or (not is_at_edge and (last in '"}]' or (last == "." and text[-2] != "."))):
        return False
    if last == ")" and _CLASS.search(text, len(text) - LONGEST_CLASS if len(text) > LONGEST_CLASS else 0):
        return False
    return _HAS_TIME.match(text) is not None


def is_shortened(text: str) -> bool:
    """Whether a line says of itself that it was shortened.

    >>> is_shortened("Member c1 in group bil..."), is_shortened("Member c1 in group billing.")
    (True, False)
    """
    return text.rstrip(_FRAME).endswith(("...", "…"))


def _without_dots(text: str) -> str:
    """A text without the dots at its end that say that it was shortened."""
    return text[:-1] if text.endswith("…") else text.rstrip(".") if text.endswith("...") else text


def joined(pieces: list[str], width: int, indent: int = 0) -> Iterator[str]:
    """The lines of one record as one, in the ways in which they can have been taken apart, the likeliest first.

    At a column, whatever stands there; between words, whose blank has gone. Which of both it was, the width says. So
    many blanks of `indent` are the screen's.

    >>> list(joined(["a long li", "ne"], 9))
    ['a long line', 'a long li ne']
    """
    rest = [each[indent:] for each in pieces[1:]]
    by_width = pieces[0]
    for before, each in zip(pieces, rest, strict=False):
        by_width += each if len(before) >= width or each[:1] == " " or before[-1:] == " " else f" {each}"
    seen = dict.fromkeys((by_width, pieces[0] + "".join(rest), " ".join(map(str.strip, (pieces[0], *rest)))))
    yield from seen


def as_shortened(event: LogEvent | None, raw: str) -> LogEvent | None:
    """The event of a line, of which a shortened one has no dots in its reason, and may say nothing."""
    if event is None or not is_shortened(raw):
        return event
    if not is_trusted(event, raw):
        return None
    return event if event.reason is None else event._replace(reason=event.reason.rstrip(".…"))


def is_trusted(event: LogEvent, raw: str) -> bool:
    """Whether an event holds although its line was cut off: by a whole form, and by no name that ends at the edge.

    A reason that was cut off says less, and nothing else.
    """
    if event.writer == ANY_CLIENT:
        return False
    end = _without_dots(raw.rstrip(_FRAME)).rstrip(_FRAME)
    inside = cause_of_reason(event.reason)[1] if event.reason else None
    named = (event.group, event.member, inside, event.generation, *_names(event.fields))
    return not any(each not in (None, "") and end.endswith(str(each).rstrip(".…")) for each in named)


def _names(fields: Mapping[str, object]) -> Iterator[object]:
    return (value for name, value in fields.items() if name not in ("rest", "logger", "host", "error"))


class Edge:
    """Where the lines of one source end: the column, and whether lines were cut off there."""

    def __init__(self) -> None:
        """No line was seen."""
        self.width = self.count = 0  # the longest line, and how many are as long
        self.indent: int | None = None  # the blanks in front of every line that goes on with one
        self._ends: set[str] = set()
        self.events: list[tuple[LogEvent, str]] = []  # of the lines that are as long as any, with their texts

    def note(self, text: str) -> None:
        """Keep how long a line is, and how it ends."""
        length = len(text)
        if length > self.width:
            self.width, self.count = length, 0
            self._ends.clear()
            self.events.clear()
        if length == self.width:
            self.count += 1
            if len(self._ends) < LEAST_CUT and text[-1].isalnum():
                self._ends.add(_NUMBER.sub("0", text[-12:]))

    def note_rest(self, text: str) -> int:
        """How far a line that goes on with one is indented; a blank more is the record's own."""
        blanks = len(text) - len(text.lstrip())
        self.indent = blanks if self.indent is None else min(self.indent, blanks)
        return self.indent if self.indent > 1 or blanks != 1 else 0

    def reaches(self, text: str) -> bool:
        """Whether a line ends at the edge, or as far from it as words that are kept whole."""
        return len(text) >= max(LEAST_LONG, self.width - RAGGED)

    def doubtful(self, groups: set[str]) -> list[LogEvent]:
        """The events of lines that were cut off here: several end so, each in another way, and none is longer.

        So was one whose last word is the beginning of another group's name.
        """
        if self.width < NARROWEST:
            return []
        untrusted = [event for event, text in self.events if not is_trusted(event, text)]
        if len(self._ends) >= LEAST_CUT:
            return untrusted
        return [each for each in untrusted if each.group and _is_front(each.group, groups)]


def _is_front(name: str, names: set[str]) -> bool:
    front = name.rstrip(".…")
    return any(each != name and each.startswith(front) for each in names)
