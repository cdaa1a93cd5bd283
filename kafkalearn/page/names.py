"""Which names a cell needs and which it makes, read from its text; what must run before a cell can."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_GIVEN = frozenset([*dir(builtins), "display"])


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one cell."""

    read: frozenset[str]
    needed: frozenset[str]  # read, and not made before in the same cell
    made: frozenset[str]  # bound by assignments, imports, functions and the like
    changed: frozenset[str]  # what may be other after it: ``x.append(1)``, ``x[0] = 1``


@lru_cache(maxsize=4096)
def names_of(source: str) -> Names:
    """The names of a cell; of what is no Python, none.

    >>> sorted(names_of("total = first + sum(rows)").needed), sorted(names_of("total = first").made)
    (['first', 'rows'], ['total'])
    >>> sorted(names_of("rows.append(1); counts[2] = 3").changed)
    ['counts', 'rows']
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return Names(*[frozenset()] * 4)
    all_read: set[str] = set()
    needed: set[str] = set()
    made: set[str] = set()
    changed: set[str] = set()
    for statement in tree.body:
        read, bound = _read_and_bound(statement)
        all_read |= read
        needed |= read - made
        made |= bound
        changed |= _changed(statement)
    return Names(frozenset(all_read), frozenset(needed) - _GIVEN, frozenset(made), frozenset(changed))


def cells_before(sources: Sequence[str], at: int) -> list[int]:
    """The positions of the cells above one that it stands on, in order: they make what it needs, or change that.

    >>> cells_before(["a = 1", "b = 2", "c = a + 1", "a", "c + 1"], 4)
    [0, 2]
    """
    wanted, chosen = set(names_of(sources[at]).needed), []
    for number in range(at - 1, -1, -1):
        names = names_of(sources[number])
        if wanted & (names.made | names.changed):
            chosen.append(number)
            wanted |= names.needed  # a name that was found here may be made anew from an older one
    return chosen[::-1]


def _read_and_bound(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement reads from outside itself, and those it binds in the cell."""
    read: set[str] = set()
    bound: set[str] = set()
    again: set[str] = set()  # read by ``x += 1``, though it binds x as well
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            again.add(node.target.id)
    inner = _inner(statement)
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return read - (bound - {statement.name}) - inner, {statement.name}  # what it binds inside is its own
    return (read - inner - _of_blocks(statement)) | again, bound - inner


def _inner(statement: ast.stmt) -> set[str]:
    """The names that comprehensions, lambdas and functions bind for themselves."""
    inner: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.comprehension):
            inner |= _named(node.target)
        elif isinstance(node, ast.arg):
            inner.add(node.arg)
    return inner


def _of_blocks(statement: ast.stmt) -> set[str]:
    """The names that ``for`` and ``with`` bind before their block reads them."""
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.For | ast.AsyncFor):
            names |= _named(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            names |= _named(node.optional_vars)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def _named(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _changed(statement: ast.stmt) -> set[str]:
    changed = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed |= _root(node)
        elif isinstance(node, ast.AugAssign):
            changed |= _root(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changed |= _root(node.value.func) if isinstance(node.value.func, ast.Attribute) else set()
    return changed


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
