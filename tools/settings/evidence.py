"""What is kept of the jars beside the settings: Java, classes, requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafkalearn.releases.lines import RELEASES
from tools.settings.files import UPGRADES
from tools.settings.lines import compressed, expanded, lines_between
from tools.settings.released import NotRun, Released


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
