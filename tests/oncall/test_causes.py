"""Causes by the coordinator's own words, those among them that no run has provoked; and what stands beside a cause."""

import pytest

from kafkalearn.oncall.logs import read
from kafkalearn.oncall.logs.causes import CAUSES, cause_of_leaving, cause_of_reason
from kafkalearn.oncall.logs.reader import Reader
from kafkalearn.oncall.logs.rebalances import CONSUMER, histories
from tests.oncall.runs import (
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
from tests.recorded import recorded

REASONS = {
    "Adding new member c1 with group instance id null; client reason: not provided": ("member joined", "c1"),
    "Adding new member c1": ("member joined", "c1"),
    "Adding new member c1 with group instanceid Some(i1)": ("member joined", "c1"),
    "Member c1 is joining group during Empty; client reason: x": ("member joined", "c1"),
    "removing member c1 on heartbeat expiration": ("heartbeats lost", "c1"),
    "removing member c1 on LeaveGroup": ("member left", "c1"),
    "Removing member c1 on LeaveGroup; client reason: the consumer is being closed": ("member closed", "c1"),
    "explicit `LeaveGroup` request for (c1) members.": ("member left", "c1"),
    "Updating metadata for member c1": ("member rejoined", "c1"),
    "Updating metadata for member c1 during Stable; client reason: not provided": ("member rejoined", "c1"),
    "Updating metadata for member c1 during Stable; client reason: need to revoke partitions and re-join": (
        "second round",
        "c1",
    ),
    "leader c1 re-joining group during Stable": ("leader rejoined", "c1"),
    "Leader c1 re-joining group during Stable; client reason: cached metadata has changed": ("topics changed", "c1"),
    "Updating metadata for static member c1 with instance id i1": ("static member changed", "c1"),
    "Group's selectedProtocol will change because static member c1 with instance id i1 joined with change of protocol; "
    "client reason: x": ("static member changed", "c1"),
    "Removing Set(c1) on pending sync request expiration": ("sync lost", "c1"),
    "Removing [c1] on pending sync request expiration": ("sync lost", "c1"),
    "Freshly-loaded group billing (size 3) is over capacity 2. Rebalancing in order to give a chance": (
        "over capacity",
        None,
    ),
    "error when storing group assignment during SyncGroup (member: c1)": ("store failed", None),
    "Error NOT_COORDINATOR when storing group assignmentduring SyncGroup (member: c1).": ("store failed", None),
    "something that a later release says": ("unknown", None),
    "": ("unknown", None),
}
PREPARING = (
    "[2026-11-22 15:46:13,000] INFO Preparing to rebalance group g in state PreparingRebalance with old generation 4 "
    "(reason: {}). (a.B)"
)
STABLE = (
    "[2026-11-22 15:46:15,500] INFO Assignment received from leader c1 for group g for generation 5. The group has 1 "
    "members, 0 of which are static. (a.B)"
)


@pytest.mark.parametrize("reason", REASONS)
def test_causes_that_were_not_provoked(reason):
    (history,) = histories(read([PREPARING.format(reason), STABLE]).events)
    (one,) = history.rebalances
    assert (one.cause, one.member, one.duration_ms) == (*REASONS[reason], 2500)
    assert one.words


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("the consumer is being closed", "member closed"),
        ("consumer poll timeout has expired.", "poll interval exceeded"),
        ("the consumer unsubscribed from all topics", "member unsubscribed"),
        ("member was removed by an admin: scaling down", "member removed"),
        ("not provided", "member left"),
        (None, "member left"),
    ],
)
def test_why_a_member_left(words, cause):
    assert cause_of_leaving(words) == cause


def test_a_cause_that_may_be_several_names_them():
    for name, cause in CAUSES.items():
        assert cause.words
        assert set(cause.covers) <= set(CAUSES) - {name}
        assert all(not CAUSES[each].covers for each in cause.covers)
    assert cause_of_reason("x")[0] == "unknown"


def test_a_rebalance_that_waits_for_a_dead_member_says_so():
    late = "[2026-11-22 15:46:14,000] INFO Group g removed dynamic members who haven't joined: [c2, c3] (a.B)"
    (history,) = histories(read([PREPARING.format("Adding new member c1"), late, STABLE]).events)
    assert history.rebalances[0].delayed_by == ("c2", "c3")


def test_a_rebalance_that_is_interrupted_ends_where_the_next_begins():
    again = PREPARING.format("removing member c2 on heartbeat expiration").replace("13,000", "14,000")
    (history,) = histories(read([PREPARING.format("Adding new member c1"), again, STABLE]).events)
    assert [(each.is_interrupted, each.duration_ms) for each in history.rebalances] == [(True, 1000), (False, 1500)]


def test_a_reason_of_another_release_is_unknown_and_not_guessed():
    (history,) = histories(read([PREPARING.format("the moon is full")]).events)
    (one,) = history.rebalances
    assert (one.cause, one.member, one.ended_ms) == ("unknown", None, None)


