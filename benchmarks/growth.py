"""How cost grows: every rule on Spark at 10, 50 and 100 million rows, here and on a cluster of two workers.

    python benchmarks/growth.py                                             each rule at 10 million rows
    python benchmarks/growth.py --rows 50000000 100000000 --remove          larger; data go when they are not needed
    python benchmarks/growth.py --cluster                                   on local-cluster[2,1,2048]
    python benchmarks/growth.py --keys                                      10 million rows of few and of many keys
    python benchmarks/growth.py --keys 100000000 --rows 100000000           as many keys as rows
    python benchmarks/growth.py --rule compaction offsets --again           some rules, measured anew
    python benchmarks/growth.py --page                                      writes docs/growth.md, too

Each line is a process of its own, so that memory is that of one rule, and one that breaks takes nothing with it. What
is measured is in ``growth.jsonl`` at once, which is kept with the page: a second call goes on where the first has
ended, on another machine too, and does not try again what could not be done with fewer rows. The seconds of the
processor are those of Java, of its executors and of Python's workers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import strftime
from typing import NamedTuple

import pyspark
from _figures import append_line, lines_of, note
from _rules import KEYED, RULES, Rule

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import FOLDER_VARIABLE, data_folder
from kafkalearn.base.java_runtime import find_java
from kafkalearn.base.tables import markdown_table, text_table
from tests.project.launcher_java import make_java_home
from tools.pages import write_part

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "growth.jsonl"
PAGE = HERE.parent / "docs" / "growth.md"
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,2048]"
SMALL_DRIVER = "local[2] 2g"  # and what memory its Java may have
MILLION = 1_000_000
SIZES = (10 * MILLION, 50 * MILLION, 100 * MILLION)
KEY_COUNTS = (10_000, MILLION, 10 * MILLION)


class Line(NamedTuple):
    """What one rule is measured at."""

    rule: str
    rows: int
    master: str
    keys: int = 0  # 0: as the data have them


def main(words: Sequence[str]) -> None:
    """Measure what is not measured yet, and print the table."""
    wanted = parsed(words)
    rules = chosen(wanted.rule, KEYED if wanted.keys else RULES)
    found = read(FIGURES)
    lines = list(plan(rules, wanted.rows, place_of(wanted), wanted.keys or [0]))
    left = [each for each in lines if wanted.again or each not in found]
    note(f"{len(lines)} lines, {len(left)} of them to be measured; every figure goes to {FIGURES}")
    try:
        for number, (rule, line) in enumerate(with_rules(rules, left)):
            of = f" of {line.keys:,} keys" if line.keys else ""
            at = f"{number + 1} of {len(left)}: {line.rule}, {line.rows:,} rows{of}, {line.master}"
            note(f"{strftime('%H:%M:%S')} {at} ...")
            said = could_not_before(line, found) or measure(rule, line, wanted, left[number + 1 :])
            found[line] = said
            append_line(FIGURES, {**line._asdict(), "said": said})
            note(f"{strftime('%H:%M:%S')} {in_words(said)}")
    finally:
        print(text_table(table(found, KEYED if wanted.keys else RULES)), flush=True)
        if wanted.page:
            write_page(found)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """The options."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, nargs="*", default=[SIZES[0]], help="10000000 without it")
    options.add_argument("--cluster", action="store_true", help=f"on {CLUSTER} in place of {LOCAL}")
    options.add_argument("--keys", type=int, nargs="*", help="rows of so many keys, with a driver of 2 GB; see above")
    options.add_argument("--rule", nargs="*", default=[], help="only those of these names, or with these words in them")
    options.add_argument("--again", action="store_true", help="measure what is measured already, too")
    options.add_argument("--minutes", type=float, default=30.0, help="what takes longer is given up")
    options.add_argument("--remove", action="store_true", help="keep no data: remove each dataset after its last rule")
    options.add_argument("--page", action="store_true", help=f"write {PAGE.name}, too")
    wanted = options.parse_args(words)
    wanted.keys = [*KEY_COUNTS] if wanted.keys == [] else wanted.keys or []
    return wanted


def place_of(wanted: argparse.Namespace) -> str:
    """Where the lines that are asked for run."""
    if wanted.keys:
        return SMALL_DRIVER
    return CLUSTER if wanted.cluster else LOCAL


