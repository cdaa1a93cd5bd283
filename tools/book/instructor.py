"""The instructor's side of a chapter: what to say, how long it takes, and the answers to its exercises.

The notes are written by hand, docs/instructor/NN_name.md; the answers come from the exercises themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tools.environment import ROOT

NOTES = ROOT / "docs" / "instructor"
_ROW = re.compile(r"^\| (.+?) \| (\d+) \|$", re.MULTILINE)
OPENING, WITHOUT, EXERCISES, WITH = "the opening", "**without exercises**", "exercises", "**with exercises**"


@dataclass(frozen=True, slots=True)
class Timing:
    """The table of times in a chapter's notes, which `tools.timings` writes."""

    sections: dict[str, int]  # minutes by heading; what stands before the first is the opening
    without: int
    exercises: int

    @classmethod
    def read(cls, text: str) -> Timing:
        """The table in the notes; KeyError if a line is missing."""
        rows = {name: int(minutes) for name, minutes in _ROW.findall(text)}
        without, exercises, _ = (rows.pop(name) for name in (WITHOUT, EXERCISES, WITH))
        return cls(rows, without, exercises)

    @property
    def together(self) -> int:
        """The minutes of a lesson with its exercises."""
        return self.without + self.exercises


def notes_path(stem: str) -> Path:
    """Where the notes of a chapter are."""
    return NOTES / f"{stem}.md"


def page_name(stem: str) -> str:
    """The name of the page of a chapter's notes."""
    return f"{stem}.instructor.html"


def words(stem: str) -> str:
    """The notes and the answers, as Markdown."""
    return "\n\n".join([notes_path(stem).read_text(encoding="utf-8").strip(), *_answers(stem)])


def _answers(stem: str) -> list[str]:
    module = import_module(f"kafkalearn.exercises.chapter{stem.split('_')[0]}")
    parts = ["## Answers to the exercises"]
    for number, exercise in enumerate(module.all_exercises(), 1):
        parts += [f"### Exercise {number}", exercise.asks, "**Answer.**", exercise.reasoning]
    return parts
