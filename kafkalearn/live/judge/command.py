"""The command of the judge: its words, the settings of its connections, and how it ends."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.judge.judging import SECONDS, judge
from kafkalearn.versions.releases import DEFAULT_RELEASE


def main(words: Sequence[str]) -> int:
    """Judge, print the report, and write it where it is wanted; the exit code says how it came out."""
    wanted = _parsed(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that an end from outside cleans up, too
    try:
        config = _config(wanted.config)
        report = judge(
            wanted.bootstrap,
            config,
            wanted.may_write,
            wanted.release,
            wanted.seconds,
            wanted.seed,
            update=lambda name: print(f"asking: {name}", file=sys.stderr, flush=True),
        )
    except KafkaLearnError as error:
        print(f"kafkalearn: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("kafkalearn: stopped; what was made is removed", file=sys.stderr)
        return 130
    text = report.as_json() if wanted.report and wanted.report.suffix == ".json" else str(report)
    if wanted.report:
        wanted.report.write_text(text, encoding="utf-8")
    print(report)
    return report.exit_code


def _config(path: Path | None) -> dict[str, object]:
    """The settings of a file: JSON, or lines ``name=value`` as Kafka's tools read them."""
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return dict(json.loads(text))
    except (OSError, ValueError, TypeError) as error:
        raise KafkaLearnError(f"{path} cannot be read as settings: {error}") from None
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m kafkalearn.live.judge",
        description="Asks a broker what Kafka is asked, and says rule by rule whether it answers as Kafka does.",
    )
    parser.add_argument("bootstrap", help="host:port of a broker")
    parser.add_argument("--may-write", action="store_true", help="it makes topics and groups, and removes them")
    parser.add_argument("--config", type=Path, help="security settings of librdkafka, name=value a line, or .json")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="whose rules, such as 4.1")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each kind of question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="a file to write: .json, or Markdown")
    return parser.parse_args(words)