def test_two_clients_of_one_name_are_not_mixed_up():
    member = "app-11111111-1111-1111-1111-111111111111"
    left = (
        f"[2026-11-22 15:46:12,999] INFO [Group g] Member {member} has left group through explicit `LeaveGroup` "
        "request; client reason: not provided (a.B)"
    )
    reason = f"explicit `LeaveGroup` request for ({member}) members."
    client = "[2026-11-22 15:46:12,990] WARN [Consumer clientId=app, groupId=g] "
    late = f"{client}consumer poll timeout has expired. This means x (a.B)"
    for others, cause in (({}, "poll interval exceeded"), ({"b.log": f"{client}(Re-)joining group"}, "member left")):
        reader = Reader()
        for source, lines in {"server.log": [left, PREPARING.format(reason), STABLE], "a.log": [late]}.items():
            for line in lines:
                reader.feed(line, source)
        for source, line in others.items():
            reader.feed(line, source)
        (history,) = histories(reader.result().events)
        assert history.rebalances[0].cause == cause


def coordinator_wrote(*lines):
    """A coordinator's log: at each second a line about a generation."""
    forms = {"prepare": PREPARING.format("Adding new member c1"), "stable": STABLE}
    for second, name, generation in lines:
        form = forms[name].replace("46:13,000", f"46:{second:02},000").replace("46:15,500", f"46:{second:02},000")
        yield form.replace("generation 4", f"generation {generation}").replace(
            "generation 5", f"generation {generation}"
        )


@pytest.mark.parametrize(
    ("second_begins_at", "is_interrupted", "ended"),
    [(4, True, 30_000), (5, True, 30_000), (6, False, None), (9, False, None), (0, False, None)],
)
def test_a_rebalance_whose_end_is_not_in_the_log_has_no_length(second_begins_at, is_interrupted, ended):
    log = coordinator_wrote((0, "prepare", 4), (30, "prepare", second_begins_at), (31, "stable", second_begins_at + 1))
    first, second = histories(read(log).events)[0].rebalances
    assert (first.is_interrupted, first.duration_ms) == (is_interrupted, ended)
    assert second.duration_ms == 1000


def test_an_assignment_of_another_generation_ends_no_rebalance():
    (one,) = histories(read(coordinator_wrote((0, "prepare", 4), (30, "stable", 9))).events)[0].rebalances
    assert one.ended_ms is None


FOUND = {
    (LEARNING, False): {RIGHT: 462, BROAD: 144, NOT_NAMED: 38},
    (LEARNING, True): {RIGHT: 622, BROAD: 16, NOT_NAMED: 6},
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


BESIDE = {
    ("static_twice", "static fenced"),  # the script counts rebalances: a fenced member makes none
    ("static_gone", "member closed"),  # a static member of KIP-848 says that it leaves, and keeps its place
    ("static_restart", "member closed"),
    ("static_restart", "coordinator lost"),  # its first heartbeat came before the coordinator was ready
    ("late", "heartbeats lost"),  # the client's own clock: its JoinGroup was answered later than its session lasts
}
"""What clients went through beside that for which a script made its group rebalance."""


def test_clients_alone_name_no_wrong_cause():
    named = 0
    for part in (LEARNING, HELD_OUT):
        for run in runs(part):
            history = history_of(run, has_broker=False)
            expected = {each["cause"] for each in run["expected"]}
            found = [each.cause for each in history.rebalances if each.cause != "unknown"] if history else []
            wrong = [
                (run["run"], cause)
                for cause in found
                if cause not in expected
                and expected.isdisjoint(CAUSES[cause].covers)
                and (run["script"], cause) not in BESIDE
            ]
            assert wrong == []
            named += len(found)
    assert named > 1000


LEAVES = "[2026-11-22 15:46:12,990] INFO [Consumer clientId=c1, groupId=g] {} (a.B)"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "Requesting to re-join the group and trigger rebalance since the assignment metadata has changed from "
            "(version8: {t=6}) to (version13: {t=8})",
            "topics changed",
        ),
        ("Request joining group due to: cached metadata has changed from (version8: {t=6})", "topics changed"),
        ("Request joining group due to: the subscription has changed from [a]", "subscription changed"),
    ],
)
def test_a_client_says_the_same_alone_and_beside_its_coordinator(line, cause):
    rejoined = LEAVES.format(line)
    (alone,) = histories(read([LEAVES.format("(Re-)joining group"), joined(1), rejoined]).events)
    assert alone.rebalances[-1].cause == cause
    begun = PREPARING.format("Leader c1-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11 re-joining group during Stable")
    reader = Reader()
    for source, lines in {"server.log": [begun, STABLE], "c1.log": [joined(1), rejoined]}.items():
        for each in lines:
            reader.feed(each, source)
    (beside,) = histories(reader.result().events)
    assert beside.rebalances[0].cause == cause


def joined(generation):
    return LEAVES.format(f"Successfully joined group with generation {generation}").replace("46:12", "46:02")