def chosen(words: Sequence[str], rules: Sequence[Rule]) -> list[Rule]:
    """The rules of these names; a word that names none stands for all that have it in theirs. Without words, all."""
    names = {rule.name for rule in rules}
    return [
        rule
        for rule in rules
        if not words or rule.name in words or any(word in rule.name for word in words if word not in names)
    ]


def plan(rules: Sequence[Rule], sizes: Iterable[int], master: str, keys: Sequence[int] = (0,)) -> Iterator[Line]:
    """The lines, small ones first; those that read the same data, or differ in keys alone, one after the other."""
    for rows in sorted(sizes):
        for rule in rules:
            yield from (Line(rule.name, rows, master, each) for each in sorted(keys) if each * rule.least <= rows)


def with_rules(rules: Iterable[Rule], lines: Iterable[Line]) -> Iterator[tuple[Rule, Line]]:
    """Each line with its rule."""
    by_name = {rule.name: rule for rule in rules}
    return ((by_name[line.rule], line) for line in lines)


# One line.


def measure(rule: Rule, line: Line, wanted: argparse.Namespace, later: Sequence[Line]) -> dict[str, object]:
    """What the process of a line says."""
    folder = data_folder()
    if wanted.remove and rule.data:
        folder = folder / "growth" / f"{rule.data}-{line.rows}"
    try:
        with variables(line.master, folder) as environment:
            return child(rule, line, wanted.minutes, environment)
    finally:
        of_data = {each.name for each in RULES if each.data == rule.data}
        is_needed = any(each.rule in of_data and each.rows == line.rows for each in later)
        if wanted.remove and rule.data and not is_needed:
            shutil.rmtree(folder, ignore_errors=True)


