"""Whose settings a file has: recognised by the names in it, or said by whoever gives it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kafkalearn.answers.settings.properties import PropertiesFile, read_properties
from kafkalearn.arguments import iterable, one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import STANDARD_INPUT
from kafkalearn.phrases import counted, listed, shown
from kafkalearn.versions.settings import SIDES, settings_named


def recognised_side(names: Iterable[str], file_name: str) -> str:
    """The side that knows most of these names, in any release.

    Raises
    ------
    KafkaLearnError
        If none of them is known, or several sides know as many.

    Examples
    --------
    >>> recognised_side(["bootstrap.servers", "acks"], "a.properties"), recognised_side(["log.dirs"], "b.properties")
    ('producer', 'broker')
    """
    given = [*dict.fromkeys(names)]
    if not given:
        raise KafkaLearnError(f"{shown(file_name)} sets nothing: it is empty, or has comments only")
    known = {side: sum(any(each.side == side for each in settings_named(name)) for name in given) for side in SIDES}
    most = max(known.values())
    if most == 0:
        first = listed(map(shown, given[:3]))
        raise KafkaLearnError(
            f"{shown(file_name)} has {counted(len(given), 'name')}, {first} first, and no broker, topic or client of "
            "Kafka knows one of them: is it a properties file of Kafka's?"
        )
    best = [side for side in SIDES if known[side] == most]
    newer = [side for side in best if not side.startswith("old-")] or best
    if len(newer) > 1:
        raise KafkaLearnError(
            f"{shown(file_name)} may be the settings of a {listed(newer, last='or')}: all know {most} of its "
            f"{counted(len(given), 'name')}; say which (--{newer[0]} FILE)"
        )
    return newer[0]


def read_files(files: object, side: str | None = None) -> list[tuple[str, str, PropertiesFile]]:
    """The files that somebody has given, read: whose settings each has, its name, and what it sets.

    Parameters
    ----------
    files : str, Path, or an iterable of them
        A pair of a side and a file says whose settings it has.
    side : str or None
        Whose settings all the others have; None: recognised by their names.

    Raises
    ------
    KafkaLearnError
        If one is no name of a file, cannot be read, or its side is unknown or not recognised.
    """
    found = []
    for each in [files] if isinstance(files, str | Path) else iterable("files", files, of="properties files"):
        named, path = each if isinstance(each, tuple) and len(each) == 2 else (side, each)
        if not isinstance(path, str | Path):
            raise KafkaLearnError(f"a file must be a path, or a side and a path, got {shown(each)}")
        file = read_properties(path)
        name = "standard input" if str(path) == STANDARD_INPUT else Path(path).name
        found.append(
            (recognised_side(file.values, name) if named is None else one_of("side", named, SIDES), name, file)
        )
    return found
