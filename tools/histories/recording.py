"""A file of histories, asked again: what stays, what is written anew, what cannot be asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from conformance.mechanism import TooSlow
from conformance.search import plain
from kafkalearn.live.errors import NotReached
from kafkalearn.live.jars import find_release
from kafkalearn.releases.lines import RELEASES, parse_release, release_line
from tools.recordings import text_of

ROOT = Path(__file__).resolve().parent.parent.parent
VECTORS = ROOT / "tests" / "vectors"
LEDGER = ROOT / "kafkalearn" / "releases" / "ledger.toml"
STATED = re.compile(r'(vectors = "([^"]+)", part = "([^"]+)", case_count = )\d+')
TRIES = 3

History = Mapping[str, Any]
Ask = Callable[[History], dict[str, Any]]


class Recording(NamedTuple):
    """A file of histories, and how they are asked again.

    Parameters
    ----------
    file : str
        In tests/vectors.
    parts : tuple of str
        Its lists of histories.
    asking : callable
        ``asking(line)``: a ``with`` block that gives a function from a history to the same, answered now.
    is_said : callable
        ``is_said(history)``: whether the simulator says what this history says.
    not_asked : callable
        ``not_asked(history)``: why this one is not asked again; empty if it is.
    name : callable
        ``name(history)``: how a line of the output names it.
    """

    file: str
    parts: tuple[str, ...]
    asking: Callable[[str], AbstractContextManager[Ask]]
    is_said: Callable[[History], bool]
    not_asked: Callable[[History], str] = lambda history: ""
    name: Callable[[History], str] = lambda history: str(history.get("name", history.get("id", "")))


def taken_in(recording: Recording, line: str, folder: Path = VECTORS) -> list[str]:
    """Ask the histories of a line again, and write those that are answered otherwise; what there is to tell."""
    path = folder / recording.file
    recorded = json.loads(path.read_text(encoding="utf-8"))
    new, told = dict(recorded), []
    with recording.asking(line) as ask:
        for part in recording.parts:
            new[part], told_of_part = _asked_again(recording, recorded[part], line, ask)
            told += [f"{part}: {each}" for each in told_of_part]
    if new != recorded:
        path.write_text(text_of(new, *recording.parts), encoding="utf-8")
    return told


def counted(ledger: str, root: Path = ROOT) -> str:
    """The text of the ledger with the number of cases that each recorded file has now.

    >>> line = 'vectors = "tests/vectors/log/list-offsets.json", part = "cases", case_count = 1 }'
    >>> counted(line).partition("part = ")[2]
    '"cases", case_count = 30 }'
    """

    def number(stated: re.Match[str]) -> str:
        recorded = json.loads((root / stated[2]).read_text(encoding="utf-8"))
        for name in stated[3].split("."):
            recorded = recorded[name]
        return f"{stated[1]}{len(recorded)}"

    return STATED.sub(number, ledger)


def _asked_again(
    recording: Recording, histories: list[dict[str, Any]], line: str, ask: Ask
) -> tuple[list[dict[str, Any]], list[str]]:
    """The histories as they are to be written, and what there is to tell of them."""
    releases = {_release_of(each) for each in histories}
    of_line = {each for each in releases if release_line(each) == line}
    if not of_line and "release" not in histories[0]:
        return histories, [f"nothing to ask of {line}, it is of the newest line alone"]
    asked_release = max(of_line or releases, key=parse_release)
    kept, added, told = [], [], []
    same_count = 0
    for each in histories:
        reason = recording.not_asked(each)
        if _release_of(each) != asked_release or reason:
            kept.append(each)
            told += [f"not asked, {reason}: {recording.name(each)}"] if _release_of(each) == asked_release else []
            continue
        named = {"release": find_release(line).version} if "release" in each else {}
        now, is_same = _answered(recording, {**each, **named}, ask)
        if now is None:
            kept.append(each)
            told.append(f"not answered in time, {TRIES} times: {recording.name(each)}")
            continue
        if not of_line:
            added.append(now)
        same_count += is_same
        kept.append(now if of_line and not is_same else each)
        told += [] if is_same else [f"answered otherwise: {recording.name(each)}"]
    return kept + added, [f"{same_count} as recorded, {len(added)} new", *told]


def _release_of(history: History) -> str:
    """The broker that was asked; the newest, where a history says nothing."""
    return history.get("release", find_release(RELEASES[-1]).version)


def _answered(recording: Recording, history: History, ask: Ask) -> tuple[dict[str, Any] | None, bool]:
    """A history as it is answered now, and whether that is as it is recorded, but for what was drawn.

    None: this machine was too slow for it each time.
    """
    now = None
    for _ in range(TRIES):
        try:
            now = plain(ask(history))
        except (TooSlow, NotReached):
            continue
        if now == history or recording.is_said(now):
            return now, True
    return now, False
