"""Calls that make sense, to be spoilt: what the examples of a package call, with the arguments they give."""

from __future__ import annotations

import doctest
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from io import StringIO
from random import Random
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import get_type_hints

from tests.fuzz.faults import Faults, as_text, documented_errors
from tests.fuzz.odd import judges_itself, spoilt
from tests.project.modules import PACKAGES, part_of

MOST_CALLS = 12  # kept of one function: an example may call it a thousand times


@dataclass(frozen=True)
class Call:
    """One call of a public function or class, as an example makes it."""

    name: str
    function: Callable
    arguments: dict[str, object]  # by name; what a function takes any number of stands under its name with a star
    cost: int  # how many functions it called in turn: the same on every machine


FURTHER = (
    "kafkalearn.consuming.nearest",
    "kafkalearn.groups.patterns",
    "kafkalearn.oncall",
    "kafkalearn.transactions.history",
)
"""Public too: modules that a chapter imports by name, and the seven questions as functions."""


def public_parts() -> tuple[str, ...]:
    """Every package of the core whose public API has something to call, and `FURTHER`."""
    core = tuple(name for name in PACKAGES if part_of(name) == "core" and face_of(import_module(name)))
    return core + FURTHER


def face_of(module: ModuleType) -> dict[str, Callable]:
    """The functions and classes of a package's public API by name; nouns and tables in it are no calls.

    Of a module without ``__all__`` it is what is written in it, and begins with no underscore. `check` and `broken`
    judge what a simulator makes, and `tests.fuzz.simulators` uses them so.
    """
    own = [name for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__]
    public = getattr(module, "__all__", [name for name in own if not name.startswith("_")])
    named = {name: getattr(module, name) for name in public if name not in ("check", "broken")}
    return {name: each for name, each in named.items() if code_of(each) is not None}


def code_of(function: object) -> CodeType | None:
    """The code that runs when it is called; None: not a function or class written here."""
    if isinstance(function, type):
        function = function.__dict__.get("__init__")
    function = inspect.unwrap(function) if callable(function) else function
    return function.__code__ if isinstance(function, FunctionType) else None


def calls_of(package: str) -> list[Call]:
    """The calls that the examples of a package, and of the modules its public names come from, make of them."""
    module = import_module(package)
    face = face_of(module)
    recorder = Recorder(face)
    homes = {sys.modules[each.__module__] for each in face.values()} | {module}
    for home in sorted(homes, key=lambda each: each.__name__):
        for example in doctest.DocTestFinder(exclude_empty=True).find(home):
            recorder.run(example)
    return recorder.calls


class Recorder:
    """Runs examples, and keeps the calls they make of some functions."""

    def __init__(self, face: dict[str, Callable]) -> None:
        """Look out for these functions and classes."""
        self.face = face
        self.names = {code_of(each): name for name, each in face.items()}
        self.calls: list[Call] = []
        self._kept = dict.fromkeys(face, 0)
        self._call_count = 0
        self._open: list[tuple[FrameType, int, str, dict[str, object]]] = []

    def run(self, example: doctest.DocTest) -> None:
        """Run one example; what it prints is judged elsewhere."""
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.FAIL_FAST)
        with redirect_stdout(StringIO()):
            sys.setprofile(self._note)
            try:
                runner.run(example, clear_globs=False)
            finally:
                sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._call_count += 1
            name = self.names.get(frame.f_code)
            if name is not None and self._kept[name] < MOST_CALLS:
                self._kept[name] += 1
                self._open.append((frame, self._call_count, name, arguments_in(frame)))
        elif event == "return" and self._open and self._open[-1][0] is frame:
            _, before, name, arguments = self._open.pop()
            self.calls.append(Call(name, self.face[name], arguments, self._call_count - before))


def arguments_in(frame: FrameType) -> dict[str, object]:
    """The arguments with which a frame begins, without the object that a class makes."""
    names, star, stars, values = inspect.getargvalues(frame)
    given = {name: values[name] for name in names}
    if frame.f_code.co_name == "__init__":
        given.pop(names[0])
    if star:
        given[f"*{star}"] = values[star]
    return {**given, **(values[stars] if stars else {})}


