"""Every module of the package by its name, read as source: who it is, and what it imports."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "kafkalearn"
OUTER = ("spark", "drawing", "views", "boards", "exercises", "live", "lab", "oncall", "tiny", "journey", "__main__")
"""The parts around the core. Pictures and words stand beside their rules; they are of the part `drawing`, too."""

LOGS = "kafkalearn.oncall.logs"
"""What lines of logs say is a rule like others: of the core, wherever it stands."""


def _name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
PACKAGES = tuple(name for name, path in MODULES.items() if path.name == "__init__.py")


def part_of(module: str) -> str:
    """Which part of the project a module belongs to."""
    if re.search(r"\.(\w+_)?(picture|words)$", module):
        return "drawing"
    second = [*module.split("."), ""][1]
    return second if second in OUTER and not f"{module}.".startswith(f"{LOGS}.") else "core"


def home_of(module: str) -> str:
    """Where a module may import a package that is not Python's own: an outer part or a corner of the core; else ""."""
    if part_of(module) in ("spark", "live", "lab"):
        return part_of(module)
    if part_of(module) == "drawing" and module.endswith(("figures", ".saving")):
        return "figures"
    homes = {
        "kafkalearn.base.frame": "pandas",
        "kafkalearn.formats.columns": "numpy",
        "kafkalearn.formats.arrow": "numpy",
        "kafkalearn.drawing.widgets": "widgets",
        "kafkalearn.oncall.agents": "agents",
        "kafkalearn.oncall.tool_calls": "agents",
    }
    return homes.get(module, "")


def tree_of(module: str) -> ast.Module:
    """A module as Python parses it."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported_by(tree: ast.AST) -> set[str]:
    """Everything that the import statements in `tree` name, as dotted names."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package in full"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inside & MODULES.keys() or {node.module}
    return names


@cache
def _imports(module: str) -> tuple[frozenset[str], frozenset[str]]:
    """Everything that a module imports, and what of it inside its functions; parsed once."""
    tree = tree_of(module)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(imported_by(tree)), frozenset().union(*map(imported_by, functions))


def imports_of(module: str) -> frozenset[str]:
    """Everything that a module imports, wherever in it."""
    return _imports(module)[0]


def late_imports_of(module: str) -> frozenset[str]:
    """What a module imports inside its functions."""
    return _imports(module)[1]
