"""What runs inside a page of the book: Python in the reader's browser, asked by the page's script.

The page's script (``tools/book/live/python.js``) has `window.kafkalearn` with

- ``start(onProgress)``: a Promise; ``onProgress(words)`` hears what goes on. A second call joins the first.
- ``ask(name, payload)``: a Promise of what the function of that name returned; payload and result are plain data for
  JSON. It starts Python where it has not started. It is refused with an Error whose message is for the reader.
- ``stop()``: ends Python at once, whatever it does; what waits for an answer is refused, and all values are gone.
- ``another()``: one more of the same, with a Python of its own that has no hold on the browser (no module ``js``).
- events on ``window``: ``kafkalearn:started``, ``kafkalearn:stopped``.

A question goes to `answer` in a worker, one at a time in the order of asking. Its name is ``module.function``: the
module lies in this folder and lists its functions in ``ANSWERS``, a mapping of name to ``function(payload) -> result``.
It is imported when it is first asked. So a new kind of question is a module here, and its name in `MODULES`.

All of it is the standard library and kafkalearn's core; it also runs, and is tested, outside a browser.
"""

from __future__ import annotations

import json
import traceback
from importlib import import_module

from kafkalearn.base.errors import KafkaLearnError, unknown_name

__all__ = [
    "MODULES",
    "answer",
]


MODULES = ("cells", "controls", "exercises", "functions", "playground", "progress")
"""Who answers: the modules of this folder that have ``ANSWERS``."""


def answer(name: str, payload: str) -> str:
    """The answer to a question of the page.

    Parameters
    ----------
    name : str
        ``"module.function"``, as in ``"cells.run"``.
    payload : str
        What the function takes, as JSON.

    Returns
    -------
    str
        JSON: ``{"result": ...}``; or ``{"error": words}`` for what the reader can change, with ``"trace"`` where the
        fault is ours.

    Examples
    --------
    >>> answer("cells.open", '{"page": "01", "cells": []}')
    '{"result": []}'
    >>> answer("cells.jump", "{}")[:40]
    '{"error": "unknown function of cells \\'ju'
    """
    try:
        return json.dumps({"result": _function(name)(json.loads(payload))}, ensure_ascii=False)
    except KafkaLearnError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        return json.dumps({"error": words, "trace": traceback.format_exc()}, ensure_ascii=False)


def _function(name: str):
    module, _, function = name.partition(".")
    if module not in MODULES:
        raise unknown_name("module of the page", module, MODULES)
    answers = import_module(f"{__name__}.{module}").ANSWERS
    if function not in answers:
        raise unknown_name(f"function of {module}", function, answers)
    return answers[function]
