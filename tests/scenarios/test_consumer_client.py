"""KIP-848 in the world of a scenario: the same stories as the classic protocol, the same kind of outcome."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.playing import simulate

START = "at 0 s: c1, c2, c3 join\n"


def causes(outcome):
    return [row["cause"] for row in outcome.rebalances]


def owned_at(outcome, time_ms):
    return {member.name: len(member.owned) for member in outcome.at(time_ms).state.members}


def test_members_move_one_by_one_and_the_others_read_on():
    outcome = simulate(START + "at 60 s: c4 joins", protocol="consumer")

    assert causes(outcome)[-1] == "a member is added (c4)"
    assert owned_at(outcome, 59_999) == {"c1": 2, "c2": 2, "c3": 2, "c4": 0}
    assert sorted(owned_at(outcome, 90_000).values()) == [1, 1, 2, 2]
    never_stopped = [row for row in outcome.activity if row["doing"] == "joining" and row["from_ms"] >= 60_000]
    assert {row["member"] for row in never_stopped} == {"c4"}


def test_a_silent_member_is_removed_after_the_brokers_session_timeout_and_learns_it_when_it_wakes():
    outcome = simulate(START + "at 60 s: c2 pauses for 50 s", protocol="consumer")

    assert causes(outcome)[-2:] == ["a member's session expires (c2)", "a member is added (c2)"]
    last_heard_ms = outcome.rebalances[-2]["from_ms"] - 45_000
    assert 55_000 <= last_heard_ms <= 60_002
    assert owned_at(outcome, 109_000)["c2"] == 2  # it still believes so
    assert outcome.records_read_twice > 0


def test_a_client_cannot_set_the_session_timeout_but_the_broker_can():
    story = START + "at 60 s: c2 pauses for 50 s"
    assert simulate(story, protocol="consumer", session_timeout_ms=60_000).rebalance_count == 4
    assert simulate(story, protocol="consumer", group_consumer_session_timeout_ms=60_000).rebalance_count == 2


def test_work_beyond_the_poll_interval_makes_it_leave_and_come_back():
    outcome = simulate(START + "at 60 s: c2 works 400 s on one poll", protocol="consumer")
    assert causes(outcome)[-2:] == ["a member leaves (c2)", "a member is added (c2)"]


def test_work_within_it_delays_only_those_who_wait_for_its_partitions():
    outcome = simulate(START + "at 60 s: c2 works 100 s on one poll\nat 70 s: c4 joins", protocol="consumer")
    assert owned_at(outcome, 159_000)["c1"] + owned_at(outcome, 159_000)["c3"] >= 2
    assert causes(outcome)[-1] == "a member is added (c4)"
    assert sum(owned_at(outcome, 200_000).values()) == 6
    assert outcome.group_standstill_ms < 100


def test_a_partition_that_a_member_at_work_has_not_taken_up_goes_back_without_its_poll():
    """On a real broker 4.3.1 with its own clients, two partitions and heartbeats of 5 s, it took 10 s."""
    story = """topic orders has 2 partitions
    at 0 s: c1 and c2 join
    at 60 s: c1 works 100 s on one poll
    at 70 s: c2 restarts after 10 s"""
    outcome = simulate(story, protocol="consumer", release="4.3")
    assert owned_at(outcome, 95_000) == {"c1": 1, "c2": 1}
    assert owned_at(outcome, 250_000) == {"c1": 1, "c2": 1}
    assert "a member leaves (c1)" not in causes(outcome)


def test_a_static_member_that_restarts_in_time_costs_no_rebalance():
    story = START + "at 60 s: c3 restarts after 10 s"
    assert causes(simulate(story, protocol="consumer", group_instance_id=True)) == causes(
        simulate(START, protocol="consumer", group_instance_id=True)
    )
    assert len(causes(simulate(story, protocol="consumer"))) == len(causes(simulate(START, protocol="consumer"))) + 2


def test_a_static_member_that_crashes_may_not_come_back_before_its_session_has_ended():
    story = START + "at 60 s: c3 crashes and returns after {} s"
    early = simulate(story.format(10), protocol="consumer", group_instance_id=True)
    late = simulate(story.format(60), protocol="consumer", group_instance_id=True)

    assert any("has its instance id" in (frame.event or "") for frame in early.trace)
    assert early.trace[-1].state.member("c3").doing == "gone"
    assert late.trace[-1].state.member("c3").doing == "consuming"


def test_new_partitions_are_found_by_the_next_heartbeat():
    outcome = simulate(START + "at 60 s: orders grows to 9 partitions", protocol="consumer")
    assert causes(outcome)[-1] == "a topic has more partitions"
    assert owned_at(outcome, 80_000) == {"c1": 3, "c2": 3, "c3": 3}


def test_on_one_script_kip_848_leaves_the_least_unread_and_never_stops_all():
    story = START + "at 60 s: c4 joins\nat 120 s: c3 restarts after 10 s\nat 180 s: c2 leaves"

    def unread(**arguments):
        outcome = simulate(story, group_initial_rebalance_delay_ms=0, **arguments)
        return {row["reason"]: row["partition_ms"] for row in outcome.unread}["the group rebalanced"]

    eager, cooperative = unread(assignor="range"), unread(assignor="cooperative-sticky")
    assert unread(protocol="consumer") < eager
    assert cooperative < eager


def test_up_to_4_2_every_join_is_assigned_at_once():
    assert owned_at(simulate(START, protocol="consumer", release="4.2"), 12_000) == {"c1": 2, "c2": 2, "c3": 2}


def test_nobody_believes_to_own_what_another_owns_unless_it_was_removed():
    outcome = simulate(START + "at 60 s: c4 joins\nat 90 s: c1 restarts after 5 s", protocol="consumer")
    for frame in outcome.trace:
        owners = frame.state.owners()
        assert all(len(each) == 1 for each in owners.values())


def test_releases_without_the_protocol_and_unknown_assignors_are_refused():
    with pytest.raises(KafkaLearnError, match=r"groups\.consumer answers for 4\.0 to .*, not 3\.9: KIP-848 was"):
        simulate(START, protocol="consumer", release="3.9")
    outcome = simulate(START, protocol="consumer", assignor="sticky")
    assert all(member.doing == "gone" for member in outcome.trace[-1].state.members)
