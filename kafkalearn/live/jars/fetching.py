"""The jars of a release on this machine: fetched once, each checked by its hash, and kept beside other generated data.

All releases share one folder: their jars have their versions in their names, and half of them are the same files.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kafkalearn.datafiles import FOLDER_VARIABLE, data_folder
from kafkalearn.live.errors import KafkaNotFetched
from kafkalearn.live.jars.ivy import SETTINGS_VARIABLE, fetch_exactly
from kafkalearn.live.jars.java import ProgramFailed
from kafkalearn.live.jars.lock import one_at_a_time
from kafkalearn.live.jars.pinned import Jar, Release

INTERVAL_S = 0.2

Update = Callable[[int, int], None]
"""``update(done, total)``: bytes that have come, of all bytes. Called from another thread."""


def kafka_folder() -> Path:
    """Where jars, and what is made from them once on a machine, are kept."""
    return data_folder() / "kafka"


def jar_paths(release: Release) -> list[Path]:
    """Where the jars of a release are, or will be."""
    return [kafka_folder() / "jars" / jar.module.jar_name for jar in release.jars]


def missing(release: Release) -> list[Jar]:
    """The jars of a release that are not there in their full length."""
    return [jar for jar, path in zip(release.jars, jar_paths(release), strict=True) if not _is_whole(jar, path)]


def fetch(release: Release, update: Update | None = None) -> None:
    """See to it that all jars of a release are there; without an `update` the progress is printed.

    Raises
    ------
    KafkaNotFetched
        If they cannot be fetched, are not what they should be, or have no room; the message says what to do.
    """
    if not missing(release):
        return
    try:
        with one_at_a_time(kafka_folder() / "lock"):
            wanted = missing(release)  # fewer, or none: another process has fetched them meanwhile
            if wanted:
                _require_room(wanted)
                _fetch(release, wanted, update or _printed(release.title))
    except OSError as error:
        raise KafkaNotFetched(
            f"the jars of {release.title} cannot be kept in {kafka_folder()}: {error.strerror or error}; make "
            f"it yours, or set {FOLDER_VARIABLE} to a folder where you may write"
        ) from None


def _fetch(release: Release, wanted: list[Jar], update: Update) -> None:
    folder = kafka_folder() / "jars"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=kafka_folder()) as place:
        draft, cache = Path(place) / "jars", Path(place) / "cache"
        try:
            with _watched(cache, sum(jar.size_bytes for jar in wanted), update):
                fetch_exactly([jar.module for jar in wanted], draft, cache)
        except ProgramFailed as error:
            raise KafkaNotFetched(_advice(release, wanted, str(error))) from None
        for jar in wanted:
            path = draft / jar.module.jar_name
            if not path.is_file() or _sha256(path) != jar.sha256:
                raise KafkaNotFetched(
                    f"{path.name} is not the file that was released: its SHA-256 differs; nothing of it was kept. Ask "
                    "whoever runs the mirror that it came from"
                )
        for jar in wanted:
            (draft / jar.module.jar_name).replace(folder / jar.module.jar_name)  # at once, whole or not at all


def _advice(release: Release, wanted: list[Jar], reason: str) -> str:
    size_bytes = sum(jar.size_bytes for jar in wanted)
    return (
        f"the jars of {release.title} ({_megabytes(size_bytes)}) could not be fetched; what needs no real "
        f"Kafka works without them. Go online once and {release.way_back}; or name your company's Ivy "
        f"settings in {SETTINGS_VARIABLE}; or copy the folder {kafka_folder()} from a machine that has it. "
        f"What went wrong: {reason}"
    )


def _require_room(wanted: Iterable[Jar]) -> None:
    needed = 3 * sum(jar.size_bytes for jar in wanted)  # while they are fetched each is there twice
    place = kafka_folder()
    place.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place).free
    if free < needed:
        raise KafkaNotFetched(
            f"the jars of Kafka need {_megabytes(needed)} in {place}, {_megabytes(free)} are free; free some, or set "
            f"{FOLDER_VARIABLE} to a folder with room"
        )


@contextmanager
def _watched(folder: Path, total_bytes: int, update: Update) -> Iterator[None]:
    """Call `update` with what has come into a folder so far while the block runs, and at its end."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(INTERVAL_S):
            update(min(total_bytes - 1, _jar_bytes(folder)), total_bytes)  # the end comes once, below

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
        done.set()
        watcher.join()
        update(total_bytes, total_bytes)
    finally:
        done.set()
        watcher.join()


def _jar_bytes(folder: Path) -> int:
    found = 0
    for path in folder.rglob("*.jar*"):  # those under way have another ending
        try:
            found += path.stat().st_size
        except OSError:  # it has just got its final name
            continue
    return found


def _printed(what: str) -> Update:
    """Progress on the screen: one line that grows on a terminal, else a line at the start and one at the end."""
    began, is_terminal, said = time.monotonic(), sys.stderr.isatty(), []

    def update(done_bytes: int, total_bytes: int) -> None:
        is_end = done_bytes == total_bytes
        text = f"kafkalearn: fetching {what}, once on this machine: {_megabytes(total_bytes)}"
        if is_terminal:
            print(f"\r{text}, {done_bytes * 100 // max(1, total_bytes):3} %", end="", file=sys.stderr, flush=True)
        elif not said:
            print(text, file=sys.stderr, flush=True)
        said.append(done_bytes)
        if is_end:
            took_s = time.monotonic() - began
            print(f"{chr(10) if is_terminal else ''}kafkalearn: fetched in {took_s:.0f} s", file=sys.stderr, flush=True)

    return update


def _is_whole(jar: Jar, path: Path) -> bool:
    try:
        return path.stat().st_size == jar.size_bytes
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
