"""The files of the book's folder ``live``, each written only where it has changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from kafkalearn.drawing.player import live_script, live_style
from kafkalearn.journey.film import film_script, film_style
from tools.book.face import NOTICES, fonts
from tools.book.live import runtime, septets, snapshot
from tools.book.live.packages import ACE, PYODIDE, files

HERE = Path(__file__).parent
FOLDER = "live"
PAGE_SCRIPTS = (
    *("python.js", "frame.js", "outputs.js", "editor.js", "../chapter/fitting.js"),
    *(f"../exercises/{name}.js" for name in ("kept", "answers", "exercises")),
    "cells.js",
)
"""What ``page.js`` is made of, in order, after the player's own script."""

_ACE_FILES = ("ace.js", "mode-python.js", "theme-textmate.js", "theme-tomorrow_night.js")


def write(book: Path) -> Path:
    """Write the folder into a book and return it; what is as it should be stays untouched.

    Raises
    ------
    NotFetched
        If what comes from npm cannot be fetched.
    """
    folder = book / FOLDER
    _write_runtime(folder)
    _put(folder / "page.js", page_script())
    _put(folder / "page.css", page_style())
    if not all((folder / "ace" / name).exists() for name in _ACE_FILES):
        for name, data in files(ACE, *(f"src-min-noconflict/{name}" for name in _ACE_FILES)).items():
            _put(folder / "ace" / Path(name).name, data.decode("utf-8"))
    _put(folder / NOTICES.name, NOTICES.read_text(encoding="utf-8"))
    return folder


_SHARED = re.compile(
    r'<style type="text/css">(.*?)</style>|<script (?=[^>]*class="shared")[^>]*>(.*?)</script>', re.DOTALL
)
_LONG = 10_000


def with_shared_parts(html: str) -> tuple[str, dict[str, str]]:
    """A page whose long styles and shared scripts are files of the folder, and those files: many pages have the same.

    A module cannot be a file of its own, since a page that is opened from a folder may not load one: it becomes a
    function that is called once the page is read.
    """
    files: dict[str, str] = {}

    def moved(part: re.Match[str]) -> str:
        style, script = part.groups()
        text = style if script is None else f'(() => {{\n"use strict";\n{script}\n}})();\n'
        if len(text) < _LONG:
            return part[0]
        name = f"{FOLDER}/notebook-{hashlib.sha256(text.encode()).hexdigest()[:8]}.{'js' if script else 'css'}"
        files[name] = text
        return f'<script defer src="{name}"></script>' if script else f'<link rel="stylesheet" href="{name}">'

    return _SHARED.sub(moved, html), files


def page_script(names: Sequence[str] = PAGE_SCRIPTS) -> str:
    """The script of a page: the player, then ours, each in a scope of its own."""
    door = "return { render: renderLive, mountAll, mountFilms };"
    player = live_script().replace("export default { render: renderLive };", film_script() + door)
    ours = [(HERE / name).read_text(encoding="utf-8") for name in names]
    return f"window.kafkalearnPlayer = (() => {{\n{player}\n}})();\n" + "\n".join(ours)


def page_style() -> str:
    """The style sheet of a page's live parts, and the player's."""
    return fonts() + live_style() + film_style() + (HERE / "page.css").read_text(encoding="utf-8")


def _write_runtime(folder: Path) -> None:
    """Packing takes seconds, so each script says what it was made of."""
    ours = (runtime.WORKER, *map(Path, (runtime.__file__, septets.__file__, snapshot.__file__)), snapshot.SCRIPT)
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in ours))
    digest.update(PYODIDE.sha512.encode() + runtime.core_archive())
    made_of = f"// made of {digest.hexdigest()}\n"
    if all(_begins_with(folder / name, made_of) for name in ("runtime.js", "snapshot.js")):
        return
    print("packing Python for the pages", flush=True)
    parts = runtime.parts()
    script = snapshot.script(snapshot.made(parts), runtime.name_of(parts))
    _put(folder / "runtime.js", made_of + runtime.runtime(parts))
    _put(folder / "snapshot.js", made_of + script)


def _begins_with(path: Path, line: str) -> bool:
    if not path.exists():
        return False
    with path.open("rb") as file:
        return file.readline() == line.encode()


def _put(path: Path, text: str) -> None:
    data = text.encode()
    if not path.exists() or path.read_bytes() != data:  # what is there may be another version's, in other letters
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
