"""What a broker answers beside what Kafka answers: one mechanism after the other, and all removed at the end."""

from __future__ import annotations

import argparse
import json
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from conformance.judge.cluster import JudgedCluster
from conformance.mechanism import Answer, CannotBeAsked, Case, Mechanism, TooSlow
from conformance.mechanisms import MECHANISMS
from conformance.running import asked_until_equal
from conformance.search import Difference, find_difference
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.tables import markdown_table
from kafkalearn.releases.lines import DEFAULT_RELEASE

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


SECONDS = 10.0
SHRINK_S = 20.0
CASES_OF_A_SEED = 25
MOST_REASONS = 3  # after so many cases without an answer a mechanism counts as one that cannot be asked
NEEDS_ITS_OWN = "they need settings, the disk or the death of a broker that `Kafka()` has started, or no broker at all"


class _Enough(BaseException):
    """The time is over, or too many cases could not be asked."""


def judge(
    bootstrap: str,
    config: Mapping[str, object] | None = None,
    may_write: bool = False,
    release: str = DEFAULT_RELEASE,
    seconds: float = SECONDS,
    seed: int = 1,
    fewest: int = 1,
    mechanisms: Sequence[Mechanism] | None = None,
    update: Callable[[str], None] = lambda text: None,
) -> Report:
    """What a broker answers beside what Kafka answers, rule by rule.

    Parameters
    ----------
    bootstrap : str
        Its address, ``"localhost:9092"``, several with commas between.
    config : mapping, optional
        The settings of a client of librdkafka, for the security of the connections.
    may_write : bool
        It makes topics, writes records and commits offsets; so it wants to be allowed to.
    release : str
        The release line whose rules it is held to.
    seconds : float
        For each kind of question; a difference takes some more, to be cut down.
    seed : int
        The same seed draws the same cases.
    fewest : int
        So many cases of each kind are put to it, however long that takes.
    mechanisms : sequence of Mechanism, optional
        What is asked; None: all of `conformance.mechanisms.MECHANISMS`.
    update : callable
        Called with the name of what is asked next.

    Raises
    ------
    KafkaLearnError
        If it may not write, or an address or setting has no meaning.
    NoAnswer
        If nobody answers there.
    """
    if not may_write:
        raise KafkaLearnError(
            "the judge makes topics and groups, and removes them at the end; if this cluster may be written to, say "
            "so: may_write=True, or --may-write"
        )
    prefix = f"kafkalearn-judge-{secrets.token_hex(4)}"
    with JudgedCluster(bootstrap, config or {}, release, prefix) as cluster:
        cluster.metadata()  # nobody there: said at once
        verdicts, left = [], []
        try:
            for mechanism in MECHANISMS.values() if mechanisms is None else mechanisms:
                update(mechanism.name)
                verdicts.append(_judged(cluster, mechanism, seconds, seed, fewest))
        finally:
            left = cluster.remove_all()
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        return Report(
            bootstrap, cluster.release.line, today, prefix, tuple(verdicts), dict(cluster.unreadable), tuple(left)
        )


def _judged(cluster: JudgedCluster, mechanism: Mechanism, seconds: float, seed: int, fewest: int) -> Verdict:
    """The verdict on one mechanism."""
    name, rules = mechanism.name, mechanism.rules
    if not mechanism.is_for_any_cluster:
        return Verdict(name, rules, NOT_ASKED, reasons=(NEEDS_ITS_OWN,), is_for_any_cluster=False)
    try:
        mechanism = mechanism.fitted(cluster)
    except CannotBeAsked as error:
        return Verdict(name, rules, NOT_ASKED, reasons=(str(error),))
    asking = _Asking(cluster, mechanism, time.monotonic() + seconds, fewest)
    found, number = None, 0
    try:
        while found is None:
            number = seed * 1_000_000 + asking.batches
            found = find_difference(mechanism, cluster.release.line, asking.ask, number, CASES_OF_A_SEED, SHRINK_S)
            asking.batches += 1
    except _Enough:
        pass
    status = DIFFERS if found else AGREES if asking.answered and len(asking.reasons) < MOST_REASONS else NOT_ASKED
    return Verdict(name, rules, status, asking.answered, number, found, asking.all_reasons())


class _Asking:
    """The cases of one mechanism, put to the cluster until the time is over."""

    def __init__(self, cluster: JudgedCluster, mechanism: Mechanism, deadline: float, fewest: int) -> None:
        self._cluster, self._mechanism, self._deadline, self._fewest = cluster, mechanism, deadline, fewest
        self._has_difference = False
        self.batches = self.asked = self.answered = self.too_slow = 0
        self.reasons: dict[str, None] = {}

    def ask(self, case: Case) -> Difference | None:
        if time.monotonic() > self._deadline and not self._has_difference and self.asked >= self._fewest:
            raise _Enough
        self.asked += 1
        try:
            found = asked_until_equal(self._mechanism, self._cluster.release.line, case, self._answer)
        except CannotBeAsked as error:
            self._note(str(error))
            return None
        except TooSlow:
            self.too_slow += 1
            return None
        except (KafkaLearnError, KafkaException, OSError, LookupError, TypeError, ValueError) as error:
            self._note(f"{type(error).__name__}: {error}")  # also an answer that lacks what Kafka's always has
            return None
        self.answered += 1
        self._has_difference = self._has_difference or found is not None
        return found

    def all_reasons(self) -> tuple[str, ...]:
        """Why cases were not answered."""
        slow = f"{self.too_slow} cases: the broker or this machine was too slow for them to mean anything"
        return (*self.reasons, *([slow] if self.too_slow else []))

    def _answer(self, case: Case) -> Answer:
        return self._mechanism.ask(self._cluster, case, self._cluster.new_name)

    def _note(self, reason: str) -> None:
        self.reasons[reason.replace(self._cluster.prefix, "PREFIX")] = None
        if len(self.reasons) >= MOST_REASONS and not self._has_difference:
            raise _Enough


def main(words: Sequence[str]) -> int:
    """Judge, print the report, and write it where it is wanted; the exit code says how it came out."""
    wanted = _parsed(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that an end from outside cleans up, too
    try:
        config = _config(wanted.config)
        report = judge(
            wanted.bootstrap,
            config,
            wanted.may_write,
            wanted.release,
            wanted.seconds,
            wanted.seed,
            update=lambda name: print(f"asking: {name}", file=sys.stderr, flush=True),
        )
    except KafkaLearnError as error:
        print(f"kafkalearn: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("kafkalearn: stopped; what was made is removed", file=sys.stderr)
        return 130
    text = report.as_json() if wanted.report and wanted.report.suffix == ".json" else str(report)
    if wanted.report:
        wanted.report.write_text(text, encoding="utf-8")
    print(report)
    return report.exit_code


def _config(path: Path | None) -> dict[str, object]:
    """The settings of a file: JSON, or lines ``name=value`` as Kafka's tools read them."""
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return dict(json.loads(text))
    except (OSError, ValueError, TypeError) as error:
        raise KafkaLearnError(f"{path} cannot be read as settings: {error}") from None
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m conformance.judge",
        description="Asks a broker what Kafka is asked, and says rule by rule whether it answers as Kafka does.",
    )
    parser.add_argument("bootstrap", help="host:port of a broker")
    parser.add_argument("--may-write", action="store_true", help="it makes topics and groups, and removes them")
    parser.add_argument("--config", type=Path, help="security settings of librdkafka, name=value a line, or .json")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="whose rules, such as 4.1")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each kind of question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="a file to write: .json, or Markdown")
    return parser.parse_args(words)
