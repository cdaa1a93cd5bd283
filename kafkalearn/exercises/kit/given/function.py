"""A function that a student gave as an answer: called within bounds, with copies of its arguments."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from types import FrameType, FunctionType
from typing import NamedTuple

from kafkalearn.exercises.kit.given.limits import Bounds, Spent


class Place(NamedTuple):
    """Where something was raised."""

    line: int  # of the function, from 1
    function: str
    text: str  # of the line; empty where the source is not known


class Raised(Exception):  # noqa: N818  (it stands for whatever was raised)
    """What a student's function raised, as text: its class has the name of the one that was raised."""

    place: Place | None = None  # None if it was not in code of the function's own module

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self).__name__


@dataclass(eq=False, slots=True, repr=False)
class GivenFunction:
    """The function, so that a check can call it: it changes no argument of ours, comes back, and ends no kernel.

    All its calls share one bound. The same arguments are tried once: a second call gives what the first gave.

    Parameters
    ----------
    function : callable
        The student's.
    take : callable
        Turns what it returns into plain data.

    Examples
    --------
    >>> GivenFunction(lambda numbers: numbers.clear(), take=repr)([1])
    'None'
    """

    function: Callable[..., object]
    take: Callable[[object], object]
    spent: Spent | None = field(default=None, init=False)
    _bounds: Bounds = field(default_factory=Bounds, init=False)
    _known: dict[str, object] = field(default_factory=dict, init=False)

    def __call__(self, *arguments: object) -> object:
        """What it returns, as plain data.

        Raises
        ------
        Raised
            Whatever it raised, `SystemExit` as well.
        Spent
            If it ran through too many lines, or printed too much; every later call raises it again.
        """
        name = repr(arguments)
        if name not in self._known:
            self._known[name] = self.spent or self._tried(arguments)
        known = self._known[name]
        if isinstance(known, Raised | Spent):
            raise known
        return known

    def refuses(self, arguments: tuple[object, ...]) -> str:
        """Why it cannot be called with so many arguments; empty if it can, or if nobody can know beforehand."""
        try:
            signature = self._bounds.run(inspect.signature, self.function)
            if isinstance(signature, inspect.Signature):
                signature.bind(*arguments)
        except TypeError as error:
            return _words(error)
        except KeyboardInterrupt:  # the student's own: the cell is to end
            raise
        except BaseException:  # some built-in functions do not show their parameters
            return ""
        return ""

    def _call(self, *arguments: object) -> object:
        return self._bounds.run(self.function, *arguments)

    def _tried(self, arguments: tuple[object, ...]) -> object:
        try:
            return self.take(self._call(*deepcopy(arguments)))
        except (Raised, Spent) as known:
            self.spent = known if isinstance(known, Spent) else None
            return known
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a student's function raises is the thing to explain
            raised = type(_name(error), (Raised,), {})(_words(error))
            raised.place = _place(error, self.function)
            return raised


def _name(error: BaseException) -> str:
    name = type.__dict__["__name__"].__get__(type(error))
    return name if name.isidentifier() else "Exception"


def _words(error: BaseException) -> str:
    """What it says of itself; an exception of one's own class may fail at that."""
    try:
        return str.__getitem__(Bounds(10_000, 0).run(str, error), slice(None))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "an exception that has no words"


def _place(error: BaseException, function: Callable[..., object]) -> Place | None:
    """The innermost line of the student's own code."""
    home = function.__globals__ if type(function) is FunctionType else None
    frames: list[tuple[FrameType, int]] = []
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_globals is home:
            frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    if not frames:
        return None
    frame, line_number = frames[-1]
    code = frame.f_code
    text = linecache.getline(code.co_filename, line_number, frame.f_globals).strip()
    return Place(line_number - code.co_firstlineno + 1, code.co_name, text)
