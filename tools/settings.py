"""Reads the settings of Kafka's releases from the released classes: kafkalearn/versions/settings_by_release.json.

Beside them it records what shows in the jars whether facts that were written by hand are true, for the tests: the
oldest Java that loads them, which classes they have, the oldest requests they know. That is the file
tests/vectors/versions/released-jars.json.

    python3 run.py settings              every release line that is recorded
    python3 run.py settings 3.9 4.3      only these, the others as they are recorded
    python3 run.py settings 4.3=4.3.2    the same for a newer patch; for a new line, once RELEASES has it

The jars are fetched into data/generated/jars, about 1 GB for all lines, and stay there. It prints what has changed.
Run again with the same releases it writes the same file, byte for byte.

Where the settings come from, by the Java programs beside this file:

- ReadSettings reads the ConfigDef of ConsumerConfig, ProducerConfig, AdminClientConfig, KafkaConfig, LogConfig and
  GroupConfig by reflection, and that of DynamicConfig for the broker's settings that can only be set while it runs.
- The broker of 0.8.2, its topics, and the Scala consumer and producer up to 1.1 have no ConfigDef. ReadScalaSettings
  constructs their classes from properties that write down what is asked for, with which default and range. So these
  are read from the released classes, too, not from sources; a check that a constructor makes afterwards is not seen.

Not read: what a class checks beyond its ConfigDef, deprecation, the dynamic settings of users, clients and addresses,
Connect, Streams, MirrorMaker and the command line tools. A limit is kept if it is a range, a list of values or "not
empty"; lists of releases (inter.broker.protocol.version) are not. Notes and facts are written by hand: upgrades.json.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from kafkalearn.live.jars.java import ProgramFailed
from kafkalearn.versions.releases import RELEASES, parse_release
from kafkalearn.versions.settings import SIDES
from tools.kafka_jars import broker_jars, class_names, java_needed, run_class

HERE = Path(__file__).resolve().parent
VERSIONS = HERE.parent / "kafkalearn" / "versions"
RECORDED = VERSIONS / "settings_by_release.json"
UPGRADES = VERSIONS / "upgrades.json"
EVIDENCE = HERE.parent / "tests" / "vectors" / "versions" / "released-jars.json"

CONFIG_DEFS = (
    "consumer=org.apache.kafka.clients.consumer.ConsumerConfig#group.id",
    "producer=org.apache.kafka.clients.producer.ProducerConfig#linger.ms",
    "admin=org.apache.kafka.clients.admin.AdminClientConfig#retries",
    "broker=kafka.server.KafkaConfig#num.partitions",
    "broker=kafka.server.DynamicConfig$Broker#leader.replication.throttled.rate",
    "broker=org.apache.kafka.server.config.DynamicConfig$Broker#leader.replication.throttled.rate",
    "topic=kafka.log.LogConfig#retention.ms",
    "topic=org.apache.kafka.storage.internals.log.LogConfig#retention.ms",
    "group=org.apache.kafka.coordinator.group.GroupConfig#consumer.session.timeout.ms",
)
SCALA_CLASSES = (
    "broker=kafka.server.KafkaConfig",
    "topic=kafka.log.LogConfig",
    "old-consumer=kafka.consumer.ConsumerConfig",
    "old-producer=kafka.producer.ProducerConfig",
)
LAST_SCALA_CLIENTS = "1.1"

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

FORM = re.compile(r"\[-?\d+,\.\.\.,-?\d+\]( or -?\d+)?")
"""A validator's own text that is kept as it is; others that begin as a list are one, or are left out."""

LONGEST_LIST = 12
"""More values than this are releases, which every release adds to; they are left out."""

WHOLE = {"SHORT": 15, "INT": 31, "LONG": 63}
"""The types whose values are whole numbers, and their bits."""


class NotRun(Exception):  # noqa: N818  (a state, not a fault)
    """A release cannot be read; the message says why."""


class Reading(NamedTuple):
    """A line that the Java programs print."""

    side: str
    name: str
    type: str
    kind: str  # of default: required, unset or value
    default: str
    limit: str
    not_empty: str
    internal: str


class State(NamedTuple):
    """A setting in one release line, as it is recorded."""

    type: str
    default: Any
    limit: dict[str, Any] | None
    is_internal: bool


States = dict[tuple[str, str], dict[str, State]]
"""(name, side) -> line -> state."""


def main(words: list[str]) -> int:
    """Read the lines named, or all; write the files and print what has changed in them."""
    recorded, evidence = (json.loads(path.read_text(encoding="utf-8")) for path in (RECORDED, EVIDENCE))
    wanted = wanted_releases(words, recorded["asked"])
    read = {}
    for line, release in wanted.items():
        print(f"{line}: {release}", flush=True)
        read[line] = read_release(release)
    asked = recorded["asked"] | wanted
    asked = {line: asked[line] for line in RELEASES if line in asked}
    for path, old, new in (
        (RECORDED, recorded, {"about": ABOUT, "obtained": OBTAINED, "asked": asked} | settings_of(recorded, read)),
        (EVIDENCE, evidence, {"about": ABOUT_EVIDENCE, "asked": asked} | evidence_of(evidence, read)),
    ):
        changed = list(differences(old, new))
        print("\n".join([f"{path.name}: {len(changed)} changes", *changed]))
        path.write_text(text_of(new), encoding="utf-8")
    return 0


