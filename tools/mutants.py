"""``make mutants``: how many small faults in the rules the tests of ``make test`` notice.

    python3 run.py mutants                      300 mutants, seed 1; goes on where it was stopped
    python3 run.py mutants --tries 20           twenty more of them, then stop
    python3 run.py mutants --near               with the nearest tests alone; what these do not notice is undecided
    python3 run.py mutants --again              forget what was found, try each anew
    python3 run.py mutants --package sharing --count 100    of one package alone; what was found of others stays

A *mutant* is the package with one small fault: a comparison, a constant, a boolean or arithmetic operator is another
one, or a statement is dropped. Each is tried in a copy of the committed files: first with the doctests of its module
and the test files that import it, nearest first, up to the first failure; if all pass, with all of ``make test`` but
what starts a browser or a real Kafka. A test that fails is run without the fault as well: if it fails there too, it
does not count, and is left out from then on. What no test notices is a *survivor*: a hole in the tests, or a mutant
that means the same as the original, which only a reader can tell apart.

Which mutants are in the set depends on the seed and on each mutant alone, so most stay when the code changes. The
answers are kept in ``tools/mutants.json``; a mutant is tried again when its file has changed. ``docs/mutants.md`` has
the figures.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from kafkalearn.base.tables import markdown_table
from tests.every import FIRST_ALONE
from tools.environment import ROOT, VENV_PYTHON, variables
from tools.pages import write_part

RULES = ("assignors", "delivery", "groups", "log", "offsets", "partitioning", "purgatory", "replication")
RULES += ("sharing", "transactions", "zookeeper")
PAGE, COMMAND = ROOT / "docs" / "mutants.md", "python3 run.py mutants"
ANSWERS = ROOT / "tools" / "mutants.json"
TREE = ROOT / "data" / "generated" / "mutants"
NEAR, NEAREST = 3, 12  # imports from the mutated module to a test file that is tried first; at most so many files
REPLAYED = "tests/replay/test_every_recording.py"
FAR = ("tests/book/", "tests/browser/", "tests/live/", "tests/spark/")  # never tried first, as they take long
NEAR_S, ALL_S = 900, 3600  # of the processor, not of the clock; a mutant that takes more is noticed: it loops
NEAR_ALONE_S = 90  # with --near: most that are noticed at all are noticed by then; what takes more is undecided
TIMEOUT = "timeout"
NEAR_KINDS = "not long and not nightly and not spark and not cluster and not browser and not live"
ALL_KINDS = "not long and not nightly and not browser and not live"
# The chapters come with all other tests; their plugin takes seconds to load.
# A module that is named for its examples is searched for tests, too, and some have functions named tests_of.
PLAIN = [
    "-p",
    "xdist",
    "-p",
    "hypothesispytest",
    "-o",
    "python_functions=test_*",
    "-o",
    "addopts=--doctest-modules --strict-markers --strict-config",
]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small fault: what stands where, and what stands there instead."""

    path: str
    function: str  # "" outside of functions
    kind: str
    before: str
    after: str
    number: int  # among those of this file that are else the same
    line: int
    start: int  # in characters
    end: int

    @property
    def key(self) -> str:
        """Its name, which stays when lines above it come or go."""
        return f"{self.path} {self.function or 'module'}: {self.before} -> {self.after} #{self.number}"

    def of(self, source: str) -> str:
        """The file with the fault."""
        return source[: self.start] + self.after + source[self.end :]


