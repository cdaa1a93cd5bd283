"""Which folders of tests are the core's, and which of their tests no page can run."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from tools.environment import ROOT

NOT_THE_CORES: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["book", "browser", "lab"], "a browser or JupyterLab"),
        **dict.fromkeys(["benchmarks", "project"], "our own tools, and the files of the project"),
        "fuzz": "other processes, minutes",
        "live": "a real Kafka",
        "spark": "Spark",
    }
)
"""Folders of tests that are not run in a page's Python, and what they are about."""

LEFT_OUT: dict[str, str] = {}
"""Tests of the core that no page can run, by the beginning of their names, with the reason."""

TOP = "tests/test_*.py"
"""The tests that lie in no folder, as they are called."""


def folders() -> list[str]:
    """The folders with tests of the core, ``"tests/wire"``, by name; the loose files come last.

    >>> "tests/wire" in folders(), "tests/spark" in folders()
    (True, False)
    """
    found = sorted(path.name for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py")))
    return [*(f"tests/{name}" for name in found if name not in NOT_THE_CORES), TOP]


def files_in(folder: str) -> list[str]:
    """The files of tests of a folder, or of a name as `TOP` has it, from the project's root."""
    found = (ROOT / folder).rglob("test_*.py") if Path(ROOT / folder).is_dir() else ROOT.glob(folder)
    return sorted(path.relative_to(ROOT).as_posix() for path in found)
