"""The progress file: the result of each exercise, with the answer that reached it; parsed, merged, serialized."""

from __future__ import annotations

import ast
import dis
import inspect
import json
import linecache
import math
import os
import re
import stat
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import one_at_a_time, written_whole
from kafkalearn.exercises.kit.given import Bounds, GivenFunction, LabelledValues, Strange, taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, OPEN, RIGHT, WRONG
from kafkalearn.formats.wire import read_json
from kafkalearn.predictions.questions import Prediction, all_predictions

FORMAT, VERSION = "kafkalearn progress", 1
MOVED = {
    f"{old}.{name}": f"{new}.{name}"
    for old, new, names in (
        ("06", "06b", "billed_twice"),
        ("10", "10b", "write_verdict two_faults send_again"),
        ("13", "10b", "bare_offsets"),
        ("12", "12b", "stand_still which_offset move_the_group block_the_finder worse_about_the_topic"),
        ("13", "13b", "who_inherits third_replica"),
        ("13", "13c", "where_it_goes_on who_is_ill my_cluster"),
    )
    for name in names.split()
}
"""What a file of the time when 06, 10, 12 and 13 were one lesson each calls an exercise, and its name of today."""

MOST_BYTES = 5_000_000
MOST_MISTAKES = 20  # of one exercise that a file may name
_RANK = {NOT_ATTEMPTED: 0, ERROR: 1, WRONG: 2, OPEN: 3, RIGHT: 4}


class NoRecord(KafkaLearnError):  # noqa: N818  (it says what a file is)
    """A text that is not a progress file, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one exercise."""

    outcome: str = NOT_ATTEMPTED  # of the best answer so far
    try_count: int = 0  # different answers that were right, wrong, or open
    hint_count: int = 0
    has_seen_solution: bool = False  # before there was a right answer
    answer: object = None  # the best answer, as `encoded` writes it
    mistakes: tuple[int, ...] = ()  # the misconceptions that answers showed, by number from 1

    def __or__(self, other: Entry) -> Entry:
        """What two files know together; in any order, and as often as one likes."""
        best = max(self, other, key=_goodness)
        return Entry(
            best.outcome,
            max(self.try_count, other.try_count),
            max(self.hint_count, other.hint_count),
            self.has_seen_solution or other.has_seen_solution,
            best.answer,
            tuple(sorted({*self.mistakes, *other.mistakes})),
        )

    @property
    def is_done(self) -> bool:
        """Whether the answer is right, or was noted where no program can judge."""
        return self.outcome in (RIGHT, OPEN)


