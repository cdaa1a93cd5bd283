"""JupyterLite's REPL with its Pyodide kernel, built and served here: what a reader would be given otherwise.

Its own build gets Pyodide and the kernel's packages from a network, in the reader's browser. Here they lie beside it:
the runtime is the one of the book, from npm, and the packages that Pyodide's lock names are wheels of plain Python.
It cannot be opened as a file (its kernel is a module worker, and its disk a service worker), so it needs a server.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kafkalearn.base.files import data_folder
from tools.book.live.packages import PYODIDE, files
from tools.environment import locked_uv

PACKAGES = ("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6", "jupyter-server==2.21.1")
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_KERNELS = ("micropip", "packaging", "ipython", "jedi")
_COMM = {"name": "comm", "version": "0.2.3", "depends": [], "imports": ["comm"]}  # not in Pyodide's lock
_LOCKED = {"install_dir": "site", "package_type": "package", "tool": {}, "unvendored_tests": False}


def built() -> Path:
    """The folder to be served, made once.

    Raises
    ------
    subprocess.CalledProcessError
        If a package is not to be had, or the build fails.
    NotFetched
        If Pyodide is not to be had.
    """
    home = data_folder() / "benchmarks" / "jupyterlite"
    if not (home / "served" / "index.html").exists():
        shutil.rmtree(home, ignore_errors=True)
        programs = home / "python" / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run(
            [locked_uv(), "venv", "--quiet", "--seed", "--python", sys.executable, home / "python"], check=True
        )
        subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        _lay_pyodide(home / "content" / "static" / "pyodide", programs / "python")
        build = [
            programs / "jupyter",
            "lite",
            "build",
            "--apps",
            "repl",
            "--no-sourcemaps",
            "--output-dir",
            home / "served",
        ]
        subprocess.run(build, cwd=home / "content", check=True, capture_output=True)
    return home / "served"


def _lay_pyodide(folder: Path, python: Path) -> None:
    """The runtime, the wheels that the kernel installs when it starts, and a lock that names no other."""
    folder.mkdir(parents=True)
    for name, data in files(PYODIDE, *_OF_PYODIDE).items():
        (folder / name).write_bytes(data)
    lock = json.loads(files(PYODIDE, "pyodide-lock.json")["pyodide-lock.json"])
    wanted = {"comm": _LOCKED | _COMM} | _with_depends(lock["packages"])
    names = [f"{each['name']}=={each['version']}" for each in wanted.values()]
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", "3.14", "--platform", "any"]
    subprocess.run([python, "-m", "pip", "download", *options, "--dest", folder, *names], check=True)
    for wheel in folder.glob("*.whl"):
        name = wheel.name.partition("-")[0].lower().replace("_", "-")
        wanted[name] |= {"file_name": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock | {"packages": wanted}), encoding="utf-8")


def _with_depends(packages: dict[str, dict]) -> dict[str, dict]:
    waiting, found = list(_KERNELS), {}
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name not in found:
            found[name] = packages[name]
            waiting += packages[name]["depends"]
    return found


class _Files(SimpleHTTPRequestHandler):
    """Files with the types that a browser asks of scripts and WebAssembly; it keeps silent."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *said: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder's server, on loopback, for as long as the ``with`` lasts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
