"""Reads the lines named, or all; writes the two files and prints what has changed in them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping

from kafkalearn.live.jars import ProgramFailed
from kafkalearn.releases.lines import RELEASES, parse_release
from tools.settings.files import ABOUT, ABOUT_EVIDENCE, EVIDENCE, OBTAINED, RECORDED, differences, text_of
from tools.settings.released import NotRun, read_release
from tools.settings.rows import evidence_of, settings_of


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
            raise NotRun(f"{release} is not a release of {line}")
        wanted[line] = release or asked[line]
    return wanted or dict(asked)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (NotRun, ProgramFailed) as reason:
        sys.exit(f"kafkalearn: {reason}")
