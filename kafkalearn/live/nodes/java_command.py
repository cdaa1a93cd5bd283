"""The command that runs a node: Java with little memory and little compiling, for a start in under a second.

What takes longest in a start is loading some 6,000 classes. An *archive* of them, which Java maps into memory, halves
it. It fits one build of Java and one class path, so each machine makes its own, once; where it does not fit Java goes
on without it and says nothing.

References
----------
JEP 350, Dynamic CDS archives (JDK 13).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from kafkalearn.java_runtime import Java
from kafkalearn.live.jars.fetching import jar_paths, kafka_folder
from kafkalearn.live.jars.java import class_path
from kafkalearn.live.jars.pinned import Release

HEAP = "-Xmx128m"
OPTIONS = (
    HEAP,
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
ERRORS_ONLY, WHOLE_LOGS = "slf4j-simple", "log4j-slf4j-impl"
"""The two jars that may write a node's log; one of them is on the class path."""

LOG4J = """status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {path}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""
"""What Kafka's own log4j2.yaml says about server.log: one line an event, in the same form."""


def node_class_path(release: Release, has_logs: bool) -> str:
    """The jars of a node as the words of a command."""
    return class_path(sorted(class_jars(release, has_logs)))


def class_jars(release: Release, has_logs: bool = False) -> list[Path]:
    """The jars of a release, with the one that writes whole logs or the one that writes only errors."""
    unwanted = ERRORS_ONLY if has_logs else WHOLE_LOGS
    return [path for path in jar_paths(release) if not path.name.startswith(unwanted)]


def archive_path(release: Release, java: Java, has_logs: bool) -> Path:
    """Where the archive for this Java and class path is, or will be."""
    made_for = f"{java.version} {os.path.realpath(java.executable)} {node_class_path(release, has_logs)}"
    digest = hashlib.sha256(made_for.encode()).hexdigest()[:12]
    return kafka_folder() / release.version / f"classes-{digest}.jsa"


def node_command(
    release: Release, java: Java, properties: Path, log4j: Path | None = None, training: Sequence[str] = ()
) -> Sequence[str]:
    """The words that start a node.

    Parameters
    ----------
    release : Release
        Whose jars.
    java : Java
        To run them.
    properties : Path
        The node's settings.
    log4j : Path or None
        How to write a whole log; None: only errors, to the screen.
    training : sequence of str
        Options that note which classes are loaded; empty: use the archive that there is.
    """
    has_logs = log4j is not None
    archive = archive_path(release, java, has_logs)
    options = [f"-Dlog4j2.configurationFile={log4j.as_uri()}"] if has_logs else []
    if training:
        options += training
    elif archive.exists() and archive.stat().st_size:  # empty: this Java cannot write one
        options.append(f"-XX:SharedArchiveFile={archive}")
    return [
        str(java.executable),
        *OPTIONS,
        *options,
        "-cp",
        node_class_path(release, has_logs),
        "kafka.Kafka",
        str(properties),
    ]
