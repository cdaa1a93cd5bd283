"""The public functions and classes of a package, called with odd arguments."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import is_dataclass
from random import Random
from typing import get_type_hints

from tests.fuzz.calls import Call, calls_of, invoke, parameters_of
from tests.fuzz.faults import Faults, as_text, documented_errors
from tests.fuzz.odd import judges_itself, spoilt

SMALL_BUDGET = 300  # states of a search
COST_OF_ALL_ROUNDS = 20_000  # functions called; of a call that costs more there are fewer rounds
LEAST_ROUNDS = 3


def fuzz_functions(package: str, seed: int, rounds: int) -> Faults:
    """Call each name in the face of a package up to `rounds` times, one or two arguments of an example's call odd."""
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
    return get_type_hints(inspect.unwrap(of), include_extras=True)


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
    return _with_small_budget(arguments) if {"budget", "limits"} & {*parameters_of(call.function)} else arguments


def _has_state(arguments: dict[str, object]) -> bool:
    """Whether a state is among them: it belongs to its settings, and other settings are no bad input but nonsense."""
    return any(
        is_dataclass(each) and not judges_itself(type(each)) for value in arguments.values() for each in _inside(value)
    )


def _inside(value: object) -> tuple:
    return value if isinstance(value, tuple) and type(value) is tuple else (value,)


def _with_small_budget(arguments: dict[str, object]) -> dict[str, object]:
    """The same, with a budget of as many states as are seen in a moment: how long to search is the caller's to say."""
    budget = arguments.get("budget", SMALL_BUDGET)
    is_large = isinstance(budget, int) and budget > SMALL_BUDGET
    return {**arguments, "budget": SMALL_BUDGET if is_large else budget}


def _try(faults: Faults, name: str, call: Call, arguments: dict[str, object]) -> None:
    """Make the call; what it gives can be written, unless it is an object that does not look at its fields."""
    written = as_text(name, arguments)
    for result in faults.attempt(written, lambda: invoke(call, arguments), documented_errors(call.function)):
        if not is_dataclass(result) or judges_itself(type(result)):
            faults.attempt(f"repr({written})", lambda: repr(result))  # noqa: B023
