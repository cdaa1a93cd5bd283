"""Scenarios whose outcome can be worked out by hand, and what releases and settings change in them.

One way between client and broker takes 2 ms. A group that forms at 0 has its first JoinGroup at 2 ms, the second
(with the member id) at 6 ms; the initial delay ends the join phase at 3006 ms, or at 6006 ms if there are several.
"""

from functools import partial

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.scenarios import Joins
from kafkalearn.scenarios.consumers import Clock
from kafkalearn.scenarios.playing import simulate
from tests.recorded import recorded

THREE = "at 0 s: c1, c2 and c3 join\n"
PATTERN = "c1, c2 and c3 subscribe to the pattern orders.*\n"
SIX = [f"orders-{number}" for number in range(6)]


def causes(outcome):
    return [row["cause"] for row in outcome.rebalances]


def owned(outcome, time_ms):
    return {each.name: [*map(str, each.owned)] for each in outcome.at(time_ms).state.members}


def test_one_consumer_is_at_work_after_the_initial_delay_and_three_round_trips():
    outcome = simulate("at 0 s: c1 joins\nthe end is at 10 s")
    assert outcome.timeline == [
        {"from_ms": 0, "to_ms": 6, "state": "Empty", "generation": 0},
        {"from_ms": 6, "to_ms": 3006, "state": "PreparingRebalance", "generation": 0},
        {"from_ms": 3006, "to_ms": 3010, "state": "CompletingRebalance", "generation": 1},
        {"from_ms": 3010, "to_ms": 10_000, "state": "Stable", "generation": 1},
    ]
    assert outcome.activity == [
        {"member": "c1", "from_ms": 0, "to_ms": 3012, "doing": "joining"},
        {"member": "c1", "from_ms": 3012, "to_ms": 10_000, "doing": "consuming"},
    ]
    assert outcome.records_not_read == 3012
    assert outcome.lag_at_end == 0


def test_three_consumers_buy_a_second_window_and_share_the_partitions():
    outcome = simulate(THREE)
    assert outcome.rebalances[0]["to_ms"] == 6010
    assert owned(outcome, 6012) == {"c1": SIX[:2], "c2": SIX[2:4], "c3": SIX[4:]}


@pytest.mark.parametrize(("release", "expected"), [("2.8", 2), ("3.0", 0), ("4.3", 0)])
def test_a_pause_of_twelve_seconds_is_forgiven_since_3_0(release, expected):
    """A session was 10 s by default, and is 45 s since 3.0."""
    outcome = simulate(f"{THREE}at 60 s: c2 pauses for 12 s", release=release)
    assert outcome.rebalance_count == 1 + expected


def test_a_pause_beyond_the_session_costs_two_rebalances():
    """c2's heartbeats come at 8 010 ms and every 3 s; the last comes at 59 010 ms, 45 s later it is out."""
    outcome = simulate(f"{THREE}at 61 s: c2 pauses for 50 s")
    assert causes(outcome)[1:] == ["a member's session expires (c2)", "a member is added (c2)"]
    assert outcome.rebalances[1]["from_ms"] == 104_010
    assert owned(outcome, 110_000)["c1"] == SIX[:3]
    assert owned(outcome, 110_000)["c2"] == SIX[2:4]  # it still believes so


def test_work_on_one_poll_beyond_the_limit_makes_the_member_leave_by_itself():
    outcome = simulate(f"{THREE}at 60 s: c2 works 400 s on one poll")
    assert causes(outcome)[1:] == ["a member leaves (c2)", "a member is added (c2)"]
    assert [row["from_ms"] for row in outcome.rebalances[1:]] == [360_002, 460_006]
    assert outcome.member_standstill_ms["c2"] > 400_000


