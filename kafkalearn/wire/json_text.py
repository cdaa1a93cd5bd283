"""JSON that somebody gives, read in any Python: brackets in brackets without end are refused before they are followed.

CPython ends such a text with RecursionError. In a page's Python the stack is the browser's, and Python itself ends.
"""

from __future__ import annotations

import json
import re

MOST_NESTED = 200
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


def read_json(text: str) -> object:
    """What a text of JSON holds.

    Raises
    ------
    ValueError
        If it is no JSON, or has brackets more than `MOST_NESTED` deep.

    Examples
    --------
    >>> read_json('{"version": 1}')
    {'version': 1}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: its brackets are more than 200 deep
    """
    if text.count("[") + text.count("{") > MOST_NESTED and _is_deep(text):
        raise ValueError(f"its brackets are more than {MOST_NESTED} deep")
    return json.loads(text)


def _is_deep(text: str) -> bool:
    depth = 0
    for mark in _MARKS.finditer(text):  # a bracket in a string is none
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark[0], 0)
        if depth > MOST_NESTED:
            return True
    return False
