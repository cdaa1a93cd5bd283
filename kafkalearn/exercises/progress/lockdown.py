"""What a process gives up before it runs what was handed in.

By the system, where it has `resource` (Linux, macOS): seconds of processor, bytes of memory, and any further file,
pipe, socket and process. By Python, everywhere: whatever opens, connects, starts, removes or loads, refused as it is
announced (`sys.addaudithook`).

What is left: on Windows no limit of memory, and Python's refusal alone; code that is made to get past Python itself
(through memory that it overwrites) can do on the disk what needs no open file, such as removing one. Hand-ins of
strangers are for a user, or a container, of their own.
"""

from __future__ import annotations

import sys
from contextlib import suppress

try:
    import resource
except ImportError:  # Windows
    resource = None

_ALLOWED = frozenset(
    (
        "array.__new__",
        "builtins.id",
        "code.__new__",
        "compile",
        "exec",
        "function.__new__",
        "gc.get_objects",
        "gc.get_referents",
        "gc.get_referrers",
        "import",
        "marshal.loads",
        "object.__delattr__",
        "object.__getattr__",
        "object.__setattr__",
        "sys._current_frames",
        "sys._getframe",
        "sys._getframemodulename",
        "sys.excepthook",
        "sys.monitoring.register_callback",
        "sys.setprofile",
        "sys.settrace",
        "sys.unraisablehook",
        "time.sleep",
    )
)
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
