"""What an upgrade finds in a file of settings, and beside it: one finding for each thing to do something about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from kafkalearn.answers.settings.properties import Line, PropertiesFile
from kafkalearn.answers.settings.refusals import refusals
from kafkalearn.answers.settings.together import NOT_WITH_CONSUMER_PROTOCOL
from kafkalearn.answers.settings.values import setting_of
from kafkalearn.errors import LONGEST_NAME
from kafkalearn.phrases import listed
from kafkalearn.versions.defaults import find_settings
from kafkalearn.versions.releases import at_least
from kafkalearn.versions.settings import ABSENT, REQUIRED, settings_named
from kafkalearn.versions.units import value_text
from kafkalearn.versions.upgrade import FACTS, Change, changes

REFUSED, REQUIRED_FACT, GONE, BEHAVES, UNKNOWN, DEPRECATED, NOTED = (
    "refused",
    "required",
    "gone",
    "behaves",
    "unknown",
    "deprecated",
    "noted",
)
DANGERS: MappingProxyType[str, str] = MappingProxyType(
    {
        REFUSED: "a program does not start so, or is not answered",
        REQUIRED_FACT: "must be so, before or after",
        GONE: "is not there any more; a line about it does nothing",
        BEHAVES: "acts in another way",
        UNKNOWN: "a line without effect, before and after",
        DEPRECATED: "is still there, and is to go",
        NOTED: "to be known",
    }
)
"""What a finding means, the most dangerous first."""

_DANGER_OF_FACT = {
    "required": REQUIRED_FACT,
    "gone": GONE,
    "refused": REFUSED,
    "behaves": BEHAVES,
    "deprecated": DEPRECATED,
}
SEEN_IN_SETTINGS = {
    "ZooKeeper": r"zookeeper\.",
    "ZooKeeper 3.5": r"zookeeper\.",
    "ZooKeeper 3.8": r"zookeeper\.",
    "requests between ZooKeeper's controller and brokers": r"zookeeper\.",
    "AclAuthorizer": "AclAuthorizer",
    "SimpleAclAuthorizer": "SimpleAclAuthorizer",
    "JndiLoginModule": "JndiLoginModule",
    "org.apache.kafka.sasl.oauthbearer.allowed.urls": "(?i)oauthbearer",
    "more than 5 requests in flight": r"max\.in\.flight",
    "metrics.jmx.blacklist, metrics.jmx.whitelist": r"metrics\.jmx\.",
    "zstd": "zstd",
}
"""Facts that are about settings alone, each with what the lines have where it matters."""

SYNONYMS = {"node.id": "broker.id"}  # a broker takes the one for the other
PASSED_ON = ("listener.name.", "config.providers.", "rsm.config.", "rlmm.config.", "confluent.")
"""Beginnings of names that a program hands on to its parts; whether those know them is not known here."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to do something about before an upgrade."""

    danger: str  # a name in `DANGERS`
    file: str | None  # None: it is about every program of the side
    line: int | None
    name: str
    text: str
    source: str


def findings_in(old: str, new: str, name: str, side: str, properties: PropertiesFile) -> Iterator[Finding]:
    """What an upgrade changes for one file: its lines, what it does not set, and what is strange about it."""
    last, values = properties.last, properties.values
    before = {each.text for each in refusals(values, side, old)}
    for refusal in refusals(values, side, new):
        so = "; so it is already" if refusal.text in before else ""
        shown = _without_secrets(refusal.text, refusal.names, last)
        yield Finding(REFUSED, name, last[refusal.names[0]].number, refusal.names[0], f"{shown}{so}", refusal.source)
    own = changes(old, new, side)
    yield from _newly_required(old, new, name, side, values)
    by_name = {change.setting: change for change in own if change.kind in ("removed", "renamed")}
    for line in last.values():
        yield from of_line(old, new, name, side, line, by_name.get(line.name))
    yield from (_default_changed(name, change) for change in own if _counts(change, values))
    yield from _kip_848(new, name, side, last)
    for repeated, numbers in properties.repeated.items():
        yield Finding(
            NOTED,
            name,
            numbers[-1],
            repeated,
            f"{repeated} is set in lines {listed(numbers)}; the last counts",
            "java.util.Properties",
        )
    yield from (Finding(NOTED, name, None, "", note, "java.util.Properties") for note in properties.notes)


def _without_secrets(text: str, names: Sequence[str], last: dict[str, Line]) -> str:
    """A reason as it may be shown."""
    for each in names:
        line = last.get(each)
        if line is not None and line.value and line.shown_value != line.value:
            text = text.replace(line.value, line.shown_value)
    return text


