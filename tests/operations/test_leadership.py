"""Load and moves, added up by hand and by laws."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn import replication
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.operations.leadership import (
    EVEN,
    PREFERRED_LEAD,
    BrokerFenced,
    BrokerUnfenced,
    ElectionAnswered,
    ElectLeaders,
    ImbalanceFound,
    LeaderChanged,
    LeaderImbalanceChecked,
    Moved,
    Settings,
    TimePassed,
    broken,
    check,
    cluster_of,
    imbalances,
    load_without,
    move_seconds,
    moved_bytes,
    partition_of,
    simulate,
    start,
    step,
)
from kafkalearn.operations.reassignment import Target
from tests.schedules import sensible_run

# Clusters and schedules for laws of
BROKERS = (1, 2, 3, 4)
EVENTS = [
    *map(BrokerFenced, BROKERS),
    *map(BrokerUnfenced, BROKERS),
    TimePassed(200_000),
    LeaderImbalanceChecked(),
    ElectLeaders(),
    ElectLeaders("orders", 0),
]

replicas = st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True)
sizes = st.integers(0, 1_000)


@st.composite
def partitions(draw):
    drawn = draw(st.lists(st.tuples(replicas, sizes), min_size=1, max_size=8))
    return tuple(partition_of("orders", place, each, size_bytes=size) for place, (each, size) in enumerate(drawn))


@st.composite
def runs(draw, releases=("2.8", "4.3")):
    """Settings, and a run of some partitions through events that make sense."""
    settings = Settings(BROKERS, draw(st.sampled_from(releases)))
    first = cluster_of(settings, draw(partitions()))
    return settings, sensible_run(step, settings, first, draw(st.lists(st.sampled_from(EVENTS), max_size=20)))


ROTATED = [partition_of("orders", n, [1 + n % 3, 1 + (n + 1) % 3, 1 + (n + 2) % 3], size_bytes=100) for n in range(6)]


def test_the_load_of_a_dead_broker_goes_to_the_next_of_each_list():
    assert [(each.broker_id, each.leader_count, each.led_bytes) for each in load_without(ROTATED)] == [
        (1, 2, 200),
        (2, 2, 200),
        (3, 2, 200),
    ]
    assert [(each.broker_id, each.leader_count) for each in load_without(ROTATED, dead=[1])] == [(2, 4), (3, 2)]
    assert load_without(ROTATED, dead=[1, 2, 3]) == ()


@given(partitions(), st.sampled_from(BROKERS))
def test_load_without_a_broker_is_that_of_the_simulator_after_its_loss(drawn, dead):
    settings = Settings(BROKERS)
    after = step(settings, cluster_of(settings, drawn), BrokerFenced(dead))
    counted = {each.broker_id: each.leader_count for each in load_without(drawn, [dead])}
    led = {broker_id: sum(each.leader == broker_id for each in after.partitions) for broker_id in counted}
    assert counted == led


@given(partitions(), st.lists(replicas, min_size=8, max_size=8))
def test_what_is_sent_is_what_is_received(drawn, targets):
    plan = [Target(each.topic, each.partition, tuple(target)) for each, target in zip(drawn, targets, strict=False)]
    moved = moved_bytes(drawn, plan)
    assert sum(each.in_bytes for each in moved) == sum(each.out_bytes for each in moved)
    same = [Target(each.topic, each.partition, each.replicas[::-1]) for each in drawn]
    assert moved_bytes(drawn, same) == ()


def test_the_busiest_broker_and_what_is_written_meanwhile_decide_on_the_time():
    moved = moved_bytes(ROTATED, [Target("orders", n, (4, 2, 3)) for n in (0, 3)])
    assert moved == (Moved(1, 0, 200, 200), Moved(4, 200, 0, 0))
    assert move_seconds(moved, 50) == 4
    assert move_seconds(moved, 60, 20) == 5
    assert move_seconds(moved, 20, 20) is None
    assert move_seconds([], 1) == Fraction(0)


@pytest.mark.parametrize(
    ("plan", "message"),
    [([Target("orders", 9, (1,))], "orders-9"), ([Target("orders", 0, (4,))], "nobody leads orders-0")],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(plan, message):
    leaderless = [ROTATED[0]._replace(leader=None), *ROTATED[1:]]
    with pytest.raises(KafkaLearnError, match=message):
        moved_bytes(leaderless, plan)


@pytest.mark.parametrize("dead", [[{1: 2}], ["1"], [-1], 1])
def test_what_is_no_dead_broker_is_refused(dead):
    with pytest.raises(KafkaLearnError, match=r"a broker id of dead must be|dead must be a collection of broker ids"):
        load_without(ROTATED, dead)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((10**5000, 0, [1, 2]), "topic must be a str, got int a whole number of about 5,001 digits"),
        (("orders", 10**5000, [1, 1]), "partition must be at most"),
        (("orders", 0, [1, 2], 10**5000), "one of its replicas .*, got a whole number of about 5,001 digits"),
    ],
)
def test_what_is_no_partition_is_refused(given, said):
    with pytest.raises(KafkaLearnError, match=said):
        partition_of(*given)


def test_a_throttle_of_nothing_is_refused():
    with pytest.raises(KafkaLearnError, match="throttle_bytes_per_s"):
        move_seconds([], 0)


THREE = Settings((1, 2, 3))
RESTART = [BrokerFenced(1), BrokerUnfenced(1)]


def leaders(frame):
    return [each.leader for each in frame.state.partitions]


def test_leadership_stays_where_a_failure_has_put_it_until_the_next_round():
    trace = simulate(THREE, [*RESTART, TimePassed(299_999), TimePassed(1)])
    assert [leaders(frame) for frame in trace[2:]] == [[2, 2, 3], [2, 2, 3], [1, 2, 3]]
    assert set(broken(THREE, trace[2].state)) == {PREFERRED_LEAD, EVEN}
    assert trace[-1].state.effects == (ImbalanceFound(1, 1, 1, is_over=True), LeaderChanged("orders", 0, 1, 2))


def test_switched_off_it_stays_there_until_somebody_asks():
    off = Settings((1, 2, 3), has_leader_rebalancing=False)
    trace = simulate(off, [*RESTART, TimePassed(10**9), ElectLeaders("orders", 0), ElectLeaders()])
    assert leaders(trace[3]) == [2, 2, 3]
    assert trace[4].state.effects == (LeaderChanged("orders", 0, 1, 2), ElectionAnswered("orders", 0, "NONE"))
    assert trace[5].state.effects == ()  # of all partitions only those with news are named


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ([], "ELECTION_NOT_NEEDED"),
        ([BrokerFenced(1)], "PREFERRED_LEADER_NOT_AVAILABLE"),
        (RESTART, "NONE"),
    ],
)
def test_one_partition_is_answered_for_whatever_came_of_it(events, error):
    effects = simulate(THREE, [*events, ElectLeaders("orders", 0)])[-1].state.effects
    assert effects[-1] == ElectionAnswered("orders", 0, error)


def test_an_unknown_partition_is_an_error_and_no_exception():
    effects = step(THREE, start(THREE), ElectLeaders("orders", 9)).effects
    assert effects == (ElectionAnswered("orders", 9, "UNKNOWN_TOPIC_OR_PARTITION"),)


@pytest.mark.parametrize(
    ("release", "not_led", "is_over"),
    [("2.8", 1, False), ("2.8", 2, True), ("3.9", 1, True), ("4.3", 1, True), ("4.3", 0, False)],
)
def test_one_of_ten_is_ten_percent_which_is_not_above_ten(release, not_led, is_over):
    partitions = [partition_of("orders", number, [1, 2], leader=2 if number < not_led else 1) for number in range(10)]
    settings = Settings((1, 2), release)
    assert imbalances(settings, partitions) == (ImbalanceFound(1, 10, not_led, is_over),)
    after = step(settings, cluster_of(settings, partitions), LeaderImbalanceChecked())
    assert sum(each.leader == 2 for each in after.partitions) == (0 if is_over else not_led)


def test_the_percentage_may_be_set_where_it_is_read():
    partitions = [partition_of("orders", number, [1, 2], leader=2 if number < 1 else 1) for number in range(10)]
    assert imbalances(Settings((1, 2), "2.8", imbalance_percentage=9), partitions)[0].is_over
    assert imbalances(Settings((1, 2), "3.9", has_zookeeper=True), partitions)[0].is_over is False


@given(runs())
def test_the_invariants_hold_and_a_round_leaves_no_leadership_that_could_be_given_back(run):
    settings, trace = run
    for before, frame in zip((None, *trace), trace, strict=False):
        check(settings, frame.state, before and before.state)
    after = step(settings, trace[-1].state, LeaderImbalanceChecked())
    if not settings.has_zookeeper:
        for each in after.partitions:
            assert each.leader == each.preferred or each.preferred not in each.isr or each.preferred in after.fenced


@given(runs(releases=("4.3",)))
def test_each_partition_does_what_the_simulator_of_one_partition_does(run):
    _, trace = run
    for place, first in enumerate(trace[0].state.partitions):
        assert list(led_in_steps(first, trace)) == [
            (
                frame.state.partitions[place].leader,
                frame.state.partitions[place].leader_epoch,
                frame.state.partitions[place].isr,
            )
            for frame in trace
        ]


def led_in_steps(first, trace):
    """Leader, epoch and ISR of one partition after each event of a cluster, by `kafkalearn.replication`."""
    settings = replication.Settings(
        len(first.replicas),
        broker_count=4,
        assignment=first.replicas,
        has_eligible_leader_replicas=False,
        fetch_wait_max_ms=0,
        has_leader_rebalancing=False,
    )
    run = replication.simulate(settings, [])
    yield as_led(run)
    for before, frame in pairwise(trace):
        for event in events_of(before, frame):
            run = replication.settle(settings, replication.simulate(settings, [event], run[-1].state))
        yield as_led(run)


def as_led(run):
    controller = run[-1].state.controller
    return controller.leader, controller.leader_epoch, controller.isr


def events_of(before, frame):
    event = frame.event
    if isinstance(event, BrokerFenced):
        return [replication.BrokerStopped(event.broker_id)]
    if isinstance(event, BrokerUnfenced):
        return [replication.BrokerStarted(event.broker_id)]
    if isinstance(event, TimePassed) and before.state.now_ms // 300_000 == frame.state.now_ms // 300_000:
        return []
    if isinstance(event, ElectLeaders) and event.topic is not None:
        return []  # of one partition alone, which is looked at below
    return [replication.LeaderImbalanceChecked()]


@pytest.mark.parametrize(
    ("event", "why"),
    [(BrokerFenced(9), "there is no broker 9"), (BrokerUnfenced(1), "the broker lives"), (None, "None")],
)
def test_what_cannot_happen_is_refused(event, why):
    with pytest.raises((IllegalEvent, KafkaLearnError), match=why):
        simulate(THREE, [event])


def test_a_broker_that_is_lost_twice_is_refused():
    with pytest.raises(IllegalEvent, match="is lost already"):
        simulate(THREE, [BrokerFenced(1), BrokerFenced(1)])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"broker_ids": ()}, "at least one broker"),
        ({"broker_ids": (1, 1)}, "each once"),
        ({"broker_ids": (1,), "release": "4.0", "has_zookeeper": True}, "has no ZooKeeper"),
        ({"broker_ids": (1,), "release": "2.8", "has_zookeeper": False}, "before 3.3 KRaft"),
        ({"broker_ids": (1,), "imbalance_percentage": 20}, "ZooKeeper alone"),
        ({"broker_ids": (1,), "release": "2.8", "imbalance_percentage": 101}, "imbalance_percentage"),
    ],
)
def test_settings_of_no_cluster_are_refused(words, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(**words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"replicas": []}, "at least one broker"),
        ({"replicas": [1, 1]}, "each once"),
        ({"replicas": [1, 2], "leader": 3}, "one of its replicas"),
    ],
)
def test_a_partition_that_cannot_be_is_refused(words, message):
    with pytest.raises(KafkaLearnError, match=message):
        partition_of("orders", 0, **words)


def test_a_replica_on_no_broker_is_refused():
    with pytest.raises(KafkaLearnError, match=r"replicas on \[7\]"):
        cluster_of(THREE, [partition_of("orders", 0, [1, 7])])


def test_who_leads_goes_on_leading_though_the_preferred_replica_is_back():
    trace = simulate(Settings((1, 2, 3)), [BrokerFenced(1), BrokerUnfenced(1), BrokerFenced(3)])
    first = trace[-1].state.partitions[0]
    assert (first.replicas, first.isr, first.leader, first.leader_epoch) == ((1, 2, 3), (1, 2), 2, 1)
