"""The files of settings that somebody has given: Kafka's own, and Spring Boot's, as properties or as YAML.

A program with Spring has its clients' settings among all others, under ``spring.kafka``, and in a YAML file several
documents, some of them for a profile. Here they become what a properties file of Kafka's is, one for each client,
with the lines of the file that was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.errors import KafkaLearnError, listed, require, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.oncall.answer import text_of
from kafkalearn.oncall.settings import Line, PropertiesFile, read_properties, recognised_side
from kafkalearn.releases.settings import SIDES

# Spring Boot's own names: ``spring.kafka.producer.acks=all`` is a producer's acks, wherever else the file is about.

SPRING = "spring.kafka."
SPRING_SIDES = ("producer", "consumer", "admin")
_SPRING_LINE = re.compile(r"spring\.kafka\.(?:(?P<side>producer|consumer|admin|streams)\.)?(?P<rest>.+)")
_SPRING_OTHERS = ("listener.", "template.", "jaas.", "retry.", "streams.")  # of Spring, not of a client of Kafka's
OF_SPRING: MappingProxyType[str, str] = MappingProxyType(
    {
        "autocommitinterval": "auto.commit.interval.ms",
        "fetchmaxwait": "fetch.max.wait.ms",
        "fetchminsize": "fetch.min.bytes",
        "heartbeatinterval": "heartbeat.interval.ms",
        "maxpollinterval": "max.poll.interval.ms",
        "transactionidprefix": "transactional.id",
    }
)
"""Spring Boot's names, without hyphens, that are not Kafka's with other marks between the words."""

_NO_DEFAULT = re.compile(r"\$\{([^}:]+)\}")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "b": 1, "kb": 1 << 10, "mb": 1 << 20}
_WITH_UNIT = re.compile(r"(\d+)(ms|s|m|h|d|b|kb|mb)", re.IGNORECASE)


def spring_files(file: PropertiesFile) -> dict[str, PropertiesFile]:
    """What a file of Spring Boot's sets for clients of Kafka's, by side and by Kafka's names; empty: it sets nothing.

    What is common to all clients (``spring.kafka.properties``) counts for each of them that has a line of its own, and
    a line of a client's own goes before it. Times and sizes with a unit are numbers, as Spring makes them.

    Examples
    --------
    >>> from kafkalearn.oncall.settings import parse_properties
    >>> given = "spring.kafka.producer.acks=1\\nspring.kafka.producer.properties[linger.ms]=5\\nserver.port=80"
    >>> {side: each.values for side, each in spring_files(parse_properties(given)).items()}
    {'producer': {'acks': '1', 'linger.ms': '5'}}

    References
    ----------
    Spring Boot, ``KafkaProperties``.
    """
    common: list[Line] = []
    own: dict[str, list[Line]] = {}
    for line in file.lines:
        match = _SPRING_LINE.fullmatch(line.name)
        if match is None or match["side"] == "streams" or match["rest"].startswith(_SPRING_OTHERS):
            continue
        written = _NO_DEFAULT.sub(r"${\1:}", line.value)  # as settings of Kafka's have what something else puts in
        read = Line(line.number, _of_spring(match["rest"]), _spring_value(match["rest"], written))
        (common if match["side"] is None else own.setdefault(match["side"], [])).append(read)
    return {side: PropertiesFile((*common, *own[side]), file.notes) for side in SPRING_SIDES if side in own}


def _of_spring(written: str) -> str:
    """Kafka's name of a setting, from what follows the side."""
    if match := re.fullmatch(r"properties(?:\.|\[)(.+?)\]?", written):
        return match[1].strip("'\"")
    plain = re.sub("[-_]", "", written).lower()
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", written).replace("_", "-").lower()
    return OF_SPRING.get(plain, words.replace("-", "."))


def _spring_value(written: str, value: str) -> str:
    if written.startswith("properties"):
        return value
    if match := _WITH_UNIT.fullmatch(value.strip()):
        return str(int(match[1]) * _UNITS[match[2].lower()])
    is_level = re.sub("[-_]", "", written).lower() == "isolationlevel"
    return value.lower().replace("-", "_") if is_level else value