def wanted_releases(words: Iterable[str], asked: Mapping[str, str]) -> dict[str, str]:
    """The release to ask for each line: ``4.3`` as recorded, ``4.3=4.3.2`` another.

    >>> wanted_releases(["3.9", "4.3=4.3.2"], {"3.9": "3.9.2", "4.3": "4.3.1"})
    {'3.9': '3.9.2', '4.3': '4.3.2'}
    """
    wanted = {}
    for word in words:
        line, _, release = word.partition("=")
        if not release and line not in asked:
            raise NotRun(f"{line} is not recorded yet; say which release to ask: {line}={line}.0")
        if parse_release(release or asked[line]).line != line:
            raise NotRun(f"{release} is no release of {line}")
        wanted[line] = release or asked[line]
    return wanted or dict(asked)


class Released(NamedTuple):
    """What the jars of one release hold."""

    readings: list[Reading]
    java: dict[str, int]  # who -> the oldest Java
    classes: set[str]
    apis: dict[int, tuple[str, int]]  # number -> name, oldest version


def read_release(release: str) -> Released:
    """Run the readers with the jars of a release, and look into the jars."""
    jars = broker_jars(release)
    printed = run_class(jars, "ReadSettings", *CONFIG_DEFS)
    line = parse_release(release).line
    if RELEASES.index(line) <= RELEASES.index(LAST_SCALA_CLIENTS):
        printed += run_class(jars, "ReadScalaSettings", str(HERE / "VerifiableProperties.java"), *SCALA_CLASSES)
    java = {"client": java_needed(jars, "kafka-clients"), "broker": java_needed(jars, r"kafka_[\d.]+")}
    apis = [row.split("\t") for row in run_class(jars, "ReadApiVersions").splitlines()]
    return Released(
        [Reading(*row.split("\t")) for row in printed.splitlines()],
        java,
        class_names(jars),
        {int(number): (name, int(oldest)) for number, name, oldest in apis},
    )


def settings_of(recorded: dict[str, Any], read: Mapping[str, Released]) -> dict[str, Any]:
    """The recorded settings, with the lines that were read now in the place of what was known of them."""
    states = states_of(recorded["settings"])
    for by_line in states.values():
        for line in read:
            by_line.pop(line, None)
    for line, released in read.items():
        for reading in released.readings:
            states.setdefault((reading.name, reading.side), {}).setdefault(line, state_of(reading))
    return {"settings": [row_of(key, states[key]) for key in sorted(states, key=place) if states[key]]}


def evidence_of(recorded: dict[str, Any], read: Mapping[str, Released]) -> dict[str, Any]:
    """The same for what is kept of the jars beside the settings."""
    java = {
        who: compressed(expanded(recorded["java"].get(who, {})) | {line: each.java[who] for line, each in read.items()})
        for who in ("client", "broker")
    }
    classes = {}
    for name in classes_looked_for():
        before = lines_between(*recorded["classes"].get(name, (None, None)))
        having = [line for line in RELEASES if (name in read[line].classes if line in read else line in before)]
        if not having:
            raise NotRun(f"{UPGRADES.name} names the class {name}, which none of the releases has")
        classes[name] = [having[0], having[-1]]
    names = {number: name for name, number, _ in recorded["apis"]}
    oldest = {number: expanded(by_line) for _, number, by_line in recorded["apis"]}
    for line in (line for line in RELEASES if line in read):
        later = RELEASES[RELEASES.index(line) + 1 :]
        for number, (name, version) in read[line].apis.items():
            known = oldest.setdefault(number, {})
            known[line] = version
            if all(known.get(each) is None for each in later):  # the newest name is its name
                names[number] = name
        for number in oldest.keys() - read[line].apis.keys():
            oldest[number][line] = None
    apis = [[names[number], number, compressed(oldest[number], first=None)] for number in sorted(oldest)]
    return {"java": java, "classes": classes, "apis": apis}


def classes_looked_for() -> list[str]:
    """The classes whose end a hand-written fact speaks of."""
    facts = json.loads(UPGRADES.read_text(encoding="utf-8"))["facts"]
    return sorted({fact["class"] for fact in facts if "class" in fact})


def place(key: tuple[str, str]) -> tuple[str, int]:
    """What settings are sorted by: name, then side as everywhere."""
    name, side = key
    return name, list(SIDES).index(side)


