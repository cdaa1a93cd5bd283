"""The file of a student's progress: what was reached in each exercise, with the answer that reached it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, OPEN, RIGHT, WRONG
from kafkalearn.wire.json_text import read_json

FORMAT, VERSION = "kafkalearn progress", 1
MOST_BYTES = 5_000_000
_RANK = {NOT_ATTEMPTED: 0, ERROR: 1, WRONG: 2, OPEN: 3, RIGHT: 4}


class NoRecord(KafkaLearnError):  # noqa: N818  (it says what a file is)
    """A text that is no file of progress, or one that is damaged."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one exercise."""

    outcome: str = NOT_ATTEMPTED  # of the best answer so far
    try_count: int = 0  # different answers that were right, wrong, or open
    hint_count: int = 0
    has_seen_solution: bool = False  # before there was a right answer
    answer: object = None  # the best answer, as `answers.encoded` writes it

    def __or__(self, other: Entry) -> Entry:
        """What two files know together; in any order, and as often as one likes."""
        best = max(self, other, key=_goodness)
        return Entry(
            best.outcome,
            max(self.try_count, other.try_count),
            max(self.hint_count, other.hint_count),
            self.has_seen_solution or other.has_seen_solution,
            best.answer,
        )

    @property
    def is_done(self) -> bool:
        """Whether the answer is right, or was noted where no program can judge."""
        return self.outcome in (RIGHT, OPEN)


def _goodness(entry: Entry) -> tuple[int, bool, str]:
    """Of nothing that is itself added up here: else it would matter which two of three files come first."""
    return _RANK[entry.outcome], entry.answer is not None, json.dumps(entry.answer, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Record:
    """All exercises of one student, by chapter and name: ``"01.same_partition"``.

    Examples
    --------
    >>> mine = Record("Anna", {"01.same_partition": Entry("right", 2, 1, False, "billing-47")})
    >>> Record.read(mine.text()) == mine
    True
    >>> (mine | Record("", {"01.hot_broker": Entry("wrong", 1)})).entry("01.hot_broker").outcome
    'wrong'
    """

    name: str = ""
    entries: Mapping[str, Entry] = field(default_factory=dict)

    def entry(self, exercise: str) -> Entry:
        """That of one exercise."""
        return self.entries.get(exercise, Entry())

    def having(self, exercise: str, entry: Entry) -> Record:
        """The same with another entry for one exercise."""
        return replace(self, entries={**self.entries, exercise: entry})

    def __or__(self, other: Record) -> Record:
        """What two files know together."""
        both = sorted({*self.entries, *other.entries})
        name = max(self.name, other.name)
        return Record(name, {each: self.entry(each) | other.entry(each) for each in both})

    def text(self) -> str:
        """The file."""
        entries = {
            exercise: {
                "outcome": entry.outcome,
                "tries": entry.try_count,
                "hints": entry.hint_count,
                "solution": entry.has_seen_solution,
                "answer": entry.answer,
            }
            for exercise, entry in sorted(self.entries.items())
        }
        whole = {"format": FORMAT, "version": VERSION, "name": self.name, "exercises": entries}
        return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"

    @staticmethod
    def read(text: str) -> Record:
        """The record that a file holds.

        Raises
        ------
        NoRecord
            If it is no such file, or damaged; the message says what is wrong with it.
        KafkaLearnError
            If it is of a version that is not known here.
        """
        if len(text) > MOST_BYTES:
            raise NoRecord(f"this file has {len(text):,} characters; progress has at most {MOST_BYTES:,}")
        try:
            whole = read_json(text)
        except (ValueError, RecursionError) as error:
            raise NoRecord(f"this is no file of progress, for it is no JSON: {error}") from error
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise NoRecord(f'this is no file of progress: it must have "format": "{FORMAT}"')
        if whole.get("version") != VERSION:
            came = str(whole.get("version"))[:20]
            raise KafkaLearnError(
                f"this file of progress is of version {came}; this kafkalearn reads version {VERSION}"
            )
        exercises, name = whole.get("exercises"), whole.get("name", "")
        if not isinstance(exercises, dict) or not isinstance(name, str):
            raise NoRecord('in this file of progress "exercises" must be an object, and "name" a text')
        return Record(_printable(name), {_printable(each): _entry(each, words) for each, words in exercises.items()})


def _printable(text: str) -> str:
    """A name in a table, in a terminal."""
    return "".join(letter for letter in text[:200] if letter.isprintable())


def _entry(exercise: str, words: object) -> Entry:
    if not isinstance(words, dict) or not isinstance(words.get("outcome"), str) or words["outcome"] not in _RANK:
        raise NoRecord(f"{exercise[:100]} in this file of progress has no outcome; known are {', '.join(_RANK)}")
    try:
        tries, hints = [whole_number(name, words.get(name, 0), at_least=0) for name in ("tries", "hints")]
    except KafkaLearnError as error:
        raise NoRecord(f"{exercise[:100]} in this file of progress: {error}") from error
    return Entry(words["outcome"], tries, hints, words.get("solution") is True, words.get("answer"))


def read_file(path: Path) -> Record:
    """The record in a file; an empty file is an empty record.

    Raises
    ------
    KafkaLearnError
        If it cannot be read, or holds something else.
    """
    try:
        if path.stat().st_size > 4 * MOST_BYTES:
            raise KafkaLearnError(f"{path} has {path.stat().st_size:,} bytes; progress has at most {MOST_BYTES:,}")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaLearnError(f"{path} cannot be read: {error}") from error
    return Record.read(text) if text.strip() else Record()


def write_file(path: Path, record: Record) -> None:
    """Write it as a whole or not at all.

    Raises
    ------
    KafkaLearnError
        If the file cannot be written; what was there stays.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(record.text(), encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise KafkaLearnError(f"progress cannot be written to {path}: {error}") from error
