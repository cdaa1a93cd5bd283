"""Takes in a release of Kafka: remakes all that is recorded or read from it, and prints what has changed.

    python3 run.py release 4.3          the patch that is recorded for this line
    python3 run.py release 4.3=4.3.2    another patch
    python3 run.py release 4.4=4.4.0    a new line, once RELEASES in kafkalearn/releases/lines.py has it
    python3 run.py release 4.3 --only=jars,settings

The steps, each of which can be run alone by the tool that it names:

- jars: the brokers that kafkalearn.live starts, by hash (tools.live_releases)
- layouts: the requests that kafkalearn.live sends, and their answers, if the line is the newest (tools.request_layouts)
- settings: every setting, its default and limits, and what the jars show (tools.settings)
- classes: what the classes answer to fixed questions: hashes, assignors, versions of requests, layouts of the offsets
  topic's records (tools.released_classes)
- answers: what a real broker answers to the questions of chapter 14, and the topics that Spark reads there, if the line
  is the newest (tools.real_answers)
- histories: what a broker answers to the recorded histories of groups, logs, moving replicas and commits, asked again
  (tools.histories); it takes a quarter of an hour

A step that finds nothing new leaves its files as they were, byte for byte. Which recordings of a release no step makes
again, and why, stands in tools/histories/left.py; what they are for is asked of a real broker by
`make live ARGS='check LINE'`, and by `make conform`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from kafkalearn.releases.lines import RELEASES

ROOT = Path(__file__).resolve().parent.parent
ONLY = "--only="
MOST_LINES = 12  # of the differences of a file


class Step(NamedTuple):
    """One tool that reads a release, and the files that it writes."""

    name: str
    module: str
    files: tuple[str, ...]
    is_for_the_newest: bool = False
    knows_patches: bool = True


STEPS = (
    Step("jars", "tools.live_releases", ("kafkalearn/live/released.json",)),
    Step("layouts", "tools.request_layouts", ("kafkalearn/live/layouts.json",), is_for_the_newest=True),
    Step(
        "settings",
        "tools.settings",
        ("kafkalearn/releases/settings_by_release.json", "tests/vectors/versions/released-jars.json"),
    ),
    Step("classes", "tools.released_classes", ("tests/vectors/versions/released-classes.json",)),
    Step("answers", "tools.real_answers", ("data/real-kafka/answers.json",), True, False),
    Step(
        "histories",
        "tools.histories",
        (
            "tests/vectors/group/group-cases.json",
            "tests/vectors/group/group-requests.json",
            "tests/vectors/group/kip848-requests.json",
            "tests/vectors/log/list-offsets.json",
            "tests/vectors/offsets/commit-path.json",
            "tests/vectors/replication/reassignment.json",
        ),
        knows_patches=False,
    ),
)


class NotTaken(Exception):  # noqa: N818  (a state, not a fault)
    """A release cannot be taken in; the message says why."""


def main(words: Sequence[str]) -> int:
    """Run the steps for each release that is named; the exit code is 1 if one fails."""
    releases = [word for word in words if not word.startswith(ONLY)]
    chosen = chosen_steps([word.removeprefix(ONLY) for word in words if word.startswith(ONLY)])
    if not releases:
        raise NotTaken("name a release: a line that is recorded, 4.3, or a patch of it, 4.3=4.3.2")
    for word in releases:
        line = word.partition("=")[0]
        if line not in RELEASES:
            raise NotTaken(f"{line!r} is not in RELEASES of kafkalearn/releases/lines.py; add it there first")
    failed = [f"{step.name} of {word}" for word in releases for step in chosen if not taken_in(step, word)]
    print("\n".join(["", *(f"failed: {each}" for each in failed)]) if failed else "\nall steps are done")
    return 1 if failed else 0


def chosen_steps(names: Sequence[str]) -> tuple[Step, ...]:
    """The steps of these names, which may have commas between them; without any, all.

    >>> [step.name for step in chosen_steps(["classes,jars"])]
    ['jars', 'classes']
    """
    wanted = {name for each in names for name in each.split(",")}
    unknown = wanted - {step.name for step in STEPS}
    if unknown:
        known = ", ".join(step.name for step in STEPS)
        raise NotTaken(f"there is no step {sorted(unknown)[0]!r}; there are {known}")
    return tuple(step for step in STEPS if not wanted or step.name in wanted)


def taken_in(step: Step, word: str) -> bool:
    """Run one step for one release, and print how its files differ afterwards; whether it went well."""
    line = word.partition("=")[0]
    if step.is_for_the_newest and line != RELEASES[-1]:
        print(f"\n{step.name}: left as it is, as {line} is not the newest line")
        return True
    before = texts_of(step)
    print(f"\n{step.name}: python3 -m {step.module} {word}", flush=True)
    done = subprocess.run([sys.executable, "-m", step.module, word if step.knows_patches else line], cwd=ROOT)
    after = texts_of(step)
    for name in step.files:
        print("\n".join(difference_of(name, before[name], after[name])))
    return done.returncode == 0


def texts_of(step: Step) -> dict[str, str]:
    """The files of a step as they are."""
    paths: Mapping[str, Path] = {name: ROOT / name for name in step.files}
    return {name: path.read_text(encoding="utf-8") if path.exists() else "" for name, path in paths.items()}


def difference_of(name: str, before: str, after: str) -> list[str]:
    """What has changed in a file: how many lines, and the first of them.

    >>> print(*difference_of("a.json", "one\\ntwo\\n", "one\\nthree\\n"), sep="\\n")
    a.json: 1 line gone, 1 line new
      -two
      +three
    >>> difference_of("a.json", "one\\n", "one\\n")
    ['a.json: as it was']
    """
    if before == after:
        return [f"{name}: as it was"]
    changes = [
        line
        for line in unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("---", "+++")
    ]
    gone = sum(line.startswith("-") for line in changes)
    words = [f"{count} {'line' if count == 1 else 'lines'}" for count in (gone, len(changes) - gone)]
    shown = [f"  {line[:160]}" for line in changes[:MOST_LINES]]
    rest = len(changes) - len(shown)
    return [f"{name}: {words[0]} gone, {words[1]} new", *shown, *([f"  and {rest} more"] if rest else [])]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except NotTaken as reason:
        sys.exit(f"kafkalearn: {reason}")
