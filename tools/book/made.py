"""What each file of the book was made of: what is as it was is not made again.

The record lies in the book's folder. It has, by group of files, a digest of all that the group was made of, the files
themselves, and the files of the project that they link to, of which the book has copies.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from filecmp import cmp
from pathlib import Path

from tools.environment import ROOT

RECORD = ".made-of.json"
"""Where the record lies in the book's folder."""
_WHOLE = "the whole book"
_IGNORED = {"__pycache__", "generated"}


def digest(*parts: str | Path) -> str:
    """A hash of some texts, and of files and folders by what is in them."""
    hashed = hashlib.sha256()
    for part in parts:
        files = [part] if not isinstance(part, Path) or part.is_file() else sorted(part.rglob("*"))
        for each in files:
            if isinstance(each, str):
                hashed.update(each.encode() + b"\0")
            elif each.is_file() and not _IGNORED & set(
                each.relative_to(ROOT).parts if each.is_relative_to(ROOT) else ()
            ):
                hashed.update(each.as_posix().encode() + b"\0" + each.read_bytes() + b"\0")
    return hashed.hexdigest()


class Made:
    """A book's folder and its record.

    Parameters
    ----------
    folder : Path
        The book's.
    made_of : str
        A digest of all that goes into every page.
    """

    def __init__(self, folder: Path, made_of: str) -> None:
        """Read the record; without one, nothing is made yet."""
        self.folder, self.made_of = folder, made_of
        path = folder / RECORD
        self._before: dict[str, dict] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._now: dict[str, dict] = {}
        self._copies: dict[str, str] = {}
        self.written: list[str] = []

    def is_whole(self, made_of: str) -> bool:
        """Whether the whole book was finished, was made of just this, and is all there."""
        groups = {name: group for name, group in self._before.items() if name != _WHOLE}
        whole = self._before.get(_WHOLE, {}).get("made_of") == digest(self.made_of, made_of)
        return whole and all(self._is_there(group) for group in groups.values())

    def keep(self, group: str, made_of: str, make: Callable[[], Iterable[tuple[str, str | bytes]]]) -> None:
        """Write a group's files, name and content each, unless they were made of the same."""
        key, before = digest(self.made_of, made_of), self._before.get(group)
        if before and before["made_of"] == key and self._is_there(before):
            self._now[group] = before
            return
        self._forget(group)  # if this is cut off, nobody takes the old record at its word
        files, self._copies = [], {}
        for name, content in make():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            files.append(name)
        self.written += files
        self._now[group] = {"made_of": key, "files": files, "copies": self._copies}
        self._save(self._before | self._now)

    def copy(self, source: Path) -> str:
        """A file of the project, for the group that is being made: the address of its copy in the book."""
        name = (Path("files") / source.relative_to(ROOT)).as_posix()
        self._copies[name] = source.relative_to(ROOT).as_posix()
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, self.folder / name)
        return name

    def text(self, name: str) -> str:
        """What a file of the book holds."""
        return (self.folder / name).read_text(encoding="utf-8")

    def finish(self, made_of: str, faults: Callable[[Path], Iterable[str]]) -> list[str]:
        """Remove what no group has; look for faults, also in what was there; keep the record if there is none."""
        known = {name for group in self._now.values() for name in [*group["files"], *group["copies"]]}
        for old in [*self.folder.rglob("*.html"), *(self.folder / "files").rglob("*")]:
            if old.is_file() and old.relative_to(self.folder).as_posix() not in known:
                old.unlink()
        wrong = list(faults(self.folder))
        if not wrong:
            self._save(self._now | {_WHOLE: {"made_of": digest(self.made_of, made_of)}})
        return wrong

    def _forget(self, group: str) -> None:
        for name in (group, _WHOLE):
            self._before.pop(name, None)
        self._save(self._before | self._now)

    def _save(self, record: dict[str, dict]) -> None:
        (self.folder / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")

    def _is_there(self, group: dict) -> bool:
        copies = ((self.folder / name, ROOT / source) for name, source in group["copies"].items())
        return all((self.folder / name).is_file() for name in group["files"]) and all(
            copy.is_file() and source.is_file() and cmp(copy, source, shallow=False) for copy, source in copies
        )
