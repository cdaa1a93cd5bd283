"""What a chapter's page asks about its cells: to begin, to run one, and to make ready what one stands on.

The code cells and the exercises of a chapter have one namespace, as in a notebook; it lasts as long as the page. Which
names a cell needs and which it makes is read from its text, and so what must run before it can. A cell that imports
what no page has, or needs what such a cell makes, is not run: its recorded output stays, and the page says what it
would need. All other cells run as they are, or as the reader has changed them.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, listed
from tools.page import controls, exercises
from tools.page.controls import Outputs, drawn

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


def fault(error: BaseException, file: str, makers: Mapping[str, str]) -> dict[str, object]:
    """An error for the page, in plain words: the line, what Python says, and what to do where that is known.

    Parameters
    ----------
    error : BaseException
        What was raised.
    file : str
        The name that the cell's code was compiled with.
    makers : mapping of str to str
        Names that are not there, and the sentence that says why.

    Returns
    -------
    dict
        ``kind``, the error's class; ``words``, the message; ``line`` and ``source``, where in the cell, or None.

    Examples
    --------
    >>> fault(ZeroDivisionError("division by zero"), "cell", {})["words"]
    'division by zero'
    """
    line, source = _place(error, file)
    words = str(error)
    if isinstance(error, NameError) and (reason := makers.get(error.name or "")):
        words = reason
    elif isinstance(error, ModuleNotFoundError):
        words = f"{words}. A page has Python's own modules and kafkalearn; nothing else can be loaded."
    elif isinstance(error, AssertionError) and not words:
        words = "the line says what should hold, and it does not hold"
    elif isinstance(error, SyntaxError) and not isinstance(error, KafkaLearnError):
        words = error.msg
    elif isinstance(error, RecursionError):
        words = f"{words}: a function calls itself without end"
    return {"kind": type(error).__name__, "words": words, "line": line, "source": source}


def _place(error: BaseException, file: str) -> tuple[int | None, str | None]:
    """The last line of the cell that was under way."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno, (error.text or "").strip() or None
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (frames[-1].lineno, frames[-1].line or None) if frames else (None, None)


PACKAGES: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["pyspark", "kafkalearn.spark"], "Spark"),
        **dict.fromkeys(["pandas", "numpy", "pyarrow"], "pandas"),
        **dict.fromkeys(["matplotlib", "resvg_py", "PIL"], "figures"),
        **dict.fromkeys(["confluent_kafka", "kafkalearn.live"], "a real Kafka"),
        **dict.fromkeys(["kafkalearn.lab", "ipywidgets", "anywidget", "traitlets", "IPython"], "JupyterLab"),
    }
)
"""What is needed for a package that a page does not have, in words for the reader."""


def needed_by(sources: Sequence[str]) -> list[str]:
    """What each cell of a chapter needs that no page has, as far as the text tells before it runs: ``"Spark"`` or "".

    >>> needed_by(["from pyspark.sql import functions as F", "x = F.lit(1)", "x", "x = 2", "x"])
    ['Spark', 'Spark', 'Spark', '', '']
    """
    lacking: dict[str, set[str]] = {}
    found = []
    for source in sources:
        names, own = names_of(source), _imports_that_lack(source)
        lacking |= own
        read = (names.needed | (names.read & own.keys())) - (names.made - names.needed - own.keys())
        needs = set().union(*(lacking.get(name, ()) for name in read | own.keys()))
        for name in names.made - own.keys():
            if needs:
                lacking[name] = needs
            else:
                lacking.pop(name, None)
        found.append(listed(sorted(needs)) if needs else "")
    return found


def _imports_that_lack(source: str) -> dict[str, set[str]]:
    """The names that a cell imports from where no page has them, and what that needs."""
    try:
        nodes = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    except SyntaxError:  # a line for IPython
        return {}
    found = {}
    for node in nodes:
        for alias in node.names:
            module = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            needs = {need for package, need in PACKAGES.items() if f"{module}.".startswith(f"{package}.")}
            if needs:
                found |= dict.fromkeys(_bound(node, alias), needs)
    return found


def import_into(
    namespace: dict[str, object], node: ast.Import | ast.ImportFrom, file: str = "<import>"
) -> dict[str, str]:
    """Import each name of a statement by itself; what is needed for those that are not to be had, by name.

    Raises
    ------
    ImportError, AttributeError
        For what no page, and no notebook either, could import: a misspelt name.

    Examples
    --------
    >>> import_into(names := {}, ast.parse("from math import sqrt, pi").body[0])
    {}
    >>> sorted(names.keys() - {"__builtins__"})
    ['pi', 'sqrt']
    """
    missing = {}
    for alias in node.names:
        try:
            one = ast.Module([_only(node, alias)], [])
            exec(compile(one, file, "exec"), namespace)
        except ImportError as error:
            need = needed_for(error)
            if need is None:
                raise
            missing.update(dict.fromkeys(_bound(node, alias), need))
    return missing


def _only(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.copy_location(ast.Import([alias]), node)
    return ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node)


def _bound(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> list[str]:
    if alias.name == "*":
        return []
    return [alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])]


def needed_for(error: ImportError) -> str | None:
    """What the import would need, from the error or one that led to it."""
    while error is not None:
        # MissingExtra names its package in its message alone; a module that is not there, in `name`.
        name = f"{getattr(error, 'name', None) or ''}."
        for package, need in PACKAGES.items():
            if name.startswith(f"{package}.") or f" needs {package}," in str(error):
                return need
        error = error.__cause__ or error.__context__
    return None


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
    imports = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__"
    ]
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


