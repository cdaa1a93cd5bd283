"""The offsets topic is created, or not; and what a factor of 1 means on the day its broker dies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.operations.offsets_topic import (
    BrokerCrashed,
    BrokerStarted,
    CoordinatorFound,
    CoordinatorNotAvailable,
    FindCoordinator,
    Metadata,
    MetadataAnswered,
    Reassigned,
    ReassignmentCompleted,
    ReassignmentRefused,
    ReassignmentStuck,
    Settings,
    TopicNotCreated,
    broken,
    check,
    create_offsets_topic,
    groups_by_coordinator,
    groups_without_coordinator,
    simulate,
    start,
    step,
)
from kafkalearn.operations.placement import place_shifted
from tests.schedules import sensible_steps

GROUPS = [f"group-{number}" for number in range(200)]
ONE, ASKED = (1, 2, 3), FindCoordinator("billing")


def up(*brokers):
    return [BrokerStarted(each) for each in brokers]


@pytest.mark.parametrize(
    ("release", "live", "configured", "expected"),
    [
        ("0.8.2", 1, 3, 1), ("0.9.0", 2, 3, 2), ("0.10.2", 5, 3, 3), ("0.10.2", 1, 1, 1),
        ("0.11.0", 1, 3, None), ("1.0", 2, 3, None), ("2.7", 3, 3, 3), ("3.2", 2, 3, None), ("4.3", 2, 3, None),
        ("4.3", 3, 3, 3), ("4.3", 1, 1, 1),
    ],
)  # fmt: skip
def test_how_many_replicas_it_gets(release, live, configured, expected):
    assert create_offsets_topic(range(1, live + 1), configured, release).replica_count == expected


@pytest.mark.parametrize(
    ("release", "has_zookeeper", "is_allowed", "live", "error"),
    [
        ("0.8.2", None, False, 1, "LEADER_NOT_AVAILABLE"),
        ("2.7", None, False, 3, "LEADER_NOT_AVAILABLE"),
        ("2.7", None, True, 2, "INVALID_REPLICATION_FACTOR"),
        ("2.8", None, False, 3, None),
        ("3.9", True, True, 3, "LEADER_NOT_AVAILABLE"),
        ("3.9", True, True, 2, "INVALID_REPLICATION_FACTOR"),
        ("3.9", False, True, 3, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("4.4", None, True, 2, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("4.4", None, False, 3, None),
    ],
)
@pytest.mark.parametrize("who_forbids", ["client", "broker"])
def test_a_metadata_request_makes_it_or_not(release, has_zookeeper, is_allowed, live, error, who_forbids):
    of_broker = is_allowed or who_forbids == "client"
    given_settings = Settings(ONE, 3, 4, release, has_zookeeper, auto_create_topics_enable=of_broker)
    request = Metadata(is_allowed or who_forbids == "broker")
    *_, asked, again = simulate(given_settings, [*up(*ONE[:live]), request, request])

    made = error is not None and (live == 3 or release == "0.8.2")
    assert asked.state.is_created == made
    assert asked.state.effects[-1] == MetadataAnswered(error or "UNKNOWN_TOPIC_OR_PARTITION")
    assert again.state.effects[-1] == (MetadataAnswered("NONE", 4) if made else asked.state.effects[-1])


def test_only_old_brokers_say_why_in_a_sentence_of_its_own():
    assert create_offsets_topic([1], 3, "2.7").logged.startswith(
        "Number of alive brokers '1' does not meet the required"
    )
    since_2_8 = "Replication factor: 3 larger than available brokers: 1."
    assert create_offsets_topic([1], 3, "3.9", has_zookeeper=True).logged == since_2_8
    assert create_offsets_topic([1], 3, "3.9", has_zookeeper=False).logged is None


@pytest.mark.parametrize("release", ["3.3", "3.9"])
def test_where_clusters_have_either_it_has_to_be_said_which(release):
    said = (
        rf"Kafka {release} runs with ZooKeeper or with KRaft, .* say which, has_zookeeper=True or has_zookeeper=False"
    )
    for make in (lambda: create_offsets_topic([1], 3, release), lambda: Settings(release=release)):
        with pytest.raises(KafkaLearnError, match=said):
            make()
    assert Settings(release="3.2").has_zookeeper
    assert not Settings(release="4.0").has_zookeeper


def test_with_kraft_a_broker_that_is_down_gets_its_replica():
    assert create_offsets_topic([1, 2], 3, fenced_brokers=[3]).replica_count == 3
    assert create_offsets_topic([1, 2], 3, "3.9", fenced_brokers=[3], has_zookeeper=False).replica_count == 3
    assert create_offsets_topic([1, 2], 3, "3.9", fenced_brokers=[3], has_zookeeper=True).replica_count is None

    last = simulate(Settings(partition_count=6), [*up(1, 2, 3), BrokerCrashed(3), ASKED])[-1].state
    assert all(3 in replicas for replicas in last.replicas)
    assert not any(3 in isr for isr in last.isr)
    assert last.leaderless == ()


def test_the_first_who_asks_is_always_put_off_and_the_second_is_answered():
    trace = simulate(Settings(), [*up(1, 2, 3), ASKED, ASKED])
    assert CoordinatorNotAvailable("billing") in trace[4].state.effects
    assert isinstance(trace[5].state.effects[0], CoordinatorFound)
    waiting = simulate(Settings(), [*up(1), ASKED])[-1].state
    assert isinstance(waiting.effects[0], TopicNotCreated)


def test_with_a_factor_of_1_a_third_of_the_groups_has_no_coordinator_until_the_broker_is_back():
    alone = Settings(replication_factor=1)
    dead = simulate(alone, [*up(*ONE), ASKED, BrokerCrashed(2)])
    lost = groups_without_coordinator(dead[-1].state, GROUPS)

    assert 40 < len(lost) < 95
    assert groups_by_coordinator(dead[-1].state, GROUPS)[None] == lost
    assert broken(alone, dead[-1].state) == ("every group has a coordinator while a broker lives",)
    back = simulate(alone, up(2), dead[-1].state)[-1].state
    assert groups_without_coordinator(back, GROUPS) == ()
    kept = simulate(Settings(), [*up(*ONE), ASKED, BrokerCrashed(2)])[-1].state
    assert groups_without_coordinator(kept, GROUPS) == ()


def partitions_of(kind, effects):
    return tuple(effect.partition for effect in effects if isinstance(effect, kind))


def test_a_broker_that_comes_back_is_in_sync_again_and_leads_nothing_that_another_took_over():
    run = simulate(Settings(ONE, partition_count=9), [*up(*ONE), ASKED, BrokerCrashed(1), BrokerStarted(1)])
    before, dead, back = (frame.state for frame in run[-3:])
    assert 1 in before.leaders
    assert all(set(isr) == {2, 3} for isr in dead.isr)
    assert all(set(isr) == {1, 2, 3} for isr in back.isr)
    assert back.leaders == dead.leaders
    assert 1 not in back.leaders


def test_the_plan_helps_before_the_broker_dies_and_after_it_waits_for_the_broker():
    alone, plan = Settings(replication_factor=1), Reassigned(place_shifted((1, 3), 50, 2))
    before = simulate(alone, [*up(*ONE), ASKED, plan, BrokerCrashed(2)])[-1].state
    after = simulate(alone, [*up(*ONE), ASKED, BrokerCrashed(2), plan])[-1].state

    assert before.leaderless == ()
    assert partitions_of(ReassignmentStuck, after.effects) == after.leaderless != ()
    assert [after.replicas[p] for p in after.leaderless] == [(2,)] * len(after.leaderless)
    back = simulate(alone, up(2), after)[-1].state
    assert partitions_of(ReassignmentCompleted, back.effects) == after.leaderless
    assert back.replicas == plan.replicas
    assert simulate(alone, [BrokerCrashed(2)], back)[-1].state.leaderless == ()


def test_a_plan_that_waits_goes_on_when_all_that_it_names_live():
    alone, plan = Settings(replication_factor=1), Reassigned(place_shifted((1, 3), 50, 2))
    waiting = simulate(alone, [*up(*ONE), ASKED, BrokerCrashed(2), plan, BrokerCrashed(3)])[-1].state
    led = simulate(alone, up(2), waiting)[-1].state
    assert led.leaderless == ()
    assert led.pending == waiting.pending != ()
    assert simulate(alone, up(3), led)[-1].state.replicas == plan.replicas


def test_the_tool_refuses_a_plan_that_names_a_dead_broker_and_one_while_another_runs():
    alone, dead = Settings(replication_factor=1), [*up(*ONE), ASKED, BrokerCrashed(2)]
    night = simulate(alone, [*dead, Reassigned(place_shifted(ONE, 50, 3))])
    assert night[-1].state.effects == (ReassignmentRefused("Unknown broker id 2"),)
    assert night[-1].state == night[-2].state

    other = Reassigned(place_shifted((1, 3), 50, 2))
    twice = simulate(alone, [*dead, other, other])[-1].state
    (refused,) = twice.effects
    assert refused.message.startswith("Cannot execute because there is an existing partition assignment.")


def test_a_topic_of_0_10_keeps_the_replicas_of_its_first_hour():
    old = Settings(release="0.10.2")
    last = simulate(old, [*up(1), ASKED, *up(2, 3)])[-1].state
    assert {len(replicas) for replicas in last.replicas} == {1}
    assert broken(old, last) == ("the topic has the replicas that were asked for",)


events = st.one_of(
    st.sampled_from(ONE).map(BrokerStarted),
    st.sampled_from(ONE).map(BrokerCrashed),
    st.sampled_from(GROUPS[:5]).map(FindCoordinator),
    st.integers(1, 3).map(lambda factor: Reassigned(place_shifted(ONE, 4, factor))),
    st.sampled_from([(1, 2), (2, 3), (1, 3)]).map(lambda brokers: Reassigned(place_shifted(brokers, 4, 2))),
)


@given(
    st.sampled_from([("0.10.2", None), ("2.0", None), ("3.9", True), ("3.9", False), ("4.3", None)]),
    st.integers(1, 3),
    st.integers(0, 99),
    st.lists(events, max_size=14),
)
@settings(max_examples=80)
def test_whatever_happens_the_invariants_hold(cluster, factor, seed, happenings):
    release, has_zookeeper = cluster
    given_settings = Settings(ONE, factor, 4, release, has_zookeeper, seed)
    for before, _, after in sensible_steps(step, given_settings, start(given_settings), happenings):
        check(given_settings, after, before)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(KafkaLearnError, match="has no ZooKeeper"):
        Settings(release="4.0", has_zookeeper=True)
    with pytest.raises(KafkaLearnError, match="has no KRaft"):
        Settings(release="2.7", has_zookeeper=False)
    with pytest.raises(KafkaLearnError, match=r"brokers \[1\] are live and fenced"):
        create_offsets_topic([1], fenced_brokers=[1])
    with pytest.raises(KafkaLearnError, match="live_brokers is empty"):
        create_offsets_topic([])
    with pytest.raises(IllegalEvent, match="a plan for 1 partitions, and the topic has 50"):
        simulate(Settings(), [*up(1, 2, 3), ASKED, Reassigned(((1,),))])
