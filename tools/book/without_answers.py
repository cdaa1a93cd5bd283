"""kafkalearn's core as the students' edition has it: judges are packed, what only tells an answer is not there.

An exercise needs its judge and what cures each wrong answer; it does not need its solution. A prediction needs nothing
of the core: its page has what is so, sealed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from tools.book.live.runtime import core_files
from tools.page.packed import STUB, packed

_OF_A_CHAPTER = re.compile(r"kafkalearn/exercises/chapter\w+\.py")
_TELLS_ONLY = re.compile(r"kafkalearn/predictions/questions/\w+\.toml")


def core_for_students() -> Mapping[str, bytes]:
    """Every file of the archive by its name there."""
    made: dict[str, bytes] = {}
    for name, path in core_files().items():
        if _TELLS_ONLY.fullmatch(name):
            continue
        made[name] = path.read_bytes()
        if _OF_A_CHAPTER.fullmatch(name):
            made[name.removesuffix("py") + "packed"] = packed(without_solutions(made[name].decode()))
            made[name] = STUB.encode()
    return made


def without_solutions(source: str) -> str:
    """A chapter's module whose exercises have no reasoning, and know no answer that the judge does not need.

    >>> print(without_solutions("one = Exercise(name='one', reasoning='It is 7.', solve=lambda: 7, judge=Open())"))
    one = Exercise(name='one', reasoning='', solve=lambda: None, judge=Open())
    """
    tree = ast.parse(source)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Exercise":
            for given in call.keywords:
                given.value = _INSTEAD.get(given.arg or "", given.value)
    return ast.unparse(tree)


_INSTEAD: Mapping[str, ast.expr] = {
    "reasoning": ast.Constant(""),
    "solve": ast.parse("lambda: None", mode="eval").body,
}