def _goodness(entry: Entry) -> tuple[int, bool, str]:
    """Of nothing that is itself added up here: else it would matter which two of three files come first."""
    return _RANK[entry.outcome], entry.answer is not None, json.dumps(entry.answer, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Made:
    """A prediction that was made; the first one counts."""

    said: str | None  # None: the reader asked to be shown

    def __or__(self, other: Made) -> Made:
        """What two files know together: one that was made goes before one that was shown."""
        return max(self, other, key=lambda each: (each.said is not None, each.said or ""))


@dataclass(frozen=True, slots=True)
class Record:
    """All exercises of one student, by chapter and name, ``"01.same_partition"``, and the predictions.

    Examples
    --------
    >>> mine = Record("Anna", {"01.same_partition": Entry("right", 2, 1, False, "billing-47")})
    >>> Record.read(mine.text()) == mine
    True
    >>> (mine | Record("", {"01.hot_broker": Entry("wrong", 1)})).entry("01.hot_broker").outcome
    'wrong'
    """

    name: str = ""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    predictions: Mapping[str, Made] = field(default_factory=dict)  # by the id of the cell that asks

    def entry(self, exercise: str) -> Entry:
        """That of one exercise."""
        return self.entries.get(exercise, Entry())

    def having(self, exercise: str, entry: Entry) -> Record:
        """The same with another entry for one exercise."""
        return replace(self, entries={**self.entries, exercise: entry})

    def __or__(self, other: Record) -> Record:
        """What two files know together."""
        both = sorted({*self.entries, *other.entries})
        name = max(self.name, other.name)
        made = {
            each: self.predictions.get(each, Made(None)) | other.predictions.get(each, Made(None))
            for each in sorted({*self.predictions, *other.predictions})
        }
        return Record(name, {each: self.entry(each) | other.entry(each) for each in both}, made)

    def text(self) -> str:
        """The file."""
        entries = {
            exercise: {
                "outcome": entry.outcome,
                "tries": entry.try_count,
                "hints": entry.hint_count,
                "solution": entry.has_seen_solution,
                "answer": entry.answer,
            }
            | ({"mistakes": list(entry.mistakes)} if entry.mistakes else {})
            for exercise, entry in sorted(self.entries.items())
        }
        whole = {"format": FORMAT, "version": VERSION, "name": self.name, "exercises": entries}
        if self.predictions:
            predictions = all_predictions()
            whole["predictions"] = {
                cell: _made_words(made, predictions.get(cell)) for cell, made in sorted(self.predictions.items())
            }
        return _LONE_SURROGATE.sub(_escaped, json.dumps(whole, ensure_ascii=False, indent=1)) + "\n"

    @staticmethod
    def read(text: str) -> Record:
        """Parse the record of a file.

        Raises
        ------
        NoRecord
            If it is no such file, or damaged; the message says what is wrong with it.
        KafkaLearnError
            If it is of a version that is not known here.
        """
        if len(text) > MOST_BYTES:
            raise NoRecord(f"this file has {len(text):,} characters; progress has at most {MOST_BYTES:,}")
        try:
            whole = read_json(text)
        except (ValueError, RecursionError) as error:
            raise NoRecord(f"not a progress file: invalid JSON: {error}") from error
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise NoRecord(f'not a progress file: it must have "format": "{FORMAT}"')
        if whole.get("version") != VERSION:
            came = str(whole.get("version"))[:20]
            raise KafkaLearnError(
                f"this file of progress is of version {came}; this kafkalearn reads version {VERSION}"
            )
        exercises, name = whole.get("exercises"), whole.get("name", "")
        if not isinstance(exercises, dict) or not isinstance(name, str):
            raise NoRecord('in this file of progress "exercises" must be an object, and "name" a text')
        entries: dict[str, Entry] = {}
        for each, words in exercises.items():
            today = MOVED.get(each, _printable(each))
            entries[today] = entries.get(today, Entry()) | _entry(each, words)
        predictions = whole.get("predictions", {})
        if not isinstance(predictions, dict) or not all(isinstance(each, dict) for each in predictions.values()):
            raise NoRecord('in this file of progress "predictions" must be an object of objects')
        made = {_printable(cell): _made(words) for cell, words in predictions.items()}
        return Record(_printable(name), entries, made)


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character: JSON can say it, in its own escapes, and UTF-8 cannot."""


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _printable(text: str) -> str:
    """A name in a table, in a terminal."""
    return "".join(letter for letter in text[:200] if letter.isprintable())


def _made(words: Mapping[str, object]) -> Made:
    said = words.get("said")
    return Made(_printable(said) if isinstance(said, str) else None)


def _made_words(made: Made, question: Prediction | None) -> dict[str, object]:
    """As the pages keep it: with whether it is right, which they need not find again."""
    if made.said is None:
        return {"shown": True}
    is_known = question is not None and question.right is not None
    return {"said": made.said, "right": question.is_right(made.said) if is_known and question else None}


def _entry(exercise: str, words: object) -> Entry:
    if not isinstance(words, dict) or not isinstance(words.get("outcome"), str) or words["outcome"] not in _RANK:
        raise NoRecord(f"{exercise[:100]} in this file of progress has no outcome; known are {', '.join(_RANK)}")
    try:
        tries, hints = [whole_number(name, words.get(name, 0), at_least=0) for name in ("tries", "hints")]
    except KafkaLearnError as error:
        raise NoRecord(f"{exercise[:100]} in this file of progress: {error}") from error
    said = words.get("mistakes")
    mistakes = {each for each in said if type(each) is int and each > 0} if isinstance(said, list) else set()
    return Entry(
        words["outcome"],
        tries,
        hints,
        words.get("solution") is True,
        words.get("answer"),
        tuple(sorted(mistakes)[:MOST_MISTAKES]),
    )


def read_file(path: Path, *, follow: bool = True) -> Record:
    """The record in a file; an empty file is an empty record.

    Parameters
    ----------
    path : pathlib.Path
        A regular file: a pipe or a device is not waited for.
    follow : bool
        Whether a link is read. Of somebody else's folder none is: it may name any file.

    Raises
    ------
    KafkaLearnError
        If it cannot be read, or holds something else.
    """
    if not follow and path.is_symlink():
        raise KafkaLearnError(f"{path} is a link, and no file of its own")
    refusing = 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    flags = os.O_RDONLY | refusing | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise KafkaLearnError(f"{path} is not a regular file")
            content = file.read(4 * MOST_BYTES + 1)
    except OSError as error:
        raise KafkaLearnError(f"{path} cannot be read: {error}") from error
    if len(content) > 4 * MOST_BYTES:
        raise KafkaLearnError(f"{path} has more than {4 * MOST_BYTES:,} bytes; progress has at most {MOST_BYTES:,}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KafkaLearnError(f"{path} cannot be read: {error}") from error
    return Record.read(text) if text.strip() else Record()


def write_file(path: Path, record: Record) -> None:
    """Write the file atomically.

    Raises
    ------
    KafkaLearnError
        If the file cannot be written; what was there stays.
    """
    written_whole({path: record.text()})


# While a student works progress is kept in `progress.json` beside the working copies of the chapters, which the folder
# of the kernel is known by; or in the file that `KAFKALEARN_PROGRESS` names. Anywhere else, as in the folder of the
# committed chapters, progress lives as long as the kernel, and nothing is written.

VARIABLE = "KAFKALEARN_PROGRESS"
FILE_NAME = "progress.json"
BESIDE_COPIES = ".made-from.json"  # what `kafkalearn.lab.working_copies` leaves in the folder of the copies


def file_of_progress() -> Path | None:
    """The file in which progress is kept now; None: in none."""
    if named := os.environ.get(VARIABLE, "").strip():
        return Path(named).expanduser()
    here = Path.cwd()
    is_kept = any((here / name).is_file() for name in (FILE_NAME, BESIDE_COPIES))
    return here / FILE_NAME if is_kept else None


def kept(exercise: str) -> Entry:
    """What the file says of an exercise; nothing, if there is no file or none that can be read."""
    try:
        return _record(file_of_progress()).entry(exercise)
    except KafkaLearnError:
        return Entry()


def keep(exercise: str, entry: Entry) -> str:
    """Add an entry to the file; empty text, or a sentence why that was not possible.

    What the file has of this exercise stays where it is better: two notebooks may be open. A file that is damaged is
    put aside as ``progress.json.damaged``, and a new one begun.
    """
    path = file_of_progress()
    if path is None:
        return ""
    try:
        return _added(path, exercise, entry)
    except (KafkaLearnError, OSError) as error:
        return f"Progress is not kept: {error}."


def _added(path: Path, exercise: str, entry: Entry) -> str:
    if not path.parent.is_dir():
        raise KafkaLearnError(f"{path} cannot be written: there is no such folder")
    with one_at_a_time(path.with_name(f".{path.name}.lock")):  # between reading and writing no other may write
        return _added_alone(path, exercise, entry)


def _added_alone(path: Path, exercise: str, entry: Entry) -> str:
    sentence = ""
    try:
        record = _record(path)
    except NoRecord as error:
        aside = path.with_name(f"{path.name}.damaged")
        os.replace(path, aside)
        record, sentence = Record(), f"The progress so far could not be read and lies in {aside.name} now: {error}."
    write_file(path, record.having(exercise, record.entry(exercise) | entry))
    return sentence


def _record(path: Path | None) -> Record:
    return read_file(path) if path is not None and path.exists() else Record()


LONGEST = 60_000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set)


class NoSource(Exception):  # noqa: N818
    """The message says why a function cannot be kept as text."""


def source_of(function: object) -> tuple[str, str]:
    """A name, and a text after which the function has this name.

    Parameters
    ----------
    function : object
        A function or a lambda. With it come the functions, classes, modules and plain values that it uses by a name
        of its own notebook or module, and the values that it has closed over.

    Raises
    ------
    NoSource
        If there is no source (a function in C), if it is longer than 60,000 characters, or if it uses something else.

    Examples
    --------
    >>> source_of(len)
    Traceback (most recent call last):
    ...
    kafkalearn.exercises.progress.record.NoSource: it is not a function written in Python
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
            raise NoSource("it is not a function written in Python")
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
        elif isinstance(value, type) or isinstance(inspect.unwrap(value), FunctionType):
            defined = self.add_class(value) if isinstance(value, type) else self.add(value)
            self.texts += [f"{name} = {defined}"] if name != defined else []
        elif _is_plain(value):
            self.names.add(name)
            self.texts.append(f"{name} = {value!r}")
        else:
            raise NoSource(f"it uses {name}, which is no function, no class, no module and no plain value")

    def add_class(self, kind: type) -> str:
        """A class of a notebook's own, after the classes, functions and values that it uses."""
        name = kind.__name__
        if name not in self.names:
            self.names.add(name)
            node, text, namespace = _definition_of_class(kind)
            for used in sorted(_names_in_class(node, kind)):
                if used in namespace and used != name:
                    self._define(used, namespace[used])
            self.texts.append(text)
        return name


def _definition(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    """Where it is defined, and the text there."""
    code = function.__code__
    try:
        whole = "".join(inspect.findsource(function)[0])
        tree = _parsed(whole)
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


def _definition_of_class(kind: type) -> tuple[ast.ClassDef, str, Mapping[str, object]]:
    """Where a class is defined, the text there, and the names around it.

    It is found by its methods; one without methods of its own (a dataclass) by its name in what was run last.
    """
    functions = _methods(kind)
    namespace = functions[0].__globals__ if functions else vars(sys.modules.get(kind.__module__, sys))
    texts = ["".join(lines) for _, _, lines, *_ in _run_last()]
    for function in functions:
        with suppress(OSError, TypeError):
            texts.insert(0, "".join(inspect.findsource(function)[0]))
    lines_of_methods = {each.__code__.co_firstlineno for each in functions}
    for whole in texts:
        with suppress(SyntaxError):
            for node in ast.walk(_parsed(whole)):
                if isinstance(node, ast.ClassDef) and node.name == kind.__name__ and _is_of(node, lines_of_methods):
                    lines = whole.splitlines()[_first_line(node) - 1 : node.end_lineno]
                    return node, textwrap.dedent("\n".join(lines)), namespace
    raise NoSource(f"the source of {kind.__name__} is not known")


def _run_last() -> list[Any]:
    """The texts of cells, the last one first, as `linecache` keeps them."""
    cells = [each for name, each in linecache.cache.items() if not name.endswith(".py") or "ipykernel" in name]
    return [each for each in reversed(cells) if len(each) == 4]


def _is_of(node: ast.ClassDef, lines_of_methods: Collection[int]) -> bool:
    """Whether the methods of a class stand in this definition; a dataclass has further ones that stand nowhere."""
    own = {_first_line(each) for each in node.body if isinstance(each, ast.FunctionDef)}
    return not own or bool(own & {*lines_of_methods})


def _names_in_class(node: ast.ClassDef, kind: type) -> set[str]:
    """The names that a class reads of its notebook: in its methods, and around them in its body."""
    found: set[str] = set()
    waiting: list[ast.AST] = [*node.bases, *node.keywords, *node.decorator_list, *node.body]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.FunctionDef):
            found |= _names_around(each)
            continue
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        waiting += [part for name, part in _parts_of(each) if name != "annotation"]
    for each in _methods(kind):
        found |= {*_globals_in(each.__code__)}
    return found


def _methods(kind: type) -> list[FunctionType]:
    """The functions that a class defines itself."""
    found = [each for each in map(_function_in, vars(kind).values()) if each is not None]
    return [each for each in found if each.__qualname__.startswith(f"{kind.__qualname__}.")]


def _function_in(value: object) -> FunctionType | None:
    """The function of a method, however it is wrapped: as a property, a class method, a static one."""
    inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    inner = inspect.unwrap(inner) if callable(inner) else inner
    return inner if type(inner) is FunctionType else None


def _parts_of(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield name, each


@lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
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


def _names_around(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """What its definition needs before it is called: decorators and defaults; annotations are not looked at."""
    around = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    around += node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return {each.id for tree in around for each in ast.walk(tree) if isinstance(each, ast.Name)}


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


# An answer as JSON and back: what JSON has no word for is a dict with one known name, ``{"set": [1, 2]}``.
#
# Nothing is run when it is read: a function stays text, and of classes only events and other dataclasses of kafkalearn
# are made, those of modules that are loaded.

LONGEST_TEXT = 20_000
_MOST_EXACT = 2**53  # above, other readers of JSON round


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function as it was handed in."""

    name: str
    source: str


def encoded(answer: object) -> object:
    """Serialize an answer to values that `json` writes.

    >>> encoded({"lose": {"a"}, "share": float("inf")})
    {'dict': [['lose', {'set': ['a']}], ['share', {'float': 'inf'}]]}
    """
    answer = taken(answer)
    match answer:
        case None | bool():
            return answer
        case str():
            return answer[:LONGEST_TEXT]
        case int():
            return answer if abs(answer) < _MOST_EXACT else {"int": hex(answer)}
        case float():
            return answer if math.isfinite(answer) else {"float": repr(answer)}
        case bytes():
            return {"bytes": answer.hex()}
        case complex() | Fraction():
            return {type(answer).__name__.lower(): str(answer)}
        case LabelledValues():
            return encoded(answer.by_label)
        case list():
            return [encoded(each) for each in answer]
        case tuple():
            return {"tuple": [encoded(each) for each in answer]}
        case set() | frozenset():
            return {"set": sorted(map(encoded, answer), key=repr)}
        case Mapping():
            return {"dict": [[encoded(name), encoded(part)] for name, part in answer.items()]}
        case GivenFunction():
            return _encoded_function(answer)
        case Strange(kind, text):
            return {"strange": [kind, text]}
        case type():
            return {"class": _dotted(answer)}
    if answer is ...:
        return {"blank": True}
    assert is_dataclass(answer)  # what is taken is nothing else
    given = {each.name: encoded(getattr(answer, each.name)) for each in fields(answer) if each.init}
    return {"made": _dotted(type(answer)), "of": given}


def _encoded_function(answer: GivenFunction) -> object:
    try:
        name, source = Bounds().run(source_of, answer.function)
    except NoSource as reason:
        return {"strange": ["a function", f"a function that is not kept as text: {reason}"]}
    except KeyboardInterrupt:  # the student's own: the cell is to end
        raise
    except BaseException:  # an object that can be called may do anything when it is looked at
        return {"strange": ["a function", "a function that is not kept as text: it has no source"]}
    return {"function": name, "source": source}


def decoded(words: object) -> Any:
    """Deserialize an answer that `encoded` wrote; a function is a `FunctionSource`.

    Raises
    ------
    KafkaLearnError
        If it is none.

    Examples
    --------
    >>> decoded(encoded(("a", 2.5, {1: b"key"})))
    ('a', 2.5, {1: b'key'})
    """
    if isinstance(words, list):
        return [decoded(each) for each in words]
    if not isinstance(words, dict):
        return words
    for name, read in _READERS.items():
        if name in words:
            try:
                return read(words)
            except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
                raise KafkaLearnError(f"this is no answer as it is kept in a file: {str(words)[:200]}") from error
    raise KafkaLearnError(f"this is no answer as it is kept in a file: {str(words)[:200]}")


def _dotted(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"


def _class_named(dotted: str) -> type:
    module, _, name = dotted.rpartition(".")
    kind = getattr(sys.modules.get(module), name, None) if module.startswith("kafkalearn.") else None
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise ValueError(f"no event or setting of kafkalearn is called {dotted}")
    return kind


_READERS: dict[str, Callable[[dict], object]] = {
    "int": lambda words: int(words["int"], 16),
    "float": lambda words: float(words["float"]),
    "bytes": lambda words: bytes.fromhex(words["bytes"]),
    "complex": lambda words: complex(words["complex"]),
    "fraction": lambda words: Fraction(words["fraction"]),
    "tuple": lambda words: tuple(map(decoded, words["tuple"])),
    "set": lambda words: frozenset(map(decoded, words["set"])),
    "dict": lambda words: {decoded(name): decoded(part) for name, part in words["dict"]},
    "function": lambda words: FunctionSource(str(words["function"]), str(words["source"])),
    "strange": lambda words: Strange(str(words["strange"][0]), str(words["strange"][1])),
    "class": lambda words: _class_named(words["class"]),
    "made": lambda words: _class_named(words["made"])(**{name: decoded(part) for name, part in words["of"].items()}),
    "blank": lambda words: ...,
}
"""How a dict with one of these names is read."""
