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
WITHOUT, EXERCISES, WITH = "**without exercises**", "exercises", "**with exercises**"


@dataclass(frozen=True, slots=True)
class Timing:
    """The table of times in a chapter's notes."""

    sections: dict[str, int]  # minutes by heading
    without: int
    exercises: int
    together: int

    @classmethod
    def read(cls, text: str) -> Timing:
        """The table in the notes; KeyError if a line is missing."""
        rows = {name: int(minutes) for name, minutes in _ROW.findall(text)}
        totals = {name: rows.pop(name) for name in (WITHOUT, EXERCISES, WITH)}
        return cls(rows, totals[WITHOUT], totals[EXERCISES], totals[WITH])


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
