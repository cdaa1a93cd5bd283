from dataclasses import replace
from itertools import pairwise

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import RELEASES
from kafkalearn.replication import Settings, rules_of, start
from kafkalearn.replication.settings import changes_of_rules


def test_the_ladder_of_truncation_rules_follows_the_releases():
    named = [(release, rules_of(release).truncation) for release in RELEASES]
    assert [after for before, after in pairwise(named) if before[1] != after[1]] == [
        ("0.11.0", "epoch, asked once"),
        ("2.0", "epoch, asked again"),
        ("2.8", "epoch, in the fetch"),
    ]


def test_every_change_of_a_rule_is_listed_with_the_release_that_brought_it():
    for release, name, value in changes_of_rules():
        before = RELEASES[RELEASES.index(release) - 1]
        assert getattr(rules_of(release), name) == value != getattr(rules_of(before), name)


@pytest.mark.parametrize(
    ("release", "unclean", "lag_ms", "has_elr"),
    [
        ("0.10.2", True, 10_000, False),
        ("0.11.0", False, 10_000, False),
        ("2.4", False, 10_000, False),
        ("2.5", False, 30_000, False),
        ("4.0", False, 30_000, False),
        ("4.1", False, 30_000, True),
    ],
)
def test_what_is_not_given_is_the_default_of_the_release(release, unclean, lag_ms, has_elr):
    settings = Settings(release=release)
    assert settings.is_unclean_election_enabled is unclean
    assert settings.replica_lag_time_max_ms == lag_ms
    assert settings.has_eligible_leader_replicas is has_elr


@pytest.mark.parametrize(("release", "needed"), [("3.6", 3), ("3.7", 2)])
def test_no_more_replicas_are_needed_than_there_are_since_3_7(release, needed):
    assert Settings(2, release, min_insync_replicas=3).effective_min_isr == needed


def test_eras_can_be_mixed():
    mixed = Settings(rules=replace(rules_of("4.3"), truncation="high watermark"))
    assert (mixed.rules.truncation, mixed.rules.asks_controller) == ("high watermark", True)


def test_the_first_of_the_assignment_leads_at_the_start():
    assert start(Settings(assignment=(3, 1, 2))).controller.leader == 3
    assert start(Settings(assignment=())).controller.leader == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"replica_count": 0}, "replica_count must be at least 1, got 0"),
        ({"min_insync_replicas": 0}, "min_insync_replicas must be at least 1, got 0"),
        ({"fetch_wait_max_ms": -1}, "fetch_wait_max_ms must be at least 0, got -1"),
        ({"release": "4.9"}, "unknown release '4.9'"),
        ({"assignment": (1, 2)}, "assignment must name each of the brokers 1, 2 and 3 once"),
        ({"fetch_wait_max_ms": 40_000}, "is above replica_lag_time_max_ms 30000; a broker does not start so"),
        ({"release": "3.9", "has_eligible_leader_replicas": True}, "they came with 4.0"),
        ({"rules": replace(rules_of(), truncation="epoc")}, "unknown truncation 'epoc'"),
        ({"rules": replace(rules_of(), lag_test="tim")}, "unknown lag test 'tim'"),
    ],
)
def test_settings_no_cluster_could_have_are_refused(arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        Settings(**arguments)
