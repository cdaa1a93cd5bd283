"""Where in Kafka each rule of the ledger is: file and line of every method that it names: docs/cited-lines.json.

    python3 -m tools.cited_lines            the lines that are recorded, again
    python3 -m tools.cited_lines 4.4=4.4.1  this line, and those that are recorded

Read from the released classes themselves, whose line tables a debugger uses. A rule is listed for a look if a method
that it names is gone since the release before, or its code is another. Whoever has looked, and found the rule right,
writes the line that is printed into `right`, with the reason; it is kept until the method is another again.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

from kafkalearn.live.jars import fetch, jar_paths, releases
from kafkalearn.releases.ledger import ledger
from tools.environment import ROOT
from tools.recordings import numbers_of, text_of

RECORDED = Path(ROOT) / "docs" / "cited-lines.json"
LINES = ("4.3", "4.4")
CITED = re.compile(r"\b([A-Z][A-Za-z0-9]+)\.([a-z][A-Za-z0-9]*)\b")
ABOUT = (
    "File and line of each method of Kafka that a rule of the ledger names, in the newest of these releases that has "
    "it, from the line tables of the released classes. look: rules whose method is gone or has other code than in the "
    "release before; right: those that were looked at, and why the rule is right still. Written by python3 -m "
    "tools.cited_lines, but for the reasons."
)


class Method(NamedTuple):
    """A method of a class file."""

    file: str  # ReplicaManager.scala
    line: int  # the first of its code
    size: int  # bytes of code
    line_count: int


_TWO, _FOUR = Struct(">H"), Struct(">I")
_CONSTANT_BYTES = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}
UTF8, LONG, DOUBLE = 1, 5, 6


class _Reader:
    """A class file, read from its start."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 8  # behind magic and version
        self.texts = self._constants()

    def two(self) -> int:
        (value,) = _TWO.unpack_from(self.data, self.at)
        self.at += 2
        return value

    def four(self) -> int:
        (value,) = _FOUR.unpack_from(self.data, self.at)
        self.at += 4
        return value

    def _constants(self) -> dict[int, str]:
        texts, number, count = {}, 1, self.two()
        while number < count:
            tag = self.data[self.at]
            self.at += 1
            if tag == UTF8:
                size = self.two()
                texts[number] = self.data[self.at : self.at + size].decode("utf-8", "replace")
                self.at += size
            else:
                self.at += _CONSTANT_BYTES[tag]
            number += 2 if tag in (LONG, DOUBLE) else 1
        return texts

    def attributes(self) -> Iterable[tuple[str, int]]:
        """Name and begin of each attribute that comes here; the reader is behind it when the next is asked for."""
        for _ in range(self.two()):
            name, size = self.texts[self.two()], self.four()
            begin = self.at
            yield name, begin
            self.at = begin + size


def methods_of(data: bytes) -> dict[str, Method]:
    """The methods of a class file by name; of several of one name, the one with the most code."""
    reader = _Reader(data)
    reader.at += 6  # access, this, super
    interfaces = reader.two()
    reader.at += 2 * interfaces
    for _ in range(reader.two()):
        reader.at += 6
        for _ in reader.attributes():
            pass
    found: dict[str, tuple[int, list[int]]] = {}
    for _ in range(reader.two()):
        reader.at += 2
        name = reader.texts[reader.two()]
        reader.at += 2
        for attribute, _ in reader.attributes():
            if attribute == "Code":
                size, lines = _code(reader)
                if lines and size > found.get(name, (0, []))[0]:
                    found[name] = size, lines
    file = next((reader.texts[reader.two()] for name, _ in reader.attributes() if name == "SourceFile"), "")
    return {name: Method(file, min(lines), size, len({*lines})) for name, (size, lines) in found.items()}


def _code(reader: _Reader) -> tuple[int, list[int]]:
    """Bytes of code, and its lines."""
    reader.at += 4
    size = reader.four()
    reader.at += size
    handlers = reader.two()
    reader.at += 8 * handlers
    lines: list[int] = []
    for name, _ in reader.attributes():
        if name == "LineNumberTable":
            for _ in range(reader.two()):
                reader.at += 2
                lines.append(reader.two())
    return size, lines


def cited(rules: Iterable[Any]) -> dict[str, list[tuple[str, str]]]:
    """Class and method of each rule that names any.

    >>> cited(ledger("coordinator"))["group id to offsets partition"]
    [('GroupCoordinatorService', 'partitionFor'), ('Utils', 'abs')]
    """
    found = {rule.name: list(dict.fromkeys(CITED.findall(rule.source))) for rule in rules}
    return {name: places for name, places in found.items() if places}


def read_release(line: str, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], Method]:
    """The methods that a release has of those that are wanted."""
    release = releases()[line]
    fetch(release)
    names = {name for name, _ in wanted}
    found: dict[tuple[str, str], Method] = {}
    for jar in sorted(each for each in jar_paths(release) if each.name.startswith("kafka")):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                name = entry.rpartition("/")[2].removesuffix(".class")
                if not entry.endswith(".class") or name.rstrip("$") not in names:
                    continue
                for method, place in methods_of(archive.read(entry)).items():
                    key = (name.rstrip("$"), method)
                    if key in wanted and (key not in found or found[key].size < place.size):
                        found[key] = place
    return found


def content_of(read: Mapping[str, Mapping[tuple[str, str], Method]], right: Mapping[str, str]) -> dict[str, Any]:
    """What is recorded of releases that were read, by line; `right` has what needs no look any more, and why."""
    lines = sorted(read, key=numbers_of)
    rules: dict[str, list[dict[str, object]]] = {}
    look: dict[str, list[str]] = {}
    others: list[str] = []
    for name, places in cited(ledger()).items():
        for place in places:
            has = [line for line in lines if place in read[line]]
            if not has:
                continue
            method, words = read[has[-1]][place], ".".join(place)
            release = releases()[has[-1]].version
            rules.setdefault(name, []).append(
                {"method": words, "file": method.file, "line": method.line, "release": release}
            )
            before = read[lines[-2]].get(place) if len(lines) > 1 else None
            if has[-1] != lines[-1]:
                others.append(f"{words}: gone since {lines[-1]}")
            elif before and (before.size, before.line_count) != (method.size, method.line_count):
                others.append(f"{words}: other code since {lines[-1]}")
            else:
                continue
            if others[-1] not in right:
                look.setdefault(name, []).append(others[-1])
    asked = {line: releases()[line].version for line in lines}
    kept = {each: why for each, why in right.items() if each in others}
    return {"about": ABOUT, "asked": asked, "look": look, "right": kept, "rules": rules}


def main(words: Sequence[str]) -> int:
    """Read the lines, write the file, and print which rules want a look."""
    old = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"asked": dict.fromkeys(LINES)}
    lines = sorted({*old["asked"], *(word.partition("=")[0] for word in words)}, key=numbers_of)[-len(LINES) :]
    wanted = {place for places in cited(ledger()).values() for place in places}
    content = content_of({line: read_release(line, wanted) for line in lines}, old.get("right", {}))
    RECORDED.write_text(text_of(content, "look", "right", "rules"), encoding="utf-8")
    for name, reasons in content["look"].items():
        print(f"look at {name}: {'; '.join(reasons)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
