"""What went wrong in a cell, in plain words: the line, what Python says, and what to do where that is known."""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from kafkalearn.errors import KafkaLearnError


def fault(error: BaseException, file: str, makers: Mapping[str, str]) -> dict[str, object]:
    """An error for the page.

    Parameters
    ----------
    error : BaseException
        What was raised.
    file : str
        The name that the cell's code was compiled with.
    makers : mapping of str to str
        Names that are not there, and the sentence that says why.

    Returns
    -------
    dict
        ``kind``, the error's class; ``words``, the message; ``line`` and ``source``, where in the cell, or None.

    Examples
    --------
    >>> fault(ZeroDivisionError("division by zero"), "cell", {})["words"]
    'division by zero'
    """
    line, source = _place(error, file)
    words = str(error)
    if isinstance(error, NameError) and (reason := makers.get(error.name or "")):
        words = reason
    elif isinstance(error, ModuleNotFoundError):
        words = f"{words}. A page has Python's own modules and kafkalearn; nothing else can be loaded."
    elif isinstance(error, AssertionError) and not words:
        words = "the line says what should hold, and it does not hold"
    elif isinstance(error, SyntaxError) and not isinstance(error, KafkaLearnError):
        words = error.msg
    elif isinstance(error, RecursionError):
        words = f"{words}: a function calls itself without end"
    return {"kind": type(error).__name__, "words": words, "line": line, "source": source}


def _place(error: BaseException, file: str) -> tuple[int | None, str | None]:
    """The last line of the cell that was under way."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno, (error.text or "").strip() or None
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (frames[-1].lineno, frames[-1].line or None) if frames else (None, None)
