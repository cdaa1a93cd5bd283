"""``kafkalearn xray``: what is in segment files, and what is wrong with them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

from kafkalearn.answers import xray
from kafkalearn.answers.units import lasting
from kafkalearn.answers.xray.report import Xray
from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.census.side_by_side import has_columns
from kafkalearn.segments.checksum import HAS_WHEEL
from kafkalearn.versions.releases import DEFAULT_RELEASE

HELP = "what is in my segment files: records, damage, the cleaner, groups, open transactions"
SILENT_S, AGAIN_S = 1.0, 0.5  # a quick answer needs no progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="segment files, partitions' folders, data directories")
    parser.add_argument("--topic", help="only this topic")
    parser.add_argument("--partition", type=int, metavar="N", help="only this partition")
    parser.add_argument("--group", help="only this group: the one partition of the offsets topic that holds it is read")
    parser.add_argument("--offsets-partitions", type=int, default=50, metavar="N", help="offsets.topic.num.partitions")
    parser.add_argument("--headers", action="store_true", help="headers of batches alone: quick, no keys, no checksums")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the topic or broker, as in --set min.cleanable.dirty.ratio=0.1; else Kafka's default",
    )
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="of the broker")
    parser.add_argument("--now", type=int, metavar="MS", help="the time to judge by; else when a file was last written")


def answer(options: argparse.Namespace) -> Xray:
    """Ask `kafkalearn.answers.xray`."""
    show = _Progress(sys.stderr.write) if sys.stderr.isatty() else None
    progress: dict[str, Any] = {} if show is None else {"progress": show}
    try:
        return xray(
            options.paths,
            topic=options.topic,
            partition=options.partition,
            group=options.group,
            offsets_partition_count=options.offsets_partitions,
            headers_only=options.headers,
            settings=dict(map(_setting, options.set)),
            release=options.release,
            now_ms=options.now,
            **progress,
        )
    finally:
        if show is not None:
            show.clear()


def _setting(written: str) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    if not equals:
        raise KafkaLearnError(f"--set takes NAME=VALUE, got {written!r}")
    return name.strip(), value.strip()


class _Progress:
    """One line on a terminal: how far the files are read, and how long it will still take."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write
        self.began_s = self.shown_s = monotonic()
        self.width = 0

    def __call__(self, read_bytes: int, all_bytes: int) -> None:
        """Show it, if it takes longer than a moment."""
        now_s = monotonic()
        if now_s - self.began_s < SILENT_S or now_s - self.shown_s < AGAIN_S or not read_bytes:
            return
        self.shown_s = now_s
        left_ms = int(1000 * (now_s - self.began_s) * (all_bytes - read_bytes) / read_bytes)
        quicker = "" if has_columns() and HAS_WHEEL else "; quicker with pip install 'kafkalearn[fast]'"
        words = f"{100 * read_bytes // all_bytes} % read, about {lasting(left_ms // 1000 * 1000)} left{quicker}"
        self.write(f"\r{words:{self.width}}")
        self.width = len(words)
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave an empty line behind."""
        if self.width:
            self.write(f"\r{'':{self.width}}\r")
            sys.stderr.flush()
