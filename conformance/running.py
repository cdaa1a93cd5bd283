"""One mechanism asked for some minutes: cases, differences as files, what stood in the way; a next call goes on.

A cluster that dies is started again and asked the case once more. A case that two clusters in a row do not answer is
noted, and so is one for which the machine is too slow. An interrupt ends the run as the clock does: all that was done
until then is kept.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from conformance.mechanism import Answer, CannotBeAsked, Case, Mechanism, TooSlow
from conformance.search import SHRINK_S, Difference, compare, find_difference, text_of
from conformance.vectors import NAMED, OPEN, PUT_RIGHT, Vector, slug, write_vector
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live.jars import Release, find_release
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.requests import SENT
from kafkalearn.releases.lines import parse_release


@dataclass
class Progress:
    """How far the questions of one mechanism to one release have come, in a small file, so that a next call goes on.

    Cases of seeds that were not asked to their end count, too.
    """

    mechanism: str
    release: str  # "4.3.1"
    seed: int
    done_seeds: int = 0  # so many batches of cases were drawn and asked to their end
    cases: int = 0
    requests: int = 0
    seconds: float = 0.0
    too_slow: int = 0
    lost_brokers: int = 0  # clusters that had to be started again
    differences: list[str] = field(default_factory=list)  # the names of their files
    unanswered: list[str] = field(default_factory=list)  # cases that a second cluster did not answer either, and why

    @property
    def next_seed(self) -> int:
        """The seed of the next batch; no two runs with other seeds share one."""
        return self.seed * 1_000_000 + self.done_seeds


def path_of(folder: Path, mechanism: str, release: str) -> Path:
    """Where the progress of a mechanism on a release is kept."""
    return folder / f"{slug(mechanism)}-{release}.json"


def load(folder: Path, mechanism: str, release: str, seed: int) -> Progress:
    """The progress of a run with this seed; a new one if there is none yet.

    Raises
    ------
    KafkaLearnError
        If the file is no progress.
    """
    path = path_of(folder, mechanism, release)
    if not path.exists():
        return Progress(mechanism, release, seed)
    try:
        known = Progress(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise KafkaLearnError(f"{path} is not what conform has written; remove it, and the run begins anew") from None
    return known if known.seed == seed else Progress(mechanism, release, seed)


def save(folder: Path, progress: Progress) -> None:
    """Write the progress in one go: an interrupt leaves the old file or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, progress.mechanism, progress.release)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(progress), indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)


MOST_CASES = 200
"""After so many cases a cluster makes room for a new one: each case leaves topics and groups behind."""

Start = Callable[..., Any]
"""As `Kafka`, with ``release`` and the mechanism's settings: it has ``start`` and ``close``."""


class OwnCluster:
    """A real cluster for the questions of one mechanism; started again when it is worn out or lost.

    It is to be closed, or used in a ``with`` block.

    Parameters
    ----------
    mechanism : Mechanism
        Its settings are the cluster's.
    release : str
        A release line, such as ``"4.3"``.
    start : callable
        What makes the cluster.
    """

    def __init__(self, mechanism: Mechanism, release: str, start: Start = Kafka) -> None:
        """Nothing is started yet; the first case does it."""
        self.release: Release = find_release(release)
        self._settings, self._start = dict(mechanism.settings), start
        self._running: Any = None
        self._case_count = 0
        self._numbers = count(1)

    @property
    def needs_no_broker(self) -> bool:
        """Whether the classes of the release are all that is asked."""
        return self._settings.get("brokers") == 0

    def for_a_case(self) -> Any:
        """The cluster, running: what a mechanism's `ask` gets."""
        if self.needs_no_broker:
            return self.release
        if self._case_count >= MOST_CASES:
            self.close()
        if self._running is None:
            self._case_count = 0
            self._running = self._start(release=self.release.line, **self._settings).start()
        self._case_count += 1
        return self._running

    def new_name(self, kind: str) -> str:
        """A name that no other case of this run has."""
        return f"{kind}-{next(self._numbers)}"

    def close(self) -> None:
        """End the cluster; the next case starts another."""
        if self._running is not None:
            running, self._running = self._running, None
            running.close()

    def __enter__(self) -> OwnCluster:
        """The holder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the cluster."""
        self.close()


CASES_OF_A_SEED = 25
MOST_DIFFERENCES = 3  # a run ends with so many: what is wrong is put right first
MOST_UNANSWERED = 3
SHOWN_CASE = 300  # characters


class _RunEnds(BaseException):
    """The time is over, or too many cases were not answered; with an error: nothing can be asked any more."""

    def __init__(self, error: KafkaLearnError | None = None) -> None:
        super().__init__()
        self.error = error


