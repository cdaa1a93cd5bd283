"""One process at a time does what is done once on a machine; the others wait, and find it done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no broker is started
    fcntl = None


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold the lock of a file while the block runs; the system gives it back if this process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
