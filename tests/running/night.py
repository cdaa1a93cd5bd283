"""Cases of a test that are left to `make nightly`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


def at_night(*values: object) -> Iterator[object]:
    """Parameters, one value each, with which a test is run at night alone."""
    return (pytest.param(each, marks=pytest.mark.nightly) for each in values)
