"""All exercises of all chapters, found by themselves: a new chapter is covered as soon as its module is there."""

import ast
import pkgutil
import re
from importlib import import_module

from kafkalearn import exercises

CHAPTERS = [
    import_module(f"{exercises.__name__}.{module.name}")
    for module in pkgutil.iter_modules(exercises.__path__)
    if re.fullmatch(r"chapter\d\d[a-z]?", module.name)
]

EXERCISES = [(chapter, exercise) for chapter in CHAPTERS for exercise in chapter.all_exercises()]


def name_of(value):
    """What pytest shows of a parameter."""
    return getattr(value, "name", None) or getattr(value, "__name__", "").rpartition(".")[2]


def run_cell(source, namespace):
    """The value of the last expression, as a notebook cell shows it."""
    *statements, last = ast.parse(source).body
    assert isinstance(last, ast.Expr), "a cell ends with the check"
    exec(compile(ast.Module(statements, []), "<cell>", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
