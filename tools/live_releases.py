"""Writes kafkalearn/live/released.json: the newest patch of each release line, and every jar of it by its hash.

    python3 -m tools.live_releases              the newest patch of every line that is recorded
    python3 -m tools.live_releases 4.3 4.4      only these lines, the others as they are recorded; a new one is added
    python3 -m tools.live_releases 4.3=4.3.0    this patch

A release is the broker's jar with all that it needs, as its own description lists it, and three additions: the jar of
the command-line tools, without Connect's web server, which no tool that a chapter shows asks for; and what writes logs,
either errors alone to the screen (slf4j-simple, which costs no time) or whole server logs (Log4j). Hashes are of the
files as the registry served them. It prints what has changed; run again with the same patches it writes the same file.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from kafkalearn.live.jars import Module, ProgramFailed, fetch_exactly, fetch_with_needs, kafka_folder
from kafkalearn.releases.lines import at_least
from tools.recordings import differences, numbers_of, text_of

RECORDED = Path(__file__).resolve().parent.parent / "kafkalearn" / "live" / "released.json"
KAFKA, LOG4J, SLF4J = "org.apache.kafka", "org.apache.logging.log4j", "org.slf4j"
OWN_LOG4J = "2.24.3"  # for releases whose broker does not ask for any: what the distribution of 4.0 has
ABOUT = (
    "The released brokers that kafkalearn.live starts: for each line the newest patch, and its jars as "
    "organisation:name:revision. jars: the size in bytes and the SHA-256 of each, as served. Written by "
    "python3 -m tools.live_releases."
)


def main(words: list[str]) -> int:
    """Read the lines named, or all; write the file and print what has changed in it."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"releases": {}, "jars": {}}
    wanted = dict(word.partition("=")[::2] for word in words or recorded["releases"])
    releases, jars = dict(recorded["releases"]), dict(recorded["jars"])
    for line, patch in wanted.items():
        if not re.fullmatch(r"\d+\.\d+", line) or not at_least("4.0", line):
            sys.exit(
                f"kafkalearn: {line!r} is not a release line since 4.0; give lines like 4.3, or patches like 4.3=4.3.1"
            )
        release, of_release = read(patch or f"{line}.+")
        releases[line] = release
        jars |= of_release
        print(f"{line}: {release['version']}, {sum(size for size, _ in of_release.values()) / 1e6:.0f} MB", flush=True)
    used = {name for release in releases.values() for name in release["jars"]}
    new = {
        "about": ABOUT,
        "releases": {line: releases[line] for line in sorted(releases, key=numbers_of)},
        "jars": {name: jars[name] for name in sorted(used)},
    }
    print("\n".join(changes(recorded, new)) or "nothing has changed")
    RECORDED.write_text(text_of(new, "jars"), encoding="utf-8")
    return 0


def read(version: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """A patch, or the newest of a line: what the file says of it, and of its jars."""
    kafka_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=kafka_folder()) as place:
        folder, cache = Path(place) / "jars", Path(place) / "cache"
        modules = fetch_with_needs(Module(KAFKA, "kafka_2.13", version), folder, cache)
        revisions = {each.name: each.revision for each in modules}
        added = additions(revisions)
        fetch_exactly(added, folder, cache)
        jars = {":".join(each): facts_of(folder / each.jar_name) for each in sorted({*modules, *added})}
    return {"version": revisions["kafka_2.13"], "jars": list(jars)}, jars


def additions(revisions: dict[str, str]) -> list[Module]:
    """What a release gets beside what its broker asks for.

    >>> [each.jar_name for each in additions({"kafka_2.13": "4.0.2", "slf4j-api": "1.7.36"})][:2]
    ['kafka-tools-4.0.2.jar', 'slf4j-simple-1.7.36.jar']
    """
    log4j = revisions.get("log4j-core", OWN_LOG4J)
    return [
        Module(KAFKA, "kafka-tools", revisions["kafka_2.13"]),
        Module(SLF4J, "slf4j-simple", revisions["slf4j-api"]),
        *(Module(LOG4J, name, log4j) for name in ("log4j-api", "log4j-core", "log4j-slf4j-impl")),
    ]


def facts_of(path: Path) -> list[Any]:
    """The size and the hash of a file."""
    return [path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()]


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for each release that is new or another, and each jar that came or went."""
    versions = [{line: each["version"] for line, each in recorded["releases"].items()} for recorded in (old, new)]
    return differences(*versions) + [f"jar {each}" for each in differences(old["jars"], new["jars"])]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ProgramFailed as reason:
        sys.exit(f"kafkalearn: {reason}")
