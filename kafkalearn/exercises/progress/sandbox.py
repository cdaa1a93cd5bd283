"""The process in which a function that was handed in runs, and the function as its judge sees it.

What the process says is a value, and judged outside it: code that took the process over could say no more than that.
Before it runs what was handed in, it gives up much. By the system, where it has `resource` (Linux, macOS): seconds of
processor, bytes of memory, and any further file, pipe, socket and process. By Python, everywhere: whatever opens,
connects, starts, removes or loads, refused as it is announced (`sys.addaudithook`).

What is left: on Windows no limit of memory, and Python's refusal alone; code that is made to get past Python itself
(through memory that it overwrites) can do on the disk what needs no open file, such as removing one. Hand-ins of
strangers are for a user, or a container, of their own.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

from kafkalearn.exercises.kit.given import GivenFunction, Raised, Spent
from kafkalearn.exercises.progress.processes import Process, received
from kafkalearn.exercises.progress.record import FunctionSource, decoded, encoded
from kafkalearn.releases import default

try:
    import resource
except ImportError:  # Windows
    resource = None

_ALLOWED = {
    *("array.__new__", "builtins.id", "code.__new__", "compile", "exec", "function.__new__", "import", "marshal.loads"),
    *("gc.get_objects", "gc.get_referents", "gc.get_referrers", "time.sleep"),
    *("object.__delattr__", "object.__getattr__", "object.__setattr__"),
    *("sys._current_frames", "sys._getframe", "sys._getframemodulename", "sys.excepthook", "sys.settrace"),
    *("sys.monitoring.register_callback", "sys.setprofile", "sys.unraisablehook"),
}
"""What Python announces and code of an answer may do: nothing that leaves the process."""


def left_open() -> list[str]:
    """What this system itself does not limit or refuse.

    >>> left_open() == [] if resource else left_open()[0] == "memory"
    True
    """
    return [] if resource else ["memory", "files", "the network", "processes"]


def limit(seconds: int, memory_bytes: int) -> None:
    """Set the system's limits, as far as it has them.

    Parameters
    ----------
    seconds : int
        Of processor time, from the process's start.
    memory_bytes : int
        Of address space.
    """
    _set("RLIMIT_CPU", seconds)
    _set("RLIMIT_AS", memory_bytes)
    _set("RLIMIT_CORE", 0)


def refuse_the_outside() -> None:
    """Give up files, sockets and processes. There is no way back."""
    for what in ("RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_FSIZE"):
        _set(what, 0)
    sys.addaudithook(_refuse)


def refuse_the_network() -> None:
    """For a process that runs nothing of a student's: Python refuses sockets there as well."""

    def refuse(event: str, arguments: tuple) -> None:
        if event.startswith("socket."):
            raise PermissionError(f"{event} is not allowed here")

    sys.addaudithook(refuse)


def _refuse(event: str, arguments: tuple) -> None:
    if event not in _ALLOWED:
        raise PermissionError(f"{event} is not allowed here")


def _set(name: str, most: int) -> None:
    if resource is None or not hasattr(resource, name):
        return
    which = getattr(resource, name)
    with suppress(OSError, ValueError):  # macOS knows a limit of memory and does not set it
        _, hard = resource.getrlimit(which)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (allowed, allowed))


SECONDS, MEMORY_BYTES = 20, 1 << 30
_MODULES = (
    *("bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
    *("hashlib", "heapq", "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics", "string"),
    *("struct", "textwrap", "typing", "zlib"),
)
"""What a function may import of Python's own; of this library it may import all."""
_CODECS = ("ascii", "idna", "latin_1", "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_8")


class SandboxedFunction(GivenFunction):
    """A function that runs in a process of its own, which begins with the first call and ends with `close`.

    It is `Spent` as well if it takes too long or too much memory, or ends its process.
    """

    def __init__(self, source: FunctionSource, seconds: float = SECONDS) -> None:
        """Nothing is run yet."""
        super().__init__(self._call, decoded)
        self._source, self._seconds = source, seconds
        self._process: Process | None = None

    def refuses(self, arguments: tuple[object, ...]) -> str:
        """Nothing: a call with other parameters raises in its process."""
        return ""

    def _call(self, *arguments: object) -> object:
        if self._process is None:
            homes = sorted({type(each).__module__ for each in _inside(arguments) if is_dataclass(each)})
            self._process = Process(__name__)
            self._process.send({"name": self._source.name, "source": self._source.source, "modules": homes})
        self._process.send(encoded(arguments))
        match self._process.receive(self._seconds):
            case {"value": words}:
                return words
            case {"raised": [str(name), str(words)]}:
                raise type(name if name.isidentifier() else "Exception", (Raised,), {})(words)
            case {"spent": str(words)}:
                raise Spent(words)
        raise Spent(f"has not answered within {self._seconds:.0f} s, or used up its memory, or ended its process")

    def close(self) -> None:
        """End its process."""
        if self._process is not None:
            self._process.close()
            self._process = None


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
    limit(SECONDS, MEMORY_BYTES)
    refuse_the_outside()
    call = defined(begin["name"], begin["source"])
    for words in messages:
        say(_called(call, words))


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


def _called(call: Callable[..., object], words: object) -> dict[str, object]:
    try:
        return {"value": call(*decoded(words))}
    except Raised as raised:
        return {"raised": [raised.name, str(raised)[:1000]]}
    except Spent as spent:
        return {"spent": str(spent)}


if __name__ == "__main__":
    main()
