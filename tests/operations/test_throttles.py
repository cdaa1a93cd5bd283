"""The throttles of reassignments: step by step as a real tool and its brokers had them, and by law."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.operations.reassignment import Target, cancel_text, execute_text, list_text, verify_text
from kafkalearn.operations.throttles import (
    MOVES_LIMITED,
    NONE_LEFT,
    ONLY_MOVES,
    Cancel,
    Copied,
    Execute,
    Refused,
    Settings,
    Verify,
    broken,
    check,
    start,
    step,
)
from tests.recorded import recorded
from tests.schedules import sensible_steps

BROKERS = (1, 2, 3, 4)
RECORDED = recorded("throttles")
BIG, ORDERS = (Target("big", 0, (3, 4)),), (Target("orders", 0, (2, 3)),)
CLUSTER = Settings(BROKERS, {"big": [(1, 2)], "orders": [(1, 2), (2, 3)]})


def event_of(recorded_step):
    plan = tuple(Target(*each) for each in recorded_step["plan"])
    options = recorded_step["options"]
    if recorded_step["do"] == "execute":
        throttle = int(options[options.index("--throttle") + 1]) if "--throttle" in options else None
        return Execute(plan, throttle, "--additional" in options)
    kind = Cancel if recorded_step["do"] == "cancel" else Verify
    return kind(plan, "--preserve-throttles" in options)


def lists_of(state, side):
    return {
        each.topic: ",".join(f"{partition}:{broker}" for partition, broker in getattr(each, side))
        for each in state.lists
    }


def replayed(steps):
    """Each recorded step with its event and the states around it."""
    cluster = Settings(BROKERS, RECORDED["topics"])
    state = start(cluster)
    for each in steps:
        before = ended(cluster, state, lambda move, each=each: str(move.at) in each["ended"])
        event = event_of(each)
        state = step(cluster, before, event)
        # what has nothing to copy, or little, was copied within the second
        state = ended(cluster, state, lambda move, each=each: str(move.at) not in each["after"]["list"])
        yield each, event, before.cluster(cluster), state, state.cluster(cluster)


def ended(cluster, state, is_over):
    for move in state.moves:
        if is_over(move):
            state = step(cluster, state, Copied(*move.at))
    return state


def test_rates_lists_and_moves_are_those_of_a_real_cluster_after_every_step():
    for each, _, _, state, cluster in replayed(RECORDED["steps"]):
        after = each["after"]
        assert {str(broker): [str(rate)] * 2 for broker, rate in state.rates} == after["rates"]
        assert lists_of(state, "leader") == after["leader"]
        assert lists_of(state, "follower") == after["follower"]
        assert list_text(cluster) == after["list"]


def test_the_tool_printed_what_its_texts_say_of_the_state_before():
    for each, event, before, _, _ in replayed(RECORDED["steps"]):
        if isinstance(event, Execute):
            printed = execute_text(
                event.plan, before, throttle=event.throttle, is_additional=event.is_additional
            ).splitlines()
            assert printed[-1] in each["printed"]
        else:
            text = cancel_text if isinstance(event, Cancel) else verify_text
            assert text(event.plan, before, keeps_throttles=event.keeps_throttles) == each["printed"]


def after(*events):
    state = start(CLUSTER)
    for event in events:
        state = step(CLUSTER, state, event)
    return state


def test_to_cancel_one_plan_takes_the_limit_from_the_other():
    both = after(Execute(BIG, 1000), Execute(ORDERS, 1000, is_additional=True))
    assert both.limit(TopicPartition("big", 0), 4) == 1000
    assert MOVES_LIMITED in broken(CLUSTER, step(CLUSTER, both, Cancel(ORDERS)))
    assert broken(CLUSTER, step(CLUSTER, both, Cancel(ORDERS, keeps_throttles=True))) == (ONLY_MOVES,)


def test_a_forgotten_verify_leaves_the_limit_and_one_of_another_plan_the_lists():
    copied = after(Execute(BIG, 1000), Copied("big", 0))
    assert broken(CLUSTER, copied) == (NONE_LEFT, ONLY_MOVES)
    assert broken(CLUSTER, step(CLUSTER, copied, Verify(BIG))) == ()
    other = step(CLUSTER, copied, Verify(ORDERS))
    assert (other.rates, len(other.lists)) == ((), 1)
    assert broken(CLUSTER, other) == (NONE_LEFT, ONLY_MOVES)


def test_while_something_moves_verify_clears_nothing_and_a_second_plan_needs_additional():
    moving = after(Execute(BIG, 1000))
    assert step(CLUSTER, moving, Verify(ORDERS)) == moving
    (refused,) = step(CLUSTER, moving, Execute(ORDERS)).effects
    assert isinstance(refused, Refused)


def test_a_plan_that_copies_nothing_ends_at_once():
    for replicas in ((2, 1), (2,), (1,)):  # another order, fewer replicas
        ended_at_once = after(Execute([Target("orders", 0, replicas)], 1000))
        assert ended_at_once.moves == ()
        assert ended_at_once.partitions[1].assignment.replicas == replicas


def test_a_move_that_gets_another_goal_is_still_sent_by_the_replicas_that_began():
    moved = after(Execute([Target("orders", 0, (3, 2))], 1000), Execute([Target("orders", 0, (4, 2))], 1000, True))
    (lists,) = moved.lists
    assert lists.leader == ((0, 1), (0, 2))
    assert lists.follower == ((0, 4),)


def test_a_move_keeps_its_limit_when_it_gets_another_goal_without_one():
    moved = after(Execute([Target("orders", 0, (3, 2))], 1000), Execute([Target("orders", 0, (4, 2))], None, True))
    assert moved.moves[0].throttle == 1000
    assert MOVES_LIMITED in broken(CLUSTER, moved)  # the new replica is on no list


def test_rates_are_cleared_on_the_brokers_of_the_plan_too_that_are_gone():
    (cleared,) = after(Verify([Target("orders", 0, (1, 9))])).effects
    assert cleared.broker_ids == (1, 2, 3, 4, 9)


plans = st.lists(
    st.sampled_from([TopicPartition("big", 0), TopicPartition("orders", 0), TopicPartition("orders", 1)]),
    min_size=1,
    max_size=2,
    unique=True,
).flatmap(
    lambda places: st.tuples(
        *(
            st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True).map(
                lambda ids, at=at: Target(*at, tuple(ids))
            )
            for at in places
        )
    )
)
events = st.one_of(
    st.builds(Execute, plans, st.sampled_from([None, 1000, 2000]), st.booleans()),
    st.builds(Verify, plans, st.booleans()),
    st.builds(Cancel, plans, st.booleans()),
    st.sampled_from([Copied("big", 0), Copied("orders", 0), Copied("orders", 1)]),
)


@given(st.lists(events, max_size=10))
@settings(max_examples=100)
def test_whatever_is_executed_and_cancelled_the_invariants_hold(happenings):
    for before, event, after in sensible_steps(step, CLUSTER, start(CLUSTER), happenings):
        check(CLUSTER, after, before)
        if not after.moves and isinstance(event, Verify) and not event.keeps_throttles:
            assert after.rates == ()


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(KafkaLearnError, match=r"topics has replicas on \[9\]"):
        Settings((1, 2), {"orders": [(1, 9)]})
    with pytest.raises(KafkaLearnError, match="a name of topics must be a str, got bytes b'x'"):
        Settings((1, 2), {"orders": [(1,)], b"x": [(1,)]})
    with pytest.raises(KafkaLearnError, match="at least one broker, each once"):
        Settings((1, 1), {"orders": [(1,)]})
    with pytest.raises(KafkaLearnError, match="must be Target"):
        Execute(["orders-0"])
    with pytest.raises(IllegalEvent, match="orders-1 does not move"):
        step(CLUSTER, start(CLUSTER), Copied("orders", 1))
