"""A run by the clock: differences become files, a next call goes on, and nothing that was done is lost."""

from __future__ import annotations

import json
from itertools import count

import pytest

from conformance.mechanism import CannotBeAsked, TooSlow
from conformance.running import CASES_OF_A_SEED, MOST_UNANSWERED, Run, load, path_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live.errors import KafkaNotStarted
from tests.live.conform.planted import Clusters, right, summing, wrong_above_the_limit

QUICKLY = 2.0  # minutes of a clock that goes on by a second whenever it is looked at


def run_of(mechanism, folder, clusters=None, seed=1):
    clock = count().__next__
    return Run(mechanism, "4.3", seed, folder / "progress", folder / "vectors", clusters or Clusters(), clock=clock)


def test_a_planted_difference_is_written_as_a_vector_with_release_seed_and_both_answers(tmp_path):
    run = run_of(summing(wrong_above_the_limit), tmp_path)
    assert run.go_on(QUICKLY)
    assert len(run.progress.differences) == 1  # found by several seeds, it is one file
    written = json.loads((tmp_path / "vectors" / run.progress.differences[0]).read_text())
    assert (written["case"], written["broker"], written["simulator"]) == ([11], 10, 11)
    assert (written["mechanism"], written["release"]) == ("sums", run.progress.release)
    assert written["seed"] // 1_000_000 == 1


def test_a_second_call_goes_on_where_the_first_has_ended(tmp_path):
    first = run_of(summing(right), tmp_path)
    first.go_on(QUICKLY)
    done, cases = first.progress.done_seeds, first.progress.cases
    assert done >= 1
    assert cases >= CASES_OF_A_SEED // 2
    second = run_of(summing(right), tmp_path)
    assert second.progress == first.progress
    assert second.progress.next_seed == 1_000_000 + done
    second.go_on(QUICKLY)
    assert second.progress.done_seeds > done
    assert second.progress.cases > cases
    assert second.progress.seconds > first.progress.seconds > QUICKLY * 60 / 2
    assert run_of(summing(right), tmp_path, seed=2).progress.cases == 0  # another seed begins anew


def test_an_interrupt_ends_the_run_and_keeps_what_was_done(tmp_path):
    asked, clusters = [], Clusters()

    def interrupted(cluster, case, new_name):
        asked.append(case)
        if len(asked) == 30:
            raise KeyboardInterrupt
        return sum(case)

    run = run_of(summing(interrupted), tmp_path, clusters)
    assert not run.go_on(QUICKLY)
    assert load(tmp_path / "progress", "sums", run.progress.release, 1).cases == 30
    assert clusters.started == clusters.closed == 1


def test_a_cluster_that_dies_is_started_again_and_asked_the_case_once_more(tmp_path):
    clusters = Clusters(dead=1)

    def ask(cluster, case, new_name):
        cluster.refuse_if_dead()
        return sum(case)

    run = run_of(summing(ask), tmp_path, clusters)
    assert run.go_on(QUICKLY)
    assert run.progress.lost_brokers == 1
    assert not run.progress.unanswered
    assert not run.progress.differences
    assert clusters.started == clusters.closed >= 2


def test_cases_that_no_cluster_answers_are_noted_and_end_the_run(tmp_path):
    clusters = Clusters(dead=1000)

    def ask(cluster, case, new_name):
        cluster.refuse_if_dead()

    run = run_of(summing(ask), tmp_path, clusters)
    assert run.go_on(QUICKLY)
    assert len(run.progress.unanswered) == MOST_UNANSWERED
    assert all("NoAnswer: the broker is dead" in each for each in run.progress.unanswered)
    assert clusters.started == clusters.closed == 2 * MOST_UNANSWERED


def test_cases_for_which_the_machine_is_too_slow_are_passed_over_and_counted(tmp_path):
    def ask(cluster, case, new_name):
        if len(case) > 3:
            raise TooSlow("it took too long")
        return sum(case)

    run = run_of(summing(ask), tmp_path)
    assert run.go_on(QUICKLY)
    assert 0 < run.progress.too_slow < run.progress.cases
    assert not run.progress.differences


@pytest.mark.parametrize("error", [CannotBeAsked("4.0 has no such request"), KafkaNotStarted("there is no Java")])
def test_where_nothing_can_be_asked_at_all_the_run_says_why(tmp_path, error):
    def refuse(*_):
        raise error

    clusters = Clusters()
    if isinstance(error, KafkaNotStarted):
        clusters.start = refuse
    with pytest.raises(type(error), match=str(error)):
        run_of(summing(refuse), tmp_path, clusters).go_on(QUICKLY)


def test_a_difference_counts_only_if_it_comes_as_often_as_the_mechanism_allows_to_ask(tmp_path):
    times = {}

    def once_wrong(cluster, case, new_name):
        name = str(case)
        times[name] = times.get(name, 0) + 1
        return sum(case) + (times[name] == 1)

    run = run_of(summing(once_wrong, tries=2), tmp_path)
    assert run.go_on(QUICKLY)
    assert not run.progress.differences


def test_a_file_that_is_no_progress_is_refused(tmp_path):
    run = run_of(summing(right), tmp_path)
    path = path_of(tmp_path / "progress", "sums", run.progress.release)
    path.parent.mkdir()
    path.write_text("[]")
    with pytest.raises(KafkaLearnError, match="remove it"):
        run_of(summing(right), tmp_path)


def test_without_brokers_the_release_alone_is_handed_over(tmp_path):
    seen, clusters = set(), Clusters()

    def ask(release, case, new_name):
        seen.add(release.line)
        return sum(case)

    run_of(summing(ask, settings={"brokers": 0}), tmp_path, clusters).go_on(QUICKLY)
    assert seen == {"4.3"}
    assert clusters.started == 0
