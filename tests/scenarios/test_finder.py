"""The search for the smallest change that avoids a rebalance, what it costs, and old advice put to the test."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios import experiments
from kafkalearn.scenarios.finder import PROBES, find_change, probe
from kafkalearn.scenarios.playing import settings_of, simulate
from kafkalearn.scenarios.text import scenario

THREE = "at 0 s: c1, c2 and c3 join\n"
TEN_SECONDS = {"session.timeout.ms": 10_000}


def changed(solution):
    return [(change.setting, change.after) for change in solution.changes]


def test_a_long_pause_asks_for_a_longer_session():
    found = find_change(f"{THREE}at 60 s: c2 pauses for 50 s")
    assert changed(found.best) == [("session.timeout.ms", 60_000)]
    assert (found.avoidable_count, found.best.outcome.rebalance_count) == (2, 1)


def test_no_smaller_value_that_was_tried_is_enough():
    story = f"{THREE}at 60 s: c2 pauses for 12 s"
    found = find_change(story, settings=TEN_SECONDS)
    assert changed(found.best) == [("session.timeout.ms", 15_000)]
    assert simulate(story, session_timeout_ms=12_000).rebalance_count > 1


def test_now_and_then_more_frequent_heartbeats_are_enough():
    """The last heartbeat before the pause is 2 s old: 9 s more are too much for a session of 10 s."""
    found = find_change(f"{THREE}at 61 s: c2 pauses for 9 s", settings=TEN_SECONDS)
    both = {tuple(changed(each)) for each in (found.best, *found.others)}
    assert (("heartbeat.interval.ms", 2500),) in both or (("heartbeat.interval.ms", 2000),) in both
    assert (("session.timeout.ms", 12_000),) in both


def test_long_work_can_be_given_more_time_or_come_in_smaller_pieces():
    found = find_change(f"{THREE}at 60 s: c2 works 6 min on one poll")
    assert changed(found.best) == [("max.poll.records", 400)]
    assert [changed(other) for other in found.others] == [[("max.poll.interval.ms", 420_000)]]


def test_a_restart_asks_for_static_members():
    found = find_change(f"{THREE}at 60 s: c2 restarts after 10 s")
    assert changed(found.best) == [("group.instance.id", True)]


def test_two_troubles_ask_for_two_changes():
    found = find_change(
        f"{THREE}at 60 s: c2 pauses for 12 s\nat 100 s: c3 works 20 s on one poll",
        settings={**TEN_SECONDS, "max.poll.interval.ms": 15_000},
        candidates={"session.timeout.ms": (12_000, 15_000), "max.poll.interval.ms": (20_000, 25_000)},
    )
    assert changed(found.best) == [("session.timeout.ms", 15_000), ("max.poll.interval.ms", 25_000)]
    assert found.others == ()


@pytest.mark.parametrize("event", ["c4 joins", "c2 leaves", "c2 crashes"])
def test_what_has_to_be_is_not_avoided(event):
    found = find_change(f"{THREE}at 60 s: {event}")
    assert (found.best, found.avoidable_count, found.tried_count) == (None, 0, 0)
    assert "nothing to change" in str(found)


def test_a_session_beyond_what_the_broker_allows_is_no_solution():
    found = find_change(
        f"{THREE}at 60 s: c2 pauses for 50 s",
        settings={"group.max.session.timeout.ms": 45_000},
        candidates={"session.timeout.ms": (60_000, 90_000)},
    )
    assert found.best is None
    assert str(found) == "2 to avoid; none of 2 combinations avoids them."


def test_the_price_of_a_longer_session_is_a_later_notice_of_a_crash():
    found = find_change(f"{THREE}at 60 s: c2 pauses for 50 s")
    by_event = {row["after"]: row["unread_after_ms"] - row["unread_before_ms"] for row in found.costs}
    assert by_event == {"a crash": 15_000, "a hang in one poll": 0, "an orderly end": 0}
    assert found.best.outcome.records_not_read > found.before.records_not_read


def test_the_price_of_static_members_is_that_nobody_says_good_bye():
    story = scenario(THREE)
    plain, static = (settings_of(story, settings={"group.instance.id": is_static}) for is_static in (None, True))
    assert probe(story, plain, "classic", "an orderly end") < 4000
    assert probe(story, static, "classic", "an orderly end") > 40_000
    assert probe(scenario("at 0 s: c1 joins"), plain, "classic", "a crash") is None


def test_an_unknown_protocol_is_refused():
    with pytest.raises(KafkaLearnError, match="did you mean 'classic'"):
        find_change(THREE, protocol="clasic")


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        (
            {"partition.assignment.strategy": ["sticky"]},
            "for settings that are numbers.*; partition.assignment.strategy is",
        ),
        ({"session.timeout.ms": ["60 s"]}, "a candidate for session.timeout.ms must be a whole number.*'60 s'"),
        (1e308, r"candidates must be a dict from setting to the values to try, got float 1e\+308"),
        (0, "candidates must be a dict from setting to the values to try, got int 0"),
        ("session.timeout.ms", "candidates must be a dict"),
        ({"session.timeout": [60_000]}, "unknown setting 'session.timeout'; did you mean 'session.timeout.ms'"),
        ({1: [60_000]}, "unknown setting 1"),
        (
            {"session.timeout.ms": 60_000},
            "the candidates for session.timeout.ms must be a list or tuple of values to try, got int 60000",
        ),
        ({"group.instance.id": True}, "the candidates for group.instance.id must be a list or tuple"),
        (
            {"session.timeout.ms": range(10_000)},
            "the number of candidates for session.timeout.ms must be at most 200, got 10000",
        ),
    ],
)
def test_candidates_that_cannot_be_tried_are_refused(candidates, said):
    with pytest.raises(KafkaLearnError, match=said):
        find_change(f"{THREE}at 60 s: c2 pauses for 50 s", candidates=candidates)


def test_without_candidates_nothing_is_tried_and_one_value_is_tried_once():
    story = f"{THREE}at 60 s: c2 pauses for 50 s"
    assert find_change(story, candidates={}).tried_count == 0
    assert find_change(story, candidates={"session.timeout.ms": [50_000] * 5}).tried_count == 1


def test_a_change_to_nothing_is_tried_after_all_others():
    found = find_change(
        f"{THREE}at 60 s: c2 works for 400 s on one poll",
        candidates={"retry.backoff.ms": (0,), "max.poll.interval.ms": (480_000,)},
    )
    assert changed(found.best) == [("max.poll.interval.ms", 480_000)]


def rebalances(rows, name):
    return {row["pause_s"]: row[f"rebalances, {name}"] for row in rows}


def test_a_session_of_six_seconds_was_a_little_less_than_the_default_and_is_now_much_less():
    assert rebalances(experiments.pauses("2.8", [9]), "advice")[9] == 2
    assert rebalances(experiments.pauses("2.8", [9, 12]), "default") == {9: 0, 12: 2}
    assert rebalances(experiments.pauses("4.3", [9, 12, 30]), "default") == {9: 0, 12: 0, 30: 0}


def test_what_the_six_seconds_buy_is_an_early_notice_of_a_crash():
    for release, most_ms in (("2.8", 13_000), ("4.3", 48_000)):
        rows = {row["after"]: row for row in experiments.detection(release)}
        assert set(rows) == set(PROBES)
        assert rows["a crash"]["advice_ms"] <= 6000 + 2000 + 20
        assert rows["a crash"]["advice_ms"] < rows["a crash"]["default_ms"] <= most_ms