# YAML: each scalar of a document by the names on its way, and with its line; each document for a profile, or for all.

YAML = (".yml", ".yaml")
MOST_VALUES = 20_000  # of one file: aliases in aliases are a way to make billions
DEEPEST = 40
PROFILES = ("spring.config.activate.on-profile", "spring.profiles")  # the second up to Spring Boot 2.3
_TRUTHS = {"tag:yaml.org,2002:bool"}
_OF_A_PROFILE = re.compile(r"(?P<path>.+\.ya?ml)#(?P<profile>[\w!&|() ,.-]*)", re.IGNORECASE)


def parse_yaml(text: str) -> dict[str | None, PropertiesFile]:
    """The settings in a text of YAML, by profile; None: those that hold for every profile.

    What a later document sets again counts, as Spring Boot has it; a profile's file has the common lines, too.

    Raises
    ------
    KafkaLearnError
        If it is no YAML, or no mapping of names; `kafkalearn.base.errors.MissingExtra`, if PyYAML is not installed.

    Examples
    --------
    >>> given = "spring.kafka.producer: {acks: all, retries: 3}\\n---\\nspring.profiles: dev\\nserver.port: 80"
    >>> {profile: [*each.values] for profile, each in parse_yaml(given).items()}[None]
    ['spring.kafka.producer.acks', 'spring.kafka.producer.retries']

    References
    ----------
    Spring Boot, ``OriginTrackedYamlLoader`` and ``ConfigDataEnvironment``; YAML 1.1, as both it and PyYAML read it.
    """
    require("a YAML file", "yaml", extra="yaml")
    import yaml

    common: list[Line] = []
    of_profiles: dict[str, list[Line]] = {}
    loader = yaml.SafeLoader(text)
    try:
        while loader.check_node():
            lines = [*_of_node(loader, loader.get_node(), "", [0], 0)]
            profile = next((each.value for each in lines if each.name in PROFILES), None)
            (common if profile is None else of_profiles.setdefault(profile, [])).extend(lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}: "
        raise KafkaLearnError(f"{place}this is no YAML: {getattr(error, 'problem', None) or error}") from None
    except KafkaLearnError:
        raise
    except (ValueError, RecursionError):
        raise KafkaLearnError("this is no YAML that can be read: a value is none of its type") from None
    finally:
        loader.dispose()
    return {None: _last_only(common), **{each: _last_only([*common, *own]) for each, own in of_profiles.items()}}


def _last_only(lines: list[Line]) -> PropertiesFile:
    """A document that sets a name again is no mistake: only the line that counts is left."""
    last = {line.name: line for line in lines}
    return PropertiesFile(tuple(line for line in lines if last[line.name] is line))


def _of_node(loader: Any, node: Any, name: str, count: list[int], depth: int) -> Iterator[Line]:
    """The settings in a node of a document, whose name leads to it."""
    count[0] += 1
    if count[0] > MOST_VALUES or depth > DEEPEST:
        raise KafkaLearnError(f"this YAML has more than {MOST_VALUES:,} values, or goes deeper than {DEEPEST} names")
    if node.id == "mapping":
        loader.flatten_mapping(node)  # what << takes over
        for key, value in node.value:
            if key.id != "scalar":
                raise KafkaLearnError(f"line {key.start_mark.line + 1}: a name in settings is text")
            joined = f"{name}{key.value}" if not name or key.value.startswith("[") else f"{name}.{key.value}"
            yield from _of_node(loader, value, joined, count, depth + 1)
    elif not name:
        if node.id == "scalar" and not node.value:
            return  # a document with nothing in it
        raise KafkaLearnError(f"line {node.start_mark.line + 1}: a document of settings maps names to values")
    elif node.id == "sequence":
        if all(each.id == "scalar" for each in node.value):
            values = ",".join(_text(loader, each) for each in node.value)
            yield Line(node.start_mark.line + 1, name, values)
    else:
        yield Line(node.start_mark.line + 1, name, _text(loader, node))


