"""What is found in the logs of real runs, those that were apart included: the cause of no rebalance is wrong."""

import pytest

from kafkalearn.oncall.logs import read
from kafkalearn.oncall.logs.rebalances import CONSUMER, histories
from tests.recorded import recorded
from tests.server_logs.runs import (
    BROAD,
    HELD_OUT,
    LEARNING,
    NOT_NAMED,
    RIGHT,
    counts,
    history_of,
    judged,
    read_run,
    runs,
    wrong_causes,
)

FOUND = {
    (LEARNING, False): {RIGHT: 462, BROAD: 144, NOT_NAMED: 38},
    (LEARNING, True): {RIGHT: 620, BROAD: 17, NOT_NAMED: 7},
    (HELD_OUT, False): {RIGHT: 241, BROAD: 77, NOT_NAMED: 16},
    (HELD_OUT, True): {RIGHT: 322, BROAD: 10, NOT_NAMED: 2},
}
"""By part of the runs, and whether the clients' logs were there beside the broker's; see docs/why.md."""


def test_no_cause_is_wrong_in_the_runs_that_were_looked_at():
    assert len(recorded("server-log-runs")["learning"]) == len(runs(LEARNING))
    assert wrong_causes(LEARNING) == []


def test_no_cause_is_wrong_in_the_runs_that_were_apart():
    assert len(recorded("server-log-runs")["held_out"]) == len(runs(HELD_OUT))
    assert wrong_causes(HELD_OUT) == []


@pytest.mark.parametrize(("part", "has_clients"), FOUND)
def test_the_counts_are_those_of_the_note(part, has_clients):
    assert dict(counts(part, has_clients)) == FOUND[part, has_clients]


def test_a_whole_log_of_many_groups_says_the_same():
    chosen = [run for run in runs(LEARNING) if run["release"] == "4.3"][:20]
    lines = [line for run in chosen for line in run["broker"]]
    assert lines != sorted(lines)
    for key in (lambda line: line[:25], str):  # by their times; and with the lines of one millisecond in another order
        _check_together(chosen, sorted(lines, key=key))


def _check_together(chosen, lines):
    found = {each.group: each for each in histories(read(lines).events)}
    for run in chosen:
        alone = history_of(run, has_clients=False).rebalances
        together = found[run["group"]].rebalances
        assert [(each.cause, each.member) for each in together] == [(each.cause, each.member) for each in alone]


def test_a_third_was_apart():
    assert 0.3 < len(runs(HELD_OUT)) / (len(runs(HELD_OUT)) + len(runs(LEARNING))) < 0.4
    assert {run["release"] for run in runs(HELD_OUT)} == {"1.1", "2.4", "2.8", "3.7", "4.0", "4.1", "4.2", "4.3"}


def test_only_brokers_of_1_1_leave_a_cause_unknown():
    assert {run["release"] for part in (LEARNING, HELD_OUT) for run in runs(part) if not _is_named(run)} == {"1.1"}


def _is_named(run):
    return all(verdict != NOT_NAMED for verdict, _, _ in judged(run, has_clients=True))


def test_the_member_behind_it_is_found():
    missing = []
    for run in (*runs(LEARNING), *runs(HELD_OUT)):
        for one, true in zip(history_of(run).rebalances, run["expected"], strict=True):
            is_checked = true["member"] and one.cause == true["cause"] and one.member
            if is_checked and one.client not in (true["member"], true["member"].replace("c", "i")):
                missing.append((run["run"], one.client, true["member"]))
    missing = [each for each in missing if "java-consumer" not in each[0]]  # its member ids name nobody
    assert missing == []


def test_the_lines_of_brokers_are_all_known():
    unknown = [
        line.text
        for part in (LEARNING, HELD_OUT)
        for run in runs(part)
        for line in read_run(run, has_clients=False).unknown
    ]
    assert unknown == []


def test_a_group_of_kip_848_never_stands_still():
    found = [each for run in runs(LEARNING) if run["protocol"] == CONSUMER for each in history_of(run).rebalances]
    assert found
    assert {each.standstill_ms for each in found} == {0}
    assert all(each.protocol == CONSUMER for each in found)


def test_rolling_restarts_are_seen():
    rolling = [run for run in (*runs(LEARNING), *runs(HELD_OUT)) if run["script"] == "rolling"]
    assert rolling
    assert all(
        history_of(run).is_rolling for run in rolling if run["release"] != "1.1" and run["protocol"] == "classic"
    )
    others = [run for run in runs(LEARNING) if run["script"] in ("close", "crash", "join", "all_close", "grow")]
    assert not any(history_of(run).is_rolling for run in others)


def test_clients_alone_name_no_wrong_cause():
    for part in (LEARNING, HELD_OUT):
        for run in runs(part):
            history = history_of(run, has_broker=False)
            found = history.rebalances if history else ()
            if len(found) != len(run["expected"]):
                continue  # nobody was left to see the last one
            wrong = [
                (run["run"], one.cause, true["cause"])
                for place, (one, true) in enumerate(zip(found, run["expected"], strict=True))
                if place >= run["formed"] and one.cause not in (true["cause"], "unknown")
            ]
            assert wrong == []
