"""The files of settings that somebody has given: whose settings each has, by Kafka's names, and what was not read.

A file has Kafka's own names, or another tool's (`settings_dialects`), in one of several forms (`settings_formats`).
Here it becomes what a properties file of Kafka's is, one for each program, with the lines of the file that was given. A
name that nobody knows is never dropped: `unread_in` lists it, and says which setting may be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from pathlib import Path

from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.errors import LONGEST_NAME, KafkaLearnError, counted, listed, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.oncall.settings import OF_WORKERS, Line, PropertiesFile, Unread, recognised_side
from kafkalearn.oncall.settings_dialects import (
    ALL_CLIENTS,
    CLIENTS,
    ELSEWHERE,
    EVERY_PART,
    SPRING,
    Found,
    dialects_in,
    knows,
    of_spring,
)
from kafkalearn.oncall.settings_formats import by_profile, flat_documents
from kafkalearn.releases.settings import SIDES, names, settings_named

# Files -> whose settings each has.

Read = tuple[str, str, PropertiesFile]  # whose settings, the file's name and perhaps its part, what it sets
_OF_A_PART = re.compile(r"(?P<path>.+\.(?:ya?ml|properties|json))#(?P<part>[^/]*)", re.IGNORECASE)


def read_files(files: object, side: str | None = None) -> list[Read]:
    """The files that somebody has given, read: whose settings each has, its name, and what it sets.

    Parameters
    ----------
    files : str, Path, or an iterable of them
        A pair of a side and a file says whose settings it has. What a file has for several programs (Spring's
        profiles, channels of Quarkus, services of a Compose file) is a file each; ``application.yml#prod`` is that
        part alone, and ``application.yml#`` what holds without a profile.
    side : str or None
        Whose settings all the others have; None: recognised by their names.

    Raises
    ------
    KafkaLearnError
        If one is not a name of a file, cannot be read, its side is unknown or not recognised, or nothing of it is a
        setting of that side.
    """
    found: list[Read] = []
    for each in [files] if isinstance(files, str | Path) else iterable("files", files, of="properties files"):
        named, path = each if isinstance(each, tuple) and len(each) == 2 else (side, each)
        if not isinstance(path, str | Path):
            raise KafkaLearnError(f"a file must be a path, or a side and a path, got {shown(each)}")
        found += _of_file(path, None if named is None else one_of("side", named, SIDES))
    return found


def _of_file(path: str | Path, side: str | None) -> list[Read]:
    match = None if Path(path).exists() else _OF_A_PART.fullmatch(str(path))
    place: str | Path = match["path"] if match else path
    name = "standard input" if str(place) == STANDARD_INPUT else Path(place).name
    try:
        form, documents, notes = flat_documents(place)
    except KafkaLearnError as error:
        if isinstance(error, ImportError) or not re.match(r"line |this ", str(error)):
            raise
        raise KafkaLearnError(f"{shown(name)}: {error}") from None
    lines = [line for document in documents for line in document]
    if form == "yaml" and any(line.name.startswith(SPRING) for line in lines):
        parts = _profiles(name, documents, match["part"] if match else None, side)
    else:
        parts = _parts(name, form, documents, side)
        if match:
            parts = _chosen(name, parts, match["part"])
    several = {whose for whose in SIDES if len([1 for each, _, _ in parts if each == whose]) > 1}
    return [
        (whose, f"{name}#{part}" if part and (match or whose in several) else name, replace(file, notes=notes))
        for whose, part, file in parts
    ]


def _chosen(name: str, parts: list[Read], wanted: str) -> list[Read]:
    kept = [each for each in parts if each[1] == wanted]
    if not kept:
        known = listed(map(shown, dict.fromkeys(part for _, part, _ in parts)), nothing="none")
        raise KafkaLearnError(f"{shown(name)} has no part {shown(wanted)}; it has {known}")
    return kept


def _parts(name: str, form: str, documents: list[tuple[Line, ...]], side: str | None) -> list[Read]:
    """Whose settings documents have, each with its part: a channel, a service."""
    by_document = [dialects_in(form, lines, side) for lines in documents]
    found = [each for several in by_document for each in several]
    if not found:
        return [_plain(name, tuple(line for lines in documents for line in lines), side)]
    rest = tuple(
        Unread(line.number, line.name, ELSEWHERE)
        for lines, several in zip(documents, by_document, strict=True)
        for line in lines
        if not several
    )
    programs = [each for one in found for each in _programs(one, side)]
    more = (*rest, *(each for one in found if not one.settings for each in one.unread))
    if not programs:
        tool = next((one.tool for one in found if one.tool), "a container's")
        whose = f"for a {side}" if side else "for a client that is looked at here"
        if tool == "Spring Boot":
            clients = listed((f"{SPRING}{each}" for each in CLIENTS), last="or")
            whose += f": it has no line that begins with {clients}" if side is None else ""
        if tool == "Kafka Connect" and side is None:
            worker = listed([line.name for lines in documents for line in lines if line.name in OF_WORKERS][:3])
            raise KafkaLearnError(
                f"{shown(name)} has settings of a worker of Kafka Connect ({worker}), and nothing that it hands on to "
                "its clients, which begins with producer., consumer. or admin.: a worker itself is not looked at here"
            )
        raise KafkaLearnError(f"{shown(name)} is {tool}'s, and sets nothing {whose}{_near_words(found, side)}")
    return [(whose, part, replace(file, unread=(*file.unread, *more))) for whose, part, file in programs]


def _near_words(found: Iterable[Found], side: str | None) -> str:
    """The names that were not read although they look like a setting, for an error."""
    near = [
        f"{each.name} (line {each.line}: {each.why})"
        for one in found
        for each in one.unread
        if near_setting(each.name, side or "producer") and not (each.why == ELSEWHERE and "kafka" not in each.name)
    ]
    return f"; not read: {listed(near[:3])}" if near else ""


def _programs(found: Found, side: str | None) -> Iterator[Read]:
    """Each program that a tool's document sets something for; with a side, only that one."""
    for part in found.parts:
        for whose in SIDES if side is None else (side,):
            mine = [(each, line) for where, each, line in found.settings if where in (part, EVERY_PART)]
            own = [line for each, line in mine if each == whose]
            common = [line for each, line in mine if each == ALL_CLIENTS] if whose in CLIENTS else []
            has_own = (part, whose) in found.programs or any(
                where == part and each == whose for where, each, _ in found.settings
            )
            decides = found.is_librdkafka or (not part and any(line.name in DECISIVE.get(whose, ()) for line in common))
            if has_own or (side is not None and common and decides):
                names_of_own = {line.name for line in own}
                lines = (*(line for line in common if line.name not in names_of_own), *own)
                defaults = found.defaults.get(whose, ())
                yield (
                    whose, part, PropertiesFile(lines, (), found.unread, defaults, is_librdkafka=found.is_librdkafka)
                )  # fmt: skip


