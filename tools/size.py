"""How large the house is: for each part its files, its lines, what of them is code and what imports, beside its budget.

    python3 run.py size

A line of code holds more than a comment or a docstring. The budget, of ``tools/budget.toml``, is what a part had when
it was last looked at: beyond it, look again.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.base.tables import text_table
from tools.environment import ROOT

BUDGET = ROOT / "tools" / "budget.toml"
OUTSIDE = ("conformance", "tools", "benchmarks", "tests")
"""The folders beside the package, each a part of its own."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a few files hold."""

    files: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0  # lines of import statements

    def __add__(self, other: Size) -> Size:
        """Both together."""
        return Size(
            self.files + other.files, self.lines + other.lines, self.code + other.code, self.imports + other.imports
        )


def size_of(source: str) -> Size:
    """The size of one file.

    >>> size_of('"Words."\\nimport os  # why\\n\\n\\ndef f():\\n    "Words."\\n    return os.sep\\n')
    Size(files=1, lines=7, code=3, imports=1)
    """
    words: set[int] = set()
    imports: set[int] = set()
    inside: set[int] = set()  # texts of several lines, of which any may be blank or begin with a #
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                words.update(_lines_of(node))
            case ast.Import() | ast.ImportFrom():
                imports.update(_lines_of(node))
            case ast.Constant() | ast.JoinedStr():
                inside.update(_lines_of(node))
    lines = (line.strip() for line in source.split("\n"))
    code = {number for number, line in enumerate(lines, 1) if line and not line.startswith("#")}
    return Size(1, source.count("\n"), len((code | inside) - words), len(imports))


def _lines_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def part_of(path: Path) -> str:
    """The part that a file of the repository belongs to: a folder of the package, or a folder of the root."""
    top, *rest = path.relative_to(ROOT).parts
    return rest[0] if top == "kafkalearn" and len(rest) > 1 else top


def sizes() -> dict[str, Size]:
    """Each part with what it holds, by name; ``kafkalearn`` has the files of the package itself."""
    found: dict[str, Size] = {}
    for folder in ("kafkalearn", *OUTSIDE):
        for path in sorted((ROOT / folder).rglob("*.py")):
            part = part_of(path)
            found[part] = found.get(part, Size()) + size_of(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def budgets() -> dict[str, int]:
    """The lines of code that each part may have."""
    return tomllib.loads(BUDGET.read_text(encoding="utf-8"))["code"]


def total(all_sizes: Iterable[Size]) -> Size:
    """All together."""
    whole = Size()
    for each in all_sizes:
        whole += each
    return whole


def main() -> int:
    """Print the table; 1 if a part is beyond its budget."""
    found, allowed = sizes(), budgets()
    package = total(size for part, size in found.items() if part not in OUTSIDE)
    rows = [
        {"part": part, "files": size.files, "lines": size.lines, "code": size.code, "budget": allowed.get(part, 0)}
        for part, size in {**found, "all of kafkalearn": package}.items()
    ]
    rows[-1]["budget"] = sum(allowed[part] for part in allowed if part not in OUTSIDE)
    print(text_table(rows))
    folders = {path.parent for path in (ROOT / "kafkalearn").rglob("*.py")}
    print(f"\n{package.files} files in {len(folders)} folders; {package.imports / package.lines:.1%} of lines import")
    return any(size.code > allowed.get(part, 0) for part, size in found.items())


if __name__ == "__main__":
    sys.exit(main())