# Which mutants there are.

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Div: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitAnd,
}  # fmt: skip
LEFT_OUT = (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom, ast.Assert)
"""Nothing inside these is changed: messages, imports. A `raise` is dropped as a whole."""


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All mutants of one file.

    >>> [(each.kind, each.before, each.after) for each in mutants_of("m.py", "def f(x):\\n    return x + 1 < 3\\n")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('comparison', 'x + 1 < 3', '(x + 1 <= 3)'), ('arithmetic', 'x + 1', '(x - 1)'),
     ('constant', '1', '2'), ('constant', '3', '4')]
    """
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    lines = source.split("\n")

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for function, node in _nodes(ast.parse(source), ""):
        for kind, after in _changes(node):
            assert isinstance(node, ast.expr | ast.stmt)
            assert node.end_lineno is not None and node.end_col_offset is not None  # noqa: PT018
            start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
            before = source[start:end]
            seen[function, before, after] += 1
            number = seen[function, before, after]
            found.append(Mutant(path, function, kind, before, after, number, node.lineno, start, end))
    return found


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """Each node that may be changed, with the function around it; no annotation, docstring, decorator or message."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            if isinstance(child, LEFT_OUT):
                yield from [(function, child)] if isinstance(child, ast.Raise) else []
                continue
            is_named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            inside = ".".join(filter(None, [function, child.name])) if is_named else function
            yield inside, child
            yield from _nodes(child, inside)


def _changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What may stand in the place of a node: (kind, source)."""
    match node:
        case ast.Compare(ops=[only]) if type(only) in COMPARED:
            yield "comparison", _written(node, ops=[COMPARED[type(only)]()])
        case ast.BoolOp(op=ast.And()):
            yield "boolean", _written(node, op=ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield "boolean", _written(node, op=ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", f"bool({ast.unparse(operand)})"
        case ast.BinOp(op=op, right=right) if type(op) in COMPUTED and not _is_text(right):
            yield "arithmetic", _written(node, op=COMPUTED[type(op)]())
        case ast.Constant(value=bool() as value):
            yield "constant", str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", str(value + 1)
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "dropped", "pass"


def _written(node: ast.expr, **changed: object) -> str:
    other = copy.copy(node)
    for name, value in changed.items():
        setattr(other, name, value)
    return f"({ast.unparse(other)})"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def candidates(package: str) -> list[Mutant]:
    """All mutants of the rules of a package: pictures and their captions are none."""
    paths = sorted((ROOT / "kafkalearn" / package).rglob("*.py"))
    rules = [path for path in paths if not re.search(r"(picture|words|__init__)\.py$", path.name)]
    named = ((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in rules)
    return [each for path, source in named for each in mutants_of(path, source)]


def chosen(count: int, seed: int, packages: Sequence[str] = RULES) -> list[Mutant]:
    """The set: as many of each package, in an order that stays when other mutants come or go with the code."""

    def place(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    taken: list[Mutant] = []
    for at, package in enumerate(packages):
        share = count * (at + 1) // len(packages) - count * at // len(packages)
        taken += sorted(candidates(package), key=place)[:share]
    return sorted(taken, key=place)


# Which tests a mutant is tried with first.


@cache
def _imports() -> dict[str, set[str]]:
    """For each module of the package and of the tests what it imports of them."""
    found: dict[str, set[str]] = {}
    paths = {_module(path): path for folder in ("kafkalearn", "tests") for path in (ROOT / folder).rglob("*.py")}
    for module, path in paths.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                inside = {f"{node.module}.{each.name}" for each in node.names} & paths.keys()
                found.setdefault(module, set()).update(inside or {node.module} & paths.keys())
    return found


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def near_tests(path: str) -> list[str]:
    """The test files from which a file of the package is at most `NEAR` imports away, the nearest first.

    Those of the package itself are among them, however far away, and the one that replays every recording.
    """
    reached, edge = {_module(ROOT / path)}, {_module(ROOT / path)}
    own = f"tests/{path.split('/')[1]}/"
    tests: list[str] = []
    for _ in range(NEAR):
        edge = {module for module, names in _imports().items() if names & edge} - reached
        reached |= edge
        files = [f"{name.replace('.', '/')}.py" for name in edge if name.split(".")[-1].startswith("test_")]
        tests += sorted((each for each in files if not each.startswith(FAR)), key=lambda each: (own not in each, each))
    others = (each.relative_to(ROOT).as_posix() for each in sorted((ROOT / own).rglob("test_*.py")))
    return [*[*tests, *(each for each in others if each not in tests)][: NEAREST - 1], REPLAYED]


# A try.


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a mutant."""

    key: str
    kind: str
    line: int
    digest: str  # of the file without the fault
    noticed_by: str  # the first test that failed, `TIMEOUT`, or "" if none did
    seconds: int
    is_decided: bool = True  # False: only the nearest tests were tried, and none failed


