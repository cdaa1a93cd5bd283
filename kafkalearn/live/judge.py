"""Is this a Kafka? The questions of conform for any broker that speaks the protocol: agrees, differs, cannot be asked.

::

    python -m kafkalearn.live.judge localhost:9092 --may-write --report judge.md

It makes topics and groups whose names begin with one prefix, and removes them at the end, also after an error or an
interrupt. Only questions that requests over the network can ask are asked; what needs a broker's disk or its death is
said to be so. Exit code 0: all agree; 1: something differs; 2: it cannot say.
"""

from __future__ import annotations

import argparse
import json
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import KafkaException

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.conform.judged_cluster import JudgedCluster
from kafkalearn.live.conform.mechanism import Answer, CannotBeAsked, Case, Mechanism
from kafkalearn.live.conform.mechanisms import MECHANISMS
from kafkalearn.live.conform.report import AGREES, DIFFERS, NOT_ASKED, Report, Verdict
from kafkalearn.live.conform.running import asked_until_equal
from kafkalearn.live.conform.search import Difference, find_difference
from kafkalearn.versions.releases import DEFAULT_RELEASE

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
        What is asked; None: all of `kafkalearn.live.conform.mechanisms.MECHANISMS`.
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
    if not mechanism.only_requests:
        return Verdict(mechanism.name, mechanism.rules, NOT_ASKED, reasons=(NEEDS_ITS_OWN,), needs_only_requests=False)
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
    return Verdict(mechanism.name, mechanism.rules, status, asking.answered, number, found, tuple(asking.reasons))


class _Asking:
    """The cases of one mechanism, put to the cluster until the time is over."""

    def __init__(self, cluster: JudgedCluster, mechanism: Mechanism, deadline: float, fewest: int) -> None:
        self._cluster, self._mechanism, self._deadline, self._fewest = cluster, mechanism, deadline, fewest
        self._has_difference = False
        self.batches = self.asked = self.answered = 0
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
        except (KafkaLearnError, KafkaException, OSError, LookupError, TypeError, ValueError) as error:
            self._note(f"{type(error).__name__}: {error}")  # also an answer that lacks what Kafka's always has
            return None
        self.answered += 1
        self._has_difference = self._has_difference or found is not None
        return found

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
    parser = argparse.ArgumentParser(prog="python -m kafkalearn.live.judge", description=__doc__.partition("\n")[0])
    parser.add_argument("bootstrap", help="host:port of a broker")
    parser.add_argument("--may-write", action="store_true", help="it makes topics and groups, and removes them")
    parser.add_argument("--config", type=Path, help="security settings of librdkafka, name=value a line, or .json")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="whose rules, such as 4.1")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each kind of question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="a file to write: .json, or Markdown")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