def invoke(call: Call, arguments: dict[str, object]) -> object:
    """Call with these arguments: by name, or by place where the function takes any number of them."""
    names = list(arguments)
    star = next((place for place, key in enumerate(names) if key.startswith("*")), None)
    if star is None:
        return call.function(**arguments)
    more = arguments[names[star]]
    by_place = [*(arguments[key] for key in names[:star]), *(more if isinstance(more, list | tuple) else [more])]
    return call.function(*by_place, **{key: arguments[key] for key in names[star + 1 :]})


def parameters_of(function: Callable) -> Iterator[str]:
    """The names of all parameters of a function or class."""
    yield from inspect.signature(function).parameters


# The public functions and classes of a package, called with odd arguments.
HOW_MUCH = {"budget": 300, "walk_count": 20, "length": 200}
"""Of each argument that says how much is asked for, what takes a moment: how long to search is the caller's to say."""
COST_OF_ALL_ROUNDS = 20_000  # functions called; of a call that costs more there are fewer rounds
LEAST_ROUNDS = 3


def fuzz_functions(package: str, seed: int, rounds: int) -> Faults:
    """Call each public name of a package up to `rounds` times, one or two arguments of an example's call odd."""
    faults, random = Faults(), Random(f"{package}/{seed}")
    by_name: dict[str, list[Call]] = defaultdict(list)
    for call in calls_of(package):
        if call.arguments:
            by_name[f"{package}.{call.name}"].append(call)
    for name, calls in by_name.items():
        hints = hints_of(calls[0].function)
        cost = sum(call.cost for call in calls) // len(calls)
        for _ in range(max(LEAST_ROUNDS, min(rounds, rounds * COST_OF_ALL_ROUNDS // (40 * max(cost, 1))))):
            call = random.choice(calls)
            _try(faults, name, call, _with_odd_arguments(faults, random, name, call, hints))
    return faults


def hints_of(function: Callable) -> dict[str, object]:
    """The annotations of a function's parameters, or of the fields that a class is made of."""
    of = function if is_dataclass(function) or not isinstance(function, type) else function.__init__
    for_checkers: dict[str, object] = {}  # names that a module imports for the type checker alone: no plain values
    while True:
        try:
            return get_type_hints(inspect.unwrap(of), localns=for_checkers or None, include_extras=True)
        except NameError as error:
            for_checkers[error.name] = object


def _with_odd_arguments(
    faults: Faults, random: Random, name: str, call: Call, hints: dict[str, object]
) -> dict[str, object]:
    """The arguments of a call, one or two of them spoilt; where an object refuses to be spoilt it stays."""
    arguments = dict(call.arguments)
    keys = [key for key in arguments if not (key == "settings" and _has_state(arguments))]
    for key in random.sample(keys, min(len(keys), random.choice((1, 1, 2)))):
        value, hint = arguments[key], hints.get(key.removeprefix("*"))
        for made in faults.attempt(f"{name}: {key} spoilt", lambda: spoilt(random, value, hint)):  # noqa: B023
            arguments[key] = made
    return _in_a_moment(arguments, {*parameters_of(call.function)})


def _has_state(arguments: dict[str, object]) -> bool:
    """Whether a state is among them: it belongs to its settings, and other settings are no bad input but nonsense."""
    return any(
        is_dataclass(each) and not judges_itself(type(each)) for value in arguments.values() for each in _inside(value)
    )


def _inside(value: object) -> tuple:
    return value if isinstance(value, tuple) and type(value) is tuple else (value,)


def _in_a_moment(arguments: dict[str, object], names: set[str]) -> dict[str, object]:
    """The same, with no more asked for than takes a moment; odd numbers that are none, or too small, stay."""
    if "limits" in names:
        names = names | {"budget"}
    most = {name: HOW_MUCH[name] for name in HOW_MUCH.keys() & names}
    given = {name: arguments.get(name, each) for name, each in most.items()}
    small = {name: min(each, most[name]) if isinstance(each, int) else each for name, each in given.items()}
    return {**arguments, **small}


def _try(faults: Faults, name: str, call: Call, arguments: dict[str, object]) -> None:
    """Make the call; what it gives can be written, unless it is an object that does not look at its fields."""
    written = as_text(name, arguments)
    for result in faults.attempt(written, lambda: invoke(call, arguments), documented_errors(call.function)):
        if not is_dataclass(result) or judges_itself(type(result)):
            faults.attempt(f"repr({written})", lambda: repr(result))  # noqa: B023