def _newly_required(old: str, new: str, name: str, side: str, values: dict[str, str]) -> Iterator[Finding]:
    """What has no default any more; a client's program may set it itself, a broker has its file alone."""
    for setting in find_settings(release=new, side=side):
        is_given = setting.name in values or SYNONYMS.get(setting.name) in values
        if setting.in_release(new) is REQUIRED and setting.in_release(old) is not REQUIRED and not is_given:
            is_broker = side == "broker"
            where = "" if is_broker else ", here or in the program"
            text = f"{setting.name} must be set since {setting.history[-1][0]}{where}"
            yield Finding(REFUSED if is_broker else NOTED, name, None, setting.name, text, f"its class in {new}")


def of_line(old: str, new: str, name: str, side: str, line: Line, gone: Change | None) -> Iterator[Finding]:
    """A line that loses its effect, gets one, or never had any."""
    knew, knows = setting_of(line.name, side, old), setting_of(line.name, side, new)
    if knew is not None and knows is None:
        note = f": {gone.note}" if gone is not None and gone.note else ""
        since = gone.since if gone is not None else new
        source = gone.source if gone is not None else f"its class in {old} and {new}"
        yield Finding(GONE, name, line.number, line.name, f"{line.name} is gone since {since}{note}", source)
    elif knew is None and knows is not None:
        since = next(release for release, value in knows.history if value is not ABSENT)
        text = f"{line.name}={line.shown_value} has had no effect, and has one since {since}"
        yield Finding(BEHAVES, name, line.number, line.name, text, f"its class in {old} and {new}")
    elif knew is None and not line.name.startswith(PASSED_ON):
        yield Finding(
            UNKNOWN,
            name,
            line.number,
            line.name,
            _unknown(line.name, side, old, new),
            f"the classes of {old} and {new}",
        )


def _unknown(name: str, side: str, old: str, new: str) -> str:
    """What can be said of a name that neither release knows on this side."""
    own = [each for each in settings_named(name) if each.side == side]
    if own:
        return f"{name}: {side}s have it in {own[0].lifetime} only"
    shown = name if len(name) <= 60 else f"{name[:57]}..."
    others = [each.side for each in settings_named(name) if each.in_release(new) is not ABSENT]
    if others:
        return f"{shown} is a setting of the {listed(others)}, not of the {side}"
    known = [each.name for each in find_settings(release=new, side=side)]
    near = get_close_matches(name[:LONGEST_NAME], known, n=1, cutoff=0.75)
    return f"{shown} is unknown{f': did you mean {near[0]}?' if near else '; a plug-in may read it'}"


def _counts(change: Change, values: dict[str, str]) -> bool:
    """Whether a changed default matters: where nothing is set, and the setting is for users."""
    is_ours = change.setting in values or "internal" in change.note.split("; ")
    return change.kind == "changed" and not is_ours and change.new is not REQUIRED and change.old is not REQUIRED


def _default_changed(name: str, change: Change) -> Finding:
    old, new = (value_text(change.setting, value) for value in (change.old, change.new))
    note = f"; {change.note}" if change.note else ""
    text = f"{change.setting} is not set: {old} becomes {new} with {change.since}{note}"
    return Finding(BEHAVES, name, None, change.setting, text, change.source)


def _kip_848(new: str, name: str, side: str, last: dict[str, Line]) -> Iterator[Finding]:
    """What stands in the way of the new group protocol, for a consumer that has not asked for it yet."""
    if side != "consumer" or not at_least("4.0", new) or "group.protocol" in last:
        return
    in_the_way = [each for each in NOT_WITH_CONSUMER_PROTOCOL if each in last]
    if in_the_way:
        text = f"{listed(in_the_way)}: to be left away before group.protocol=consumer is set"
        yield Finding(NOTED, name, last[in_the_way[0]].number, in_the_way[0], text, "ConsumerConfig; KIP-848")


def facts_for(old: str, new: str, files: Sequence[tuple[str, PropertiesFile]]) -> Iterator[Finding]:
    """What else the upgrade brings for these sides; what shows in settings only if it shows in these."""
    lines = "\n".join(f"{line.name}={line.value}" for _, file in files for line in file.lines)
    seen = set()
    for side in dict.fromkeys(side for side, _ in files):
        for change in changes(old, new, side):
            key = (change.kind, change.side, change.setting)
            sign = SEEN_IN_SETTINGS.get(change.setting, "")
            if change.kind in FACTS and key not in seen and re.search(sign, lines):
                seen.add(key)
                text = f"{change.setting} ({change.side}, {change.since}): {change.note}"
                yield Finding(_DANGER_OF_FACT[change.kind], None, None, change.setting, text, change.source)
