"""A run by the clock: differences become files, a next call goes on, and nothing that was done is lost."""

from __future__ import annotations

import json
from itertools import count

import pytest

from conformance import command as conform
from conformance.mechanism import CannotBeAsked, Mechanism, TooSlow
from conformance.running import CASES_OF_A_SEED, MOST_UNANSWERED, Progress, Run, entry_of, load, path_of, rows_of
from conformance.search import Difference, compare, find_difference, text_of
from conformance.vectors import Vector
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.tables import markdown_table
from kafkalearn.live.errors import KafkaNotStarted
from kafkalearn.releases import ledger
from kafkalearn.releases.ledger import ConformCheck, conform_checks
from tests.conformance.planted import Clusters, right, summing, wrong_above_the_limit
from tools import checked_live
from tools.pages import part_of

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


def searched(mechanism: Mechanism, seed: int = 1, **words: object) -> tuple[Difference | None, list]:
    asked = []

    def ask(case):
        asked.append(case)
        return compare(mechanism, "4.3", case, mechanism.ask(None, case, str))

    return find_difference(mechanism, "4.3", ask, seed, 50, **words), asked


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_planted_difference_is_found_and_cut_down_to_the_shortest_case(seed):
    found, asked = searched(summing(wrong_above_the_limit), seed)
    assert found == Difference([11], 10, 11)
    texts = [text_of(case) for case in asked]
    assert len(texts) == len(set(texts))


def test_without_a_difference_as_many_cases_are_asked_as_were_wanted():
    found, asked = searched(summing(right))
    assert found is None
    assert 25 <= len(asked) <= 50  # those drawn twice are asked once


def test_the_same_seed_draws_the_same_cases():
    assert searched(summing(right), 7)[1] == searched(summing(right), 7)[1]
    assert searched(summing(right), 7)[1] != searched(summing(right), 8)[1]


def test_where_there_is_no_time_to_cut_down_the_first_difference_counts():
    (case, broker, simulator), asked = searched(summing(wrong_above_the_limit), shrink_s=-1)
    assert (broker, simulator) == (sum(case) - 1, sum(case))
    assert case == asked[-1]


def test_a_broker_that_answers_the_second_time_otherwise_confuses_nobody():
    answers = iter(range(1_000_000, 2_000_000))
    found, _ = searched(summing(lambda *_: next(answers)))
    assert found.case == []


def test_a_simulator_that_fails_has_given_another_answer():
    failing = Mechanism("failing", (), None, None, lambda release, case, seen: 1 // case)
    assert compare(failing, "4.3", 0, 7) == Difference(
        0, 7, {"raised": "ZeroDivisionError: integer division or modulo by zero"}
    )


def test_tuples_are_lists_as_in_the_file_that_the_answer_is_read_from():
    same = Mechanism("same", (), None, None, lambda release, case, seen: {"offsets": (1, 2)})
    assert compare(same, "4.3", {}, {"offsets": [1, 2]}) is None


ENTRY = entry_of(Progress("list offsets", "4.3.1", 7, 3, 75, 900, 90.0), ["the offset for a time"], "2026-11-22")


def test_a_run_is_an_entry_and_the_newest_patch_of_a_line_takes_the_place_of_an_older_one():
    assert (ENTRY["seed"], ENTRY["minutes"], ENTRY["cases"], ENTRY["requests"]) == (7, 1.5, 75, 900)
    recorded = checked_live.with_conform({"rules": {"lag": {}}}, "list offsets", "4.3.0", ENTRY)
    recorded = checked_live.with_conform(recorded, "list offsets", "4.0.2", ENTRY)
    recorded = checked_live.with_conform(recorded, "list offsets", "4.3.1", ENTRY)
    assert list(recorded["conform"]["list offsets"]) == ["4.0.2", "4.3.1"]
    assert json.loads(checked_live.text_of(recorded)) == recorded
    kept = checked_live.with_release(recorded, "4.3.1", "2026-11-22", {"lag": {"a"}})
    assert kept["conform"] == recorded["conform"]  # the other writer leaves it alone


def test_the_table_counts_what_became_of_the_differences_of_each_release_line():
    asked = {"has_segments": False, "batches": [[5]], "asked": [["latest", "read_uncommitted"]]}
    right = Vector("list offsets", "4.3.0", "", 1, asked, [["NONE", 1, -1]], [])
    still = Vector("list offsets", "4.3.1", "", 1, {**asked, "batches": []}, [["NONE", 1, -1]], [])
    (older, newer) = rows_of({"list offsets": {"4.0.2": ENTRY, "4.3.1": ENTRY}}, [right, still])[::-1]
    assert (newer["release"], newer["found"], newer["put right"], newer["open"]) == ("4.3.1", 2, 1, 1)
    assert (older["release"], older["found"]) == ("4.0.2", 0)


def test_the_ledger_shows_what_conform_has_asked(monkeypatch, tmp_path):
    path = tmp_path / "checked_live.json"
    path.write_text(json.dumps({"rules": {}, "conform": {"list offsets": {"4.3.1": ENTRY}}}))
    monkeypatch.setattr(ledger, "CHECKED_LIVE", path)
    ledger._file.cache_clear()
    ledger._live_checks.cache_clear()
    try:
        (check,) = conform_checks("the offset for a time")
        assert check == ConformCheck("4.3.1", "2026-11-22", 7, "list offsets", 1.5, 75)
        assert ledger.live_text("the offset for a time") == "4.3.1 on 2026-11-22, seed 7, 75 random cases"
    finally:
        ledger._file.cache_clear()
        ledger._live_checks.cache_clear()


def test_the_page_has_the_figures_of_the_ledgers_file():
    recorded = json.loads(checked_live.RECORDED.read_text(encoding="utf-8"))
    table = markdown_table(rows_of(recorded.get("conform", {}), conform.vectors_in(conform.VECTORS)))
    assert part_of(conform.PAGE, "python3 run.py conform") == table


def test_what_can_be_asked_is_listed_and_an_unknown_name_is_refused(capsys):
    assert conform.main(["--list"]) == conform.AGREES
    assert "list offsets" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="did you mean 'list offsets'"):
        conform.main(["--mechanism", "list ofsets"])
