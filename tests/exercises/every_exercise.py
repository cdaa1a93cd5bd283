"""All exercises of all chapters, found by themselves: a new chapter is covered as soon as its module is there."""

import ast
import pkgutil
import re
from functools import cache
from importlib import import_module

from kafkalearn import exercises
from kafkalearn.exercises.progress.record import encoded

CHAPTERS = [
    import_module(f"{exercises.__name__}.{module.name}")
    for module in pkgutil.iter_modules(exercises.__path__)
    if re.fullmatch(r"chapter\d\d[a-z]?", module.name)
]

EXERCISES = [(chapter, exercise) for chapter in CHAPTERS for exercise in chapter.all_exercises()]

ALL = {exercise.progress.exercise: exercise for _, exercise in EXERCISES}
"""Each exercise by the name it has in a file of progress."""


def form_of(exercise):
    """By what its answers are judged, and how a file keeps them: what is said and kept differs by no more than that.

    A known wrong answer is kept as the right one is, and need not be found by playing an hour of the shop.
    """
    kept = encoded(exercise.misconceptions[0].wrong if exercise.misconceptions else exercise.solve())
    return type(exercise.judge), "function" if isinstance(kept, dict) and "function" in kept else type(kept)


@cache
def one_of_each_form():
    """The first exercise of each form, for what costs much and cannot differ from one to another of its kind."""
    return [*{form_of(exercise): exercise for _, exercise in reversed(EXERCISES)}.values()]


@cache
def solved():
    """The right answer to each exercise, as a file of progress keeps it."""
    return {name: encoded(exercise.solve()) for name, exercise in ALL.items()}


@cache
def mistaken():
    """The first known wrong answer to each exercise that has one, as a file of progress keeps it."""
    return {
        name: encoded(exercise.misconceptions[0].wrong) for name, exercise in ALL.items() if exercise.misconceptions
    }


def name_of(value):
    """What pytest shows of a parameter."""
    return getattr(value, "name", None) or getattr(value, "__name__", "").rpartition(".")[2]


def run_cell(source, namespace):
    """The value of the last expression, as a notebook cell shows it."""
    *statements, last = ast.parse(source).body
    assert isinstance(last, ast.Expr), "a cell ends with the check"
    exec(compile(ast.Module(statements, []), "<cell>", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
