"""What a call may use: ten seconds of the processor and a gigabyte; beyond that it counts as one that never ends.

Seconds of the processor, not of the clock: a busy machine is no fault. What does not even return to Python is ended by
a watchdog, after two minutes by the clock.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from contextlib import contextmanager

try:
    import resource
    import signal

    HAS_LIMITS = hasattr(signal, "setitimer")
except ImportError:  # Windows: there only the watchdog
    HAS_LIMITS = False

PROCESSOR_SECONDS = 10
MEMORY_BYTES = 1 << 30
WATCHDOG_SECONDS = 120


class NeverEnds(BaseException):
    """A call used more of the processor than any that ends."""


def limit_memory() -> None:
    """Let this process have a gigabyte and no more: beyond it, MemoryError."""
    if HAS_LIMITS:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise NeverEnds in what takes too long; what does not even return to Python ends the process."""
    faulthandler.dump_traceback_later(WATCHDOG_SECONDS, exit=True)
    if HAS_LIMITS:
        signal.signal(signal.SIGPROF, _end)
        signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    try:
        yield
    finally:
        if HAS_LIMITS:
            signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def _end(*_: object) -> None:
    raise NeverEnds
