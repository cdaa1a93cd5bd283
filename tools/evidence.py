"""``python -m tools.evidence``: what stands behind each chapter's rules, on one page, docs/evidence.md.

It is made from the ledger (`kafkalearn.releases.ledger`) and, where a rule names a class and a method of Kafka, from
the lines at which the released classes have them (`tools.cited_lines`). Whoever seeks a rule by Kafka's words finds it
here: each is linked to the file that has it.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import nbformat

from kafkalearn.base.tables import markdown_table
from kafkalearn.releases.ledger import WORDS, Rule, conform_checks, ledger, live_checks, word_of
from tools.chapters import chapter_paths
from tools.cited_lines import RECORDED
from tools.environment import ROOT

COMMAND = "python -m tools.evidence"
PAGE = ROOT / "docs" / "evidence.md"
TEXT = """# What stands behind a rule

Each rule of the ledger, by the first chapter that uses its package, with the function that has it, what it was held to,
and where Kafka has it. {words} Rules that are a query of another rule have no word of their own: they are held equal to
it.

{counts}"""


def packages_of(path: Path) -> set[str]:
    """The packages of kafkalearn that a chapter's cells import, or whose functions they call by their whole name."""
    found: set[str] = set()
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:  # a cell of a shell
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kafkalearn"):
                parts = node.module.split(".")[1:]
                found |= {".".join(parts[: end + 1]) for end in range(len(parts))}
                found |= {".".join([*parts, name.name]) for name in node.names}
            elif isinstance(node, ast.Import):
                found |= {name.name.removeprefix("kafkalearn.") for name in node.names}
    return found


def by_chapter(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """The rules of each chapter, by the words that name it; those that no chapter imports come last, under none."""
    chapters = [(path, packages_of(path)) for path in chapter_paths() if not path.stem.startswith("00")]
    found: dict[str, list[Rule]] = {_title(path): [] for path, _ in chapters} | {"": []}
    for rule in rules:
        parts = rule.function.split(".")[1:]
        names = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
        own = next((path for name in names for path, used in chapters if name in used), None)
        found[_title(own) if own else ""].append(rule)
    return {title: own for title, own in found.items() if own}


def _title(path: Path) -> str:
    return nbformat.read(path, as_version=4).cells[0].source.split("\n")[0].removeprefix("# ")


def row(rule: Rule, lines: Mapping[str, Any]) -> dict[str, str]:
    """One rule of the page."""
    held = dict.fromkeys(str(check) for check in rule.checks)
    asked_live = ", ".join(check.release for check in live_checks(rule.name))
    drawn: Counter[str] = Counter()
    for check in conform_checks(rule.name):  # of several mechanisms, it may be
        drawn[check.release] += check.cases
    asked_at_random = ", ".join(f"{count:,} on {release}" for release, count in sorted(drawn.items()))
    live = [f"live: {asked_live}"] if asked_live else []
    random = [f"random cases: {asked_at_random}"] if asked_at_random else []
    return {
        "rule": rule.name,
        "in kafkalearn": where_in_kafkalearn(rule),
        "word": word_of(rule) or "as its rule",
        "held to": "; ".join([*held, *live, *random]),
        "why not asked": rule.because,
        "in Kafka": where_in_kafka(rule, lines),
    }


def where_in_kafkalearn(rule: Rule) -> str:
    """The rule's function, or its table, linked to the file in which it is written."""
    package, _, name = rule.function.rpartition(".")
    rules_own, place = resolve_name(rule.function), resolve_name(package)
    written = inspect.getmodule(inspect.unwrap(rules_own))
    if written is None or not written.__name__.startswith(package):  # it is made, as `simulate` is
        simulator = sys.modules.get(f"{package}.simulator")
        written = simulator if getattr(simulator, name, None) is rules_own else place
    path = Path(str(written.__file__)).relative_to(ROOT).as_posix()
    return f"[`{rule.function.removeprefix('kafkalearn.')}`](../{path})"


def where_in_kafka(rule: Rule, lines: Mapping[str, Any]) -> str:
    """File and line of each method that the rule names, with the release whose classes were read."""
    return "; ".join(f"{each['file']}:{each['line']} ({each['release']})" for each in lines["rules"].get(rule.name, ()))


def text() -> str:
    """The page as Markdown."""
    rules = ledger()
    lines = json.loads(RECORDED.read_text(encoding="utf-8"))
    counted = Counter(word_of(rule) or "as its rule" for rule in rules)
    words = " ".join(f"*{word.capitalize()}*: {meaning}." for word, meaning in WORDS.items())
    counts = ", ".join(f"{count} {word}" for word, count in counted.most_common())
    parts = [TEXT.format(words=words, counts=f"{len(rules)} rules: {counts}.")]
    for title, own in by_chapter(rules).items():
        parts += [
            f"## {title or 'No chapter imports them by name'}",
            markdown_table([row(rule, lines) for rule in own]),
        ]
    to_look_at = [{"rule": name, "to look at": "; ".join(reasons)} for name, reasons in lines["look"].items()]
    if to_look_at:
        parts += [f"## Methods that are others since {[*lines['asked']][-1]}", markdown_table(to_look_at)]
    looked_at = [{"method": words, "the rule is right": why} for words, why in lines["right"].items()]
    if looked_at:
        parts += ["## Methods that are others, and were looked at", markdown_table(looked_at)]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
