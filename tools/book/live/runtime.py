"""``runtime.js``: Python, its standard library and kafkalearn's core as one classic script, with the worker's own."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tools.book.live.packages import PYODIDE, files
from tools.book.live.septets import literal, object_in, packed
from tools.environment import ROOT

CORE = "kafkalearn.zip"
WORKER = Path(__file__).with_name("worker.js")
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_LEFT_OUT = {"spark", "live", "lab", "__pycache__"}  # what needs Spark's Java, a real Kafka, JupyterLab, another Python
_NOT_IN_A_PAGE = {"multiprocessing", "xmlrpc", "wsgiref", "ftplib", "imaplib", "mailbox", "poplib", "smtplib"}
"""Modules of the standard library that do nothing without other processes or a network; none of the rest needs them."""
_DATA = ("coordinator.json", "flights.json", "command-walk", "lag", "offsets-topic", "own-cluster", "real-kafka")


def runtime(made: Mapping[str, bytes]) -> str:
    """The script of these `parts`: it gives a page ``window.KAFKALEARN_RUNTIME``, ``{parts, worker, snapshot}``.

    The last one says which memory Python can begin with: that of `tools.book.live.snapshot` of the same name.
    """
    letters = {name: packed(data) for name, data in made.items()}
    return _script({"parts": letters, "worker": WORKER.read_text(encoding="utf-8"), "snapshot": name_of(made)})


def name_of(made_of: Mapping[str, bytes]) -> str:
    """A name for the parts of a runtime."""
    hashed = hashlib.sha256()
    for name, data in sorted(made_of.items()):
        hashed.update(f"{name}\0{len(data)}\0".encode() + data)
    return hashed.hexdigest()


_BEFORE = "window.KAFKALEARN_RUNTIME = "


def with_core(script: str, core: bytes) -> str:
    """A script of `runtime` with another archive of the core; what stands before it stays."""
    head, _, described = script.partition(_BEFORE)
    made = object_in(described.rstrip().removesuffix(";"))
    return head + _script(made | {"parts": made["parts"] | {CORE: packed(core)}})


def _script(described: Mapping[str, object]) -> str:
    parts = ", ".join(f"{json.dumps(name)}: {literal(letters)}" for name, letters in described["parts"].items())
    rest = "".join(f", {json.dumps(name)}: {json.dumps(described[name])}" for name in ("worker", "snapshot"))
    return f'{_BEFORE}{{"parts": {{{parts}}}{rest}}};\n'


def parts() -> dict[str, bytes]:
    """What the worker unpacks, by name.

    Raises
    ------
    NotFetched
        If Pyodide cannot be fetched.
    """
    of_pyodide = files(PYODIDE, *_OF_PYODIDE, "pyodide-lock.json")
    lock = json.loads(of_pyodide.pop("pyodide-lock.json")) | {"packages": {}}  # none can be fetched
    of_pyodide["python_stdlib.zip"] = _standard_library(of_pyodide["python_stdlib.zip"])
    return of_pyodide | {"lock.json": json.dumps(lock).encode(), CORE: core_archive()}


def core_archive(files: Mapping[str, bytes] | None = None) -> bytes:
    """kafkalearn's core and the recorded data that it reads, as a zip to unpack where Python looks for modules.

    `files` by their names there, `core_files` if not said.
    """
    if files is None:
        files = {name: path.read_bytes() for name, path in core_files().items()}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as written:
        for inside, data in sorted(files.items()):
            written.writestr(zipfile.ZipInfo(inside), data)  # ZipInfo: the same date in every archive
    return archive.getvalue()


def _standard_library(archive: bytes) -> bytes:
    """What of it a page can use, as plain files: packed as a whole a tenth smaller, and Python need not unpack each."""
    plain = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as read, zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as written:
        for name in read.namelist():
            if name.partition("/")[0].removesuffix(".py") not in _NOT_IN_A_PAGE:
                written.writestr(zipfile.ZipInfo(name), read.read(name))
    return plain.getvalue()


def core_files() -> dict[str, Path]:
    """Every file of the archive by its name there."""
    chosen = {}
    for path in (*(ROOT / "kafkalearn").rglob("*"), *(ROOT / "tools" / "page").rglob("*")):
        inside = path.relative_to(ROOT)
        if path.is_file() and not _LEFT_OUT & set(inside.parts):
            chosen[inside.as_posix()] = path
    for name in _DATA:
        whole = ROOT / "data" / name
        for path in [whole] if whole.is_file() else whole.rglob("*"):
            if path.is_file():
                chosen[f"kafkalearn/data/{path.relative_to(ROOT / 'data').as_posix()}"] = path
    return chosen