class Tree:
    """A copy of the committed files, in which one file has a fault while it is tried."""

    def __init__(self, red: set[str]) -> None:
        """Copy what git lists; `red` are tests that fail there without any fault."""
        self.red, self.green = red, set[str]()
        shutil.rmtree(TREE, ignore_errors=True)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():  # one that was removed is not committed yet
                (TREE / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, TREE / name)

    def try_one(self, mutant: Mutant, is_near_only: bool = False) -> Answer:
        """Write the fault, run the tests, restore the file."""
        file, began = TREE / mutant.path, time.monotonic()
        source = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.of(source), encoding="utf-8")
            near = [mutant.path, *near_tests(mutant.path)]
            limit_s = NEAR_ALONE_S if is_near_only else NEAR_S
            noticed = self._noticed(file, source, mutant, [*PLAIN, "-m", NEAR_KINDS, *near], limit_s)
            if is_near_only and noticed == TIMEOUT:
                noticed = ""
            if not noticed and not is_near_only:
                noticed = self._noticed(file, source, mutant, ["-n", "2", "-m", ALL_KINDS], ALL_S)
        finally:
            file.write_text(source, encoding="utf-8")
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        seconds = round(time.monotonic() - began)
        return Answer(mutant.key, mutant.kind, mutant.line, digest, noticed, seconds, bool(noticed) or not is_near_only)

    def _noticed(self, file: Path, source: str, mutant: Mutant, words: list[str], seconds: int) -> str:
        """The first test that fails because of the fault; "" if none does."""
        while True:
            left_out = [word for name in sorted(self.red) for word in ("--deselect", name)]
            failed = _failed([*words, *left_out], seconds)
            if failed in ("", TIMEOUT) or failed in self.green:
                return failed
            file.write_text(source, encoding="utf-8")
            is_red = _failed([*[word for word in words if word in PLAIN], failed], seconds) != ""
            file.write_text(mutant.of(source), encoding="utf-8")
            if not is_red:
                self.green.add(failed)
                return failed
            if failed in self.red:
                sys.exit(f"kafkalearn: {failed} fails without any fault; fix it first")
            print(f"      {failed} fails without the fault, too: left out", flush=True)
            self.red.add(failed)


def _failed(words: list[str], seconds: int) -> str:
    """The first test of a run that fails, by its name; "" if none does."""
    environ = variables({**os.environ, "PYTHONDONTWRITEBYTECODE": "1", FIRST_ALONE: "1"})
    environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if "addopts" in " ".join(words) else {}
    command = [str(VENV_PYTHON), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "-rfE", *words]
    run = subprocess.Popen(
        command, cwd=TREE, env=environ, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 60)),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        printed, _ = run.communicate(timeout=20 * seconds)  # one that sleeps for ever takes no processor
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return TIMEOUT
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return TIMEOUT
    if run.returncode in (0, 5):  # 5: there is no such test
        return ""
    said = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+(?: \[[^\]]*\])?)", printed, re.MULTILINE)
    if said is None:
        raise RuntimeError(f"pytest ended with {run.returncode} and named no test:\n{printed[-2000:]}")
    return said[1]  # all cases of a test, as the words of one may hold spaces and brackets


# What is kept, and what is published.


def read_answers() -> tuple[dict[str, Answer], set[str]]:
    """What was found so far, and the tests that are left out."""
    if not ANSWERS.exists():
        return {}, set()
    kept = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return {each["key"]: Answer(**each) for each in kept["answers"]}, set(kept["left_out"])


def write_answers(answers: dict[str, Answer], red: set[str]) -> None:
    """Keep it: one answer a line, so that two runs can be compared."""
    lines = ",\n".join(json.dumps(asdict(answers[key])) for key in sorted(answers))
    whole = f'{{"left_out": {json.dumps(sorted(red))},\n"answers": [\n{lines}\n]}}\n'
    new = ANSWERS.with_suffix(".new")
    new.write_text(whole, encoding="utf-8")
    new.replace(ANSWERS)


