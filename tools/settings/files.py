"""The two files: where they are, what they say of themselves, how they are written and compared."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent.parent
VERSIONS = TOOLS.parent / "kafkalearn" / "releases"
RECORDED = VERSIONS / "settings_by_release.json"
UPGRADES = VERSIONS / "upgrades.json"
EVIDENCE = TOOLS.parent / "tests" / "vectors" / "versions" / "released-jars.json"

ABOUT = (
    "Defaults and limits of Kafka's settings by release line, only the lines where they change. A setting is [name, "
    "side, type, {line: default from this line on}, {line: limit from this line on}, 'internal']; the last two may be "
    "missing. absent: the line does not know it, (required): it has no default, null: it is known and unset, or has no "
    "limit. Lists are lists, class names are text, numbers have the unit of the setting's name. The type is that of "
    "the newest line. Limits: smallest and largest number, the values allowed, not empty, or a form in text."
)
OBTAINED = (
    "python3 run.py settings ran the configuration classes of one release of each line (asked): ConsumerConfig, "
    "ProducerConfig, AdminClientConfig, KafkaConfig, DynamicConfig, LogConfig, GroupConfig by reflection; those of the "
    "broker and topics of 0.8.2 and of the Scala consumer and producer up to 1.1, which have no ConfigDef, by their "
    "constructors."
)

ABOUT_EVIDENCE = (
    "What python3 run.py settings found in the released jars (asked). java: the oldest Java that can load every class "
    "of kafka-clients and of the broker's jar (for the oldest Scala there is), by line, where it changes. classes: the "
    "first and the last line whose jars have the class. apis: name, number, and the oldest version that the line's "
    "ApiKeys knows, where it changes; null: the request is gone."
)


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterable[str]:
    """A line for each part and row that is new, gone or another."""
    for part in new:
        before, after = keyed(old.get(part)), keyed(new[part])
        for key in [*before, *(each for each in after if each not in before)]:
            if before.get(key) != after.get(key):
                yield f"{part} {key}: {json.dumps(before.get(key))} -> {json.dumps(after.get(key))}"


def keyed(part: Any) -> dict[str, Any]:
    """The rows of a part of a file by what they begin with."""
    if isinstance(part, list):
        return {f"{row[0]} ({row[1]})": row[2:] for row in part}
    return part if isinstance(part, dict) else {"": part}


def text_of(recorded: dict[str, Any]) -> str:
    """The file: a line for each part, in lists and longer dictionaries a line for each row."""
    parts = []
    for name, part in recorded.items():
        if isinstance(part, list):
            text = "[\n" + ",\n".join(map(json.dumps, part)) + "\n]"
        elif isinstance(part, dict) and name != "asked":
            text = "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in part.items()) + "\n}"
        else:
            text = json.dumps(part)
        parts.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
