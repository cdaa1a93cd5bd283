"""What the live tests share: the release that they ask, and the mark that says which rules a test holds."""

from __future__ import annotations

import os

import pytest

from kafkalearn.releases.lines import DEFAULT_RELEASE

RELEASE_VARIABLE = "KAFKALEARN_LIVE_RELEASE"
PROPERTY = "holds"  # of a test's report: a rule that it has held


def asked_release() -> str:
    """The release line that the tests ask: the newest, or the one that the variable names."""
    return os.environ.get(RELEASE_VARIABLE, DEFAULT_RELEASE)


def holds(*rules: str) -> pytest.MarkDecorator:
    """Marks a live test with the names of the rules in the ledger that it holds to a real broker."""
    return pytest.mark.holds(*rules)