def _profiles(name: str, documents: list[tuple[Line, ...]], wanted: str | None, side: str | None) -> list[Read]:
    """Spring's profiles that set something for a client, each with what holds for all."""
    profiles = by_profile(documents)
    if wanted is not None:
        if (wanted or None) not in profiles:
            known = listed(map(shown, [each for each in profiles if each is not None]), nothing="none")
            raise KafkaLearnError(f"{shown(name)} has no document for the profile {shown(wanted)}; it has {known}")
        kept = [(wanted or None, profiles[wanted or None])]
    else:
        common, *others = profiles.items()
        own = [each for each in others if _of_clients(each[1]) not in ({}, _of_clients(common[1]))]
        kept = [common, *own] if _of_clients(common[1]) or not own else own
    return [
        (whose, profile or "", file)
        for profile, lines in kept
        for whose, _, file in _parts(name, "yaml", [lines.lines], side)
    ]


def _of_clients(file: PropertiesFile) -> dict[str, dict[str, str]]:
    found = of_spring(file.lines)
    return {} if found is None else {side: each.values for side, _, each in _programs(found, None)}


def _plain(name: str, lines: tuple[Line, ...], side: str | None) -> Read:
    """A file by Kafka's own names."""
    file = PropertiesFile(lines)
    if side is None:
        return recognised_side(file.values, name), "", file
    given = [*file.values]
    if not given:
        raise KafkaLearnError(f"{shown(name)} sets nothing: it is empty, or has comments only")
    count = {each: sum(_is_known(one, each) for one in given) for each in SIDES}
    best = max((each for each in SIDES if not each.startswith("old-")), key=lambda each: count[each])
    if not count[best]:
        best = max(SIDES, key=lambda each: count[each])
    is_anothers = count[best] > count[side] and not any(
        _is_known(one, side) and not _is_known(one, best) for one in given
    )
    if is_anothers:
        raise KafkaLearnError(
            f"{shown(name)} was given as the settings of a {side}, which knows {count[side]} of its "
            f"{counted(len(given), 'name')}; they are a {best}'s, which knows {count[best]}: give it as that (--{best})"
        )
    if not count[side]:
        near = [(each, near_setting(each, side)) for each in given]
        looks = listed([f"{each} (is {meant} meant?)" for each, meant in near if meant][:3])
        raise KafkaLearnError(
            f"nothing of {shown(name)} was read: no {side} of Kafka's knows one of its {counted(len(given), 'name')}, "
            f"{looks if looks != 'none' and any(meant for _, meant in near) else listed(map(shown, given[:3]))}; put "
            "what the client is given by Kafka's names into a file"
        )
    return side, "", file


