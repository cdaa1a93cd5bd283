"""One mechanism asked for some minutes: cases, differences as files, what stood in the way; a next call goes on.

A cluster that dies is started again and asked the case once more. A case that two clusters in a row do not answer is
noted, and so is one for which the machine is too slow. An interrupt ends the run as the clock does: all that was done
until then is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.conform.clusters import OwnCluster, Start
from kafkalearn.live.conform.mechanism import Answer, CannotBeAsked, Case, Mechanism, TooSlow
from kafkalearn.live.conform.progress import Progress, load, save
from kafkalearn.live.conform.search import SHRINK_S, Difference, compare, find_difference, text_of
from kafkalearn.live.conform.vectors import Vector, write_vector
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.requests.connection import SENT

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
