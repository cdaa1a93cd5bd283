"""The sandboxed process in which a submitted function runs, and the function as its judge sees it.

What the process says is a value, and judged outside it: code that took the process over could say no more than that.
Before it runs what was handed in, the kernel is asked to refuse it everything else (`confinement`). Where no kernel
does, the process runs nothing, but for a user who has asked for just that.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

from kafkalearn.exercises.kit.given import GivenFunction, Raised, Spent
from kafkalearn.exercises.progress.confinement import confine
from kafkalearn.exercises.progress.processes import Process, received
from kafkalearn.exercises.progress.record import FunctionSource, decoded, encoded
from kafkalearn.releases import default

SECONDS, MEMORY_BYTES = 20, 1 << 30
_NOT_RUN = "was not run: "
_MODULES = (
    *("bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
    *("hashlib", "heapq", "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics", "string"),
    *("struct", "textwrap", "typing", "uuid", "zlib"),
)
"""What a function may import of Python's own; of this library it may import all."""
_CODECS = ("ascii", "idna", "latin_1", "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_8")


class SandboxedFunction(GivenFunction):
    """A function that runs in a process of its own, which begins with the first call and ends with `close`.

    It is `Spent` as well if it takes too long or too much memory, or ends its process, and if the process could not be
    confined and `is_free` does not say that it may run so.
    """

    def __init__(self, source: FunctionSource, seconds: float = SECONDS, *, is_free: bool = False) -> None:
        """Nothing is run yet."""
        super().__init__(self._call, lambda value: value)
        self._source, self._seconds, self._is_free = source, seconds, is_free
        self._process: Process | None = None

    def refuses(self, arguments: tuple[object, ...]) -> str:
        """Nothing: a call with other parameters raises in its process."""
        return ""

    def _call(self, *arguments: object) -> object:
        if self._process is None:
            homes = sorted({type(each).__module__ for each in _inside(arguments) if is_dataclass(each)})
            self._process = Process(__name__)
            begin = {"name": self._source.name, "source": self._source.source, "modules": homes}
            self._process.send({**begin, "is_free": self._is_free})
        self._process.send(encoded(arguments))
        if (said := self._process.receive(self._seconds)) is None:
            raise Spent(f"has not answered within {self._seconds:.0f} s, or used up its memory, or ended its process")
        return value_of(said)

    def close(self) -> None:
        """End its process."""
        if self._process is not None:
            self._process.close()
            self._process = None


_PROBING = Lock()  # files are judged in several threads


def why_none_runs() -> str:
    """Why no function can be confined here, as words; empty if one can. A process is started to find out, once.

    >>> why_none_runs() == "" if sys.platform == "linux" else why_none_runs() != ""
    True
    """
    with _PROBING:
        return _probed()


@cache
def _probed() -> str:
    with Process(__name__) as process:
        process.send({"name": "f", "source": "f = len", "modules": [], "is_free": False})
        process.send(encoded(("x",)))
        match process.receive(SECONDS):
            case {"value": 1}:
                return ""
            case {"spent": str(words)}:
                return words.removeprefix(_NOT_RUN)
    return "a confined process was started and did not answer"


def _inside(value: object) -> Iterator[object]:
    yield value
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    if isinstance(parts, list | tuple | set | frozenset):
        for each in parts:
            yield from _inside(each)


def main() -> None:
    """In the process: define the function of the first message, and call it with what each further one holds."""
    messages = received()
    begin = next(messages)
    for module in [*begin["modules"], *_imported_by(begin["source"]), *(f"encodings.{name}" for name in _CODECS)]:
        with suppress(Exception):  # then the function's own import fails, and says so
            import_module(module)
    default("acks")  # the library reads the defaults of all releases from a file, once: now, while it can
    say = _own_the_output()
    trouble = confine(MEMORY_BYTES, SECONDS)
    if trouble and begin["is_free"] is not True:
        say({"spent": f"{_NOT_RUN}{trouble}"})
        return
    call = defined(begin["name"], begin["source"])
    for words in messages:
        say(called(call, words))


def _imported_by(source: str) -> list[str]:
    """The modules of its import statements that it may have; they are loaded while files can still be opened."""
    names = []
    with suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                names += [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.append(node.module)
    return [name for name in names if name.partition(".")[0] in (*_MODULES, "kafkalearn")]


def _own_the_output() -> Callable[[object], None]:
    """A way to say something; what is printed goes nowhere from now on."""
    out, sys.stdout = sys.stdout, io.StringIO()

    def say(message: object) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()
        sys.stdout = io.StringIO()

    return say


def defined(name: str, source: str) -> Callable[..., object]:
    """The function, from its arguments to what JSON writes of its value; the first call defines it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}

    def call(*arguments: object) -> object:
        if name not in namespace:
            exec(compile(source, "<answer>", "exec"), namespace)
        return namespace[name](*arguments)

    return GivenFunction(call, encoded)


def called(call: Callable[..., object], words: object) -> dict[str, object]:
    """What a call gave, in words of JSON: a value, what was raised, or the bound that it reached."""
    try:
        return {"value": call(*decoded(words))}
    except Raised as raised:
        return {"raised": [raised.name, str(raised)[:1000]]}
    except Spent as spent:
        return {"spent": str(spent)}


def value_of(said: Any) -> Any:
    """The value of a call, as `called` has said it.

    Raises
    ------
    Raised, Spent
        As the function did.
    """
    match said:
        case {"value": words}:
            return decoded(words)
        case {"raised": [str(name), str(words)]}:
            raise type(name if name.isidentifier() else "Exception", (Raised,), {})(words)
        case {"spent": str(words)}:
            raise Spent(words)
    raise Spent("has said nothing that can be read")


if __name__ == "__main__":
    main()
