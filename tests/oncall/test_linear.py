"""A line takes time in proportion to its length, whatever stands in it: every expression, every form, the whole reader.

What is measured is how the processor's time grows, not how much of it there is: a line that is eight times as long may
take up to twenty times as long (a square takes 64 times), and what is quick is not judged.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import pytest

import kafkalearn.oncall
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import lag, logs
from kafkalearn.oncall.answer import wrapped
from kafkalearn.oncall.logs import anywhere, read
from kafkalearn.oncall.logs.patterns import patterns
from kafkalearn.spark import server_logs
from tests.oncall.pumping import LARGE, filled, pieces_of, pumped

pytest.importorskip("mcp")  # the tools of agents are tried too
pytestmark = pytest.mark.nightly  # it measures time, which a busy machine has the last word on

LONGER, AT_MOST = 8, 20
METHODS = {"match", "fullmatch", "search", "finditer", "findall", "split", "sub"}
AT_THE_FRONT = {"lines._WRAPPINGS"}
"""Tables of expressions that are asked with ``match`` alone; of an expression with a name the source says it."""

T = "2026-11-22 15:46:13,448 INFO "
H = "[2026-11-22 15:46:13,448] INFO [GroupCoordinator 0]: "
LINES = {
    "a word": ("group ", "x"),
    "base64": (f"{H}Group ", "A", " odd thing happened to group"),
    "contexts": ("rebalance ", "[Consumer clientId=, groupId="),
    "a context": ("rebalance [Consumer clientId=", ", groupId="),
    "brod": ("group ", "Group member (,coor=generation=1"),
    "brod, whole": ("group ", "Group member (g,coor=a,generation=1,pid="),
    "sarama": ("rebalance ", "consumergroup/a"),
    "blanks": ("x Preparing to rebalance group ", " ", "x"),
    "quotation marks": ("x Preparing to rebalance group ", "'", "x"),
    "bars": ("x Preparing to rebalance group ", " |", "x"),
    "first words": ("", "x Preparing to rebalance group "),
    "first words and classes": ("", "x Preparing to rebalance group g (a.b.C) - "),
    "settings without values": ("group ", "[Consumer clientId="),
    "pairs": ("group x ", "a=b "),
    "pairs, after a semicolon": ("group; x: ", ", a: b"),
    "pairs in one word": ("group ", "a"),
    "objects in objects": ("group ", '{"a":'),
    "objects that do not end": ("group ", '{"'),
    "many objects": ('group {"a":1', ',"b":{"msg":"abcd"}', "}"),
    "messages": ("group ", '"message": "'),
    "messages, escaped": ("group ", '"message": "\\"'),
    "facilities": ("group [thrd:a]: ", "A_"),
    "threads": ("group ", "[thrd:"),
    "inspected": ("fac: '", "message: 'group \\'"),
    "phrases": ("group ", " joined"),
    "times": ("group ", "2026-11-22 15:46:13 "),
    "months": ("group ", "Jan 1 2020 "),
    "transactional ids": ("transaction ", "transactionalId=a producerId=1 "),
    "producers": ("", "[Producer clientId=a, transactionalId="),
    "rollbacks": ("TransactionCoordinator ", "Completed rollback of ongoing transaction for transactionalId "),
    "appended": ("", "TransactionalId a append transaction log for "),
    "CSV": ("group ", '""a'),
    "colours": ("group ", "\x1b[31m"),
    "colours that do not end": ("group ", "\x1b[3"),
    "errors": ("group ", "Error: UNKNOWN_MEMBER_ID "),
    "classes of errors": ("group ", "UnknownMemberId"),
    "reasons": (
        f"{H}Preparing to rebalance group g in state Stable with old generation 1 (p) (reason: ",
        "member a on ",
    ),
    "compose": ("group ", "a| "),
    "pods": ("", "pod/a"),
    "dots": (f"{T}group ", ".", "x"),
    "members": (f"{H}[GroupId g] Computed a new target assignment for epoch 4 ", "{a", "=x"),
}
"""What stands in front of a piece, the piece that is repeated, what stands behind."""


def seconds(work: Callable[[], object]) -> float:
    """The processor's, the least of three."""

    def once() -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    return min(once() for _ in range(3))


def is_linear(work: Callable[[str], object], make: Callable[[int], str], size: int, quick_s: float) -> bool:
    """Whether work on a line that is so much longer takes so much more time."""
    text = make(size)
    begin = time.process_time()
    work(text)
    if time.process_time() - begin < quick_s:
        return True
    longer = make(LONGER * size)
    return any(seconds(lambda: work(longer)) < AT_MOST * max(seconds(lambda: work(text)), 1e-6) for _ in range(3))


# Every expression of the package.


