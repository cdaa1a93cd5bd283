"""A function as text that runs on its own: its source, and that of whatever it uses of its notebook."""

from __future__ import annotations

import ast
import dis
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

LONGEST = 20_000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set)


class NoSource(Exception):  # noqa: N818
    """The message says why a function cannot be kept as text."""


def source_of(function: object) -> tuple[str, str]:
    """A name, and a text after which the function has this name.

    Parameters
    ----------
    function : object
        A function or a lambda. With it come the functions, modules and plain values that it uses by a name of its
        own notebook or module, and the values that it has closed over.

    Raises
    ------
    NoSource
        If there is no source (a function in C), if it is longer than 20,000 characters, or if it uses something else.

    Examples
    --------
    >>> source_of(len)
    Traceback (most recent call last):
    ...
    kafkalearn.exercises.progress.source.NoSource: it is no function written in Python
    """
    pieces = _Pieces()
    name = pieces.add(function)
    text = "\n".join(["from __future__ import annotations", *sorted(pieces.imports), *pieces.texts]) + "\n"
    if len(text) > LONGEST:
        raise NoSource(f"it is longer than {LONGEST:,} characters")
    return name, text


class _Pieces:
    """The definitions collected so far, each after those that it needs."""

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.texts: list[str] = []
        self.names: set[str] = set()

    def add(self, function: Any) -> str:
        function = inspect.unwrap(function)
        if type(function) is not FunctionType:
            raise NoSource("it is no function written in Python")
        node, text = _definition(function)
        name = function.__name__ if isinstance(node, ast.FunctionDef) else "a_lambda"
        if name not in self.names:
            self.names.add(name)
            for used, value in _used_by(function, node):
                self._define(used, value)
            self.texts.append(text if isinstance(node, ast.FunctionDef) else f"{name} = {text}")
        return name

    def _define(self, name: str, value: Any) -> None:
        own = _name_in_module(value)
        if isinstance(value, ModuleType):
            self.imports.add(f"import {value.__name__} as {name}")
        elif name in self.names:
            return
        elif own is not None:
            self.imports.add(f"from {value.__module__} import {own} as {name}")
        elif isinstance(inspect.unwrap(value), FunctionType):
            defined = self.add(value)
            self.texts += [f"{name} = {defined}"] if name != defined else []
        elif _is_plain(value):
            self.names.add(name)
            self.texts.append(f"{name} = {value!r}")
        else:
            raise NoSource(f"it uses {name}, which is no function, no module and no plain value")


def _definition(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    """Where it is defined, and the text there."""
    code = function.__code__
    try:
        whole = "".join(inspect.findsource(function)[0])
        tree = ast.parse(whole)
    except (OSError, SyntaxError, TypeError) as error:
        raise NoSource("its source is not known") from error
    if code.co_name != "<lambda>":
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.FunctionDef)
                and node.name == code.co_name
                and _first_line(node) == code.co_firstlineno
            ):
                lines = whole.splitlines()[_first_line(node) - 1 : node.end_lineno]
                return node, textwrap.dedent("\n".join(lines))
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and _has(node, code)]
    if not lambdas:
        raise NoSource("its source is not known")
    innermost = max(lambdas, key=lambda node: (node.lineno, node.col_offset))
    return innermost, f"({ast.get_source_segment(whole, innermost)})"


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _has(node: ast.Lambda, code: CodeType) -> bool:
    """Whether the code of a lambda stands in the body of this one."""
    body = node.body
    places = [
        (line, column) for line, _, column, _ in code.co_positions() if line and column is not None and column > 0
    ]
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return node.lineno == code.co_firstlineno and all(begin <= place < end for place in places)


def _used_by(function: FunctionType, node: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[str, object]]:
    """The names of its notebook that it uses, with their values, and those that it has closed over."""
    code = function.__code__
    names = {*_globals_in(code), *_names_around(node)}
    yield from ((name, function.__globals__[name]) for name in sorted(names) if name in function.__globals__)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError as error:
            raise NoSource(f"it uses {name}, which has no value yet") from error


def _globals_in(code: CodeType) -> Iterator[str]:
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield each.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_in(constant)


def _names_around(node: ast.FunctionDef | ast.Lambda) -> Iterator[str]:
    """What its definition needs before it is called: decorators and defaults; annotations are not looked at."""
    around = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    around += node.decorator_list if isinstance(node, ast.FunctionDef) else []
    for tree in around:
        yield from (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))


def _name_in_module(value: object) -> str | None:
    """The name under which a value is found again in its module; None for what only a notebook has."""
    home, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not (isinstance(home, str) and isinstance(name, str)) or home == "__main__":
        return None
    return name if getattr(sys.modules.get(home), name, None) is value else None


def _is_plain(value: object) -> bool:
    if type(value) not in _PLAIN:
        return False
    try:
        return ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError, RecursionError):
        return False
