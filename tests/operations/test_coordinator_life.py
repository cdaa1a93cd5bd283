"""A coordinator's life: takeovers, late orders, what requests hear, what timers do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.operations.coordinator_life import (
    BrokerFenced,
    BrokerUnfenced,
    CoordinatorStarted,
    GroupStored,
    LeaderImbalanceChecked,
    LoadRead,
    OrderCarriedOut,
    Request,
    Settings,
    TimePassed,
    TransactionEnded,
    answer_without_group,
    broken,
    check,
    find,
    simulate,
    start,
    step,
)
from kafkalearn.operations.coordinator_life.model import (
    APIS,
    COMMIT,
    FETCH,
    FIND,
    HEARTBEAT,
    JOIN,
    SYNC,
    Answered,
    LoadEnded,
    LoadFailed,
    MemberExpired,
    NotReached,
    OrderIgnored,
    Resigned,
    Swept,
)
from kafkalearn.operations.coordinator_life.simulator import (
    ACTIVE_ALREADY,
    LEADER_ANSWERS,
    NEVER_OLD,
    NONE_LOST,
    OLDER,
    ONE_ANSWERS,
)
from tests.recorded import recorded
from tests.schedules import sensible_run

# Random lives of a coordinator, and the recorded ones.
IDS = (1, 2, 3)
RELEASES = ("1.1", "2.0", "2.8.0", "2.8.1", "3.9", "4.0", "4.3")

BROKERS, GROUPS = st.sampled_from(IDS), st.sampled_from(["billing", "copies"])
EVENTS = st.one_of(
    st.builds(BrokerFenced, BROKERS),
    st.builds(BrokerUnfenced, BROKERS),
    st.builds(CoordinatorStarted, BROKERS),
    st.just(LeaderImbalanceChecked()),
    st.builds(TimePassed, st.sampled_from([1000, 50_000, 700_000])),
    st.builds(OrderCarriedOut, BROKERS, st.integers(1, 6)),
    st.builds(LoadRead, BROKERS, st.sampled_from([None, 1])),
    st.builds(Request, BROKERS, st.sampled_from(APIS), GROUPS, st.sampled_from(["", "c1"]), st.integers(0, 9)),
    st.builds(
        GroupStored,
        st.just("billing"),
        st.sampled_from([(), ("c1",), ("c1", "c2")]),
        st.integers(1, 9),
    ),
    st.builds(Request, BROKERS, st.just("OffsetCommit"), GROUPS, producer_id=st.just(5)),
    st.builds(TransactionEnded, st.just(5), st.booleans()),
)


def carried_out(settings: Settings, life: object) -> Trace:
    """The run in which every broker does all that it was ordered, in order, and loads end."""
    frames = [Frame(0, None, life)]

    def add(event: object) -> None:
        frames.append(Frame(len(frames), event, step(settings, frames[-1].state, event)))

    for broker_id in settings.broker_ids:
        for _ in range(20):
            coordinator = frames[-1].state.coordinator(broker_id)
            if coordinator.is_reading:
                add(LoadRead(broker_id))
            elif coordinator.orders:
                add(OrderCarriedOut(broker_id, coordinator.orders[0].epoch))
    return Trace(frames)


SETTLED = (ONE_ANSWERS, LEADER_ANSWERS, NONE_LOST)
LOST = (BrokerFenced(1), OrderCarriedOut(2, 1), LoadRead(2))
BACK = (BrokerUnfenced(1), CoordinatorStarted(1), LeaderImbalanceChecked())


def error_of(settings, events, request):
    (answer,) = simulate(settings, [*events, request])[-1].state.effects
    return answer.error


@pytest.mark.parametrize(
    "case",
    recorded("coordinator-moves")["cases"],
    ids=lambda case: f"{case['release']} {case['how']}",
)
def test_each_broker_answers_as_a_real_one_did(case):
    old = case["coordinator"]
    answers = {int(broker_id): each for broker_id, each in case["answers"].items()}
    new = next((each for each in answers if each != old and "NONE" in answers[each][COMMIT]), None)
    others = [each for each in IDS if each not in (old, new)]
    order = (old, *([] if new is None else [new]), *others)
    settings = Settings(case["release"].rpartition(".")[0], IDS, order[: case["replication_factor"]])
    asked = {
        FIND: {}, COMMIT: {"group_id": "copies"}, FETCH: {"group_id": "copies"}, HEARTBEAT: {"member_id": "c1"},
        SYNC: {"member_id": "c1"}, "ConsumerGroupHeartbeat": {"group_id": "kip848", "member_id": "c2"},
    }  # fmt: skip

    def questions(life_events):
        return [*life_events, *(Request(each, api, **more) for each in IDS for api, more in asked.items())]

    events = questions([GroupStored("billing", ("c1",)), GroupStored("kip848", ("c2",), kind="consumer")])
    events += questions([BrokerFenced(old)])
    if new is not None:
        events += [*questions([OrderCarriedOut(new, 1)]), *questions([LoadRead(new)])]
    if case["is_restarted"]:
        events += questions([BrokerUnfenced(old), CoordinatorStarted(old), OrderCarriedOut(old, 2)])
    heard = {}
    for frame in simulate(settings, events):
        for each in frame.state.effects:
            if isinstance(each, Answered):
                found = f"NONE {each.value}" if each.api == FIND and each.value is not None else each.error
                of_api = heard.setdefault((each.broker_id, each.api), [])
                of_api += [found] if of_api[-1:] != [found] else []
    for broker_id in {*IDS} - ({old} if not case["is_restarted"] else set()):
        for api, said in answers[broker_id].items():
            assert heard[broker_id, api] == said, (broker_id, api)


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("1.1", dict.fromkeys(APIS[1:], "NOT_COORDINATOR")),
        ("2.0", {HEARTBEAT: "NONE", SYNC: "REBALANCE_IN_PROGRESS", COMMIT: "COORDINATOR_LOAD_IN_PROGRESS"}),
        ("3.9", {HEARTBEAT: "NONE", SYNC: "REBALANCE_IN_PROGRESS", JOIN: "COORDINATOR_LOAD_IN_PROGRESS"}),
        ("4.3", {HEARTBEAT: "NONE", SYNC: "COORDINATOR_LOAD_IN_PROGRESS", FETCH: "COORDINATOR_LOAD_IN_PROGRESS"}),
    ],
)
def test_what_clients_hear_during_a_load(release, expected):
    events = [*LOST[:2]]
    for api, error in expected.items():
        assert error_of(Settings(release), events, Request(2, api)) == error
        assert error_of(Settings(release), LOST[:1], Request(2, api)) == (
            error if release == "2.0" else "NOT_COORDINATOR"
        )


def test_a_second_load_of_an_old_broker_makes_it_say_that_it_loads_since_it_owns_the_partition_already():
    assert answer_without_group(COMMIT, "1.1", is_owned=True, is_loading=True) == "COORDINATOR_LOAD_IN_PROGRESS"
    assert answer_without_group(SYNC, "1.1", is_owned=True, is_loading=True) is None


def test_before_it_has_started_a_coordinator_is_not_available():
    events = [*LOST, BrokerUnfenced(1)]
    assert error_of(Settings(), events, Request(1, COMMIT)) == "COORDINATOR_NOT_AVAILABLE"
    assert error_of(Settings(), [*events, CoordinatorStarted(1)], Request(1, COMMIT)) == "NOT_COORDINATOR"
    assert simulate(Settings(), [BrokerFenced(1), Request(1, COMMIT)])[-1].state.effects == (
        NotReached(1, COMMIT, "billing"),
    )


def test_with_one_replica_nobody_can_be_found_for_as_long_as_its_broker_is_down():
    alone = Settings(broker_ids=IDS, replicas=(1,))
    events = [Request(1, COMMIT, offset=7), BrokerFenced(1), TimePassed(86_400_000)]
    assert error_of(alone, events, Request(2, FIND)) == "COORDINATOR_NOT_AVAILABLE"
    back = [*events, BrokerUnfenced(1), CoordinatorStarted(1), OrderCarriedOut(1, 2), LoadRead(1)]
    assert simulate(alone, [*back, Request(1, FETCH)])[-1].state.effects[0].value == 7


@pytest.mark.parametrize("release", RELEASES)
def test_leadership_that_is_given_back_is_a_takeover_too(release):
    settings = Settings(release)
    events = [Request(1, COMMIT, offset=7), *LOST, Request(2, COMMIT, offset=8), *BACK]
    life = carried_out(settings, simulate(settings, events)[-1].state)[-1].state
    assert (life.leader, life.coordinator(1).status, life.coordinator(2).status) == (1, "owned", "not owned")
    assert simulate(settings, [Request(1, FETCH)], life)[-1].state.effects[0].value == 8
    assert broken(settings, life) == ()


@pytest.mark.parametrize(("release", "outcome"), [("1.1", "found"), ("2.8.0", "found"), ("2.8.1", "depth")])
@pytest.mark.parametrize("promise", SETTLED)
def test_up_to_2_8_0_a_late_order_does_harm_and_since_2_8_1_none_does(release, outcome, promise):
    assert find(Settings(release), [promise]).outcome == outcome


def test_since_4_0_orders_come_in_order_and_no_promise_about_them_is_broken():
    assert find(Settings(), SETTLED).outcome == "depth"
    assert find(Settings(), [NEVER_OLD]).outcome == "found"


def test_if_orders_of_4_0_overtook_each_other_a_coordinator_would_keep_what_it_had():
    settings = Settings(orders_may_overtake=True)
    events = [
        *LOST, *BACK, OrderCarriedOut(1, 2), LoadRead(1), Request(1, COMMIT, offset=7), BrokerFenced(1),
        OrderCarriedOut(2, 3), OrderCarriedOut(2, 2),
    ]  # fmt: skip
    trace = simulate(settings, events)
    reasons = [each.reason for frame in trace for each in frame.state.effects if isinstance(each, OrderIgnored)]
    assert reasons == [ACTIVE_ALREADY, OLDER]
    assert NONE_LOST in broken(settings, trace[-1].state)
    with pytest.raises(IllegalEvent, match="come from one thread"):
        simulate(Settings(), events)


@pytest.mark.parametrize(("release", "status"), [("3.9", "owned"), ("4.3", "failed")])
def test_who_loads_without_leading_owns_nothing_up_to_3_9_and_has_failed_since_4_0(release, status):
    settings = Settings(release)
    late = [Request(1, COMMIT, offset=7), BrokerFenced(1), *BACK, OrderCarriedOut(2, 1), LoadRead(2)]
    life = simulate(settings, late)[-1].state
    assert life.coordinator(2).status == status
    if status == "owned":
        assert simulate(settings, [Request(2, FETCH)], life)[-1].state.effects[0].value == -1
        assert error_of(settings, late, Request(2, COMMIT)) == "NOT_COORDINATOR"
    else:
        assert any(isinstance(each, LoadFailed) for each in life.effects)
        assert error_of(settings, late, Request(2, FETCH)) == "NOT_COORDINATOR"


def test_up_to_3_9_a_load_keeps_the_one_thread_busy_and_since_4_0_a_resignation_ends_it():
    events = [BrokerFenced(1), OrderCarriedOut(2, 1), *BACK, OrderCarriedOut(2, 2)]
    with pytest.raises(IllegalEvent, match="one thread of broker 2 is busy"):
        simulate(Settings("3.9"), events)
    life = simulate(Settings(), events)[-1].state
    assert life.coordinator(2).status == "not owned"
    assert [type(each) for each in life.effects] == [Resigned]


def test_a_load_drops_what_no_transaction_has_ended_and_the_marker_brings_it_back():
    open_one = [Request(1, COMMIT, offset=7), Request(1, COMMIT, offset=9, producer_id=5), *LOST]
    trace = simulate(Settings(), [*open_one, Request(2, FETCH), TransactionEnded(5, True), Request(2, FETCH)])
    assert [each.value for frame in trace for each in frame.state.effects if getattr(each, "api", "") == FETCH] == [
        7,
        9,
    ]


@pytest.mark.parametrize(("release", "timeout_ms"), [("2.8", 10_000), ("4.3", 45_000)])
def test_members_get_their_whole_session_anew_from_the_load(release, timeout_ms):
    settings = Settings(release, check_interval_ms=10**9)
    events = [GroupStored("billing", ("c1", "c2")), TimePassed(timeout_ms - 1), *LOST, TimePassed(timeout_ms - 1)]
    trace = simulate(settings, [*events, Request(2, HEARTBEAT, member_id="c1"), TimePassed(1)])
    assert [each for frame in trace for each in frame.state.effects if isinstance(each, MemberExpired)] == [
        MemberExpired(2, "billing", "c2")
    ]
    assert error_of(settings, [*events, TimePassed(1)], Request(2, HEARTBEAT, member_id="c1")) == "UNKNOWN_MEMBER_ID"


def test_the_expiry_task_is_the_brokers_up_to_3_9_and_the_partitions_since_4_0():
    week_ms, interval_ms = 7 * 86_400_000, 600_000
    old = simulate(Settings("3.9"), [*LOST, TimePassed(interval_ms)])[-1].state
    assert [each.broker_id for each in old.effects if isinstance(each, Swept)] == [2]
    for release, first_ms in (("3.9", interval_ms - 200_000), ("4.3", interval_ms)):
        settings = Settings(release)
        loaded = simulate(settings, [Request(1, COMMIT), TimePassed(200_000), *LOST])[-1].state
        assert loaded.coordinator(2).next_sweep_ms == 200_000 + first_ms
        expired = simulate(settings, [TimePassed(week_ms)], loaded)[-1].state
        assert Swept(2, 1, 1) in expired.effects
        assert expired.answered == ()
        assert expired.coordinator(1).next_sweep_ms is None
    elsewhere = simulate(Settings(), [*LOST, *BACK])[-1].state
    assert elsewhere.coordinator(1).next_sweep_ms is None


def test_a_started_broker_of_3_9_sweeps_at_once():
    life = simulate(Settings("3.9"), [*LOST, BrokerUnfenced(1), CoordinatorStarted(1)])[-1].state
    assert life.effects == (Swept(1, 0, 0),)


def test_a_load_says_what_it_has_read():
    events = [Request(1, COMMIT, offset=each) for each in range(5)]
    assert simulate(Settings(), [*events, *LOST])[-1].state.effects == (LoadEnded(2, 5, 1),)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"release": "1.0"}, r"operations\.coordinator_life answers for 1\.1 to .*, not 1\.0"),
        ({"replicas": (3,)}, "replicas must name brokers"),
        ({"replicas": (1, 1)}, "each once"),
    ],
)
def test_settings_of_no_cluster_are_refused(words, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(**words)


@pytest.mark.parametrize("event", [BrokerFenced(7), LoadRead(1), OrderCarriedOut(1, 1), CoordinatorStarted(1)])
def test_what_makes_no_sense_is_refused(event):
    with pytest.raises(IllegalEvent):
        step(Settings(), start(Settings()), event)


@given(st.sampled_from(RELEASES), st.lists(EVENTS, max_size=25))
def test_whatever_happens_the_invariants_hold(release, events):
    settings = Settings(release, IDS, (1, 2))
    before = None
    for frame in sensible_run(step, settings, start(settings), events):
        check(settings, frame.state, before)
        before = frame.state


@given(st.sampled_from(["2.8.1", "3.9", "4.0", "4.3"]), st.lists(EVENTS, max_size=25))
def test_since_2_8_1_orders_that_are_carried_out_lead_to_one_coordinator_that_knows_all(release, events):
    settings = Settings(release, IDS, (1, 2), orders_may_overtake=False)
    trace = carried_out(settings, sensible_run(step, settings, start(settings), events)[-1].state)
    assert set(broken(settings, trace[-1].state)) <= {NEVER_OLD}
    assert start(settings).leader == 1
