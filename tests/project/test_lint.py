"""The whole repository, chapters included, as ruff wants it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools.environment import ROOT


@pytest.mark.parametrize("words", [["check", "--output-format=concise"], ["format", "--check"]], ids=lambda all: all[0])
def test_ruff_has_nothing_to_say(words):
    ruff = [sys.executable, "-m", "ruff", *words, "--quiet", "--no-cache", "."]
    found = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)

    if found.returncode:
        pytest.fail(found.stdout + found.stderr, pytrace=False)