def expressions() -> Iterator[tuple[str, re.Pattern[str], frozenset[str]]]:
    """By name: each expression of the package, and the methods with which it is asked."""
    for package in (kafkalearn.oncall, logs):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield from _of_module(found.name)
    yield "anywhere._anchors", anywhere._anchors()[0], frozenset({"finditer"})
    yield "anywhere._phrases", anywhere._phrases()[0], frozenset({"finditer"})
    yield "server_logs.HEAD", re.compile(server_logs.HEAD), frozenset({"match"})
    for form in dict.fromkeys(each.template.regex for each in patterns()):
        yield f"form {form[:40]}", re.compile(form), frozenset({"match"})


def _of_module(name: str) -> Iterator[tuple[str, re.Pattern[str], frozenset[str]]]:
    module = importlib.import_module(name)
    asked: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=method) if method in METHODS:
                asked.setdefault(owner, set()).add(method)
    for own, value in vars(module).items():
        short = f"{name.rpartition('.')[2]}.{own}"
        ways = frozenset(asked.get(own, {"match"} if short in AT_THE_FRONT else {"search"}))
        yield from ((short, each, ways) for each in _in(value))


def _in(value: object) -> Iterator[re.Pattern[str]]:
    match value:
        case re.Pattern():
            yield value
        case tuple() | list():
            for each in value:
                yield from _in(each)
        case Mapping():
            for each in value.values():
                yield from _in(each)


EXPRESSIONS = {(name, each.pattern): (each, ways) for name, each, ways in expressions()}


def test_the_package_has_its_expressions_where_they_are_found():
    assert len(EXPRESSIONS) > 300


def ask(expression: re.Pattern[str], method: str, text: str) -> None:
    """Ask as the package does."""
    match method:
        case "sub":
            expression.sub("", text)
        case "finditer":
            for _ in expression.finditer(text):
                pass
        case _:
            getattr(expression, method)(text)


@pytest.mark.parametrize("key", EXPRESSIONS, ids=lambda key: key[0])
def test_an_expression_is_linear_in_each_of_its_pieces(key):
    expression, ways = EXPRESSIONS[key]
    for make in pumped(expression.pattern, expression.flags & ~re.UNICODE):
        for method in ways:
            is_fine = is_linear(lambda text, method=method: ask(expression, method, text), make, LARGE // LONGER, 0.004)
            assert is_fine, f"{method} of {make(60)!r}"


# Whole lines.


def read_line(line: str) -> object:
    """Read a line behind one of its own kind."""
    return read([line, line])


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_read_in_time_that_its_length_says(name):
    front, piece, *behind = LINES[name]
    end = "".join(behind)
    make = lambda size: front + filled(piece, size - len(front) - len(end)) + end  # noqa: E731

    assert is_linear(read_line, make, LARGE // LONGER, 0)


def test_the_words_of_every_form_are_read_in_time_that_their_length_says():
    pieces = dict.fromkeys(piece for each in patterns() for piece in pieces_of(each.template.regex))
    assert len(pieces) > 500
    for piece in pieces:
        assert is_linear(read_line, lambda size, piece=piece: filled(piece, size), LARGE // LONGER, 0.015), piece


# Tables, sentences, and what an agent is answered.

HEADER = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"


def rows(count: int, groups: int) -> str:
    """A table of so many partitions."""
    return "\n".join([HEADER, *(f"g{at % groups} orders {at} {at} {at} 0 c-1 /10.0.0.7 c" for at in range(count))])


@pytest.mark.parametrize("groups", [1, 10**9], ids=["one group", "a group for each row"])
def test_a_table_takes_time_in_proportion_to_its_rows(groups):
    assert is_linear(lambda text: str(lag(text)), lambda size: rows(size, groups), 500, 0)


@pytest.mark.parametrize("piece", [" ", "1 ", "- ", "a ", ", ", "|", " | ", "\t", "Consumer group '"], ids=repr)
def test_one_row_of_a_table_takes_time_in_proportion_to_its_length(piece):
    def look(row: str) -> None:
        with suppress(KafkaLearnError):  # most of them are no row
            lag(f"{HEADER}\n{row}")

    assert is_linear(look, lambda size: f"a b{filled(piece, size)}x", LARGE // LONGER, 0.01)


def test_a_sentence_is_wrapped_in_time_that_its_length_says():
    assert is_linear(wrapped, lambda size: filled("word ", size), LARGE // LONGER, 0)


@pytest.mark.parametrize("piece", ["jaas", "password", 'password="', "secret="])
def test_secrets_are_masked_in_time_that_the_length_says(piece):
    from kafkalearn.oncall import tool_calls

    assert is_linear(tool_calls.safe, lambda size: filled(piece, size), LARGE // LONGER, 0.01)
