"""Modules that a page of the students' edition has packed: they run, and nobody meets their text by chance.

It is no secret: a page has no server, so all that judges an answer lies in the reader's browser.
"""

from __future__ import annotations

import zlib
from pathlib import Path

STUB = f'''"""A chapter's exercises, packed: what judges an answer knows it."""

from pathlib import Path

from {__name__} import run

run(Path(__file__).with_suffix(".packed"), globals())
'''
"""What stands in the place of a module."""


def packed(source: str) -> bytes:
    """The text of a module as a file that `run` takes.

    >>> zlib.decompress(packed("answer = 42")).decode()
    'answer = 42'
    """
    return zlib.compress(source.encode(), 9)


def run(path: Path, names: dict[str, object]) -> None:
    """Run a packed module in its own namespace."""
    source = zlib.decompress(path.read_bytes()).decode()
    exec(compile(source, path.name, "exec", dont_inherit=True), names)