class Run:
    """The questions of one mechanism to one release.

    Parameters
    ----------
    mechanism : Mechanism
        What is asked.
    release : str
        A release line, such as ``"4.3"``.
    seed : int
        The same seed draws the same cases, in the same order.
    progress_folder, vectors_folder : Path
        Where the progress and the differences are kept.
    start : callable
        What makes a cluster.
    shrink_s : float
        How long a difference is cut down.
    clock : callable
        The time in seconds.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        release: str,
        seed: int,
        progress_folder: Path,
        vectors_folder: Path,
        start: Start = Kafka,
        shrink_s: float = SHRINK_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read how far an earlier call has come; nothing is started yet."""
        self.mechanism = mechanism
        self._cluster = OwnCluster(mechanism, release, start)
        self._folders = progress_folder, vectors_folder
        self._shrink_s, self._clock = shrink_s, clock
        self._deadline = 0.0
        self._is_shrinking = False
        self.progress: Progress = load(progress_folder, mechanism.name, self._cluster.release.version, seed)

    def go_on(self, minutes: float) -> bool:
        """Ask for so many minutes after the first cluster has started; whether it ended without an interrupt.

        The progress has what was done. A difference may take its time beyond the minutes, to be cut down.

        Raises
        ------
        KafkaNotFetched, KafkaNotStarted
            If no cluster can be started.
        CannotBeAsked
            If the release cannot be asked this.
        """
        began, sent = self._clock(), SENT.total()
        before_s, before_requests = self.progress.seconds, self.progress.requests
        found = 0
        try:
            with self._cluster:
                self._cluster.for_a_case()  # to fetch and start a release may take long, and is no part of the minutes
                began = self._clock()
                self._deadline = began + minutes * 60
                while self._clock() < self._deadline and found < MOST_DIFFERENCES:
                    found += self._ask_seed()
                    self.progress.done_seeds += 1
                    self._note_time(before_s + self._clock() - began, before_requests + SENT.total() - sent)
            return True
        except _RunEnds as end:
            if end.error is not None:
                raise end.error from None
            return True
        except KeyboardInterrupt:
            return False
        finally:
            self._note_time(before_s + self._clock() - began, before_requests + SENT.total() - sent)

    def _note_time(self, seconds: float, requests: int) -> None:
        self.progress.seconds, self.progress.requests = round(seconds, 1), requests
        save(self._folders[0], self.progress)

    def _ask_seed(self) -> bool:
        """Ask the cases of the next seed; whether there was a difference."""
        seed, release = self.progress.next_seed, self._cluster.release
        self._is_shrinking = False
        found = find_difference(self.mechanism, release.line, self._ask, seed, CASES_OF_A_SEED, self._shrink_s)
        if found is None:
            return False
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        path = write_vector(self._folders[1], Vector(self.mechanism.name, release.version, today, seed, *found))
        if path.name not in self.progress.differences:
            self.progress.differences.append(path.name)
        return True

    def _ask(self, case: Case) -> Difference | None:
        if self._clock() > self._deadline and not self._is_shrinking:
            raise _RunEnds
        self.progress.cases += 1
        try:
            found = asked_until_equal(self.mechanism, self._cluster.release.line, case, self._answer)
        except TooSlow:
            self.progress.too_slow += 1
            return None
        except _Unanswered as error:
            self._note_unanswered(case, error)
            return None
        self._is_shrinking = self._is_shrinking or found is not None
        return found

    def _answer(self, case: Case) -> Answer:
        """What a cluster answers; a lost cluster is replaced, once."""
        for is_last in (False, True):
            try:
                kafka = self._cluster.for_a_case()
            except KafkaLearnError as error:
                raise _RunEnds(error) from None
            try:
                return self.mechanism.ask(kafka, case, self._cluster.new_name)
            except CannotBeAsked as error:
                raise _RunEnds(error) from None
            except TooSlow:
                raise
            except Exception as error:  # whatever a lost broker leads to
                self._cluster.close()
                self.progress.lost_brokers += 1
                if is_last:
                    raise _Unanswered(f"{type(error).__name__}: {error}") from error
        raise AssertionError("the second cluster has answered or not")

    def _note_unanswered(self, case: Case, error: Exception) -> None:
        self.progress.unanswered.append(f"{text_of(case)[:SHOWN_CASE]}: {error}")
        if len(self.progress.unanswered) >= MOST_UNANSWERED:
            raise _RunEnds from error


class _Unanswered(Exception):  # noqa: N818
    """Two clusters in a row have not answered a case."""


def asked_until_equal(
    mechanism: Mechanism, release: str, case: Case, answer: Callable[[Case], Answer]
) -> Difference | None:
    """The difference of a case, asked as often as its mechanism allows; None: once both agreed."""
    found = None
    for _ in range(mechanism.tries):
        found = compare(mechanism, release, case, answer(case))
        if found is None:
            return None
    return found


Entries = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""For each mechanism its releases, ``"4.3.1"``, each with date, seed, cases, requests and minutes."""


def entry_of(progress: Progress, rules: Iterable[str], date: str) -> dict[str, Any]:
    """What the ledger's file says of a run."""
    return {
        "date": date,
        "seed": progress.seed,
        "minutes": round(progress.seconds / 60, 1),
        "cases": progress.cases,
        "requests": progress.requests,
        "rules": sorted(rules),
    }


def rows_of(entries: Entries, vectors: Iterable[Vector]) -> list[dict[str, Any]]:
    """A row for each mechanism and release: what was asked, and which differences are put right, named or open."""
    statuses: dict[tuple[str, str], Counter[str]] = {}
    for vector in vectors:
        statuses.setdefault((vector.mechanism, vector.line), Counter())[vector.status] += 1
    rows = []
    for mechanism in sorted(entries):
        for release in sorted(entries[mechanism], key=parse_release, reverse=True):
            entry, found = entries[mechanism][release], statuses.get((mechanism, release.rpartition(".")[0]), Counter())
            facts = {key: entry[key] for key in ("date", "seed", "minutes", "cases", "requests")}
            ends = {"put right": found[PUT_RIGHT], "named": found[NAMED], "open": found[OPEN]}
            rows.append({"mechanism": mechanism, "release": release, **facts, "found": found.total(), **ends})
    return rows
