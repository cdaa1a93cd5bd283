"""A function's text runs on its own, and does what the function did in its notebook."""

import math
import struct as packing
from functools import cache
from itertools import pairwise

import pytest

from kafkalearn.base.hashing import murmur2
from kafkalearn.exercises.progress.record import LONGEST, NoSource, source_of

LIMIT = 3
TABLE = {"a": [1, 2], "b": (3,)}
OBJECT = object()


def helper(n):
    return n * LIMIT


def uses_all(n, base=LIMIT):
    """What it uses: a helper, a constant, modules, names from modules, itself, a comprehension's own names."""
    if n > 10:
        return uses_all(10)
    (one,) = packing.unpack(">b", packing.pack(">b", n))
    return helper(one) + math.floor(1.5) + sum(b - a for a, b in pairwise(range(n))) + TABLE["a"][0] + base


@cache
def decorated(n: "Nothing") -> "NothingElse":  # noqa: F821
    return n + 1


def closure_over(step):
    def add(n):
        return n + step

    return add


def uses_the_library(n):
    return murmur2(bytes(n))


def uses_an_object(n):
    return OBJECT


def uses_a_name_that_is_not_there(n):
    return not_there  # noqa: F821


def is_long(n):
    return "x" * 0


first, second = (lambda n: n + 1), (lambda n: n + 2)
in_a_call = [
    lambda n: n - 1,
    lambda n: (lambda m: m * 2)(n),
]


def made_from(function):
    name, text = source_of(function)
    namespace = {"__name__": "__main__"}
    exec(compile(text, "<answer>", "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize(
    "function",
    [
        uses_all,
        decorated,
        closure_over(5),
        uses_the_library,
        helper,
        first,
        second,
        *in_a_call,
        lambda n: helper(n) + 1,
    ],
)
def test_it_does_the_same_on_its_own(function):
    again = made_from(function)

    assert [again(n) for n in range(12)] == [function(n) for n in range(12)]


def test_what_its_notebook_has_not_is_left_to_its_call():
    with pytest.raises(NameError):
        made_from(uses_a_name_that_is_not_there)(1)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (len, "it is no function written in Python"),
        (str.upper, "it is no function written in Python"),
        (eval("lambda n: n"), "its source is not known"),
        (uses_an_object, "it uses OBJECT, which is no function, no module and no plain value"),
    ],
)
def test_what_cannot_be_kept_says_why(function, reason):
    with pytest.raises(NoSource, match=reason):
        source_of(function)


def test_a_text_that_is_too_long_is_not_kept(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", dict.fromkeys(range(LONGEST // 100), "x" * 100))
    with pytest.raises(NoSource, match="it is longer than 20,000 characters"):
        source_of(uses_all)