def report(answers: Iterable[Answer], wanted: int) -> str:
    """The figures by package, and the survivors.

    >>> noticed = Answer("kafkalearn/log/a.py f: 1 -> 2 #1", "constant", 3, "", "tests/t.py::test", 2)
    >>> print(report([noticed, Answer("kafkalearn/log/a.py g: 1 -> 2 #1", "constant", 3, "", "", 2)], 300))
    2 of 300 mutants were tried: 1 noticed, 1 not, 0 undecided (tried with the nearest tests alone); 0 minutes.
    <BLANKLINE>
    | package | tried | noticed | not noticed | undecided |
    | --- | --- | --- | --- | --- |
    | log | 2 | 1 | 1 | 0 |
    <BLANKLINE>
    Not noticed, or undecided:
    <BLANKLINE>
    - `kafkalearn/log/a.py` line 3, g: `1` became `2`
    """
    every = sorted(answers, key=lambda each: each.key)
    by_package = {each: [one for one in every if _package(one.key) == each] for each in RULES}
    rows = [
        {"package": package, "tried": len(tried)} | _counts(tried) for package, tried in by_package.items() if tried
    ]
    noticed, survived, undecided = _counts(every).values()
    head = (
        f"{len(every)} of {wanted} mutants were tried: {noticed} noticed, {survived} not, {undecided} undecided "
        f"(tried with the nearest tests alone); {sum(each.seconds for each in every) // 60} minutes."
    )
    left = [_said(each) for each in every if not each.noticed_by] or ["none"]
    return "\n".join([head, "", markdown_table(rows), "", "Not noticed, or undecided:", "", *left])


def _package(key: str) -> str:
    return key.split("/")[1]


def _counts(tried: list[Answer]) -> dict[str, int]:
    decided = [each for each in tried if each.is_decided]
    noticed = sum(bool(each.noticed_by) for each in decided)
    return {"noticed": noticed, "not noticed": len(decided) - noticed, "undecided": len(tried) - len(decided)}


def _said(answer: Answer) -> str:
    where, _, change = answer.key.partition(": ")
    path, _, function = where.partition(" ")
    before, _, after = change.rpartition(" #")[0].rpartition(" -> ")
    return f"- `{path}` line {answer.line}, {function}: `{' '.join(before.split())}` became `{after}`"


def main(words: list[str]) -> int:
    """Try what is not known yet, keep each answer at once, and write the page."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="How many small faults in the rules the tests notice.")
    parser.add_argument("--count", type=int, default=300, help="mutants in the set (300)")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn (1)")
    parser.add_argument("--tries", type=int, help="stop after so many; all that are left if not given")
    parser.add_argument("--near", action="store_true", help="try the nearest tests alone; the rest stays undecided")
    parser.add_argument("--again", action="store_true", help="forget what was found")
    parser.add_argument("--package", choices=RULES, help="of one package alone; all if not given")
    options = parser.parse_args(words)
    answers, red = ({}, set[str]()) if options.again else read_answers()
    packages = RULES if options.package is None else (options.package,)
    wanted = chosen(options.count, options.seed, packages)
    others = {key: each for key, each in answers.items() if options.package and _package(key) != options.package}
    answers = others | {each.key: answers[each.key] for each in wanted if _is_current(answers.get(each.key), each)}
    left = [each for each in wanted if each.key not in answers or not (answers[each.key].is_decided or options.near)]
    tree = Tree(red)
    for number, mutant in enumerate(left[: options.tries], 1):
        answer = tree.try_one(mutant, options.near)
        answers[mutant.key] = answer
        write_answers(answers, red)
        said = answer.noticed_by or ("SURVIVED" if answer.is_decided else "not by the nearest")
        print(f"{number:4}  {said} ({answer.seconds} s)  {' '.join(answer.key.split())}", flush=True)
    write_part(PAGE, COMMAND, report(answers.values(), len(wanted) + len(others)))
    return 0


def _is_current(answer: Answer | None, mutant: Mutant) -> bool:
    """Whether what was found was found in the file as it is."""
    source = (ROOT / mutant.path).read_bytes()
    return answer is not None and answer.digest == hashlib.sha256(source).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
