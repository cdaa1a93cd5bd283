"""What a judge says of a broker: for each mechanism and each rule agrees, differs or cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kafkalearn.live.conform.search import Difference
from kafkalearn.tables.markdown import markdown_table

AGREES, DIFFERS, NOT_ASKED = "agrees", "differs", "cannot be asked"
SHOWN_REASON = 400  # characters


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of the questions of one mechanism."""

    mechanism: str
    rules: tuple[str, ...]
    status: str  # AGREES, DIFFERS or NOT_ASKED
    cases: int = 0  # that were answered
    seed: int | None = None
    difference: Difference | None = None  # the shortest
    reasons: tuple[str, ...] = ()  # why cases, or the whole mechanism, could not be asked
    is_for_any_cluster: bool = True  # else it is for a broker of one's own alone


@dataclass(frozen=True, slots=True)
class Report:
    """A broker beside Kafka, question by question."""

    bootstrap: str
    release: str  # whose rules it was held to
    date: str
    prefix: str  # of all that was written
    verdicts: tuple[Verdict, ...]
    unreadable: Mapping[str, str]  # answers without the fields of their version, by request and version
    left_behind: tuple[str, ...] = ()  # what could not be removed, and why

    @property
    def exit_code(self) -> int:
        """0: all that can be asked over the network agrees; 1: something differs; 2: something could not be asked."""
        statuses = {each.status for each in self.verdicts if each.is_for_any_cluster}
        if DIFFERS in statuses or self.unreadable:
            return 1
        return 0 if statuses == {AGREES} else 2

    def by_rule(self) -> dict[str, str]:
        """For each rule of the ledger that was to be asked about: agrees, differs or cannot be asked."""
        found: dict[str, set[str]] = {}
        for verdict in self.verdicts:
            for rule in verdict.rules:
                found.setdefault(rule, set()).add(verdict.status)
        return {
            rule: next(each for each in (DIFFERS, AGREES, NOT_ASKED) if each in statuses)
            for rule, statuses in sorted(found.items())
        }

    def as_json(self) -> str:
        """The whole report, to be read by a program."""
        return json.dumps({**asdict(self), "by_rule": self.by_rule()}, indent=1, ensure_ascii=False) + "\n"

    def __str__(self) -> str:
        """The report as Markdown."""
        lines = [f"# {self.bootstrap} beside Kafka {self.release}, {self.date}", ""]
        verdicts = [
            {"question": each.mechanism, "verdict": each.status, "cases answered": each.cases} for each in self.verdicts
        ]
        rules = [{"rule": rule, "verdict": status} for rule, status in self.by_rule().items()]
        lines += [_sentence(self.verdicts), "", markdown_table(verdicts), "", markdown_table(rules)]
        if self.unreadable:
            lines += ["", "## Answers that do not have the fields of their version", ""]
            lines += [f"- {name}: {error}" for name, error in self.unreadable.items()]
        own = [each for each in self.verdicts if not each.is_for_any_cluster]
        if own:
            lines += ["", "## Not for a broker of somebody else's", ""]
            lines += [f"{', '.join(each.mechanism for each in own)}: {'; '.join(dict.fromkeys(own[0].reasons))}"]
        for each in self.verdicts:
            lines += _details(each) if each.is_for_any_cluster else []
        lines += ["", f"All names began with `{self.prefix}`; "]
        lines[-1] += "nothing of it is left." if not self.left_behind else "this could not be removed:"
        lines += [f"- {name}" for name in self.left_behind]
        return "\n".join(lines) + "\n"


def _sentence(verdicts: Iterable[Verdict]) -> str:
    counts = {status: sum(each.status == status for each in verdicts) for status in (AGREES, DIFFERS, NOT_ASKED)}
    return "Of the kinds of questions " + ", ".join(f"{count} {status}" for status, count in counts.items()) + "."


def _details(verdict: Verdict) -> list[str]:
    lines: list[str] = []
    if verdict.difference is not None:
        lines += ["", f"## {verdict.mechanism}: the shortest difference", "", f"Seed {verdict.seed}.", ""]
        parts = {
            "asked": verdict.difference.case,
            "this broker": verdict.difference.broker,
            "Kafka": verdict.difference.simulator,
        }
        lines += [_block(name, value) for name, value in parts.items()]
    if verdict.reasons:
        what = "cannot be asked" if verdict.status == NOT_ASKED else "some cases were not answered"
        lines += ["", f"## {verdict.mechanism}: {what}", ""]
        lines += [f"- {reason[:SHOWN_REASON]}" for reason in verdict.reasons]
    return lines


def _block(name: str, value: Any) -> str:
    return f"{name}:\n\n```json\n{json.dumps(value, ensure_ascii=False)}\n```\n"