_chapters: dict[str, Chapter] = {}


def open_chapter(payload: Mapping[str, object]) -> list[str]:
    """Begin a page anew: ``{page, cells: [{id, source, exercise}]}``; the names of its values, none yet.

    ``exercise`` is the name in a record, for the cells that are exercises of the page.
    """
    controls.stand_in()
    sources = {cell["id"]: cell["source"] for cell in payload["cells"]}
    named = {cell["id"]: cell["exercise"] for cell in payload["cells"] if cell.get("exercise")}
    _chapters[payload["page"]] = Chapter(sources, named)
    controls.forget(payload["page"])
    return []


def run(payload: Mapping[str, object]) -> dict[str, object]:
    """Run a cell, or check the answer in it.

    Parameters
    ----------
    payload : mapping
        ``page``, ``cell``, ``source``: its text. ``sources``: the texts of all cells; if given, those above that this
        one stands on and that have not run yet are run first, unseen. ``record``: the reader's file of progress.

    Returns
    -------
    dict
        ``outputs``, as `tools.page.controls.Outputs` has them, an error as the last of them, each with its
        ``html`` but for players; ``needs``, what the cell would need that no page has, or the empty text: then it was
        not run; ``above``, how many cells above were run first. For an exercise also ``outcome``, ``record`` and
        ``trouble``, as `tools.page.exercises.check`.
    """
    chapter, page, cell, source = _chapter(payload), payload["page"], payload["cell"], payload["source"]
    had = set(chapter.ran)
    if "sources" in payload and (fault := _run_above(chapter, page, cell, payload["sources"] | {cell: source})):
        return {"outputs": [_with_html({"error": fault})], "needs": ""}
    above = len(chapter.ran.keys() - had)
    outputs, verdict = Outputs(controls.shown_on(page, cell)), {}
    if cell in chapter.exercises:
        needs, verdict = _check(chapter, cell, source, outputs, str(payload.get("record") or ""))
    else:
        needs = chapter.run(cell, source, outputs)
    chapter.ran[cell] = source
    shown = [] if needs else [_with_html(part) for part in outputs.parts]
    return {"outputs": shown, "needs": needs, "above": above} | verdict


def prepare(payload: Mapping[str, object]) -> None:
    """Make a recorded picture ready to be turned: run its cell, and what that stands on, unseen.

    ``{page, cell, sources: {id: text}}``; what has run with the same text is not run again.

    Raises
    ------
    KafkaLearnError
        If one of them does not run here.
    """
    chapter, page, cell, sources = _chapter(payload), payload["page"], payload["cell"], payload["sources"]
    if chapter.ran.get(cell) == sources[cell]:
        return
    if fault := _run_above(chapter, page, cell, sources):
        raise KafkaLearnError(fault["words"])
    outputs = Outputs(controls.shown_on(page, cell))
    if needs := chapter.run(cell, sources[cell], outputs):
        raise KafkaLearnError(f"This picture needs {needs}, which a page does not have: it stays as it was recorded.")
    if fault := _fault_in(outputs):
        raise KafkaLearnError(f"The cell of this picture does not run. {fault['words']}")
    chapter.ran[cell] = sources[cell]


def _chapter(payload: Mapping[str, object]) -> Chapter:
    if payload["page"] not in _chapters:
        raise KafkaLearnError(f"page {payload['page']!r} is not open: ask cells.open first")
    return _chapters[payload["page"]]


def _run_above(chapter: Chapter, page: str, cell: str, given: Mapping[str, str]) -> dict[str, object] | None:
    """Run what a cell stands on, from the first that has not run on, so that all is as from top to bottom.

    The fault of the one that ends with one, or None. Of an exercise that is as it was in the book nothing is wanted.
    """
    sources = chapter.sources | given
    ids = list(sources)
    one_of("cell", cell, ids)
    before = [ids[at] for at in cells_before(list(sources.values()), ids.index(cell))]
    wanted = [each for each in before if each not in chapter.exercises or sources[each] != chapter.sources[each]]
    first = next((at for at, each in enumerate(wanted) if each not in chapter.ran), len(wanted))
    for each in wanted[first:]:
        outputs = Outputs(controls.shown_on(page, each))
        if each in chapter.exercises:
            exercises.define(chapter.exercises[each], sources[each], chapter.namespace)
            chapter.is_made(names_of(sources[each]).made)
        else:
            chapter.run(each, sources[each], outputs)
        if fault := _fault_in(outputs):
            return fault | {"words": f"A cell above does not run: {fault['words']}"}
        chapter.ran[each] = sources[each]
    return None


def _check(chapter: Chapter, cell: str, source: str, outputs: Outputs, record: str) -> tuple[str, dict[str, object]]:
    """What the exercise would need that no page has, and what its judge says."""
    names = names_of(source)
    if needs := chapter.needed(names.needed):
        return listed(sorted(needs)), {}
    chapter.namespace["display"] = outputs.show
    with redirect_stdout(outputs):
        exercise = chapter.exercises[cell]
        verdict = exercises.judged(exercise, source, chapter.namespace, record, chapter.reasons(cell))
    chapter.is_made(names.made)
    outputs.parts.append({"shown": {"text/html": verdict["html"], "text/plain": verdict["outcome"]}})
    return "", verdict


def _fault_in(outputs: Outputs) -> dict[str, object] | None:
    return next((part["error"] for part in outputs.parts if "error" in part), None)


def _with_html(part: dict[str, object]) -> dict[str, object]:
    html = drawn(part)
    return part if html is None else part | {"html": html}


ANSWERS = {"open": open_chapter, "run": run, "prepare": prepare}