def test_one_member_at_work_makes_a_rebalance_last_as_long_as_its_work():
    """The others have given up everything and wait until it polls again; cooperative ones read on."""
    story = f"{THREE}at 60 s: c3 works 200 s on one poll\nat 70 s: c4 joins"
    eager, cooperative = simulate(story), simulate(story, assignor="cooperative-sticky")
    assert eager.rebalances[1]["duration_ms"] > 185_000
    assert eager.group_standstill_ms > 185_000
    assert cooperative.rebalances[1]["duration_ms"] > 185_000
    assert cooperative.group_standstill_ms == simulate(THREE).group_standstill_ms


def test_a_static_member_at_work_falls_silent_and_loses_its_session():
    outcome = simulate(f"c2 is static\n{THREE}at 60 s: c2 works 400 s on one poll")
    assert causes(outcome)[1] == "a member's session expires (c2)"
    assert 360_000 + 42_000 < outcome.rebalances[1]["from_ms"] <= 360_000 + 45_002


@pytest.mark.parametrize(("limit_ms", "expected"), [(400_000, 1), (400_001, 0)])
def test_the_limit_must_be_above_the_longest_work(limit_ms, expected):
    outcome = simulate(f"{THREE}at 60 s: c2 works 400 s on one poll", max_poll_interval_ms=limit_ms)
    assert outcome.rebalance_count == 1 + expected


def test_fewer_records_in_a_poll_are_worked_on_in_less_time():
    outcome = simulate(f"{THREE}at 60 s: c2 works 400 s on one poll", max_poll_records=250)
    assert outcome.rebalance_count == 1


def test_a_good_bye_is_heard_at_once_and_a_crash_after_the_session():
    left = simulate(f"{THREE}at 60 s: c3 leaves")
    assert left.rebalances[1]["from_ms"] == 60_002
    crashed = simulate(f"{THREE}at 60 s: c3 crashes")
    assert 60_000 + 42_000 < crashed.rebalances[1]["from_ms"] <= 60_000 + 45_002
    assert crashed.unread[3]["reason"] == "its owner was gone, unnoticed"
    assert crashed.unread[3]["partition_ms"] == 2 * (crashed.rebalances[1]["from_ms"] - 60_000)


def test_a_crashed_member_that_returns_under_another_id_stops_everybody_until_the_old_one_expires():
    outcome = simulate(f"{THREE}at 60 s: c3 crashes and returns after 5 s")
    assert causes(outcome)[1:] == ["a member is added (c3)"]
    assert outcome.rebalances[1]["duration_ms"] > 30_000
    assert outcome.group_standstill_ms > 30_000


@pytest.mark.parametrize("end", ["restarts after 10 s", "crashes and returns after 10 s"])
def test_a_static_member_may_be_away_for_less_than_its_session(end):
    outcome = simulate(f"c3 is static\n{THREE}at 60 s: c3 {end}")
    assert outcome.rebalance_count == 1
    assert owned(outcome, 59_000) == owned(outcome, 80_000)


@pytest.mark.parametrize("leader", ["c1", "c2"])
def test_a_static_leader_that_restarts_goes_on_with_what_it_had(leader):
    """Also before 3.2, when it was shown another leader's id; a new assignment would have started a rebalance."""
    for release in ("2.8", "4.3"):
        outcome = simulate(f"{THREE}at 60 s: {leader} restarts after 5 s", group_instance_id=True, release=release)
        assert outcome.rebalance_count == 1


def test_eager_members_give_up_everything_and_cooperative_ones_what_moves():
    eager = simulate(f"{THREE}at 60 s: c4 joins", assignor="sticky").rebalances
    assert [(row["revoked"], row["moved"]) for row in eager] == [(0, 0), (6, 1)]
    cooperative = simulate(f"{THREE}at 60 s: c4 joins", assignor="cooperative-sticky").rebalances
    assert [(row["revoked"], row["moved"]) for row in cooperative] == [(0, 0), (1, 0), (0, 1)]


def test_the_default_list_with_range_in_front_is_eager():
    default = simulate(f"{THREE}at 60 s: c4 joins")
    cooperative = simulate(f"{THREE}at 60 s: c4 joins", assignor="cooperative-sticky")
    assert default.rebalances[1]["revoked"] == 6
    assert default.group_standstill_ms >= cooperative.group_standstill_ms


