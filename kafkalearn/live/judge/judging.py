"""What a broker answers beside what Kafka answers: one mechanism after the other, and all removed at the end."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from confluent_kafka import KafkaException

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.conform.mechanism import Answer, CannotBeAsked, Case, Mechanism, TooSlow
from kafkalearn.live.conform.mechanisms import MECHANISMS
from kafkalearn.live.conform.running import asked_until_equal
from kafkalearn.live.conform.search import Difference, find_difference
from kafkalearn.live.judge.cluster import JudgedCluster
from kafkalearn.live.judge.report import AGREES, DIFFERS, NOT_ASKED, Report, Verdict
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
