"""``snapshot.js``: the memory of the pages' Python with kafkalearn in it, so that a page's Python is there at once.

Pyodide's own snapshot: what Python's memory is after the imports of `WARM`, made in Node, packed. A page begins with it
where it can, and starts Python as ever where anything about it fails, so nothing depends on it.

- Pyodide's options for it (``_makeSnapshot``, ``_loadSnapshot``) are private. Its version is pinned by a hash
  (`tools.book.live.packages`), and a snapshot says of which runtime it is: a page with another one passes it over.
- Files are not in it: the worker unpacks kafkalearn's archive as ever.
- Python's own seeds are in it. The worker seeds `random` anew; the hash of a text is the same in each page, as with
  ``PYTHONHASHSEED``.
- It is made of the students' edition, whose archive has no answers: memory keeps what was read into it. Both editions
  begin with the same one, so what is imported is no module that differs in them (`made`).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.book.live import runtime
from tools.book.live.packages import node
from tools.book.live.septets import literal, packed
from tools.book.without_answers import core_for_students

SCRIPT = Path(__file__).with_name("snapshot.mjs")
WARM = ("tools.page.cells", "kafkalearn.views", "kafkalearn.scenarios")
"""What is imported before the memory is kept, the most wanted first: what a first cell and a first picture need."""

_IMPORT = """
import json, sys
import {}
json.dumps(sorted(module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)))
"""
_HOME = "/home/pyodide/"


def made(parts: Mapping[str, bytes]) -> bytes:
    """The memory of a runtime of these parts, with as many of `WARM` in it as fit: a page takes none that has grown.

    Raises
    ------
    NotFetched
        If Node is not to be had.
    RuntimeError
        If it cannot be made, or holds a module that differs between the editions.
    """
    core, whole = core_for_students(), runtime.core_files()
    with tempfile.TemporaryDirectory() as home:
        for name, data in [*parts.items(), *((f"core/{name}", data) for name, data in core.items())]:
            path = Path(home, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for count in range(len(WARM), 0, -1):
            imported, has_grown = _keep(Path(home), WARM[:count])
            if not has_grown:
                break
        else:
            raise RuntimeError(f"the memory of the pages' Python with {WARM[0]} in it is larger than a page's own")
        memory = Path(home, "memory").read_bytes()
    names = [path.removeprefix(_HOME) for path in imported if path.startswith(_HOME)]
    if differing := [name for name in names if core[name] != whole[name].read_bytes()]:
        raise RuntimeError(f"these differ in the two editions, and must not be in the memory: {', '.join(differing)}")
    return memory


def _keep(home: Path, modules: Sequence[str]) -> tuple[list[str], bool]:
    """Write the memory with these modules in it into a folder; the files imported, and whether it has grown."""
    (home / "warm.py").write_text(_IMPORT.format(", ".join(modules)), encoding="utf-8")
    words = [node(), SCRIPT, home, home / "memory"]
    ended = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    if ended.returncode:
        raise RuntimeError(f"the memory of the pages' Python cannot be kept: {ended.stderr.strip()[-2000:]}")
    said = json.loads(ended.stdout)
    return said["imported"], said["hasGrown"]


def script(memory: bytes, of: str) -> str:
    """The script that gives a page ``window.KAFKALEARN_SNAPSHOT``, ``{of, packed}``.

    >>> print(script(b"", "one")[:40])
    window.KAFKALEARN_SNAPSHOT = {of: "one",
    """
    return f'window.KAFKALEARN_SNAPSHOT = {{of: "{of}", packed: {literal(packed(memory))}}};\n'