def test_a_rolling_upgrade_may_name_both_assignors():
    """The group speaks what all know: range, as long as one member knows nothing else."""
    story = f"c1 has partition.assignment.strategy range\n{THREE}"
    outcome = simulate(story, assignor=["cooperative-sticky", "range"])
    assert owned(outcome, 60_000) == {"c1": SIX[:2], "c2": SIX[2:4], "c3": SIX[4:]}


def test_members_without_an_assignor_in_common_cannot_be_in_one_group():
    story = f"c1 has partition.assignment.strategy range\n{THREE}"
    outcome = simulate(story, assignor="sticky")
    assert {row["member"] for row in outcome.standstill if row["read_ms"]} == {"c1"}
    assert any("no assignor in common" in (frame.event or "") for frame in outcome.trace)


def test_a_consumer_that_is_cut_off_reads_on_beside_the_new_owner():
    outcome = simulate(f"{THREE}at 60 s: c2 is cut off for 60 s")
    assert causes(outcome)[1:] == ["a member's session expires (c2)", "a member is added (c2)"]
    assert outcome.records_read_twice > 0
    assert simulate(f"{THREE}at 60 s: c2 is cut off for 20 s").rebalance_count == 1


NOBODY_CAUSED = {  # a line: when its rebalance begins, in both protocols, and the cause in the classic one
    "at 60 s: orders grows to 9 partitions": (300_014, 60_006, "the leader rejoins (c1)"),
    "at 60 s: topic clicks is deleted": (60_114, 60_006, "the leader rejoins (c1)"),
    f"{PATTERN}at 60 s: topic orders-eu is created with 3 partitions": (300_014, 300_006, "the leader rejoins (c1)"),
    f"{PATTERN}at 60 s: orders is deleted": (60_114, 60_006, "the leader rejoins (c1)"),
    "c2 subscribes to orders, refunds\nat 60 s: topic refunds is created with 2 partitions": (
        60_114,
        60_006,
        "the leader rejoins (c1)",
    ),
    "at 60 s: c2 subscribes to orders": (60_014, 63_339, "a member rejoins with other metadata (c2)"),
}


@pytest.mark.parametrize("line", NOBODY_CAUSED)
def test_rebalances_that_no_member_caused(line):
    """Metadata are asked for at 0 and at 300 s; an unknown topic, or one that cannot be fetched, after 100 ms more.

    A poll every 100 ms takes up what has come, and the coordinator of KIP-848 looks with the next heartbeat.
    """
    story = f"topic orders has 6 partitions\ntopic clicks has 2 partitions\n{THREE}{line}\nthe end is at 10 min"
    classic, consumer, cause = NOBODY_CAUSED[line]
    one, other = simulate(story), simulate(story, protocol="consumer")
    assert (one.rebalances[1]["from_ms"], causes(one)[1:]) == (classic, [cause])
    assert other.rebalances[-1]["from_ms"] == consumer
    for outcome in (one, other):
        end = outcome.trace[-1].state
        assert end.state == "Stable"
        assert dict.fromkeys(end.partitions, 1) == end.readers()


def test_new_partitions_are_found_with_the_leaders_next_look_at_the_metadata():
    outcome = simulate(f"{THREE}at 60 s: orders grows to 9 partitions\nthe end is at 10 min")
    assert sum(map(len, owned(outcome, 600_000).values())) == 9
    assert outcome.rebalances[1]["revoked"] == 6
    sooner = simulate(outcome.scenario, settings={"metadata.max.age.ms": 70_000})
    assert sooner.rebalances[1]["from_ms"] == 70_014


