"""Functions that were handed in, called in a Python of their own: what they give is a value, and judged elsewhere.

The page ends this Python after each file. Whatever a function does to it, it has no other way to the judge than the
values that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkalearn.exercises.progress.sandbox import called, defined

_DEFINED: dict[tuple[str, str], Callable[..., object]] = {}


def call(payload: Mapping[str, object]) -> list[dict[str, object]]:
    """What a function gives for each list of arguments.

    Parameters
    ----------
    payload : mapping
        ``name`` and ``source`` of the function; ``calls``: its arguments, each as a file of progress writes a tuple.

    Returns
    -------
    list of dict
        For each call ``{"value": ...}`` as a file of progress writes it, ``{"raised": [name, words]}``, or
        ``{"spent": words}`` if it ran through too many lines.

    Examples
    --------
    >>> call({"name": "f", "source": "f = abs", "calls": [{"tuple": [-3]}, {"tuple": []}]})[0]
    {'value': 3}
    """
    name, source = str(payload["name"]), str(payload["source"])
    function = _DEFINED.setdefault((name, source), defined(name, source))
    return [called(function, arguments) for arguments in payload["calls"]]


ANSWERS = {"call": call}
