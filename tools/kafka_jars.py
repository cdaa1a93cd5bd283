"""The jars of a released Kafka broker of any age: fetched once, looked into, and run with a Java class of ours.

They come into the folder ``jars`` of generated data, each release with all that its own description asks for. (The
releases that `kafkalearn.live` starts are listed jar by jar, with hashes.)
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

from kafkalearn.base.files import data_folder
from kafkalearn.live.jars import (
    Module,
    ProgramFailed,
    classes_in,
    fetch_exactly,
    fetch_with_needs,
    releases,
    run_source,
)
from kafkalearn.live.processes import class_jars

HERE = Path(__file__).resolve().parent
SLF4J = Module("org.slf4j", "slf4j-api", "1.7.36")
SCALA = (((0, 9), "2.10"), ((2, 0), "2.11"), ((2, 8), "2.12"))
"""Before which release to take the jars for which Scala (1.0 and 1.1 for 2.12 need Java 8); later ones, 2.13."""


def broker_jars(release: str) -> list[Path]:
    """The broker's jar of a release with all that it needs, fetched if it is not there.

    Raises
    ------
    ProgramFailed
        If Ivy does not bring them.
    """
    jars = data_folder() / "jars"
    folder, part = jars / f"kafka-{release}", jars / f"kafka-{release}.part"
    if not folder.is_dir():
        shutil.rmtree(part, ignore_errors=True)
        broker = Module("org.apache.kafka", f"kafka_{scala_of(release)}", release)
        fetch_with_needs(broker, part, jars / "cache")
        if not (part / broker.jar_name).exists():
            raise ProgramFailed(f"Ivy did not bring {broker.jar_name}")
        part.rename(folder)  # only a whole one has this name
    return sorted(folder.glob("*.jar"))


def jars_of(version: str) -> list[Path]:
    """The jars with the classes of a release: its own where `kafkalearn.live` starts it, else its broker's."""
    started = {each.version: each for each in releases().values()}
    return class_jars(started[version]) if version in started else broker_jars(version)


def client_jars(version: str, *others: Module) -> list[Path]:
    """The jars of a client, with those of others that it is to be run with, fetched if they are not there.

    Raises
    ------
    ProgramFailed
        If Ivy does not bring them.
    """
    clients = Module("org.apache.kafka", "kafka-clients", version)
    folder = data_folder() / "jars" / "-".join(["clients", version, *(each.name for each in others)])
    if not (folder / clients.jar_name).exists():
        fetch_exactly([clients, SLF4J, *others], folder, data_folder() / "jars" / "cache")
    return sorted(folder.glob("*.jar"))


def scala_of(release: str) -> str:
    """The Scala version in the name of a broker's jar.

    >>> [scala_of(release) for release in ("0.8.2.2", "1.0.2", "2.8.2", "4.3.1")]
    ['2.10', '2.11', '2.13', '2.13']
    """
    numbers = tuple(map(int, release.split(".")[:2]))
    return next((scala for before, scala in SCALA if numbers < before), "2.13")


def run_class(jars: Iterable[Path], name: str, *arguments: str) -> str:
    """What NAME.java beside this file prints when it is run with these jars."""
    return run_source(HERE / f"{name}.java", jars, *arguments)


def java_needed(jars: Iterable[Path], name: str) -> int:
    """The oldest Java that can load every class of one of the jars, the one whose name begins with `name`.

    A class file says for which Java it was compiled: 50 is Java 6, 61 is Java 17.
    """
    jar = next(jar for jar in jars if re.match(rf"{name}-\d", jar.name))
    with zipfile.ZipFile(jar) as archive:
        newest = 0
        for entry in archive.namelist():
            if entry.endswith(".class") and not entry.startswith("META-INF/"):
                with archive.open(entry) as code:
                    newest = max(newest, int.from_bytes(code.read(8)[6:8], "big"))
    return newest - 44


def class_names(jars: Iterable[Path]) -> set[str]:
    """The names of all classes in the jars of Kafka itself."""
    return {name for jar in jars if jar.name.startswith("kafka") for name in classes_in(jar)}
