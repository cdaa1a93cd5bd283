"""What an upgrade changes, as rows and as a table: settings, by the classes of both releases, and facts beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import TextWrapper, wrap
from types import MappingProxyType
from typing import TypeAlias

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.defaults import find_settings, refuse_unknown_side
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, Release, parse_release, release_line
from kafkalearn.releases.settings import (
    ABSENT,
    SIDES,
    TOUCHED,
    Limit,
    Setting,
    Value,
    facts_between,
    limit_text,
    number_text,
    replacements,
    value_text,
)

KINDS: MappingProxyType[str, str] = MappingProxyType(
    {
        "required": "a fact: must be so, before or after the upgrade",
        "gone": "a fact: is not there any more",
        "refused": "a fact: was accepted, and is not any more",
        "behaves": "a fact: acts in another way",
        "changed": "a setting has another default",
        "limited": "a setting's class states a limit, or a narrower one",
        "renamed": "a setting is gone, and its note says what to set instead",
        "removed": "a setting is gone",
        "widened": "a setting's class states a wider limit",
        "added": "a setting is new",
        "deprecated": "a fact: is still there, and is to go",
    }
)
"""What can happen in an upgrade, in the order of the table: what stops you first, what changes silently next."""

FACTS = ("required", "gone", "refused", "behaves", "deprecated")
LIMITS = ("limited", "widened")

TABLE_WIDTH = 120
NOTE_BELOW = TextWrapper(TABLE_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4, break_on_hyphens=False)
DEFAULT_WIDTH = 24  # of a cell with a default or limit

Said: TypeAlias = Value | Limit


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that an upgrade changes."""

    setting: str  # of a fact: what it is about
    side: str  # a name in SIDES; of a fact: whom it is about, a name in kafkalearn.releases.settings.TOUCHED
    kind: str  # a name in KINDS
    old: Said  # a default; where the kind is limited or widened, a Limit or None; of a fact, a text
    new: Said
    since: str  # the release line that brought it
    note: str  # empty where there is nothing to add
    source: str  # the classes that were read; of a fact and a renaming: upgrade notes, KIP, class


def changes(old: str | Release, new: str | Release = DEFAULT_RELEASE, side: str | None = None) -> tuple[Change, ...]:
    """What differs between two releases: what to read before an upgrade.

    Settings are compared as the released classes define them: default, stated limit, existence. A limit that a class
    does not state (``None``) may still be checked elsewhere. Facts are what else the upgrade brings, from Kafka's
    upgrade notes: Java, ZooKeeper, message formats, old requests, tools.

    Parameters
    ----------
    old, new : str or Release
        The two releases, the older first; a change that was reverted in between is not listed.
    side : str or None
        Only the settings of one side, and the facts that touch it; None: all.

    Returns
    -------
    tuple of Change
        In the order of `KINDS`, then by side and name; facts oldest first. `table` prints it,
        ``pandas.DataFrame(rows(...))`` shows it in a notebook.

    Raises
    ------
    KafkaLearnError
        If a release or the side is unknown, or `old` is the newer one.

    Examples
    --------
    >>> [(change.setting, change.old, change.new) for change in changes("3.9", "4.0") if change.setting == "Java"]
    [('Java', '8', '17'), ('Java', '8', '11')]
    >>> print(table(changes("4.0", "4.1", side="topic")))
    setting                 side   kind     old          new                         since
    segment.bytes           topic  limited  at least 14  at least 1048576 (1 MiB)    4.1
        not below 1048576 since 4.1; the upgrade notes say 4.0
    internal.segment.bytes  topic  added    absent       unset                       4.1    internal
    """
    older, newer = release_line(old), release_line(new)
    if parse_release(older) > parse_release(newer):
        raise KafkaLearnError(f"changes from {older} to {newer} would go backwards; give the older release first")
    refuse_unknown_side(side)
    found = [*_facts(older, newer, side)]
    for setting in find_settings(side=side):
        found += _of_setting(setting, older, newer)
    return tuple(sorted(found, key=_place))


def _place(change: Change) -> tuple[int, int, int, str]:
    sides = [*TOUCHED, *SIDES] if change.kind in FACTS else [*SIDES]
    since = RELEASES.index(change.since) if change.kind in FACTS else 0
    return list(KINDS).index(change.kind), since, sides.index(change.side), change.setting


def _facts(old: str, new: str, side: str | None) -> Iterator[Change]:
    for fact in facts_between(old, new):
        if side is None or side in TOUCHED[fact.who]:
            yield Change(fact.what, fact.who, fact.kind, fact.old, fact.new, fact.since, fact.text, fact.source)


