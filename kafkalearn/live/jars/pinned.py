"""Which releases there are, and every jar of each by its hash: ``released.json``, from ``tools.live_releases``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kafkalearn.errors import unknown_name
from kafkalearn.live.jars.ivy import Module

FILE = files(__package__) / "released.json"


class Jar(NamedTuple):
    """One file, as its registry serves it to everybody."""

    module: Module
    size_bytes: int
    sha256: str


class Release(NamedTuple):
    """The newest patch of a release line that was tried here."""

    line: str  # "4.3"
    version: str  # "4.3.1"
    jars: tuple[Jar, ...]  # of the broker, all that it needs, and the command-line tools

    @property
    def size_bytes(self) -> int:
        """All jars together."""
        return sum(jar.size_bytes for jar in self.jars)

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"Kafka {self.version}"

    @property
    def way_back(self) -> str:
        """What to do, once online, if its jars could not be fetched."""
        return "run `make live`"


@cache
def releases() -> dict[str, Release]:
    """Every release by its line, oldest first.

    >>> list(releases())
    ['4.0', '4.1', '4.2', '4.3']
    """
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    jars = {name: Jar(Module(*name.split(":")), *rest) for name, rest in recorded["jars"].items()}
    return {
        line: Release(line, each["version"], tuple(jars[name] for name in each["jars"]))
        for line, each in recorded["releases"].items()
    }


def find_release(name: str) -> Release:
    """The release of a line, ``"4.3"``, or of the version that is recorded for it, ``"4.3.1"``.

    Raises
    ------
    KafkaLearnError
        If it is not one of `releases`.

    Examples
    --------
    >>> find_release("4.3")._replace(jars=())
    Release(line='4.3', version='4.3.1', jars=())
    """
    by_name = releases() | {each.version: each for each in releases().values()}
    if name not in by_name:
        raise unknown_name("release", name, releases())
    return by_name[name]
