"""Takes in a release of Kafka: remakes all that is recorded or read from it, and prints what has changed.

    python3 run.py release 4.3                  the patch that is recorded for this line
    python3 run.py release 4.3=4.3.2            another patch
    python3 run.py release 4.5=4.5.0            a new line, the one after the newest; it becomes the default
    python3 run.py release 4.3 --only=jars,settings
    python3 run.py release 4.5=4.5.0 --dry-run  what would change, without a file touched
    python3 run.py release 4.5=4.5.0-rc1        a candidate: always a dry run

The steps, each of which can be run alone by the tool that it names:

- line: a new line is put into RELEASES of kafkalearn/releases/lines.py, and where the newest is named as today's
  (SAID_OF_THE_NEWEST); if its jars cannot be had, it is taken out again, and no other step is tried
- jars: the brokers that kafkalearn.live starts, by hash (tools.live_releases)
- layouts: the requests that kafkalearn.live sends, and their answers, and the records of a cluster's metadata, if the
  line is the newest (tools.request_layouts)
- settings: every setting, its default and limits, and what the jars show (tools.settings)
- classes: what the classes answer to fixed questions: hashes, assignors, versions of requests, layouts of the offsets
  topic's records (tools.released_classes)
- errors: what a transactional producer makes of each error of each request (tools.transaction_errors)
- lines: file and line of every method that a rule of the ledger names (tools.cited_lines), and, of evidence, the page
  docs/evidence.md (tools.evidence)
- answers: what a real broker answers to the questions of chapter 14, and the topics that Spark reads there, if the line
  is the newest (tools.real_answers)
- histories: what a broker answers to the recorded histories of groups, logs, moving replicas and commits, asked again
  (tools.histories); it takes a quarter of an hour
- words: what the command line prints without a release given (docs/command.md and what its tests compare with)
- held: the tests of releases, of what was taken in and of the words on it; those that fail name what is to follow

A step that finds nothing new leaves its files as they were, byte for byte. Which recordings of a release no step makes
again, and why, stands in tools/histories/left.py; what they are for is asked of a real broker by
`make live ARGS='check LINE'`, and by `make conform`.

A dry run takes in the release in a copy of this folder, with jars of its own, and prints the differences; then the copy
is removed.
Candidates are published under the version that they may become, in a registry of their own: 4.5.0-rc1 is fetched as
4.5.0 from the registries of the Ivy settings that KAFKALEARN_IVY_SETTINGS names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from kafkalearn.base.files import FOLDER_VARIABLE
from kafkalearn.releases.lines import RELEASES
from tools.recordings import numbers_of

ROOT = Path(__file__).resolve().parent.parent
ONLY, DRY_RUN = "--only=", "--dry-run"
CANDIDATE = re.compile(r"(\d+(?:\.\d+)+)-rc\d+")
MOST_LINES = 12  # of the differences of a file

LINES = "kafkalearn/releases/lines.py"
SAID_OF_THE_NEWEST = (
    (LINES, '"{}",\n)\n# fmt: on'),
    ("README.md", "Without a release given, it is Kafka {}."),
    ("README.md", "kafkalearn upgrade 3.9 {} --file server.properties"),
    ("notebooks/00_start.ipynb", "All chapters speak of Kafka {} unless they say otherwise"),
    ("kafkalearn/releases/__init__.py", "in all release lines from 0.8.2 to {}, with defaults"),
)
"""Where a new line is put: each file, and what it says of the newest line."""


class Step(NamedTuple):
    """One tool that reads a release, and the files that it writes."""

    name: str
    module: str
    files: tuple[str, ...]
    is_for_the_newest: bool = False
    knows_patches: bool = True
    words: tuple[str, ...] | None = None  # those of the tool, if not the release
    is_written: bool = False  # by tests, which compare with these files otherwise


STEPS = (
    Step("jars", "tools.live_releases", ("kafkalearn/live/released.json",)),
    Step(
        "layouts",
        "tools.request_layouts",
        ("kafkalearn/live/layouts.json", "kafkalearn/formats/metadata.json"),
        is_for_the_newest=True,
    ),
    Step(
        "settings",
        "tools.settings",
        ("kafkalearn/releases/settings_by_release.json", "tests/vectors/versions/released-jars.json"),
    ),
    Step("classes", "tools.released_classes", ("tests/vectors/versions/released-classes.json",)),
    Step("errors", "tools.transaction_errors", ("tests/vectors/transactions/client-errors.json",)),
    Step("lines", "tools.cited_lines", ("docs/cited-lines.json",)),
    Step("evidence", "tools.evidence", ("docs/evidence.md",), words=()),
    Step("answers", "tools.real_answers", ("data/real-kafka/answers.json",), True, False),
    Step(
        "histories",
        "tools.histories",
        (
            "tests/vectors/group/group-cases.json",
            "tests/vectors/group/group-requests.json",
            "tests/vectors/group/kip848-requests.json", "tests/vectors/group/pattern-groups.json",
            "tests/vectors/log/list-offsets.json",
            "tests/vectors/offsets/commit-path.json",
            "tests/vectors/replication/reassignment.json",
            "kafkalearn/releases/ledger.toml",
        ),
        knows_patches=False,
    ),
    Step(
        "words",
        "pytest",
        ("docs/command.md", *(f"tests/golden/command/{each}.json" for each in ("safe", "safe-lost", "where-no-key"))),
        is_for_the_newest=True,
        words=("-q", "-p", "no:cacheprovider", "--tb=line", "tests/oncall/test_command.py"),
        is_written=True,
    ),
    Step(
        "held",
        "pytest",
        (),
        words=("-q", "-p", "no:cacheprovider", "--tb=line", *(f"tests/{each}" for each in (
            "releases", "replay", "oncall/test_upgrade.py", "oncall/test_command.py", "offsets/test_records.py",
            "conformance/test_vectors.py", "groups/test_consumer_recorded.py", "replication/test_recorded.py",
            "transactions/test_client_errors.py",
        ))),
    ),
)  # fmt: skip
"""In the order in which one builds on the other; `held` tests what the others wrote."""


class NotTaken(Exception):  # noqa: N818  (a state, not a fault)
    """A release cannot be taken in; the message says why."""


def main(words: Sequence[str]) -> int:
    """Run the steps for each release that is named; the exit code is 1 if one fails."""
    releases = [word for word in words if not word.startswith("--")]
    unknown = [word for word in words if word.startswith("--") and word != DRY_RUN and not word.startswith(ONLY)]
    if unknown:
        raise NotTaken(f"there is no option {unknown[0]!r}; there are {ONLY}STEP,STEP and {DRY_RUN}")
    chosen = chosen_steps([word.removeprefix(ONLY) for word in words if word.startswith(ONLY)])
    if not releases:
        raise NotTaken("name a release: a line that is recorded, 4.3, or a patch of it, 4.3=4.3.2")
    for word in releases:
        require_a_place(word)
    if DRY_RUN in words or any(CANDIDATE.search(word) for word in releases):
        return tried([word for word in words if word != DRY_RUN])
    failed = [each for word in releases for each in failed_steps(chosen, word)]
    print("\n".join(["", *(f"failed: {each}" for each in failed)]) if failed else "\nall steps are done")
    return 1 if failed else 0


def require_a_place(word: str) -> None:
    """Raise if a release is neither of a line that there is nor of the one after the newest, named with its patch."""
    line, _, patch = word.partition("=")
    if line in RELEASES:
        return
    major, minor = numbers_of(RELEASES[-1])
    following = (f"{major}.{minor + 1}", f"{major + 1}.0")
    if line not in following:
        raise NotTaken(
            f"{line!r} is no line that there is, nor the next: RELEASES of {LINES} ends with {RELEASES[-1]}, after it "
            f"comes {' or '.join(following)}"
        )
    if not patch.startswith(f"{line}."):
        raise NotTaken(f"{line} is new; say which release to take in: {line}={line}.0")


def failed_steps(chosen: Sequence[Step], word: str) -> list[str]:
    """Run the steps for one release; those that failed. Without jars of a new line there are no others."""
    line, failed = word.partition("=")[0], []
    is_new = line not in RELEASES
    if is_new:
        print(f"\nline: {line} is put where the newest line is named")
        say_of_the_newest(RELEASES[-1], line)
    for step in chosen:
        if taken_in(step, word):
            continue
        failed.append(f"{step.name} of {word}")
        if is_new and step.name == "jars":
            say_of_the_newest(line, RELEASES[-1])
            print(f"\nline: {line} is taken out again, and the other steps are not tried: there are no jars of it")
            break
    return failed


def say_of_the_newest(old: str, new: str) -> None:
    """Put one line in the place of another wherever the newest is named; the list of lines grows or shrinks by it."""
    for name, said in SAID_OF_THE_NEWEST:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        before, after = said.format(old), said.format(new)
        if name == LINES:
            is_added = numbers_of(new) > numbers_of(old)
            before, after = (before, before.replace(f'"{old}",', f'"{old}", "{new}",')) if is_added else (
                after.replace(f'"{new}",', f'"{new}", "{old}",'), after,
            )  # fmt: skip
        if before not in text:
            raise NotTaken(f"{name} has not {before!r}, where the newest line is named; put it there, or mend {said!r}")
        path.write_text(text.replace(before, after), encoding="utf-8")


def tried(words: Sequence[str]) -> int:
    """Take releases in in a copy of this folder, with jars of its own, and remove it; the exit code of that."""
    plain = [CANDIDATE.sub(r"\1", word) for word in words]
    for word, version in zip(words, plain, strict=True):
        if word != version:
            print(f"{word} is a candidate: it is fetched as {version.partition('=')[2]}, from a registry that has it")
    with tempfile.TemporaryDirectory(prefix="kafkalearn-release-") as place:
        copy = Path(place) / ROOT.name
        left = shutil.ignore_patterns(
            ".git", ".venv", ".boot", "generated", "node_modules", "__pycache__", "my-chapters"
        )
        shutil.copytree(ROOT, copy, ignore=left)
        print("a dry run: all is done in a copy of this folder, which goes at the end", flush=True)
        environment = {**os.environ, FOLDER_VARIABLE: str(Path(place) / "generated")}
        command = [sys.executable, "-m", "tools.release", *plain]
        return subprocess.run(command, cwd=copy, env=environment).returncode


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
    """Run one step for one release, and print how its files differ afterwards, and its minutes; whether it is done."""
    line = word.partition("=")[0]
    newest = max(line, RELEASES[-1], key=numbers_of)
    if step.is_for_the_newest and line != newest:
        print(f"\n{step.name}: left as it is, as {line} is not the newest line")
        return True
    before, began = texts_of(step), time.monotonic()
    words = step.words or (word if step.knows_patches else line,)
    print(f"\n{step.name}: python3 -m {step.module} {' '.join(words)}", flush=True)
    environment = {**os.environ, "KAFKALEARN_WRITE_GOLDEN": "1"} if step.is_written else None
    done = subprocess.run([sys.executable, "-m", step.module, *words], cwd=ROOT, env=environment)
    after = texts_of(step)
    for name in step.files:
        print("\n".join(difference_of(name, before[name], after[name])))
    print(f"{step.name}: {(time.monotonic() - began) / 60:.1f} minutes{'' if done.returncode == 0 else ', failed'}")
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
