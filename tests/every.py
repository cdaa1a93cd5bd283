"""Many cases of one assertion as one test: what a recorded file says is held case by case, in a short suite."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

SHOWN = 5
"""So many of the failures are shown in full; all are named."""

FIRST_ALONE = "KAFKALEARN_FIRST_CASE_ALONE"
"""With this in the environment the first case that fails ends its test, as pytest's ``-x`` ends a run."""


def run_every(rows: Sequence, run: Callable[[Any], None], name_of: Callable[[int], str]) -> None:
    """Run every case, and fail with the names of all that failed."""
    assert rows, "there are no cases"
    failed = {}
    for number, row in enumerate(rows):
        try:
            run(row)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as failure:
            failure.add_note(f"in case {name_of(number)}")
            failed[name_of(number)] = failure
            if FIRST_ALONE in os.environ:
                break
    if failed:
        words = "\n".join([f"{len(failed)} of {len(rows)} cases failed:", *failed])
        raise BaseExceptionGroup(words, [*failed.values()][:SHOWN])


def every_case(
    names: str | tuple[str, ...], cases: Iterable, ids: Callable[[object], object] | Iterable = repr
) -> Callable:
    """Like ``pytest.mark.parametrize``, as one test, which runs every case and fails with the names of all that failed.

    For hundreds of quick cases: a test of its own costs pytest more than such a case does. Fixtures are made once for
    all cases, so a test that changes one (``tmp_path``, ``monkeypatch``) stays parametrized. A case that skips has
    failed: the rest would not be seen. Two of them multiply.
    """
    names = tuple(names.split(", ")) if isinstance(names, str) else names
    rows = [case if len(names) > 1 else (case,) for case in cases]
    assert rows, "there are no cases"
    given = None if callable(ids) else [*ids]

    def name_of(number: int) -> str:
        label = given[number] if given else "-".join(str(ids(value)) for value in rows[number])
        return f"{number}: {label}"[:120]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def whole(*arguments: object, **fixtures: object) -> None:
            run_every(rows, lambda row: test(*arguments, **fixtures, **dict(zip(names, row, strict=True))), name_of)

        signature = inspect.signature(test)
        assert signature.parameters.keys() >= {*names}, "a case brings what the test asks for"
        left = [each for name, each in signature.parameters.items() if name not in names]
        whole.__signature__ = signature.replace(parameters=left)
        return whole

    return decorated
