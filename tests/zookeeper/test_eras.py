"""Old consumers in virtual time, and one scenario in three eras."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.consumers import CONSUMING, DOINGS
from kafkalearn.zookeeper.connector import Settings
from kafkalearn.zookeeper.eras import ERAS, era_rows, newcomer, play_eras, read_twice, simulate_zookeeper

STORY = """
topic orders has 6 partitions
at 0 s: c1, c2, c3 join
at 60 s: c2 pauses for 50 s
at 180 s: c1 crashes
at 240 s: c4 joins
at 300 s: orders grows to 8 partitions
at 330 s: c3 leaves
"""


def owners(moment):
    return {each.partition: [member.name for member in members] for each, members in moment.owners().items()}


def test_a_crash_is_noticed_when_the_session_ends():
    outcome = simulate_zookeeper("at 0 s: c1, c2 join\nat 61 s: c1 crashes")
    last = outcome.rebalances[-1]
    assert last["cause"] == "the session of c1 expires"
    assert 61_000 + 4000 <= last["from_ms"] <= 61_000 + 8002
    assert owners(outcome.trace[-1].state) == {number: ["c2"] for number in range(6)}


def test_a_pause_longer_than_the_session_gives_its_partitions_to_others_while_it_still_believes():
    outcome = simulate_zookeeper("at 0 s: c1, c2 join\nat 60 s: c2 pauses for 20 s")
    meanwhile = outcome.at(75_000).state
    assert any(len(each) == 2 for each in owners(meanwhile).values())
    assert outcome.records_read_twice > 0
    assert all(len(each) == 1 for each in owners(outcome.trace[-1].state).values())


def test_a_shorter_pause_changes_nothing():
    assert simulate_zookeeper("at 0 s: c1, c2 join\nat 60 s: c2 pauses for 3 s").rebalance_count == 1


def test_work_on_records_does_not_stop_the_threads_that_rebalance():
    outcome = simulate_zookeeper("at 0 s: c1, c2 join\nat 60 s: c2 works 900 s on one poll\nat 90 s: c3 joins")
    assert outcome.rebalances[-1]["duration_ms"] < 500


def test_who_is_cut_off_longer_than_its_session_comes_back_with_another():
    outcome = simulate_zookeeper("at 0 s: c1, c2 join\nat 60 s: c2 is cut off for 20 s")
    assert [row["cause"] for row in outcome.rebalances[1:]] == [
        "the session of c2 expires",
        "c2 has a new session",
    ]


def test_a_restarted_consumer_has_another_id_and_no_node_in_its_way():
    outcome = simulate_zookeeper("at 0 s: c1, c2 join\nat 60 s: c2 crashes and returns after 1 s")
    assert owners(outcome.trace[-1].state) == {0: ["c1"], 1: ["c1"], 2: ["c1"], 3: ["c2"], 4: ["c2"], 5: ["c2"]}


def test_every_era_ends_with_all_partitions_read_once():
    outcomes = play_eras(STORY)
    assert list(outcomes) == list(ERAS)
    for outcome in outcomes.values():
        last = outcome.trace[-1].state
        assert all(len(members) == 1 for members in last.owners().values())
        assert len(last.owners()) == 8
        assert {each.doing for each in last.members} <= set(DOINGS)
        assert sum(each.doing == CONSUMING for each in last.members) == 2


def test_the_rows_can_be_compared():
    rows = era_rows(play_eras(STORY))
    assert [row["era"] for row in rows] == list(ERAS)
    assert len({tuple(row) for row in rows}) == 1
    by_era = {row["era"]: row for row in rows}
    assert by_era["zookeeper"]["agreement_ms"] < by_era["classic"]["agreement_ms"]


def test_the_same_scenario_gives_the_same_run():
    assert simulate_zookeeper(STORY).trace == simulate_zookeeper(STORY).trace


def test_the_eras_have_settings_of_their_own():
    story = "at 0 s: c1, c2 join\nat 60 s: c2 pauses for 20 s"
    outcomes = play_eras(
        story,
        Settings(zookeeper_session_timeout_ms=30_000),
        {"classic": {"session.timeout.ms": 40_000, "release": "2.8"}},
        eras=("zookeeper", "classic"),
    )
    assert {era: outcome.rebalance_count for era, outcome in outcomes.items()} == {"zookeeper": 1, "classic": 1}
    assert outcomes["classic"].settings.release == "2.8"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: play_eras("at 0 s: c1 joins", eras=("stone age",)),
        lambda: play_eras("at 0 s: c1 joins", settings={"zookeeper": {}}),
        lambda: play_eras("nonsense"),
        lambda: simulate_zookeeper(
            "at 0 s: c1 joins\nat 9 s: topic mail is created with 1 partition\nat 10 s: c1 subscribes to mail"
        ),
        lambda: newcomer([], 3),
        lambda: newcomer([90_000], 3),
        lambda: read_twice([-1]),
    ],
)
def test_what_no_era_can_play_is_refused(wrong):
    with pytest.raises(KafkaLearnError):
        wrong()


def test_a_slow_member_makes_a_newcomer_try_again_or_give_up():
    assert newcomer([0, 0, 0], 6).failed_attempt_count == 0
    assert newcomer([0, 0, 3001], 6).failed_attempt_count > 0
    assert newcomer([0, 0, 15_001], 6).given_up_count == 1
    assert newcomer([0, 0, 15_001], 6, max_retries=9).given_up_count == 0


def test_without_auto_commit_everybody_reads_again_what_was_not_committed():
    assert (read_twice([3, 0, 4]), read_twice([3, 0, 4], auto_commit=False)) == (0, 7)


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [({10**5000: simulate_zookeeper("at 0 s: c1 joins")}, "an era of outcomes must be a str"), ([], "must be a dict")],
    ids=["a number", "a list"],
)
def test_what_is_no_era_is_refused(outcomes, said):
    with pytest.raises(KafkaLearnError, match=said):
        era_rows(outcomes)
