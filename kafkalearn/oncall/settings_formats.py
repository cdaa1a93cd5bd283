"""The forms in which settings are written: properties, YAML, JSON, lines of an environment; each line with its number.

A form knows nothing of Kafka. A YAML file has documents; in each a scalar's name is the way to it, joined by dots, in
JSON by colons, as .NET has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, require
from kafkalearn.oncall.answer import text_of
from kafkalearn.oncall.settings import Line, PropertiesFile, read_properties

# YAML: each scalar of a document by the names on its way, and with its line.

YAML = (".yml", ".yaml")
MOST_VALUES = 20_000  # of one file: aliases in aliases are a way to make billions
DEEPEST = 40
PROFILES = ("spring.config.activate.on-profile", "spring.profiles")  # the second up to Spring Boot 2.3
_TRUTHS = {"tag:yaml.org,2002:bool"}
_MERGE = "tag:yaml.org,2002:merge"
_VARIABLE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)", re.DOTALL)


def yaml_documents(text: str) -> list[tuple[Line, ...]]:
    """Parse the settings of each document in YAML text.

    A list of ``NAME=value`` under ``environment`` is the map that Compose makes of it.

    Raises
    ------
    KafkaLearnError
        If it is not YAML, or not a mapping of names; `kafkalearn.base.errors.MissingExtra`, if PyYAML is not installed.

    Examples
    --------
    >>> [[(each.name, each.number) for each in document] for document in yaml_documents("a: {b: 1}\\n---\\nc: 2")]
    [[('a.b', 1)], [('c', 3)]]
    """
    require("a YAML file", "yaml", extra="yaml")
    import yaml

    found: list[tuple[Line, ...]] = []
    loader = yaml.SafeLoader(text)
    count = [0]
    try:
        while loader.check_node():
            found.append(tuple(_of_node(loader, loader.get_node(), "", count, 0)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}: "
        raise KafkaLearnError(f"{place}this is not YAML: {getattr(error, 'problem', None) or error}") from None
    except KafkaLearnError:
        raise
    except (ValueError, RecursionError):
        raise KafkaLearnError("this is not YAML that can be read: a value is none of its type") from None
    finally:
        loader.dispose()
    return found


def by_profile(documents: Iterable[tuple[Line, ...]]) -> dict[str | None, PropertiesFile]:
    """The settings of YAML's documents by Spring Boot's profile; None: those that hold for every profile.

    What a later document sets again counts, as Spring Boot has it; a profile's file has the common lines, too.

    Examples
    --------
    >>> given = "spring.kafka.producer: {acks: all, retries: 3}\\n---\\nspring.profiles: dev\\nserver.port: 80"
    >>> {profile: [*each.values] for profile, each in by_profile(yaml_documents(given)).items()}[None]
    ['spring.kafka.producer.acks', 'spring.kafka.producer.retries']

    References
    ----------
    Spring Boot, ``OriginTrackedYamlLoader`` and ``ConfigDataEnvironment``; YAML 1.1, as both it and PyYAML read it.
    """
    common: list[Line] = []
    of_profiles: dict[str, list[Line]] = {}
    for lines in documents:
        profile = next((each.value for each in lines if each.name in PROFILES), None)
        (common if profile is None else of_profiles.setdefault(profile, [])).extend(lines)
    return {None: _last_only(common), **{each: _last_only([*common, *own]) for each, own in of_profiles.items()}}


def _last_only(lines: list[Line]) -> PropertiesFile:
    """A document that sets a name again is no mistake: only the line that counts is left."""
    last = {line.name: line for line in lines}
    return PropertiesFile(tuple(line for line in lines if last[line.name] is line))


def _of_node(loader: Any, node: Any, name: str, count: list[int], depth: int) -> Iterator[Line]:
    """The settings in a node of a document, whose name leads to it."""
    _seen_one_more(count, depth)
    if node.id == "mapping":
        for key, value in _pairs(node, count, depth).items():
            joined = f"{name}{key}" if not name or key.startswith("[") else f"{name}.{key}"
            yield from _of_node(loader, value, joined, count, depth + 1)
    elif not name:
        if node.id == "scalar" and not node.value:
            return  # a document with nothing in it
        raise KafkaLearnError(f"line {node.start_mark.line + 1}: a document of settings maps names to values")
    elif node.id == "sequence":
        yield from _of_list(loader, node, name, count, depth)
    else:
        yield Line(node.start_mark.line + 1, name, _text(loader, node))


def _pairs(node: Any, count: list[int], depth: int) -> dict[str, Any]:
    """The values of a mapping by name, with those that ``<<`` takes over; its own count, then those taken first.

    Every pair that is looked at is counted: what takes over what takes over ... would be billions.
    """
    taken, own = {}, {}
    for key, value in node.value:
        _seen_one_more(count, depth)
        if key.id != "scalar":
            raise KafkaLearnError(f"line {key.start_mark.line + 1}: a name in settings is text")
        if key.tag != _MERGE:
            own[key.value] = value
            continue
        for each in reversed(value.value if value.id == "sequence" else [value]):
            if each.id != "mapping":
                raise KafkaLearnError(f"line {each.start_mark.line + 1}: << takes over mappings, and this is none")
            taken |= _pairs(each, count, depth + 1)
    return taken | own


def _seen_one_more(count: list[int], depth: int) -> None:
    count[0] += 1
    if count[0] > MOST_VALUES or depth > DEEPEST:
        raise KafkaLearnError(f"this YAML has more than {MOST_VALUES:,} values, or goes deeper than {DEEPEST} names")


def _of_list(loader: Any, node: Any, name: str, count: list[int], depth: int) -> Iterator[Line]:
    scalars = [each for each in node.value if each.id == "scalar"]
    if len(scalars) < len(node.value):
        for place, each in enumerate(node.value):
            yield from _of_node(loader, each, f"{name}[{place}]", count, depth + 1)
    elif name.rpartition(".")[2] == "environment":
        for each in scalars:
            if match := _VARIABLE.fullmatch(each.value):
                yield Line(each.start_mark.line + 1, f"{name}.{match[1]}", match[2])
    else:
        yield Line(node.start_mark.line + 1, name, ",".join(_text(loader, each) for each in scalars))


def _text(loader: Any, node: Any) -> str:
    """A scalar as Spring makes text of it: ``yes`` is true, nothing is empty, all else as it is written."""
    if node.tag in _TRUTHS:
        return "true" if loader.construct_object(node) else "false"
    return "" if node.tag.endswith(":null") else node.value


# JSON: objects in objects, by names with colons between them.


def parse_json(text: str) -> tuple[Line, ...]:
    """Parse settings in JSON, each named by its path; comment lines, which .NET allows, are skipped.

    Raises
    ------
    KafkaLearnError
        If it is not valid JSON, or not an object.

    Examples
    --------
    >>> [(each.number, each.name, each.value) for each in parse_json('{"Kafka": {\\n"Acks": "All", "Linger": 5}}')]
    [(2, 'Kafka:Acks', 'All'), (2, 'Kafka:Linger', '5')]
    """
    plain = re.sub(r"(?m)^\s*//.*$", "", text.removeprefix("\ufeff"))
    try:
        parsed = json.loads(plain)
    except (ValueError, RecursionError) as error:
        place = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
        raise KafkaLearnError(f"{place}invalid JSON: {getattr(error, 'msg', error)}") from None
    if not isinstance(parsed, dict):
        raise KafkaLearnError("line 1: a file of settings maps names to values")
    return tuple(_of_object(parsed, "", plain, [0]))


def _of_object(parsed: dict[str, Any], name: str, text: str, place: list[int]) -> Iterator[Line]:
    for key, value in parsed.items():
        place[0] = max(place[0], text.find(json.dumps(key, ensure_ascii=False), place[0]))  # they come as they stand
        number = text.count("\n", 0, place[0]) + 1
        joined = f"{name}:{key}" if name else key
        if isinstance(value, dict):
            yield from _of_object(value, joined, text, place)
        elif isinstance(value, list):
            yield Line(number, joined, ",".join(map(_json_text, value)))
        elif value is not None:
            yield Line(number, joined, _json_text(value))


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# An environment: names of shells, their values perhaps in quotes.


def parse_environment(file: PropertiesFile) -> tuple[Line, ...]:
    """Parse the variables of a ``.env`` file: with or without ``export``, values quoted or not.

    >>> from kafkalearn.oncall.settings import parse_properties
    >>> given = parse_properties('export KAFKA_ACKS="1"  # one\\n# no\\nA=b c')
    >>> [(each.name, each.value) for each in parse_environment(given)]
    [('KAFKA_ACKS', '1'), ('A', 'b c')]
    """
    found = []
    for line in file.lines:
        name, value = line.name, line.value
        if name == "export" and (match := _VARIABLE.fullmatch(value)):
            name, value = match[1], match[2]
        quoted = re.match(r"""(["'])(.*?)\1\s*(?:#.*)?$""", value)
        found.append(Line(line.number, name, quoted[2] if quoted else re.sub(r"\s+#.*$", "", value)))
    return tuple(found)


def is_environment(file_name: str, file: PropertiesFile) -> bool:
    """Whether a file is one of variables: by its name, or because it has nothing but such names."""
    if file_name.startswith(".env") or file_name.endswith(".env"):
        return True
    names = [line.name for line in file.lines]
    return bool(names) and all(
        each == "export" or re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Za-z0-9_]+)+", each) for each in names
    )


def flat_documents(path: str | Path) -> tuple[str, list[tuple[Line, ...]], tuple[str, ...]]:
    """The form of a file (``"yaml"``, ``"json"``, ``"environment"``, ``"properties"``), its documents, its notes."""
    suffix = Path(path).suffix.lower()
    if suffix in YAML:
        return "yaml", yaml_documents(text_of(path, "a YAML file")), ()
    if suffix == ".json":
        return "json", [parse_json(text_of(path, "a JSON file"))], ()
    file = read_properties(path)
    if file.lines and file.lines[0].name.startswith("{"):  # pasted, without a name that says so
        return "json", [parse_json(text_of(path, "a JSON file"))], ()
    if is_environment(Path(path).name, file):
        return "environment", [parse_environment(file)], file.notes
    return "properties", [file.lines], file.notes
