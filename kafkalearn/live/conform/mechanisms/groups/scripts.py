"""Lists of steps of which some are long: Hypothesis draws short ones, and a group needs a history to go wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Steps = st.SearchStrategy[list[dict[str, Any]]]


def scripts(steps: st.SearchStrategy[dict[str, Any]], most: int) -> Steps:
    """Up to so many steps; every other list has at least half of them, and shrinks to a short one."""
    return st.one_of(st.lists(steps, min_size=1, max_size=most), st.lists(steps, min_size=most // 2, max_size=most))
