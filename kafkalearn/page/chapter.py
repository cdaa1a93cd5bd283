"""An open chapter of the book, and one cell of it run in the namespace that all its cells and exercises share.

A cell that imports what no page has, or needs what such a cell makes, is not run: its recorded output stays, and the
page says what it would need. All other cells run as they are, or as the reader has changed them.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field

from kafkalearn.page.display import Outputs
from kafkalearn.page.faults import fault
from kafkalearn.page.imports import import_into, needed_for
from kafkalearn.page.names import names_of
from kafkalearn.phrases import listed

_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(slots=True)
class Chapter:
    """The cells as they stand in the book, in order, and what has been made since the page was opened.

    Attributes
    ----------
    sources : dict of str to str
        The text of each cell by its id.
    exercises : dict of str to str
        For the cells that are exercises: the name in a record, ``"01.same_partition"``.
    ran : dict of str to str
        The cells whose values are there, each with the text that made them.
    """

    sources: dict[str, str]
    exercises: dict[str, str] = field(default_factory=dict)
    ran: dict[str, str] = field(default_factory=dict)
    namespace: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})
    lacking: dict[str, frozenset[str]] = field(default_factory=dict)  # what each name needs that is not there

    def run(self, cell: str, source: str, outputs: Outputs) -> str:
        """Run a cell's text; what it shows is in `outputs`, an error as the last of it.

        What it would need that no page has is returned, or the empty text; then it was not run.
        """
        names, file = names_of(source), f"<cell {cell}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        self.namespace["display"] = outputs.show
        imported: set[str] = set()
        try:
            imports, rest, last = _in_parts(source, file)
            imported = self._import_all(imports, file)
            if needs := self.needed(names.needed | (imported & names.read)):
                self._set_down(names.made - imported, needs)
                return listed(sorted(needs))
            self.is_made(names.made - imported)
            with redirect_stdout(outputs), redirect_stderr(outputs):
                exec(rest, self.namespace)
                value = eval(last, self.namespace) if last else None
                if value is not None:
                    outputs.show(value)
        except Exception as error:
            if needs := _hidden_need(error):
                self._set_down(names.made - imported, frozenset({needs}))
                return needs
            outputs.parts.append({"error": fault(error, file, self.reasons(cell))})
        except SystemExit:
            pass
        return ""

    def needed(self, names: Iterable[str]) -> frozenset[str]:
        """What is needed for some names, of what no page has."""
        return frozenset().union(*(self.lacking.get(name, ()) for name in names))

    def is_made(self, names: Iterable[str]) -> None:
        """These names have a value now, whatever they needed before."""
        for name in names:
            self.lacking.pop(name, None)

    def reasons(self, cell: str) -> Mapping[str, str]:
        """For names that are not there when a cell runs: a sentence that says why."""
        made = {}
        for other, source in self.sources.items():
            for name in names_of(source).made:
                made.setdefault(name, f"{name} is made by a cell above that has not been run yet: press Run to here")
            if other == cell:
                break
        lacking = {name: listed(sorted(needs)) for name, needs in self.lacking.items()}
        return made | {name: f"{name} needs {needs}, which a page does not have" for name, needs in lacking.items()}

    def _import_all(self, imports: list[ast.stmt], file: str) -> set[str]:
        """Import what can be had, and set down the rest; all names that were asked for."""
        for node in imports:
            lacking = import_into(self.namespace, node, file)
            for name in lacking:
                self.namespace.pop(name, None)
            self.lacking |= {name: frozenset({need}) for name, need in lacking.items()}
        return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}

    def _set_down(self, made: frozenset[str], needs: frozenset[str]) -> None:
        """The cell is not run, so what it makes is not there, nor what an older cell made under these names."""
        for name in made:
            if name not in self.lacking:
                self.namespace.pop(name, None)
                self.lacking[name] = needs


def _in_parts(source: str, file: str) -> tuple[list[ast.stmt], object, object]:
    """A cell's imports, the rest as code, and its last line as code if that is a value to show."""
    tree = ast.parse(source, file)
    imports = [node for node in tree.body if isinstance(node, _IMPORTS) and getattr(node, "module", "") != "__future__"]
    body = [node for node in tree.body if node not in imports]
    last = None
    if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = compile(ast.Expression(body.pop().value), file, "eval")
    return imports, compile(ast.Module(body, []), file, "exec"), last


def _hidden_need(error: Exception) -> str:
    """What a cell turned out to need while it ran, or the empty text."""
    if isinstance(error, ImportError):
        return needed_for(error) or ""
    if isinstance(error, AttributeError) and type(error.obj).__name__ == "PlainTable":
        return "pandas"  # the table is there, but without the methods of a DataFrame
    return ""
