"""``runtime.js``: Python, its standard library and kafkalearn's core as one classic script, with the worker's own."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from pathlib import Path

from tools.book.live.packages import PYODIDE, files
from tools.environment import ROOT

WORKER = Path(__file__).with_name("worker.js")
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_LEFT_OUT = {"spark", "live", "lab", "__pycache__"}  # what needs Spark's Java, a real Kafka, JupyterLab, another Python
_NOT_IN_A_PAGE = {"multiprocessing", "xmlrpc", "wsgiref", "ftplib", "imaplib", "mailbox", "poplib", "smtplib"}
"""Modules of the standard library that do nothing without other processes or a network; none of the rest needs them."""
_DATA = ("coordinator.json", "flights.json", "command-walk", "lag", "offsets-topic", "own-cluster", "real-kafka")


def runtime() -> str:
    """The script; a page that has loaded it has ``window.KAFKALEARN_RUNTIME``, ``{parts, worker}``.

    Raises
    ------
    NotFetched
        If Pyodide cannot be fetched.
    """
    packed = {name: base64.b64encode(gzip.compress(data, 9, mtime=0)).decode() for name, data in parts().items()}
    described = json.dumps({"parts": packed, "worker": WORKER.read_text(encoding="utf-8")})
    return f"window.KAFKALEARN_RUNTIME = {described.replace('<', chr(92) + 'u003c')};\n"


def parts() -> dict[str, bytes]:
    """What the worker unpacks, by name."""
    of_pyodide = files(PYODIDE, *_OF_PYODIDE, "pyodide-lock.json")
    lock = json.loads(of_pyodide.pop("pyodide-lock.json")) | {"packages": {}}  # none can be fetched
    of_pyodide["python_stdlib.zip"] = _standard_library(of_pyodide["python_stdlib.zip"])
    return of_pyodide | {"lock.json": json.dumps(lock).encode(), "kafkalearn.zip": core_archive()}


def core_archive() -> bytes:
    """kafkalearn's core and the recorded data that it reads, as a zip to unpack where Python looks for modules."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as written:
        for inside, path in sorted(core_files().items()):
            written.writestr(zipfile.ZipInfo(inside), path.read_bytes())  # ZipInfo: the same date in every archive
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
