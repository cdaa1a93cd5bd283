"""Options that several questions have, the cluster behind ``--bootstrap``, the text behind ``--describe``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kafkalearn.oncall.answer import text_of

if TYPE_CHECKING:
    from kafkalearn.live.cluster import Cluster


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a running cluster; access is read-only."""
    cluster = parser.add_argument_group("a running cluster, which is only read")
    cluster.add_argument("--bootstrap", metavar="HOST:PORT", help="ask this cluster; needs kafkalearn[live]")
    file_argument(cluster, "--config", help="a client's security settings, by librdkafka's names")


@contextmanager
def cluster_of(options: argparse.Namespace) -> Iterator[Cluster | None]:
    """The cluster that was named, connected; None if none was."""
    if options.bootstrap is None:
        yield None
        return
    from kafkalearn.live import connect  # the only part that is not of the core
    from kafkalearn.oncall.settings import read_properties

    config = {} if options.config is None else read_properties(options.config).values
    with connect(options.bootstrap, config) as cluster:
        yield cluster


def described(options: argparse.Namespace) -> str | None:
    """The text behind ``--describe``; None: there is none."""
    return None if options.describe is None else text_of(options.describe, "what kafka-topics --describe prints")


def file_argument(parser: argparse._ActionsContainer, *names: str, **options: Any) -> None:
    """An argument that is a file: completion in a shell knows it."""
    named: dict[str, Any] = {"metavar": "FILE", **options}
    action: Any = parser.add_argument(*names, **named)
    action.is_file = True