def state_of(reading: Reading) -> State:
    """What a reading says, its default still in the words of the class."""
    default = {"required": "(required)", "unset": None}.get(reading.kind, reading.default)
    return State(reading.type, default, limit_of(reading), bool(reading.internal))


def value_of(default: Any, type_name: str) -> Any:
    """A default as JSON, read as the type that the setting has today, if it can be.

    >>> value_of("delete", "LIST"), value_of("5", "LONG"), value_of("none", "INT"), value_of(5, "LONG")
    (['delete'], 5, 'none', 5)
    """
    if not isinstance(default, str) or default == "(required)":
        return default
    if type_name == "LIST":
        return default.split(",") if default else []
    if type_name == "BOOLEAN" and default in ("true", "false"):
        return default == "true"
    return number_of(default) if type_name in {*WHOLE, "DOUBLE"} else default


def number_of(text: str) -> Any:
    """A number from its text; what is none stays text.

    >>> number_of("14"), number_of("0.5"), number_of("none")
    (14, 0.5, 'none')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def limit_of(reading: Reading) -> dict[str, Any] | None:
    """The limit as JSON; what every value of the type obeys is none.

    >>> limit_of(Reading("broker", "port", "INT", "value", "9092", "range 0 2147483647", "", ""))
    {'min': 0}
    """
    limit: dict[str, Any] = {}
    how, _, rest = reading.limit.partition(" ")
    if how == "range":
        low, high = map(number_of, rest.split(" "))
        bits = WHOLE.get(reading.type, 0)
        limit |= {"min": low} if low not in ("null", -(2**bits)) else {}
        limit |= {"max": high} if high not in ("null", 2**bits - 1) else {}
    elif how in ("in", "text") and not FORM.fullmatch(rest):
        values = re.split(r",\s*", rest.removeprefix("any case ").strip("[]"))
        if len(values) <= LONGEST_LIST and not any("..." in value or "[" in value for value in values):
            limit["in"] = sorted(values) if rest.startswith("any case ") else values
    elif how == "text":
        limit["text"] = rest
    if reading.not_empty:
        limit["not empty"] = True
    return limit or None


def row_of(key: tuple[str, str], by_line: Mapping[str, State]) -> list[Any]:
    """A setting as it stands in the file.

    >>> row_of(("x", "topic"), {"4.2": State("INT", 1, {"min": 0}, False), "4.3": State("INT", 2, {"min": 0}, False)})
    ['x', 'topic', 'INT', {'4.2': 1, '4.3': 2}, {'4.2': {'min': 0}}]
    """
    known = [line for line in RELEASES if line in by_line]
    newest_type = [by_line[line].type for line in known if by_line[line].type][-1]
    defaults = dict.fromkeys(RELEASES, "absent")
    limits: dict[str, Any] = {}
    for line in known:
        state, limit_before = by_line[line], ([None, *limits.values()])[-1]
        defaults[line] = value_of(state.default, newest_type)
        limits[line] = limit_before if same_limit(state.limit, limit_before) else state.limit
    row = [*key, newest_type, compressed(defaults)]
    is_internal = by_line[known[-1]].is_internal
    if compressed(limits, first=None) or is_internal:
        row.append(compressed(limits, first=None))
    return [*row, "internal"] if is_internal else row


def same_limit(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two limits admit the same; the order of values does not matter."""
    if not one or not other:
        return one == other
    return {**one, "in": sorted(one.get("in", []))} == {**other, "in": sorted(other.get("in", []))}


def compressed(by_line: Mapping[str, Any], first: Any = "absent") -> dict[str, Any]:
    """Only the lines whose value differs from that of the line before; `first` is what the oldest is compared with.

    >>> compressed({"4.3": 2, "4.1": 1, "4.2": 1})
    {'4.1': 1, '4.3': 2}
    """
    ordered = [(None, first), *((line, by_line[line]) for line in RELEASES if line in by_line)]
    return {line: value for (_, before), (line, value) in pairwise(ordered) if repr(value) != repr(before)}


def expanded(by_line: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each line from the first that is named on."""
    values: dict[str, Any] = {}
    for line in RELEASES:
        if line in by_line or values:
            values[line] = by_line.get(line, list(values.values())[-1] if values else None)
    return values


def lines_between(first: str | None, last: str | None) -> tuple[str, ...]:
    """The release lines from one to another, both included; none where there is nothing recorded."""
    return RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1] if first and last else ()


def states_of(rows: Iterable[list[Any]]) -> States:
    """What the file says of every setting in every line that knows it."""
    states: States = {}
    for name, side, type_name, defaults, *rest in rows:
        limits = expanded({RELEASES[0]: None} | (rest[0] if rest else {}))
        states[name, side] = {
            line: State(type_name, default, limits[line], len(rest) > 1)
            for line, default in expanded(defaults).items()
            if default != "absent"
        }
    return states


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


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (NotRun, ProgramFailed) as reason:
        sys.exit(f"kafkalearn: {reason}")
