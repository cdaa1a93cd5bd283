"""Sanitise a submitted answer, and run submitted functions under limits.

Code of a student's runs within `Bounds`: lines of Python, and characters printed. Nothing here looks at a clock, so the
same function gets the same sentence on a slow machine, in a notebook and in a page of the book. What is beyond it: one
step in C that does not come back (``10**10**9``, ``time.sleep(1e9)``, some patterns of `re`), or that takes all memory;
what is printed past `sys.stdout`; and threads that the code starts, for only the thread of the check is bounded. A
generator runs when it is read: who reads it here does so within bounds.

An object of a class of one's own may do anything in its ``repr``, its ``==`` or its ``hash``: raise, end the kernel,
never come back, write HTML. So `taken` takes an answer apart once, within bounds, into values of Python's own; what is
none is kept as two texts, its kind and its ``repr``. From there on nothing of a student's runs, but a function when it
is called, as a `GivenFunction`.
"""

from __future__ import annotations

import inspect
import io
import linecache
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from types import FrameType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafkalearn.exercises.kit.line_counting import TooManyLines, line_counter

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value")

LINES = 3_000_000
CHARACTERS = 100_000


class Spent(Exception):  # noqa: N818  (it says what happened; no fault of the library)
    """A bound was reached; the message goes on after "it"."""


class Bounds:
    """Limits of submitted code; calls with the same limits share what is left.

    Parameters
    ----------
    lines : int
        Lines of Python that may be run; `LINES` if not said.
    characters : int
        How much may be printed; `CHARACTERS` if not said.

    Examples
    --------
    >>> def never_ends():
    ...     while True:
    ...         pass
    >>> Bounds(lines=1000).run(never_ends)
    Traceback (most recent call last):
    ...
    kafkalearn.exercises.kit.given.Spent: was stopped after 1,000 lines of Python: a loop in it may never end
    """

    def __init__(self, lines: int | None = None, characters: int | None = None) -> None:
        """Nothing of it is used up yet."""
        self.lines = LINES if lines is None else lines
        self.characters = CHARACTERS if characters is None else characters
        self._counter = line_counter(self.lines)
        self._room = self.characters

    def run(self, function: Callable[..., Value], *arguments: object) -> Value:
        """What the function returns. What it prints is shown when it has ended.

        Raises
        ------
        Spent
            If a bound was reached. The function's own exceptions pass through, `SystemExit` as well.
        """
        printed = _Printed(self._room)
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                return self._counter.run(function, *arguments)
        except TooManyLines:
            words = f"was stopped after {self.lines:,} lines of Python: a loop in it may never end"
        except _TooMuchPrinted:
            words = f"was stopped after it had printed {self.characters:,} characters: a loop in it may never end"
        finally:
            self._room -= len(printed.getvalue())
            print(printed.getvalue(), end="", flush=True)
        raise Spent(words)


class _TooMuchPrinted(BaseException):
    """Raised by `print` in the code, and again each time that it prints."""