def _text(loader: Any, node: Any) -> str:
    """A scalar as Spring makes text of it: ``yes`` is true, nothing is empty, all else as it is written."""
    if node.tag in _TRUTHS:
        return "true" if loader.construct_object(node) else "false"
    return "" if node.tag.endswith(":null") else node.value


# Files -> whose settings each has.


def read_files(files: object, side: str | None = None) -> list[tuple[str, str, PropertiesFile]]:
    """The files that somebody has given, read: whose settings each has, its name, and what it sets.

    Parameters
    ----------
    files : str, Path, or an iterable of them
        A pair of a side and a file says whose settings it has. Of a YAML file each profile that sets something for a
        client is a file of its own, and what holds for all; ``application.yml#prod`` is that profile alone, and
        ``application.yml#`` what holds for all.
    side : str or None
        Whose settings all the others have; None: recognised by their names.

    Raises
    ------
    KafkaLearnError
        If one is no name of a file, cannot be read, or its side is unknown or not recognised.
    """
    found = []
    for each in [files] if isinstance(files, str | Path) else iterable("files", files, of="properties files"):
        named, path = each if isinstance(each, tuple) and len(each) == 2 else (side, each)
        if not isinstance(path, str | Path):
            raise KafkaLearnError(f"a file must be a path, or a side and a path, got {shown(each)}")
        if (of_yaml := _of_yaml(path)) is not None:
            for name, file in of_yaml:
                found += _of_spring_file(name, named, file)
            continue
        file = read_properties(path)
        name = "standard input" if str(path) == STANDARD_INPUT else Path(path).name
        if any(line.startswith(SPRING) for line in file.values):
            found += _of_spring_file(name, named, file)
            continue
        found.append(
            (recognised_side(file.values, name) if named is None else one_of("side", named, SIDES), name, file)
        )
    return found


def _of_spring_file(name: str, side: str | None, file: PropertiesFile) -> list[tuple[str, str, PropertiesFile]]:
    """The clients that a file of Spring Boot's is for, or the one that was named."""
    by_side = spring_files(file)
    if side is not None and one_of("side", side, SIDES) not in by_side:
        lines = listed(f"{SPRING}{each}" for each in by_side)
        raise KafkaLearnError(f"{shown(name)} is Spring's, and sets nothing for a {side}: it has lines of {lines}")
    if not by_side:
        clients = listed((f"{SPRING}{each}" for each in SPRING_SIDES), last="or")
        raise KafkaLearnError(f"{shown(name)} is Spring's, and has no line that begins with {clients}")
    return [(each, name, found) for each, found in by_side.items() if side in (None, each)]


def _of_yaml(path: str | Path) -> list[tuple[str, PropertiesFile]] | None:
    """The profiles of a YAML file that set something for a client, by name; None: it is no YAML."""
    match = None if Path(path).exists() else _OF_A_PROFILE.fullmatch(str(path))
    place = Path(match["path"] if match else path)
    if place.suffix.lower() not in YAML:
        return None
    try:
        profiles = parse_yaml(text_of(place, "a YAML file"))
    except KafkaLearnError as error:
        if isinstance(error, ImportError) or not re.match(r"line |this ", str(error)):
            raise
        raise KafkaLearnError(f"{shown(place.name)}: {error}") from None
    if match is not None:
        wanted = match["profile"] or None
        if wanted not in profiles:
            known = listed(map(shown, [each for each in profiles if each is not None]), nothing="none")
            raise KafkaLearnError(
                f"{shown(place.name)} has no document for the profile {shown(wanted)}; it has {known}"
            )
        return [(_profile_name(place.name, wanted), profiles[wanted])]
    common, *others = profiles.items()
    own = [each for each in others if _of_clients(each[1]) not in ({}, _of_clients(common[1]))]
    kept = [common, *own] if spring_files(common[1]) or not own else own
    return [(_profile_name(place.name, profile), file) for profile, file in kept]


def _of_clients(file: PropertiesFile) -> dict[str, dict[str, str]]:
    return {side: each.values for side, each in spring_files(file).items()}


def _profile_name(file_name: str, profile: str | None) -> str:
    return file_name if profile is None else f"{file_name}#{profile}"
