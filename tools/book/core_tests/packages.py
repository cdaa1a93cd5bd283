"""pytest and Hypothesis for the pages' Python: as they are installed where they are plain Python.

Of Hypothesis that is an older release than the one we test with, whose parts in C no page has.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from kafkalearn.base.files import data_folder
from tools.book.live.packages import NotFetched
from tools.environment import locked_uv

_PURE_HYPOTHESIS = """hypothesis==6.150.0 \\
    --hash=sha256:ac263bdaf338f4899a9a56e8224304e29b3ad91799e0274783c49abd91ea35ac \\
    --hash=sha256:caf1f752418c49ac805f11d909c5831aaceb96762aa3895e0c702468dedbe3fe
"""
_PLAIN = (
    "pytest",
    "_pytest",
    "py",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "sortedcontainers",
    "attr",
    "attrs",
)


def packages() -> Path:
    """A folder with all of them, made once.

    Raises
    ------
    NotFetched
        If the plain Hypothesis is not to be had.
    """
    folder = data_folder() / "page-tests"
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        wanted = part / "wanted.txt"
        wanted.write_text(_PURE_HYPOTHESIS, encoding="utf-8")
        install = ["pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target", part, "-r", wanted]
        if subprocess.run([locked_uv(), *install]).returncode:
            raise NotFetched("uv does not bring the plain Hypothesis that the pages' Python can run")
        for name in _PLAIN:
            origin = Path(find_spec(name).origin)
            if origin.name == "__init__.py":
                shutil.copytree(origin.parent, part / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(origin, part)
        part.rename(folder)
    return folder
