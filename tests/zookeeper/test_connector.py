"""The old consumer, turn by turn: its lock, its tries, its listeners; and what it is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.assignors import OldConsumer, assign
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.zookeeper.connector import (
    BrokerStarted,
    BrokerStopped,
    CommitOffsets,
    Crash,
    CreateMessageStreams,
    HandleEvent,
    Produce,
    Read,
    RebalanceStep,
    Reconnect,
    SessionExpired,
    Settings,
    Shutdown,
    TopicCreated,
    TopicGrown,
    WaitForRecord,
    WakeWatcher,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.zookeeper.connector.model import (
    BACKOFF,
    EVENT,
    STAGES,
    WATCHER,
    Committed,
    GaveUp,
    InvalidConfig,
    RebalanceBegan,
    Released,
    Threw,
)
from kafkalearn.zookeeper.connector.simulator import owners
from kafkalearn.zookeeper.layout import consumer_of_thread, consumer_path, ids_path
from kafkalearn.zookeeper.schedules import play, possible_turns, settle
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter, read_subscription, stream_counts
from tests.schedules import sensible_steps

SETTINGS = Settings(auto_commit_enable=False)
CLUSTER = (BrokerStarted(0), TopicCreated("orders", 2))
C1, C2, C3 = (CreateMessageStreams(name, Streams({"orders": 1})) for name in ("c1", "c2", "c3"))


def after(group, *events, settings=SETTINGS):
    """The state after some events."""
    return simulate(settings, events, group)[-1].state


def at_rest(*joins, settings=SETTINGS):
    """A group that has settled."""
    return play(settings, [*CLUSTER, *joins])[-1].state


def test_a_try_has_eight_steps_in_their_order():
    group, stages = after(None, *CLUSTER, C1), []
    while group.connector("c1").attempt is not None:
        stages.append(group.connector("c1").attempt.stage)
        group = after(group, RebalanceStep("c1"))
    assert tuple(stages) == STAGES
    assert len(group.connector("c1").reads) == 2


def test_many_calls_become_one_rebalance():
    group = after(at_rest(C1), C2, C3, TopicGrown("orders", 3), HandleEvent("c1"), HandleEvent("c1"))
    assert group.connector("c1").is_triggered
    group = after(group, WakeWatcher("c1"))
    assert not group.connector("c1").is_triggered
    with pytest.raises(IllegalEvent, match="not called to rebalance"):
        after(group, WakeWatcher("c1"))


def test_a_watch_that_has_fired_is_left_again_only_by_the_event_thread_or_a_rebalance():
    group = after(at_rest(C1), C2)
    assert len(group.connector("c1").notices) == 1
    group = after(group, C3)
    assert len(group.connector("c1").notices) == 1  # nobody watched when c3 came
    assert group.tree.children("/consumers/billing/ids") == ("billing_c1", "billing_c2", "billing_c3")


def test_one_thread_has_the_lock_and_the_others_wait():
    group = after(at_rest(C1), SessionExpired("c1"), Reconnect("c1"))
    group = after(group, HandleEvent("c1"))
    assert group.connector("c1").attempt.thread == EVENT
    with pytest.raises(IllegalEvent, match="event thread of c1 has nothing"):
        after(group, HandleEvent("c1"))
    both = after(at_rest(C1), TopicGrown("orders", 3), HandleEvent("c1"), WakeWatcher("c1"))
    both = after(both, SessionExpired("c1"), Reconnect("c1"), HandleEvent("c1"))
    assert (both.connector("c1").attempt.thread, both.connector("c1").waiting) == (WATCHER, (EVENT,))
    assert settle(SETTINGS, both)[-1].state.connector("c1").reads


def test_who_finds_another_owner_deletes_what_it_has_created_itself():
    group = after(at_rest(C1), TopicGrown("orders", 3), C2)  # c2 is to have 2 alone, c1 has 0 and 1
    assert len(settle(SETTINGS, group, stopped=("c1",))[-1].state.connector("c2").reads) == 1
    group = after(at_rest(C1), C3, *[RebalanceStep("c3")] * 4)  # c3 wants 1
    group = after(group, C2, *[RebalanceStep("c2")] * 7)  # c2 sees three, and wants 1 too
    assert group.connector("c2").attempt.stage == BACKOFF
    assert group.connector("c2").attempt.conflict == ("orders", 1)
    assert [group.tree.node(f"/consumers/billing/owners/orders/{n}").session for n in (0, 1)] == ["c1", "c1"]


def test_all_four_tries_fail_while_the_other_does_nothing_and_only_a_new_call_helps():
    group = after(at_rest(C1), C2)
    thrown = []
    while group.connector("c2").attempt is not None:
        group = after(group, RebalanceStep("c2"))
        thrown += [effect for effect in group.effects if isinstance(effect, Threw | GaveUp)]
    assert isinstance(thrown[0], GaveUp)
    assert thrown[1].error.endswith("ConsumerRebalanceFailedException: billing_c2 can't rebalance after 4 retries")
    assert group.connector("c2").has_given_up
    settled = settle(SETTINGS, group)[-1].state
    assert settled.connector("c2").owned == ()  # c1 has released, but nobody tells c2
    assert len(settled.tree.children("/consumers/billing/owners/orders")) == 1
    grown = settle(SETTINGS, after(settled, TopicGrown("orders", 4)))[-1].state
    assert [len(each.reads) for each in grown.connectors] == [2, 2]
    with pytest.raises(IllegalEvent, match="has no streams"):
        after(grown, Read("c2"))  # createMessageStreams ended with an exception


def test_a_consumer_that_lost_its_session_can_delete_the_node_of_the_next_owner():
    group = after(at_rest(C1, C2), TopicGrown("orders", 4), HandleEvent("c1"), WakeWatcher("c1"))
    group = after(group, RebalanceStep("c1"), RebalanceStep("c1"), SessionExpired("c1"))
    group = settle(SETTINGS, group, stopped=("c1",))[-1].state
    assert len(group.tree.children("/consumers/billing/owners/orders")) == 4
    group = after(group, Reconnect("c1"), RebalanceStep("c1"))
    assert group.effects[0] == Released("c1", group.effects[0].partitions)
    assert len(group.tree.children("/consumers/billing/owners/orders")) == 3
    assert len(group.connector("c2").reads) == 4


def test_a_shutdown_waits_for_the_rebalance_that_is_going_on():
    group = after(at_rest(C1), TopicGrown("orders", 3), HandleEvent("c1"), WakeWatcher("c1"), Shutdown("c1"))
    assert group.connector("c1").is_running
    group = after(group, RebalanceStep("c1"))
    assert not group.connector("c1").is_running
    assert group.tree.ephemerals("c1") == ()


def test_with_auto_commit_offsets_are_written_before_partitions_are_given_up():
    settings = Settings(auto_offset_reset="smallest")
    group = after(at_rest(C1, settings=settings), Produce("orders", 1, 5), Read("c1"), settings=settings)
    trace = extend(step, settings, simulate(settings, (), group), [C2])
    rest = settle(settings, trace[-1].state)
    committed = [effect for frame in rest for effect in frame.state.effects if isinstance(effect, Committed)]
    assert Committed("c1", "orders", 1, 5) in committed
    assert rest[-1].state.tree.node("/consumers/billing/offsets/orders/1").data == "5"
    assert after(rest[-1].state, Read("c2"), settings=settings).effects == ()


def test_where_a_partition_begins_without_an_offset_is_a_setting():
    for reset, read in (("smallest", 3), ("largest", 0)):
        settings = Settings(auto_offset_reset=reset)
        group = after(None, *CLUSTER, Produce("orders", 0, 3), settings=settings)
        group = play(settings, [C1], group)[-1].state
        effects = after(group, Read("c1"), settings=settings).effects
        assert sum(effect.to_offset - effect.from_offset for effect in effects) == read


def test_a_time_out_is_thrown_and_the_stream_goes_on():
    settings = Settings(consumer_timeout_ms=1500)
    group = after(at_rest(C1, settings=settings), WaitForRecord("c1"), settings=settings)
    assert group.effects == (Threw("c1", "kafka.consumer.ConsumerTimeoutException"),)
    group = after(group, Produce("orders", 0), settings=settings)
    with pytest.raises(IllegalEvent, match="there are records"):
        after(group, WaitForRecord("c1"), settings=settings)
    assert after(group, Read("c1"), settings=settings).effects
    assert after(at_rest(C1), WaitForRecord("c1")).effects == ()


def test_who_waits_for_its_session_can_do_nothing_in_zookeeper_but_reads_on():
    group = after(at_rest(C1), Produce("orders", 0), SessionExpired("c1"))
    for event in (CommitOffsets("c1"), HandleEvent("c1"), RebalanceStep("c1")):
        with pytest.raises(IllegalEvent, match="has expired"):
            after(group, event)
    assert after(group, Read("c1")).effects
    assert possible_turns(group) == (Reconnect("c1"),)


@pytest.mark.parametrize(
    "wrong",
    [{"partition_assignment_strategy": "sticky"}, {"auto_offset_reset": "earliest"}],
)
def test_settings_that_kafka_refuses_are_refused_in_its_words(wrong):
    with pytest.raises(InvalidConfig, match="Wrong value"):
        Settings(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"group": ""}, {"group": "a/b"}, {"rebalance_max_retries": 0}, {"release": "2.0"}, {"group": None}]
)
def test_other_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(KafkaLearnError):
        Settings(**wrong)


def test_roundrobin_up_to_0_10_1_fails_for_threads_that_are_not_alike():
    settings = Settings(partition_assignment_strategy="roundrobin", release="0.10.1")
    other = CreateMessageStreams("c2", Streams({"mail": 1}))
    trace = play(settings, [*CLUSTER, TopicCreated("mail", 1), C1, other])
    assert any(isinstance(effect, GaveUp) for frame in trace for effect in frame.state.effects)
    assert sum(isinstance(effect, RebalanceBegan) for frame in trace for effect in frame.state.effects) == 3


NAMES = ("c1", "c2", "c10")
WANTS = (
    Streams({"orders": 1}),
    Streams({"orders": 2, "mail": 1}),
    Streams({"mail": 3}),
    Filtered(TopicFilter("white_list", "orders|new"), 2),
    Filtered(TopicFilter("black_list", "mail")),
)
SHOP = (BrokerStarted(0), TopicCreated("orders", 3), TopicCreated("mail", 2))
name = st.sampled_from(NAMES)
EVENTS = st.one_of(
    st.builds(CreateMessageStreams, name, st.sampled_from(WANTS)),
    *[st.builds(kind, name) for kind in (Shutdown, Crash, Reconnect, Read, CommitOffsets)],
    *[st.builds(kind, name) for kind in (HandleEvent, WakeWatcher, RebalanceStep, RebalanceStep, RebalanceStep)],
    st.builds(SessionExpired, st.sampled_from((*NAMES, "c1/2", "c2/2"))),
    st.builds(TopicGrown, st.sampled_from(("orders", "mail")), st.integers(4, 6)),
    st.builds(TopicCreated, st.just("new"), st.integers(1, 3)),
    st.builds(Produce, st.sampled_from(("orders", "mail")), st.integers(0, 2), st.integers(1, 5)),
    st.sampled_from((BrokerStopped(0), BrokerStarted(0))),
)
ANY_SETTINGS = st.builds(
    Settings,
    partition_assignment_strategy=st.sampled_from(("range", "roundrobin")),
    auto_commit_enable=st.booleans(),
    auto_offset_reset=st.sampled_from(("smallest", "largest")),
)


def states(chosen, events):
    """The states of a run, each with the one before; events that make no sense are left out."""
    return ((before, group) for before, _, group in sensible_steps(step, chosen, start(chosen), (*SHOP, *events)))


@settings(max_examples=150, deadline=None)
@given(ANY_SETTINGS, st.lists(EVENTS, max_size=60))
def test_invariants_hold_over_any_schedule(chosen, events):
    for before, group in states(chosen, events):
        check(chosen, group, before)


@settings(max_examples=60, deadline=None)
@given(ANY_SETTINGS, st.lists(EVENTS, max_size=40), st.randoms(use_true_random=False))
def test_in_the_end_each_partition_has_one_thread_or_somebody_has_given_up(chosen, events, random):
    *_, (_, group) = states(chosen, events)
    live = {each.session for each in group.connectors if each.is_running}
    for session in group.tree.sessions:  # those of processes that are gone expire at last
        if session.name.startswith("c") and session.name != "controller" and session.name not in live:
            group = step(chosen, group, SessionExpired(session.name))
    if not group.tree.children("/brokers/ids"):
        group = step(chosen, group, BrokerStarted(0))
    group = settle(chosen, group, random.choice)[-1].state
    assert group.is_quiet
    assert possible_turns(group) == ()
    if not any(each.has_given_up for each in group.connectors):
        assert {topic: owners(chosen.group, group.tree, topic) for topic in topics(group)} == expected(chosen, group)
        for each in group.connectors:
            assert each.reads == each.owned


def topics(group):
    """All topics."""
    return group.tree.children("/brokers/topics")


def expected(chosen, group):
    """Who owns what by the assignor alone, computed from the nodes that are there in the end."""
    ids = group.tree.children(ids_path(chosen.group))
    read = [read_subscription(group.tree.node(consumer_path(chosen.group, each)).data) for each in ids]
    consumers = [
        OldConsumer(each, stream_counts(want, lambda: topics(group))) for each, want in zip(ids, read, strict=True)
    ]
    counts = {topic: group.tree.node(f"/brokers/topics/{topic}").data.count("[0]") for topic in topics(group)}
    owned = {topic: {} for topic in topics(group)}
    answer = assign(chosen.partition_assignment_strategy, counts, consumers, side="old-consumer")
    for thread, partitions in answer.items():
        assert consumer_of_thread(thread) in ids
        for topic, number in partitions:
            owned[topic][number] = thread
    return owned


@settings(max_examples=60, deadline=None)
@given(ANY_SETTINGS, st.lists(EVENTS, max_size=60))
def test_no_partition_has_two_owners_in_zookeeper_and_each_owner_has_a_session(chosen, events):
    for _, group in states(chosen, events):
        sessions = {session.name for session in group.tree.sessions}
        for topic in topics(group):
            for number in owners(chosen.group, group.tree, topic):
                node = group.tree.node(f"/consumers/{chosen.group}/owners/{topic}/{number}")
                assert node.session in sessions
