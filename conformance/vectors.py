"""Differences as files: the shortest case, what the broker answered and what the simulator said, to be asked again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.mechanism import Answer, Case
from conformance.mechanisms import MECHANISMS
from conformance.search import compare, text_of

OPEN, PUT_RIGHT, NAMED = "open", "put right", "named"


@dataclass(frozen=True, slots=True)
class Vector:
    """A difference that was found on a broker, as its file has it."""

    mechanism: str
    release: str  # "4.3.1"
    date: str
    seed: int
    case: Case
    broker: Answer
    simulator: Answer  # what it said then
    left_out: str = ""  # the rule of the ledger that names it; written by hand, where the rule is not put right

    @property
    def line(self) -> str:
        """The release line, ``"4.3"``."""
        return self.release.rpartition(".")[0]

    @property
    def status(self) -> str:
        """What it is today: open, put right, or named in the ledger."""
        is_equal = compare(MECHANISMS[self.mechanism], self.line, self.case, self.broker) is None
        return PUT_RIGHT if is_equal else NAMED if self.left_out else OPEN

    @property
    def file_name(self) -> str:
        """The mechanism, and a mark of release line and case: the same difference gets the same file.

        >>> Vector("list offsets", "4.3.1", "2026-11-22", 1, {}, 1, 2).file_name
        'list-offsets-7794e8e38e.json'
        """
        mark = hashlib.sha256(text_of([self.mechanism, self.line, self.case]).encode()).hexdigest()[:10]
        return f"{slug(self.mechanism)}-{mark}.json"


def slug(name: str) -> str:
    """A name as part of a file's name.

    >>> slug("KIP-848 groups")
    'kip-848-groups'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def write_vector(folder: Path, vector: Vector) -> Path:
    """Write a difference to its file, unless it is there; the path of it."""
    path = folder / vector.file_name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(vector), indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
    return path


def read_vector(path: Path) -> Vector:
    """The difference of a file."""
    return Vector(**json.loads(path.read_text(encoding="utf-8")))


def vectors_in(folder: Path) -> Iterator[Vector]:
    """The differences of a folder, by the names of their files."""
    return map(read_vector, sorted(folder.glob("*.json")))