def test_a_leader_that_assigns_uses_the_topics_as_it_knows_them():
    """c4 joins at 90 s: the leader still thinks that there are 6 partitions, and learns of 9 at 300 s."""
    outcome = simulate(f"{THREE}at 60 s: orders grows to 9 partitions\nat 90 s: c4 joins\nthe end is at 10 min")
    assert sum(map(len, owned(outcome, 200_000).values())) == 6
    assert sum(map(len, owned(outcome, 600_000).values())) == 9
    assert causes(outcome)[1:] == ["a member is added (c4)", "the leader rejoins (c1)"]


def test_with_a_pattern_whoever_looks_first_brings_the_rebalance_and_one_is_enough():
    story = (
        "topic orders has 6 partitions\nc1, c2 and c3 subscribe to the pattern orders.*\nat 0 s: c1 joins\n"
        "at 100 s: c2 joins\nat 200 s: c3 joins\nat 320 s: topic orders-eu is created with 3 partitions\n"
        "the end is at 20 min"
    )
    outcome = simulate(story)
    assert causes(outcome)[3:] == ["a member rejoins with other metadata (c3)"]
    assert outcome.rebalances[3]["from_ms"] - 500_000 < 200  # c3 looked at 200 s, the others when they joined again
    assert sum(map(len, owned(outcome, 600_000).values())) == 9


def test_cooperative_members_keep_what_they_read_when_a_topic_is_new():
    story = f"{PATTERN}{THREE}at 60 s: topic orders-eu is created with 3 partitions\nthe end is at 10 min"
    cooperative = simulate(story, assignor="cooperative-sticky")
    assert cooperative.rebalances[1]["revoked"] == 0
    assert simulate(story).rebalances[1]["revoked"] == 6
    assert len({*owned(cooperative, 600_000)["c1"], *owned(cooperative, 600_000)["c2"]}) == 6


def test_a_process_begins_with_its_first_subscription():
    topics = "topic orders has 6 partitions\ntopic clicks has 2 partitions\n"
    outcome = simulate(f"{topics}{THREE}at 60 s: c1 subscribes to orders\nat 100 s: c1 restarts after 5 s")
    assert [each for each in owned(outcome, 90_000)["c1"] if "clicks" in each] == []
    assert [each for each in owned(outcome, 220_000)["c1"] if "clicks" in each] == ["clicks-0"]
    gone = simulate(f"{THREE}at 60 s: c1 leaves\nat 70 s: c1 subscribes to orders")
    assert any("c1 is not running: a subscription has no effect" in (each.event or "") for each in gone.trace)


def test_records_of_a_topic_that_nobody_has_noticed_yet_are_not_read():
    """3 of 9 partitions for 240 s, a thousand records a second; and none of a topic that the group does not want."""
    story = f"{PATTERN}{THREE}at 60 s: topic orders-eu is created with 3 partitions\nthe end is at 10 min"
    calm = simulate(f"{PATTERN}{THREE}the end is at 10 min").records_not_read
    assert simulate(story).records_not_read - calm == pytest.approx(80_000, rel=0.01)
    other = story.replace("orders-eu", "clicks")
    assert simulate(other).records_not_read == calm
    assert simulate(story).lag_at_end == 0


def test_polls_that_always_take_too_long_make_a_group_that_never_rests():
    outcome = simulate("at 0 s: c1 joins\nthe end is at 10 min", processing_ms=60_000, max_poll_interval_ms=30_000)
    assert outcome.rebalance_count > 15


def test_a_consumer_more_than_partitions_is_idle_and_not_at_a_standstill():
    outcome = simulate("topic orders has 2 partitions\n" + THREE)
    assert outcome.standstill[2]["idle_ms"] > 100_000
    assert outcome.standstill[2]["standstill_ms"] == outcome.standstill[0]["standstill_ms"]