def _of_setting(setting: Setting, old: str, new: str) -> Iterator[Change]:
    before, after = setting.in_release(old), setting.in_release(new)
    classes = f"its class in {old} and {new}"
    if before != after:
        kind = "added" if before is ABSENT else "removed" if after is ABSENT else "changed"
        instead, renamed_by = replacements().get((setting.name, setting.side), ((), ""))
        note, source = _note(setting, old, new), classes
        if kind == "removed" and instead:
            kind, source = "renamed", renamed_by
            note = "; ".join(filter(None, [f"set {' and '.join(instead)}", note]))
        since = _since(setting.history, new)
        yield Change(setting.name, setting.side, kind, before, after, since, note, source)
    if before is not ABSENT and after is not ABSENT:
        yield from _of_limit(setting, old, new, classes)


def _of_limit(setting: Setting, old: str, new: str, classes: str) -> Iterator[Change]:
    """A limit that is narrower, or wider; that a class states one no longer does not mean that there is none."""
    before, after = setting.limit_in(old), setting.limit_in(new)
    if after is not None and before != after:
        kind = "widened" if after.admits(before) else "limited"
        since = _since(setting.limits, new)
        yield Change(setting.name, setting.side, kind, before, after, since, _note(setting, old, new), classes)


def _since(history: Iterable[tuple[str, object]], new: str) -> str:
    """The line that brought what is so in `new`."""
    return [line for line, _ in history if RELEASES.index(line) <= RELEASES.index(new)][-1]


def _note(setting: Setting, old: str, new: str) -> str:
    """The notes on any line from `old` to `new`."""
    from_index, to_index = RELEASES.index(old), RELEASES.index(new)
    notes = [
        note.text
        for note in setting.notes
        if RELEASES.index(note.first) <= to_index and RELEASES.index(note.last) >= from_index
    ]
    return "; ".join(["internal", *notes] if setting.is_internal else notes)


def rows(changes: Iterable[Change]) -> list[dict[str, str]]:
    """The changes as plain rows of text, one key for each field of `Change`.

    >>> rows(changes("3.9", "4.0", side="topic"))[0]["source"]
    'upgrade notes of 4.0, KIP-724, KAFKA-14056'
    """
    return [
        {name: getattr(change, name) for name in Change.__slots__}
        | {"old": _text(change, change.old), "new": _text(change, change.new)}
        for change in changes
    ]


def _text(change: Change, said: Said) -> str:
    if change.kind in FACTS:
        return str(said)
    if change.kind in LIMITS or isinstance(said, Limit):
        limit = said if isinstance(said, Limit) else None
        return limit_text(limit, lambda number: number_text(change.setting, number))
    return value_text(change.setting, said)


def table(changes: Iterable[Change]) -> str:
    """The changes as a text table for a terminal of 120 columns; a fact's note ends with its source in brackets.

    Long cells go on in the next line; a note that does not fit behind its row stands below it. An example is at
    `changes`; if nothing changes, it says "nothing".
    """
    listed = rows(changes)
    if not listed:
        return "nothing"
    columns = ("setting", "side", "kind", "old", "new", "since")
    widths = {name: max(len(name), *(len(row[name]) for row in listed)) for name in columns}
    widths |= {name: min(widths[name], DEFAULT_WIDTH) for name in ("old", "new")}
    full = sum(widths.values()) + 2 * len(columns)  # with the gap in front of a note
    widths["setting"] -= max(0, full - 2 - TABLE_WIDTH)
    lines = [_line({name: name for name in columns}, widths)]
    for row in listed:
        cells = {name: _wrapped(row[name], widths[name]) for name in columns}
        height = max(map(len, cells.values()))
        first, *more = (
            _line({name: "".join(cells[name][number : number + 1]) for name in columns}, widths)
            for number in range(height)
        )
        note = f"{row['note']} [{row['source']}]" if row["kind"] in FACTS else row["note"]
        if full + len(note) <= TABLE_WIDTH:
            lines += [f"{first.ljust(full)}{note}".rstrip(), *more]
        else:
            lines += [first, *more, *NOTE_BELOW.wrap(note)]
    return "\n".join(lines)


def _line(cells: dict[str, str], widths: dict[str, int]) -> str:
    return "  ".join(cells[name].ljust(widths[name]) for name in widths).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """A cell's lines, none wider than `width`; they break behind a space, dot or comma where they can.

    >>> _wrapped("log.message.timestamp.difference.max.ms", 24)
    ['log.message.timestamp.', 'difference.max.ms']
    """
    lines = [""]
    for part in re.findall(r"[^ .,]*[ .,]?", text):
        if len(lines[-1]) + len(part.rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return [piece for line in lines for piece in wrap(line, width, break_on_hyphens=False) or [""]]