class _Printed(io.StringIO):
    """Takes what is printed, up to so many characters."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def write(self, text: str) -> int:
        room = self.most - self.tell()
        super().write(text[:room])
        if len(text) > room:
            raise _TooMuchPrinted
        return len(text)


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

    def __call__(self, *arguments: object) -> Any:
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


Said = TypeVar("Said")

MOST_PARTS = 10_000
_DEEPEST = 40
_BASES = (int, float, complex, str, bytes, Fraction, Decimal, bytearray, list, tuple, dict, set, frozenset)
_LISTED = (range, type({}.keys()), type({}.values()))
_MRO, _NAME = type.__dict__["__mro__"], type.__dict__["__name__"]  # a metaclass may have others


@dataclass(frozen=True, slots=True)
class Strange:
    """A value of a kind that no exercise asks for."""

    kind: str  # "a Foo"
    text: str  # its repr, in one line


class LabelledValues(list):
    """A pandas Series: its values, and in `by_label` the same as a dict."""

    by_label: object  # whatever its `to_dict` gave


def taken(value: object) -> object:
    """The answer in values of Python's own, and events and functions.

    Parameters
    ----------
    value : object
        Anything at all. NumPy and pandas values count as what they hold, a subclass as the class it is made of.

    Returns
    -------
    object
        A value whose ``==``, ``hash`` and ``repr`` are Python's own or ours: a scalar; a list, tuple, dict or set of
        such; an event or another dataclass of kafkalearn, or its class; a `GivenFunction`; or `Strange`. What has
        been taken comes back as it is.

    Examples
    --------
    >>> import numpy
    >>> taken(numpy.int64(12)), taken(numpy.array([1, 2])), taken(Decimal("3"))
    (12, [1, 2], 3)
    >>> class Evil:
    ...     def __repr__(self):
    ...         raise SystemExit
    >>> taken([1, Evil()])
    [1, Strange(kind='an Evil', text='<Evil without a repr>')]
    """
    try:
        return _Intake().take(value)
    except _Unfit as reason:
        return Strange(_kind(value), f"<{name_of(value)} {reason}>")


class _Unfit(Exception):  # noqa: N818
    """The message goes on after the name of a class."""


class _Intake:
    """Takes one answer, with its bounds and its count of parts."""

    def __init__(self) -> None:
        self.bounds = Bounds(lines=100_000, characters=0)
        self.part_count = 0
        self.around: list[int] = []  # the containers around the part, by id

    def take(self, value: object) -> object:
        self.part_count += 1
        if self.part_count > MOST_PARTS:
            raise _Unfit(f"of more than {MOST_PARTS:,} parts")
        if (
            value is None
            or value is ...
            or type(value) in (bool, Strange)
            or GivenFunction in _MRO.__get__(type(value))
        ):
            return value
        if id(value) in self.around:
            raise _Unfit("that contains itself")
        if len(self.around) > _DEEPEST:
            raise _Unfit(f"nested more than {_DEEPEST} deep")
        if type(value) in (int, float, str, bytes):  # most parts are: these have nothing inside
            return value
        self.around.append(id(value))
        try:
            return self._take_apart(value)
        finally:
            self.around.pop()

    def _take_apart(self, value: Any) -> object:
        base = next((each for each in _BASES if each in _MRO.__get__(type(value))), None)
        if base is not None:
            return self._of_base(base, value)
        if type(value) in _LISTED:
            return self._each(value)
        if type(value) is MappingProxyType:
            return self._of_base(dict, dict(value))
        if _is_ours(value):
            return value
        if _is_ours(type(value)) and is_dataclass(value) and not isinstance(value, type):
            return self._of_dataclass(value)
        if _is_ours(type(value)) and isinstance(value, Mapping):
            return self._of_base(dict, dict(value))
        if _kind(value) in ("a NAType", "a NaTType"):  # pandas' own "no value"
            return math.nan
        held = self._asked(_held, value)
        if held is not None:
            return self._of_array(*held)
        if callable(value) and not is_frame(value):
            return GivenFunction(value, taken)
        return self._strange(value)

    def _of_base(self, base: type, value: Any) -> object:
        if base is Decimal:  # what Spark gives for a column of decimals
            return _of_decimal(value) if type(value) is Decimal else self._strange(value)
        if base is Fraction:
            return value if type(value) is Fraction else self._strange(value)
        if base in (list, tuple, set, frozenset):
            parts = self._each(base.__iter__(value))
            if type(value) is LabelledValues:
                return value
            return base(map(_hashable, parts)) if base in (set, frozenset) else base(parts)
        if base is dict:
            return {_hashable(self.take(name)): self.take(part) for name, part in dict.items(value)}
        return _EXACTLY[base](value)

    def _each(self, parts: Iterable[object]) -> list[object]:
        return [self.take(part) for part in parts]

    def _of_array(self, held: object, by_label: object) -> object:
        held = self.take(held)
        if by_label is None or not isinstance(held, list):
            return held
        labelled = LabelledValues(held)
        labelled.by_label = self.take(by_label)
        return labelled

    def _of_dataclass(self, value: DataclassInstance) -> object:
        given = {each.name: self.take(getattr(value, each.name, None)) for each in fields(value) if each.init}
        try:
            return type(value)(**given)
        except Exception:  # it was not made by its own class
            return self._strange(value)

    def _strange(self, value: object) -> Strange:
        text = self._asked(repr, value)
        text = str(self.take(text)) if text is not None else f"<{name_of(value)} without a repr>"
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # an address would be another in the next run
        return Strange(_kind(value), "\\n".join(text[:1000].splitlines()))

    def _asked(self, question: Callable[[object], Said], value: object) -> Said | None:
        """What an object says of itself; None if it fails at that, whatever it does."""
        try:
            return self.bounds.run(question, value)
        except KeyboardInterrupt:  # the student's own: the cell is to end
            raise
        except BaseException:
            return None


_EXACTLY: dict[type, Callable[[Any], object]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytes(memoryview(value)),
}
"""From an instance of a subclass to the same value of the class itself, without a method of the subclass."""


def _of_decimal(value: Decimal) -> object:
    if not value.is_finite():
        return math.nan if value.is_nan() else math.inf.__mul__(-1 if value.is_signed() else 1)
    if value.adjusted() > 400:
        return Strange("a Decimal", f"<Decimal of {value.adjusted() + 1:,} digits>")
    return int(value) if value == value.to_integral_value() else float(value)


def _hashable(part: object) -> object:
    return part if type(part) not in (list, dict, set, LabelledValues) else Strange(_kind(part), f"<{name_of(part)}>")


def _is_ours(kind: object) -> bool:
    """Whether it is a class of kafkalearn, and not one that only has its name."""
    if type not in _MRO.__get__(type(kind)):
        return False
    module, name = type.__dict__["__module__"].__get__(kind), _NAME.__get__(kind)
    home = sys.modules.get(module) if isinstance(module, str) and module.startswith("kafkalearn.") else None
    return home is not None and vars(home).get(name) is kind


def _held(value: object) -> tuple[object, object] | None:
    """What a NumPy scalar or array or a pandas Series holds, and a Series by its labels."""
    if not (hasattr(value, "dtype") and hasattr(value, "tolist")):
        return None
    return value.tolist(), value.to_dict() if hasattr(value, "to_dict") else None


def is_frame(value: object) -> bool:
    """Whether it is called a DataFrame, Spark's or pandas'; neither is imported here."""
    return name_of(value) == "DataFrame"


def name_of(value: object) -> str:
    """The name of its class; "object" if that is none that can be written in code."""
    name = _NAME.__get__(type(value))
    return name if name.isidentifier() else "object"


def _kind(value: object) -> str:
    name = name_of(value)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