def test_a_member_reads_no_faster_than_it_can():
    """Half the topic is unread for 30 s: 15 000 records; then 500 a second come to c2 and 1000 are read."""
    story = "each member reads 1000 a second\nat 0 s: c1, c2 join\nat 60 s: c2 pauses for 30 s\nthe end is at 100 s"
    outcome = simulate(story)
    assert outcome.most_lag == 15_000
    assert outcome.lag_at_end == 10_000


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"protocol": "classical"}, "unknown protocol 'classical'; did you mean 'classic'"),
        ({"assignor": "stiky"}, "did you mean 'sticky'"),
        ({"assignor": "uniform"}, "uniform does not run in clients"),
        ({"session_timout_ms": 5}, "did you mean 'session.timeout.ms'"),
        ({"release": "2.3"}, r"groups\.classic answers for 2\.4 to \d+\.\d+, not 2\.3: no other release was asked"),
        ({"session_timeout_ms": 3000}, "heartbeat.interval.ms .* must be below session.timeout.ms"),
        ({"latency_ms": -1}, "latency.ms must be at least 0"),
        ({"assignor": 5}, "named by a text, several by a list, got int 5"),
        ({"assignor": []}, "names no assignor; give one of range"),
        ({"settings": ["acks"]}, "settings must map Kafka's names to values, got list"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, reason):
    with pytest.raises(KafkaLearnError, match=reason):
        simulate([Joins(0, "c1")], **given)


@pytest.mark.parametrize("story", [None, 7, b"at 0 s: c1 joins"])
def test_what_is_no_scenario_is_refused(story):
    with pytest.raises(KafkaLearnError, match="a scenario is a text or a list of events"):
        simulate(story)


def test_a_scenario_in_which_nobody_joins_is_quiet():
    outcome = simulate("topic orders has 2 partitions")
    assert (outcome.rebalances, outcome.group_standstill_ms, outcome.unread_partition_ms) == ([], 0, 0)
    assert outcome.lag_at_end == 120_000


def test_a_setting_of_the_broker_cannot_differ_by_member():
    with pytest.raises(KafkaLearnError, match=r"c1 has group\.max\.size 5.*no setting"):
        simulate("at 0 s: c1 joins\nc1 has group.max.size 5")


def test_a_session_that_the_broker_does_not_allow_stops_the_consumer():
    outcome = simulate("at 0 s: c1 joins", session_timeout_ms=5000)
    assert outcome.rebalance_count == 0
    assert "the broker does not allow its session timeout" in outcome.trace[-2].event


def test_a_process_that_stands_still_can_neither_leave_nor_be_closed():
    outcome = simulate(f"{THREE}at 60 s: c2 pauses for 20 s\nat 70 s: c2 leaves")
    assert outcome.rebalances[1]["from_ms"] == 80_002


def test_a_scenario_that_would_take_for_ever_is_refused(monkeypatch):
    monkeypatch.setattr("kafkalearn.scenarios.consumers.MOST_CALLS", 1000)
    with pytest.raises(KafkaLearnError, match="let it end earlier"):
        simulate("at 0 s: c1 joins\nthe end is at 100 h")


def test_a_large_group_may_take_fewer_steps_because_each_takes_longer(monkeypatch):
    monkeypatch.setattr("kafkalearn.scenarios.consumers.MOST_CALLS", 10_000)
    with pytest.raises(KafkaLearnError, match=r"has taken 2,000 steps: .* or take fewer members"):
        simulate("at 0 s: c1 to c200 join\nthe end is at 7 s")
    with pytest.raises(KafkaLearnError, match=r"and 2,000 are played at most: .* or take fewer members"):
        simulate("at 0 s: c1 to c200 join\nthe end is at 10 min")


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        ("classic", {"heartbeat.interval.ms": 1}),
        ("classic", {"heartbeat.interval.ms": 1, "latency.ms": 1000}),
        ("consumer", {"group.consumer.heartbeat.interval.ms": 1}),
    ],
)
def test_a_scenario_with_too_many_heartbeats_is_refused_before_a_step_is_played(protocol, settings, monkeypatch):
    monkeypatch.setattr("kafkalearn.scenarios.playing.Engine", None)
    with pytest.raises(KafkaLearnError, match=r"the heartbeats of this scenario take .* steps or more, and 2,000,000"):
        simulate("at 0 s: c1 joins\nthe end is at 10 h", protocol, settings=settings)


