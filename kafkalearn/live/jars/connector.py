"""Spark's Kafka connector, which PySpark does not bring: fetched when it is asked for, each jar checked by its hash.

It is the newest that is published; `tools.spark_connector` writes ``connector.json``. One of an older minor version
works with PySpark 4.3. On a cluster Spark fetches it itself: ``spark.jars.packages``.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from kafkalearn.live.jars.fetching import Update, fetch, jar_paths
from kafkalearn.live.jars.ivy import Module
from kafkalearn.live.jars.pinned import Jar

FILE = files(__package__) / "connector.json"


class Connector(NamedTuple):
    """The connector's jar and those that it needs and Spark does not have."""

    version: str
    jars: tuple[Jar, ...]

    @property
    def size_bytes(self) -> int:
        """All jars together."""
        return sum(jar.size_bytes for jar in self.jars)

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"Spark's Kafka connector {self.version}"

    @property
    def way_back(self) -> str:
        """What to do, once online, if its jars could not be fetched."""
        return "ask for it again"


@cache
def connector() -> Connector:
    """The connector that is recorded.

    >>> [jar.module.name for jar in connector().jars][:2]
    ['commons-pool2', 'kafka-clients']
    """
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    return Connector(
        recorded["version"],
        tuple(Jar(Module(*name.split(":")), *facts) for name, facts in recorded["jars"].items()),
    )


def connector_jars(update: Update | None = None) -> list[Path]:
    """The jars of the connector on this machine, for `kafkalearn.spark.real_topic.add_jars`; 10 MB, fetched once.

    Raises
    ------
    KafkaNotFetched
        If they cannot be fetched; the message says what to do.
    """
    fetch(connector(), update)
    return jar_paths(connector())