def _is_known(name: str, side: str) -> bool:
    return knows(side, name) or (side == "broker" and name.startswith("listener.name."))


# What was not read, and what may be meant.

DECISIVE = {
    "producer": (
        "acks", "enable.idempotence", "idempotence", "retries", "max.in.flight.requests.per.connection",
        "max.in.flight", "request.required.acks", "message.send.max.retries", "transactional.id",
    ),
    "broker": ("default.replication.factor", "min.insync.replicas", "unclean.leader.election.enable"),
    "topic": ("min.insync.replicas", "unclean.leader.election.enable"),
}  # fmt: skip
"""Settings that decide whether a record is lost: of these a name is near if its last words look like them."""


def unread_in(side: str, file: PropertiesFile) -> tuple[Unread, ...]:
    """Each line of a file that was not read for a side, with the setting that may be meant.

    >>> from kafkalearn.oncall.settings import parse_properties
    >>> [(each.name, each.near) for each in unread_in("producer", parse_properties("acks=all\\nlingr.ms=5\\nx=1"))]
    [('lingr.ms', 'linger.ms'), ('x', '')]
    """
    found = [replace(each, near=_near_in(each, side)) for each in file.unread]
    for line in file.last.values():
        if not file.is_librdkafka and not _is_known(line.name, side):
            others = [each.side for each in settings_named(line.name) if not each.side.startswith("old-")]
            why = f"a setting of the {listed(others)}" if others else f"no setting of the {side} that Kafka has"
            near = "" if others else near_setting(line.name, side)
            found.append(Unread(line.number, line.name, why, near))
    return tuple(sorted(found, key=lambda each: each.line))


def _near_in(unread: Unread, side: str) -> str:
    is_anothers = any(other in unread.name.lower() for other in CLIENTS if other != side and side in CLIENTS)
    if (unread.why == ELSEWHERE and "kafka" not in unread.name.lower()) or is_anothers:
        return ""
    return near_setting(unread.name, side)


@dataclass(frozen=True, slots=True)
class _Names:
    joined: dict[str, str]  # without dots -> as Kafka has it


@cache
def _names_of(side: str) -> _Names:
    return _Names({re.sub("[._]", "", name): name for name in names() if knows(side, name)})


def near_setting(name: str, side: str) -> str:
    """The setting of a side that a name may mean; empty: none is near.

    >>> near_setting("KAFKA_PRODUCER_ACKS", "producer"), near_setting("enable.idempotance", "producer")
    ('acks', 'enable.idempotence')
    >>> near_setting("schema.registry.url", "producer"), near_setting("min.in.sync.replicas", "topic")
    ('', 'min.insync.replicas')
    """
    words = [each.lower() for each in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name[-LONGEST_NAME:])]
    for known in DECISIVE.get(side, ()):
        joined = re.sub("[.]", "", known)
        for count in range(1, len(words) + 1):
            if _is_alike("".join(words[-count:]), joined):
                return known
    near = get_close_matches("".join(words), _names_of(side).joined, n=1, cutoff=0.88)
    found = _names_of(side).joined[near[0]] if near else ""
    return "" if found == name else found  # as it is it can be known to be another's


def _is_alike(tail: str, known: str) -> bool:
    if tail == known or len(tail) < 3:
        return tail == known
    least = 0.85 if len(known) > 6 else 0.75
    is_short = len(known) <= 6 and (abs(len(tail) - len(known)) > 1 or tail[0] != known[0])
    return not is_short and SequenceMatcher(None, tail, known).ratio() >= least
