"""The operations that brokers really have: what each waits for, and what ends it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.purgatory.operations import (
    AT_ONCE,
    BY_EVENT,
    BY_FORCE,
    BY_TIME,
    COMPLETED_WHEN_TRUE,
    LISTS_HOLD_WAITING,
    WHILE_LISTED,
    CheckAndComplete,
    Checked,
    Completed,
    FactChanged,
    ForceComplete,
    Never,
    Operation,
    Parked,
    Purged,
    Reached,
    Settings,
    SumReached,
    TimePassed,
    TryCompleteElseWatch,
    broken,
    check,
    delayed_delete_records,
    delayed_fetch,
    delayed_heartbeat,
    delayed_join,
    delayed_produce,
    initial_delayed_join,
    simulate,
    start,
    step,
)
from kafkalearn.purgatory.search import NOBODY_WAITS, PROGRESS, find_stuck

# Purgatories for tests: reached by events, with every state on the way checked.
SETTINGS = Settings()


def after(*events, purgatory=None, settings=SETTINGS):
    """The purgatory after some events, from a given one or from an empty one."""
    purgatory = start(settings) if purgatory is None else purgatory
    for event in events:
        before, purgatory = purgatory, step(settings, purgatory, event)
        check(settings, purgatory, before)
    return purgatory


def waits(name, *keys, fact=None, timeout_ms=1000):
    """An operation comes that waits until a fact, of its own name by default, is 1."""
    return TryCompleteElseWatch(Operation(name, keys, Reached(((fact or name, 1),)), timeout_ms))


def test_a_produce_request_waits_for_the_high_watermark_of_all_its_partitions():
    produce = delayed_produce("p1", {"orders-0": 7, "orders-1": 3})
    state = after(TryCompleteElseWatch(produce), FactChanged("HW orders-0", 8), CheckAndComplete("orders-0"))
    assert state.is_waiting("p1")
    state = after(FactChanged("HW orders-1", 4), CheckAndComplete("orders-1"), purgatory=state)
    assert state.effects[0] == Completed("p1", BY_EVENT)


@pytest.mark.parametrize(("up_to", "other"), [("HW", "LEO"), ("LEO", "HW")])
def test_a_fetch_waits_for_bytes_summed_over_its_partitions(up_to, other):
    fetch = delayed_fetch("f1", {"orders-0": 100, "orders-1": 0}, min_bytes=250, up_to=up_to)
    state = after(
        TryCompleteElseWatch(fetch), FactChanged(f"{other} bytes orders-0", 9999), CheckAndComplete("orders-0")
    )
    assert state.is_waiting("f1")
    state = after(
        FactChanged(f"{up_to} bytes orders-0", 300),
        FactChanged(f"{up_to} bytes orders-1", 49),
        CheckAndComplete("orders-0"),
        purgatory=state,
    )
    assert state.is_waiting("f1")
    state = after(FactChanged(f"{up_to} bytes orders-1", 50), CheckAndComplete("orders-1"), purgatory=state)
    assert state.effects[0] == Completed("f1", BY_EVENT)


def test_a_rebalance_waits_for_all_members_or_until_the_rebalance_timeout():
    join = TryCompleteElseWatch(delayed_join("rebalance", "billing", 3, rebalance_timeout_ms=60_000))
    state = after(join, FactChanged("rejoined billing", 2), CheckAndComplete("billing"))
    assert state.is_waiting("rebalance")
    assert after(TimePassed(60_000), purgatory=state).effects == (Completed("rebalance", BY_TIME),)
    state = after(FactChanged("rejoined billing", 3), CheckAndComplete("billing"), purgatory=state)
    assert state.effects[0] == Completed("rebalance", BY_EVENT)


def test_a_join_ends_when_the_member_that_is_missing_is_removed():
    join = TryCompleteElseWatch(delayed_join("rebalance", "billing"))
    state = after(
        FactChanged("members billing", 3), join, FactChanged("rejoined billing", 2), CheckAndComplete("billing")
    )
    assert state.is_waiting("rebalance")
    state = after(FactChanged("members billing", 2), CheckAndComplete("billing"), purgatory=state)
    assert state.effects[0] == Completed("rebalance", BY_EVENT)


def test_a_delete_request_waits_for_the_low_watermark_of_all_its_partitions():
    state = after(
        TryCompleteElseWatch(delayed_delete_records("d1", {"orders-0": 7, "orders-1": 3}, timeout_ms=1000)),
        FactChanged("low watermark orders-0", 7),
        CheckAndComplete("orders-0"),
    )
    assert state.is_waiting("d1")
    assert after(TimePassed(1000), purgatory=state).effects == (Completed("d1", BY_TIME),)
    state = after(FactChanged("low watermark orders-1", 4), CheckAndComplete("orders-1"), purgatory=state)
    assert state.effects[0] == Completed("d1", BY_EVENT)


def test_only_time_ends_the_first_wait_of_an_empty_group():
    state = after(TryCompleteElseWatch(initial_delayed_join("first", "billing")), FactChanged("rejoined billing", 9))
    state = after(CheckAndComplete("billing"), TimePassed(2_999), purgatory=state)
    assert state.is_waiting("first")
    assert after(TimePassed(1), purgatory=state).effects == (Completed("first", BY_TIME),)


def test_each_heartbeat_ends_the_one_before_and_the_last_one_removes_the_member():
    state = after(TryCompleteElseWatch(delayed_heartbeat("beat 1", "billing", "c1", 10_000)), TimePassed(9_000))
    state = after(
        ForceComplete("beat 1"),
        TryCompleteElseWatch(delayed_heartbeat("beat 2", "billing", "c1", 10_000)),
        TimePassed(9_000),
        purgatory=state,
    )
    assert state.is_waiting("beat 2")
    assert after(TimePassed(1_000), purgatory=state).effects == (Completed("beat 2", BY_TIME),)


def test_an_operation_whose_condition_came_true_waits_until_somebody_checks_its_key():
    changed = after(waits("r1", "k1"), FactChanged("r1", 1))
    assert broken(SETTINGS, changed) == (COMPLETED_WHEN_TRUE,)
    assert broken(SETTINGS, after(CheckAndComplete("k1"), purgatory=changed)) == ()


def test_completed_operations_stay_listed_until_a_purge():
    for purge_interval, expected in ((1, (LISTS_HOLD_WAITING,)), (0, ())):
        settings = Settings(purge_interval)
        done = after(waits("r1", "k1"), ForceComplete("r1"), TimePassed(0), settings=settings)
        assert broken(settings, done) == expected


WAITING = after(waits("r1", "k1"))
DONE = after(ForceComplete("r1"), purgatory=WAITING)


@pytest.mark.parametrize(
    ("state", "before", "words"),
    [
        (replace(WAITING, lists=()), None, "on the list of each of its keys"),
        (replace(WAITING, waiting=WAITING.waiting * 2), None, "an operation waits once"),
        (replace(WAITING, waiting=()), None, "what waits is in the timer"),
        (replace(WAITING, wheels=replace(WAITING.wheels, now_ms=-1)), None, "the invariants of wheels"),
        (replace(DONE, effects=DONE.effects * 2), WAITING, "completed once"),
        (replace(DONE, effects=()), WAITING, "completed once"),
        (replace(DONE, effects=(Completed("r9", BY_EVENT),)), WAITING, "completed once"),
        (replace(WAITING, effects=(Completed("r1", BY_EVENT),)), WAITING, "completed once"),
    ],
)
def test_a_state_that_cannot_be_is_found(state, before, words):
    with pytest.raises(AssertionError, match=words):
        check(SETTINGS, state, before)


def test_entries_of_completed_operations_stay_until_their_lists_are_walked():
    """The numbers of DelayedOperationTest.testRequestPurge."""
    three = after(waits("r1", "k1"), waits("r2", "k1", "k2"), waits("r3", "k1", "k2", "k3"))
    assert (three.delayed_count, three.watched_count) == (3, 6)

    done = after(ForceComplete("r2"), ForceComplete("r3"), purgatory=three)
    assert (done.delayed_count, done.watched_count) == (1, 6)

    walked = after(CheckAndComplete("k1"), purgatory=done)
    assert walked.watched_count == 4
    walked = after(CheckAndComplete("k2"), purgatory=walked)
    assert walked.watched_count == 2
    assert after(CheckAndComplete("k3"), purgatory=walked).watched_count == 1


def test_a_condition_that_holds_completes_at_once_and_nothing_is_kept():
    state = after(FactChanged("r1", 1), waits("r1", "k1"))
    assert state.effects == (Completed("r1", AT_ONCE),)
    assert (state.watched_count, state.delayed_count) == (0, 0)


def test_what_happens_while_it_is_being_listed_is_not_missed():
    event = replace(waits("r1", "k1"), changed_meanwhile=(("r1", 1),))
    state = after(event)

    assert state.effects == (Completed("r1", WHILE_LISTED),)
    assert (state.watched_count, state.delayed_count) == (1, 0)  # its entry is left for the next walk
    assert after(CheckAndComplete("k1"), purgatory=state).watched_count == 0


def test_a_fact_alone_completes_nothing_until_somebody_looks():
    state = after(waits("r1", "k1"), FactChanged("r1", 1))
    assert state.is_waiting("r1")
    assert after(CheckAndComplete("k1"), purgatory=state).effects == (Completed("r1", BY_EVENT), Checked("k1", 1))
    assert after(CheckAndComplete("other"), purgatory=state).effects == (Checked("other", 0),)


def test_time_completes_and_says_so():
    state = after(waits("r1", "k1", timeout_ms=20), waits("r2", "k1", timeout_ms=200), TimePassed(20))
    assert state.effects == (Completed("r1", BY_TIME),)
    assert state.effects[0].has_expired
    assert [operation.name for operation in state.waiting] == ["r2"]


def test_the_lists_are_purged_when_too_many_entries_are_of_completed_operations():
    """Purge interval 1, as for DeleteRecords; the numbers of DelayedOperationTest.testRequestPurge."""
    settings = Settings(purge_interval=1)
    some = after(waits("r1", "k1"), waits("r2", "k1", "k2"), waits("r3", "k1", "k2", "k3"), settings=settings)
    done = after(ForceComplete("r2"), TimePassed(0), purgatory=some, settings=settings)
    assert done.effects == ()  # one completed: not more than the interval
    purged = after(ForceComplete("r3"), TimePassed(0), purgatory=done, settings=settings)
    assert purged.effects == (Purged(5),)
    assert purged.lists == (("k1", ("r1",)),)


KEYS = ("k1", "k2", "k3")
CONDITIONS = st.one_of(
    st.just(Never()),
    st.builds(lambda name, number: Reached(((name, number),)), st.sampled_from("ab"), st.integers(0, 4)),
    st.builds(lambda first, second, least: SumReached((("a", first), ("b", second)), least), *[st.integers(0, 3)] * 3),
)
SCHEDULES = st.lists(
    st.one_of(
        st.tuples(
            st.just("try"),
            CONDITIONS,
            st.lists(st.sampled_from(KEYS), min_size=1, unique=True),
            st.integers(0, 50),
            st.one_of(st.just(()), st.tuples(st.tuples(st.sampled_from("ab"), st.integers(0, 5)))),
        ),
        st.builds(FactChanged, st.sampled_from("ab"), st.integers(0, 5)),
        st.builds(CheckAndComplete, st.sampled_from(KEYS)),
        st.builds(TimePassed, st.integers(0, 30)),
        st.tuples(st.just("force"), st.integers(0, 5)),
    ),
    max_size=25,
)


@given(SCHEDULES, st.integers(0, 4))
def test_every_operation_is_completed_once_and_never_with_time_left_for_nothing(schedule, purge_interval):
    settings, completed, deadlines, count = Settings(purge_interval), {}, {}, 0
    purgatory = start(settings)
    for entry in schedule:
        match entry:
            case ("try", condition, keys, timeout_ms, changed):
                count += 1
                event = TryCompleteElseWatch(Operation(f"o{count}", tuple(keys), condition, timeout_ms), changed)
                deadlines[f"o{count}"] = (purgatory.wheels.now_ms + timeout_ms, condition)
            case ("force", index):
                if not purgatory.waiting:
                    continue
                event = ForceComplete(purgatory.waiting[index % len(purgatory.waiting)].name)
            case _:
                event = entry
        purgatory = after(event, purgatory=purgatory, settings=settings)
        for effect in purgatory.effects:
            if isinstance(effect, Completed):
                assert effect.name not in completed
                completed[effect.name] = effect.how
                due_ms, condition = deadlines[effect.name]
                if effect.how == BY_TIME:
                    assert due_ms <= purgatory.wheels.now_ms
                elif effect.how != BY_FORCE:
                    assert condition.holds(purgatory.facts)
        assert {operation.name for operation in purgatory.waiting} == set(deadlines) - set(completed)
        assert purgatory.estimated_count - purgatory.delayed_count <= purge_interval or not isinstance(
            event, TimePassed
        )
        assert purgatory.watched_count >= sum(len(operation.keys) for operation in purgatory.waiting)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (TryCompleteElseWatch(Operation("x", (), Never(), 5)), "watches no key"),
        (waits("r1", "k2"), "'r1' is listed already"),
        (ForceComplete("r9"), "no operation 'r9' waits; waiting: r1"),
    ],
)
def test_what_makes_no_sense_is_refused(event, words):
    purgatory = after(waits("r1", "k1"))
    assert purgatory.effects == (Parked("r1"),)
    with pytest.raises(IllegalEvent, match=words):
        step(SETTINGS, purgatory, event)


# What a purgatory may keep for ever: both ends of a wait are needed, and either is enough for its own promise.
PRODUCES = [delayed_produce("p1", {"orders-0": 5}), delayed_produce("p2", {"orders-0": 6, "orders-1": 0})]
FETCH = delayed_fetch("f1", {"orders-0": 0}, min_bytes=2)
FACTS = {"HW orders-0": [6, 7], "HW orders-1": [1]}


@pytest.mark.parametrize("promise", PROGRESS)
@pytest.mark.parametrize("operations", [PRODUCES, [FETCH]], ids=["produces", "fetch"])
def test_with_checks_and_timers_nobody_waits_for_ever(operations, promise):
    facts = FACTS if operations is PRODUCES else {name: [1, 2] for name, _ in FETCH.condition.counted}
    assert find_stuck(operations, facts, promise).outcome == "nothing left"


@pytest.mark.parametrize(
    ("checks", "timers", "promise", "outcome"),
    [
        (False, True, NOBODY_WAITS, "nothing left"),
        (False, True, COMPLETED_WHEN_TRUE, "nothing left"),
        (True, False, COMPLETED_WHEN_TRUE, "nothing left"),
        (True, False, NOBODY_WAITS, "found"),  # what it waits for need not come
        (False, False, COMPLETED_WHEN_TRUE, "found"),  # it has come, and nobody looks
    ],
)
def test_each_end_of_a_wait_is_there_for_one_promise(checks, timers, promise, outcome):
    found = find_stuck(PRODUCES, FACTS, promise, checks=checks, timers=timers)

    assert found.outcome == outcome
    if found.trace is not None:
        waiting = found.trace[-1].state
        assert found.is_dead_end
        assert any(each.condition.holds(waiting.facts) for each in waiting.waiting) == (promise == COMPLETED_WHEN_TRUE)


def test_what_is_not_there_is_refused():
    with pytest.raises(KafkaLearnError, match="no end"):
        find_stuck(PRODUCES, FACTS, "no end")
    with pytest.raises(KafkaLearnError, match="at least one operation"):
        find_stuck([], FACTS)


def test_the_reaper_purges_after_each_round_so_that_the_lists_are_as_long_whether_time_passes_at_once_or_in_parts():
    parked = [
        TryCompleteElseWatch(Operation(name, ("orders-0", "orders-1"), Never(), timeout_ms))
        for name, timeout_ms in (("a", 100), ("b", 200), ("c", 300), ("d", 1000))
    ]
    settings = Settings(purge_interval=1)
    before = simulate(settings, parked)[-1].state
    at_once = step(settings, before, TimePassed(400))
    in_parts = simulate(settings, [TimePassed(ms) for ms in (100, 150, 149, 1)], before)
    assert at_once == in_parts[-1].state
    assert at_once.effects == tuple(effect for frame in in_parts[1:] for effect in frame.state.effects)
    assert at_once.effects[1:] == (Completed("b", BY_TIME), Purged(4), Completed("c", BY_TIME))
    assert dict(at_once.lists) == {"orders-0": ("c", "d"), "orders-1": ("c", "d")}
