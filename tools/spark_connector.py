"""Writes kafkalearn/live/connector.json: Spark's Kafka connector, and every jar of it by its hash.

    python3 -m tools.spark_connector            the newest that is published for Spark 4
    python3 -m tools.spark_connector 4.2.0      this one

Its jars are those that the connector asks for and that PySpark, whatever their version there, does not bring. It prints
what has changed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from kafkalearn.live.jars import Module, ProgramFailed, fetch_with_needs, kafka_folder, spark_jars
from tools.live_releases import facts_of

RECORDED = Path(__file__).resolve().parent.parent / "kafkalearn" / "live" / "connector.json"
NAME = "spark-sql-kafka-0-10_2.13"
ABOUT = (
    "Spark's Kafka connector, which PySpark does not bring: its jars as organisation:name:revision, of each the size "
    "in bytes and the SHA-256, as served. Written by python3 -m tools.spark_connector."
)


def main(words: list[str]) -> int:
    """Read the version named, or the newest; write the file and print what has changed in it."""
    old = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"version": "none", "jars": {}}
    new = read(words[0] if words else "4.+")
    changed = [f"version: {old['version']} -> {new['version']}"] if old["version"] != new["version"] else []
    changed += [f"no longer: {name}" for name in old["jars"] if name not in new["jars"]]
    changed += [f"jar: {name}" for name, facts in new["jars"].items() if old["jars"].get(name) != facts]
    print("\n".join(changed) or "nothing has changed")
    RECORDED.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
    return 0


def read(version: str) -> dict[str, Any]:
    """What the file says of a version."""
    kafka_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".connector-", dir=kafka_folder()) as place:
        folder, cache = Path(place) / "jars", Path(place) / "cache"
        modules = fetch_with_needs(Module("org.apache.spark", NAME, version), folder, cache)
        wanted = sorted(each for each in modules if not any(spark_jars().glob(f"{each.name}-[0-9]*.jar")))
        (own,) = (each.revision for each in wanted if each.name == NAME)
        jars = {":".join(each): facts_of(folder / each.jar_name) for each in wanted}
    return {"about": ABOUT, "version": own, "jars": jars}


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ProgramFailed as reason:
        sys.exit(f"kafkalearn: {reason}")