def child(rule: Rule, line: Line, minutes: float, environment: dict[str, str]) -> dict[str, object]:
    """Run it, and read its last line; if there is none, say how it ended."""
    rows = max(line.rows // rule.one_in, 1)
    keys = [str(line.keys)] if line.keys else []
    command = [sys.executable, str(HERE / "_growing.py"), rule.name, str(rows), *line.master.split(), *keys]
    try:
        ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        return {"cannot": f"not done within {minutes:g} minutes"}
    for text in reversed(ended.stdout.splitlines()):
        if text.startswith(('{"took"', '{"cannot"')):
            return json.loads(text)
    return {"cannot": f"the process ended with code {ended.returncode}"}


@contextmanager
def variables(master: str, folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a line; a cluster on this machine needs a home and a Java that Spark's launcher can use."""
    environment = {**os.environ, FOLDER_VARIABLE: str(folder), "PYTHONPATH": str(HERE.parent)}
    if master.startswith(LOCAL):
        yield environment
        return
    with tempfile.TemporaryDirectory(prefix="kafkalearn-growth-") as name:
        home = Path(name) / "spark"
        home.mkdir()
        for entry in Path(pyspark.__file__).parent.iterdir():
            (home / entry.name).symlink_to(entry)
        yield environment | {"SPARK_HOME": str(home), "JAVA_HOME": java_home(Path(name) / "java")}


def java_home(folder: Path) -> str:
    """This machine's own Java, else the bundled one with what Spark's launcher misses in it."""
    try:
        return str(find_java(bundled=False).home)
    except KafkaLearnError:
        folder.mkdir()
        return str(make_java_home(folder))


def could_not_before(line: Line, found: dict[Line, dict[str, object]]) -> dict[str, object] | None:
    """What is said of a line that cannot be done with fewer rows, or fewer keys, either."""
    for other, said in found.items():
        is_smaller = other != line and other.rows <= line.rows and other.keys <= line.keys
        if (other.rule, other.master) == (line.rule, line.master) and is_smaller and "cannot" in said:
            of = f" rows of {other.keys:,} keys" if other.keys else ""
            return {"cannot": f"not tried: not even {other.rows // MILLION} million{of}"}
    return None


# The figures, kept and shown.


def read(path: Path) -> dict[Line, dict[str, object]]:
    """What is measured already; the last word counts."""
    lines = lines_of(path)
    return {Line(each["rule"], each["rows"], each["master"], each.get("keys", 0)): each["said"] for each in lines}


def in_words(said: dict[str, object]) -> str:
    """A figure on one line."""
    if "cannot" in said:
        return f"cannot: {said['cannot']}"
    took = said["took"]
    return f"{_number(took['processor_seconds'], 1)} s of the processor, {_number(took['seconds'], 1)} s in all"


def table(found: dict[Line, dict[str, object]], rules: Sequence[Rule] = RULES) -> list[dict[str, str]]:
    """A row for each line of these rules that is measured, by rule, place and size."""
    order = {rule.name: number for number, rule in enumerate(rules)}
    known = [line for line in found if line.rule in order]
    known.sort(key=lambda line: (order[line.rule], line.master == CLUSTER, line.rows, line.keys))
    return [_row(rules[order[line.rule]], line, found[line]) for line in known]


def _row(rule: Rule, line: Line, said: dict[str, object]) -> dict[str, str]:
    rows = max(line.rows // rule.one_in, 1)
    took = said.get("took")
    head = {"rule": rule.name + (f" (after {rule.after})" if rule.after else ""), "rows": f"{rows:,} {rule.of}"}
    if rule in KEYED:
        head |= {"rows": f"{rows:,}", "keys": f"{line.keys:,} {rule.of}"}
        head |= {"joins": " ".join(_counted(took["joins"])) if took else "-", "most memory": _held(took, line.keys)}
    else:
        head["where"] = "here" if line.master == LOCAL else "two workers"
    if took is None:
        return head | dict.fromkeys(("ns a row", "CPU s", "clock s", "Java MiB", "Python MiB", "spilled MiB"), "-") | {
            "breaks": str(said["cannot"])
        }  # fmt: skip
    processor = took["processor_seconds"]
    return head | {
        "ns a row": _number(None if processor is None else processor / rows * 1e9),
        "CPU s": _number(processor, 1),
        "clock s": f"{took['seconds']:,.1f}",
        "Java MiB": f"{took['java_mib']:,}",
        "Python MiB": f"{took['python_mib']:,}",
        "spilled MiB": f"{took['spilled_mib']:,}",
        "breaks": "",
    }


def _counted(joins: Sequence[str]) -> list[str]:
    """Spark's names of the joins, each once, with how many there are: ``["3 SortMergeJoin"]``."""
    return [f"{joins.count(name)} {name}" for name in dict.fromkeys(joins)]


def _held(took: dict[str, object] | None, keys: int) -> str:
    """What the operator that held most had in memory, and by key where that says something."""
    held = (took or {}).get("held")
    if not held:
        return "-"
    name, held_bytes = max(held.items(), key=lambda each: each[1])
    is_whole = keys >= MILLION and took is not None and not took["spilled_mib"]
    return f"{name} {held_bytes / 2**20:,.0f} MiB" + f", {held_bytes / keys:,.0f} bytes a key" * is_whole


def _number(number: float | None, digits: int = 0) -> str:
    """A figure; on a system that does not say it there is none."""
    return "-" if number is None else f"{number:,.{digits}f}"


def write_page(found: dict[Line, dict[str, object]]) -> None:
    """Write the tables of the page anew, and which lines are missing; the words around stay."""
    by_rows = [(rows, LOCAL, 0) for rows in SIZES] + [(SIZES[0], CLUSTER, 0)]
    by_keys = [(SIZES[0], SMALL_DRIVER, keys) for keys in KEY_COUNTS]
    for words, rules, wanted in (("--page", RULES, by_rows), ("--keys --page", KEYED, by_keys)):
        rows = markdown_table(table(found, rules), columns=["rule"])
        write_part(PAGE, f"python benchmarks/growth.py {words}", f"{rows}\n\n{missing(found, rules, wanted)}")


def missing(found: dict[Line, dict[str, object]], rules: Sequence[Rule], wanted: Iterable[tuple[int, str, int]]) -> str:
    """How many lines of each size and place are not measured yet."""
    places = {LOCAL: " here", CLUSTER: " on two workers", SMALL_DRIVER: ""}
    said = []
    for rows, master, keys in wanted:
        lines = list(plan(rules, [rows], master, [keys]))
        names = [line.rule for line in lines if line not in found]
        if names:
            which = "all of them" if len(names) == len(lines) else ", ".join(f"`{name}`" for name in names)
            of = f" of {keys:,} keys" if keys else ""
            counts = f"{len(names)} of {len(lines)} rules"
            said.append(f"- {rows // MILLION} million rows{of}{places[master]}, {counts}: {which}")
    return "Not measured yet:\n\n" + "\n".join(said) if said else "All of it is measured."


if __name__ == "__main__":
    main(sys.argv[1:])
