"""Python's search for circles of objects, paused while very many objects are made of which none is in a circle.

The search looks at all that is new again and again: a million tuples take three times as long with it as without.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_search() -> Iterator[None]:
    """No search for circles within; afterwards it is as it was.

    >>> with no_search():
    ...     gc.isenabled()
    False
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