STORIES = {
    "one leaves": "at 0 s: c1 and c2 join\nat 5 s: c1 leaves",
    "all leave": "at 0 s: c1 and c2 join\nat 60 s: c1 leaves\nat 60 s: c2 crashes",
    "both come back": "at 0 s: c1 and c2 join\nat 9 s: c1 restarts after 50 s\nat 70 s: c2 restarts after 9 s",
    "one stands still": "at 0 s: c1 and c2 join\nat 9 s: c1 pauses for 50 s\nat 70 s: c2 is cut off for 30 s",
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
@pytest.mark.parametrize("release", ["2.4", "4.3"])
def test_no_more_steps_are_foreseen_than_are_taken(story, release, monkeypatch):
    """With just as many steps as it takes, a scenario is played: the arithmetic does not refuse it."""
    clocks = []
    monkeypatch.setattr("kafkalearn.scenarios.playing.Clock", lambda: clocks.append(Clock()) or clocks[-1])
    play = partial(simulate, f"{story}\nthe end is at 10 min", release=release, heartbeat_interval_ms=300)
    outcome = play()
    monkeypatch.setattr("kafkalearn.scenarios.consumers.MOST_CALLS", clocks[0].step_count)
    assert play() == outcome


def test_a_run_is_the_same_each_time():
    story = f"{THREE}at 61 s: c2 pauses for 50 s\nat 200 s: c1 crashes"
    assert simulate(story) == simulate(story)


def test_an_outcome_is_shown_as_a_verdict_and_a_short_table():
    outcome = simulate(f"{THREE}every 60 s from 1 min to 20 min: c2 restarts after 10 s")
    lines = repr(outcome).splitlines()
    assert lines[0].startswith(f"41 rebalances in 1330 s, classic protocol, Kafka {DEFAULT_RELEASE}; ")
    assert len(lines) == 13
    assert "31 more" in lines[7]
    assert repr(simulate("topic orders has 2 partitions")).startswith("0 rebalances in 120 s")


# Topics and subscriptions that change: a simulated group does what one of real consumers did.
RECORDED = recorded("topic-changes")
AT_ONCE_MS = 1000
CHANGED_MS = 14_000


def line_of(change):
    """The change as a line of a scenario."""
    ((what, words),) = change.items()
    return {
        "grows": "{} grows to {} partitions",
        "created": "topic {} is created with {} partitions",
        "deleted": "topic {} is deleted",
        "subscribes": "{} subscribes to {}",
    }[what].format(*words)


def sorted_owned(outcome, time_ms):
    return {name: sorted(places) for name, places in owned(outcome, time_ms).items()}


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["id"])
def test_a_group_of_real_consumers_did_the_same(case):
    pattern = "c1 to c3 subscribe to the pattern [abc]" if case["subscribed"] == "pattern" else ""
    outcome = simulate(
        f"topic a has 3 partitions\ntopic b has 2 partitions\n{pattern}\n"
        "at 0 s: c1 joins\nat 5 s: c2 joins\nat 7 s: c3 joins\n"
        f"at {CHANGED_MS} ms: {line_of(case['change'])}\nthe end is at 60 s",
        assignor="range",
        heartbeat_interval_ms=300,
        metadata_max_age_ms=case["metadata_max_age_ms"],
    )
    end = outcome.trace[-1].state
    assert sorted_owned(outcome, CHANGED_MS - 1) == case["before"]
    assert sorted_owned(outcome, outcome.end_ms) == case["owned"]
    assert (end.state, end.generation, outcome.rebalance_count) == ("Stable", case["generation"], 4)
    began_ms = outcome.rebalances[3]["from_ms"] - CHANGED_MS
    if case["first_revoked_ms"] <= AT_ONCE_MS:
        assert began_ms <= AT_ONCE_MS
    else:
        assert AT_ONCE_MS < began_ms <= case["metadata_max_age_ms"]
