"""``python -m kafkalearn.live [RELEASE ...]``: fetches and prepares what `Kafka` starts, without starting a cluster."""

from __future__ import annotations

import sys

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live.jars import connector_jars, find_release
from kafkalearn.live.nodes import bootstrap_checkpoint, prepare
from kafkalearn.releases.lines import DEFAULT_RELEASE


def main(words: list[str]) -> int:
    """Fetch the releases named, or the newest; the exit code is 1 if one cannot be had."""
    try:
        for release in [find_release(word) for word in words or [DEFAULT_RELEASE]]:
            prepare(release)
            bootstrap_checkpoint(release, {})
            print(f"Kafka {release.version} is here: with Kafka(release={release.line!r}) as kafka: ...")
        connector_jars()  # Spark's, of which chapter 14 has need
    except KafkaLearnError as error:
        print(f"kafkalearn: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
