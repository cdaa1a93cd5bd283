"""Kafka's own DumpLogSegments as a command, from the jars that `kafkalearn.live` fetches once."""

from __future__ import annotations

from pathlib import Path

from kafkalearn.live.jars import fetch, find_release, java_here
from kafkalearn.live.processes import OPTIONS, node_class_path
from kafkalearn.live.used_cluster import CLASSES

KAFKA = "4.3"


def dump_log(path: Path, option: str) -> list[str]:
    """The command that prints every record of a file as `option` says, with its checksum looked at.

    Raises
    ------
    KafkaNotFetched
        If the jars cannot be had.
    """
    release = find_release(KAFKA)
    fetch(release)
    java = [str(java_here().executable), *OPTIONS, "-Xmx2g", "-cp", node_class_path(release, has_logs=False)]
    return [*java, CLASSES["dump-log"][0], option, "--files", str(path)]
