"""What an upgrade changes: every default that differs between two releases, as rows and as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.tables import text_table
from kafkalearn.versions.defaults import find_settings
from kafkalearn.versions.releases import DEFAULT_RELEASE, RELEASES, Release, parse_release, release_line
from kafkalearn.versions.settings import ABSENT, SIDES, Setting, Value
from kafkalearn.versions.units import value_text

KINDS = ("changed", "removed", "added")
"""What can happen to a setting, in the order of the table: what changes silently comes first."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an upgrade does to one setting."""

    setting: str
    side: str
    kind: str  # a name in KINDS
    old: Value
    new: Value
    since: str  # the release line that brought the new default
    note: str  # empty where there is nothing to add


def changes(old: str | Release, new: str | Release = DEFAULT_RELEASE, side: str | None = None) -> tuple[Change, ...]:
    """All settings whose default differs between two releases: what to read before an upgrade.

    Parameters
    ----------
    old, new : str or Release
        The two releases, the older first; a change that was reverted in between is not listed.
    side : str or None
        Only the settings of one side; None: of all.

    Returns
    -------
    tuple of Change
        Changed defaults first, then removed settings, then added ones; each by side and name. `table` prints
        it, ``pandas.DataFrame(rows(...))`` shows it in a notebook.

    Raises
    ------
    KafkaLearnError
        If a release or the side is unknown, or `old` is the newer one.

    Examples
    --------
    >>> [(change.setting, change.old, change.new) for change in changes("3.9", "4.0", side="producer")[:2]]
    [('linger.ms', 0, 5), ('metadata.recovery.strategy', 'none', 'rebootstrap')]
    >>> print(table(changes("3.9", "4.0", side="producer")))
    setting                                   side      kind     old     new             since  note
    linger.ms                                 producer  changed  0       5               4.0    KIP-1030
    metadata.recovery.strategy                producer  changed  none    rebootstrap     4.0    KIP-1102
    metadata.recovery.rebootstrap.trigger.ms  producer  added    absent  300000 (5 min)  4.0    KIP-1102
    """
    older, newer = release_line(old), release_line(new)
    if parse_release(older) > parse_release(newer):
        raise KafkaLearnError(f"changes from {older} to {newer} would go backwards; give the older release first")
    found = [_change(setting, older, newer) for setting in find_settings(side=side)]
    return tuple(sorted((change for change in found if change is not None), key=_place))


def _place(change: Change) -> tuple[int, int, str]:
    return KINDS.index(change.kind), list(SIDES).index(change.side), change.setting


def _change(setting: Setting, old: str, new: str) -> Change | None:
    before, after = setting.in_release(old), setting.in_release(new)
    if before == after:
        return None
    kind = "added" if before is ABSENT else "removed" if after is ABSENT else "changed"
    until = RELEASES.index(new)
    since = [line for line, _ in setting.history if RELEASES.index(line) <= until][-1]
    return Change(setting.name, setting.side, kind, before, after, since, _note(setting, old, new))


def _note(setting: Setting, old: str, new: str) -> str:
    """The notes on any line from `old` to `new`."""
    from_index, to_index = RELEASES.index(old), RELEASES.index(new)
    return "; ".join(
        note.text
        for note in setting.notes
        if RELEASES.index(note.first) <= to_index and RELEASES.index(note.last) >= from_index
    )


def rows(changes: Iterable[Change]) -> list[dict[str, str]]:
    """The changes as plain rows of text, one key for each field of `Change`.

    >>> rows(changes("3.9", "4.0", side="producer"))[0]["new"]
    '5'
    """
    return [
        {
            "setting": change.setting,
            "side": change.side,
            "kind": change.kind,
            "old": value_text(change.setting, change.old),
            "new": value_text(change.setting, change.new),
            "since": change.since,
            "note": change.note,
        }
        for change in changes
    ]


def table(changes: Iterable[Change]) -> str:
    """The changes as a text table, with an example at `changes`."""
    return text_table(rows(changes))
