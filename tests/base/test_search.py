"""What a search remembers makes it quick and changes nothing: the plain search finds the same states and runs."""

from collections import deque
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from kafkalearn import delivery, replication
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.liveness import find_stuck
from kafkalearn.base.search import Model, Progress, Relabelling, explore, survey, whole
from kafkalearn.base.trace import Parts
from kafkalearn.base.walks import walk
from kafkalearn.delivery import search as delivery_search
from kafkalearn.replication.search import alphabet, model
from kafkalearn.replication.simulator import IN_ORDER
from tests.base.plain_search import after, plain_search

# Three counters: an event raises one of them, up to 3, and beyond 1 only if the one before it is as high.
COUNTERS = range(3)


def raise_counter(settings: None, counters: tuple[int, ...], index: int) -> tuple[int, ...]:
    if counters[index] == 3 or (counters[index] >= 1 and counters[index - 1] < counters[index]):
        raise IllegalEvent(f"counter {index} cannot be raised")
    return (*counters[:index], counters[index] + 1, *counters[index + 1 :])


def raise_part(draft: Parts, index: int) -> None:
    own = draft.read(index)
    if own == 3 or (own >= 1 and draft.read((index - 1) % 3) < own):
        raise IllegalEvent(f"counter {index} cannot be raised")
    draft.write(index, own + 1)


def turned(by: int) -> Relabelling:
    """Counters named in turn: the rule, which looks at the one before, is the same."""
    places = tuple((index + by) % 3 for index in COUNTERS)
    return Relabelling(places, lambda _, part: part, lambda index: places[index])


def sum_below(limit: int) -> tuple:
    return (("small", lambda draft: sum(map(draft.read, COUNTERS)) < limit),)


def parted(promises=(), relabellings=()) -> Model:
    return Model(None, raise_counter, lambda counters: counters, raise_part, promises, relabellings)


def reachable() -> set[tuple[int, ...]]:
    """Every state, found the plain way."""
    found, waiting = {(0, 0, 0)}, deque([(0, 0, 0)])
    while waiting:
        state = waiting.popleft()
        for index in COUNTERS:
            try:
                after = raise_counter(None, state, index)
            except IllegalEvent:
                continue
            if after not in found:
                found.add(after)
                waiting.append(after)
    return found


def test_every_state_is_found_once_however_it_is_split():
    count = len(reachable())
    for each in (parted(), whole(None, raise_counter, {})):
        search = explore(each, (0, 0, 0), COUNTERS)
        assert (search.outcome, search.trace, search.state_count) == ("nothing left", None, count)


def test_states_that_differ_by_names_alone_are_one():
    classes = {min((s[by:] + s[:by]) for by in COUNTERS) for s in reachable()}
    search = explore(parted(relabellings=(turned(1), turned(2))), (0, 0, 0), COUNTERS)
    assert search.state_count == len(classes)


def test_names_are_kept_apart_where_the_events_tell_them_apart():
    model = parted(relabellings=(turned(1), turned(2)))
    assert explore(model, (0, 0, 0), [0]).state_count == 2


@given(st.integers(1, 9), st.booleans())
def test_the_run_found_is_a_shortest_and_is_played_in_one_set_of_names(limit, is_relabelled):
    relabellings = (turned(1), turned(2)) if is_relabelled else ()
    search = explore(parted(sum_below(limit), relabellings), (0, 0, 0), COUNTERS)

    assert (search.outcome, search.broken, search.depth) == ("found", ("small",), limit)
    assert [sum(frame.state) for frame in search.trace] == list(range(limit + 1))
    for before, following in pairwise(search.trace):
        assert raise_counter(None, before.state, following.event) == following.state


def test_a_promise_broken_at_the_start_is_found_there():
    search = explore(parted(sum_below(0)), (0, 0, 0), COUNTERS)
    assert (search.outcome, len(search.trace), search.depth) == ("found", 1, 0)


def test_a_search_ends_at_its_depth_or_with_its_budget():
    at_depth = explore(parted(), (0, 0, 0), COUNTERS, depth=2)
    assert (at_depth.outcome, at_depth.depth) == ("depth", 2)

    spent = explore(parted(), (0, 0, 0), COUNTERS, budget=5)
    assert spent.outcome == "budget"
    assert 5 <= spent.state_count < len(reachable())


class Up(int):
    pass


class Down(int):
    pass


def test_limited_events_happen_so_often_and_not_more():
    walk = whole(None, lambda settings, at, event: at + (1 if isinstance(event, Up) else -1), {})
    search = explore(walk, 0, [Up(1), Down(1)], at_most={Up: 2, Down: 1})
    # Where it is: 0; 1, -1; 2. Back at 0 or 1 with less left than at first, nothing new can follow.
    assert (search.outcome, search.state_count, search.depth) == ("nothing left", 4, 3)
    assert plain_search(walk, 0, [Up(1), Down(1)], None, {Up: 2, Down: 1}).state_count == 6


# Small machines whose parts are a few numbers: an event writes one of them by what it reads in one or two, or makes no
# sense there. One promise looks at some parts alone; events of each kind may be limited.


@dataclass(frozen=True)
class Write:
    """An event: looks at two parts, and writes one by what it sees."""

    looks: tuple[int, int]
    writes: int
    table: tuple[int | None, ...]  # by what it sees: the new number; None: it makes no sense

    def happen(self, draft: Parts) -> None:
        first, second = map(draft.read, self.looks)
        new = self.table[first * SIZE + second]
        if new is None:
            raise IllegalEvent("not here")
        draft.write(self.writes, new)


class Rare(Write):
    """One that happens so often and not more."""


class Scarce(Write):
    """Another."""


SIZE, PLACES = 3, 3
places = st.integers(0, PLACES - 1)
tables = st.lists(st.sampled_from([None, *range(SIZE)]), min_size=SIZE**2, max_size=SIZE**2).map(tuple)
writes = st.builds(
    lambda kind, looks, place, table: kind(looks, place, table),
    st.sampled_from([Write, Rare, Scarce]), st.tuples(places, places), places, tables,
)  # fmt: skip
machines = st.tuples(
    st.lists(writes, min_size=2, max_size=6, unique=True),
    st.fixed_dictionaries({Rare: st.integers(0, 2), Scarce: st.integers(0, 2)}),
    st.tuples(*[st.integers(0, SIZE - 1)] * PLACES),  # the combination that breaks the promise
)


def machine_of(bad: tuple[int, ...]) -> Model:
    def step(settings: None, state: tuple[int, ...], event: Write) -> tuple[int, ...]:
        draft = Parts(state)
        event.happen(draft)
        return draft.all()

    def holds(draft: Parts) -> bool:
        return any(draft.read(place) != number for place, number in enumerate(bad))

    return Model(None, step, lambda state: state, lambda draft, event: event.happen(draft), (("never", holds),))


@given(machines)
@examples(max_examples=max(300, examples.default.max_examples))  # of ten thousand: tests/conftest.py
def test_what_is_left_out_changes_no_answer(drawn):
    events, at_most, bad = drawn
    model = machine_of(bad)
    full = plain_search(model, (0,) * PLACES, events, None, at_most)
    found = explore(model, (0,) * PLACES, events, at_most=at_most)

    assert (found.outcome == "found", found.broken) == (bool(full.broken), full.broken)
    assert found.state_count <= full.state_count
    if found.trace is not None:
        assert (found.depth, len(found.trace), found.trace[-1].state) == (full.depth, full.depth + 1, bad)
        assert all(sum(type(frame.event) is kind for frame in found.trace) <= most for kind, most in at_most.items())


@given(machines, st.lists(st.integers(1, 9), max_size=4))
def test_a_search_that_stops_and_goes_on_finds_what_one_without_a_stop_finds(drawn, budgets):
    events, at_most, bad = drawn
    straight = explore(machine_of(bad), (0,) * PLACES, events, at_most=at_most)
    found = explore(machine_of(bad), (0,) * PLACES, events, at_most=at_most, budget=1)
    for budget in (*budgets, 1_000_000):
        if found.outcome == "budget":
            found = found.go_on(budget=budget)

    assert found == straight


def test_a_search_goes_on_deeper_and_once():
    shallow = explore(parted(sum_below(7)), (0, 0, 0), COUNTERS, depth=2)
    deeper = shallow.go_on(depth=5)
    assert (deeper.outcome, deeper.depth) == ("depth", 5)
    assert deeper.go_on() == explore(parted(sum_below(7)), (0, 0, 0), COUNTERS)
    with pytest.raises(KafkaLearnError, match="was gone on with before"):
        shallow.go_on()
    with pytest.raises(KafkaLearnError, match="has ended with 'nothing left'"):
        explore(parted(), (0, 0, 0), COUNTERS).go_on()
    with pytest.raises(KafkaLearnError, match="budget must be at least 1"):
        explore(parted(), (0, 0, 0), COUNTERS, depth=2).go_on(budget=0)


def test_progress_is_told_at_every_depth():
    told = []
    search = explore(parted(), (0, 0, 0), COUNTERS, depth=3, progress=told.append)
    assert [each.depth for each in told] == [1, 2, 3]
    assert told[0] == Progress(1, 1, 0)
    assert told[-1].state_count < search.state_count


def test_a_step_that_depends_on_more_than_its_parts_is_found_out():
    calls = []

    def happen(draft: Parts, event: int) -> None:
        place = len(calls) % 2
        calls.append(event)
        draft.write(place, draft.read(place) + 1)

    with pytest.raises(AssertionError, match="no pure function of the parts"):
        explore(Model(None, None, lambda state: state, happen), (0, 0), [1], depth=5)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"budget": 0}, "budget must be at least 1, got 0"),
        ({"depth": -1}, "depth must be at least 0, got -1"),
        ({"at_most": {Up: -1}}, r"at_most\[Up\] must be at least 0, got -1"),
    ],
)
def test_limits_that_cannot_be_are_refused(limits, said):
    with pytest.raises(KafkaLearnError, match=said):
        explore(parted(), (0, 0, 0), COUNTERS, **limits)


def test_one_survey_finds_the_run_that_each_promise_alone_would():
    promises = {
        "no 12": lambda _, number: number != 12,
        "no 5": lambda _, number: number != 5,
        "no 10": lambda _, number: number != 10,
        "no 99": lambda _, number: number != 99,
    }

    def step(limit, number, event):
        return min(number * 2 if event == "double" else number + 1, limit)

    found = survey(whole(20, step, promises), 1, ["double", "add"])
    alone = {name: explore(whole(20, step, {name: holds}), 1, ["double", "add"]) for name, holds in promises.items()}
    assert found.outcome == alone["no 99"].outcome == "nothing left"
    assert found.state_count == alone["no 99"].state_count
    assert dict(found.traces) == {name: each.trace for name, each in alone.items() if each.trace}
    assert set(found.traces) == {"no 12", "no 5", "no 10"}
    del promises["no 99"]
    assert survey(whole(20, step, promises), 1, ["double", "add"]).outcome == "found"


FAILOVER = (
    replication.Fetch,
    replication.BrokerCrashed,
    replication.BrokerStarted,
    replication.SessionExpired,
    replication.HighWatermarkCheckpointed,
)
LAG = (replication.TimePassed(30_001), replication.IsrChecked, replication.AlterPartitionAnswered)
LIMITS = {replication.Produce: 2, replication.BrokerCrashed: 2, replication.TimePassed: 2}


def assert_same(searched, initial, events, depth, at_most):
    """Both searches, with names told apart and not."""
    for each in (searched, replace(searched, relabellings=())):
        quick = explore(each, initial, events, depth=depth, at_most=at_most)
        full = plain_search(each, initial, events, depth, at_most)
        plain = plain_search(each, initial, events, depth, at_most, is_full=False)
        assert (quick.depth, quick.broken) == (full.depth, full.broken) == (plain.depth, plain.broken)
        assert quick.state_count == plain.state_count <= full.state_count
        assert (quick.trace is None) == (plain.broken == ())
        if quick.trace is not None:
            assert len(quick.trace) == plain.depth + 1
            parts = each.split(initial)
            for frame in quick.trace[1:]:
                parts = after(each, parts, frame.event)
            assert {name for name, holds in each.promises if not holds(Parts(parts))} == {*plain.broken}


@pytest.mark.parametrize("release", ["0.10.2", "1.1", "2.4", "4.3"])
@pytest.mark.parametrize("acks", [1, "all"])
def test_of_two_replicas_under_the_rules_of_every_era(release, acks):
    settings = replication.Settings(2, release, fetch_wait_max_ms=0)
    events = alphabet(settings, replication.Produce(acks=acks), *FAILOVER, *LAG)
    assert_same(model(settings), replication.start(settings), events, 5 if release == "0.10.2" else 4, LIMITS)


@pytest.mark.parametrize("wait_ms", [0, 500])
def test_of_three_replicas_whose_fetches_wait_or_do_not(wait_ms):
    settings = replication.Settings(3, min_insync_replicas=2, fetch_wait_max_ms=wait_ms)
    events = alphabet(settings, replication.Produce(), *FAILOVER, *LAG)
    assert_same(model(settings, (IN_ORDER,)), replication.start(settings), events, 3, LIMITS)


def test_of_a_producer_that_sends_again():
    settings = delivery.Settings(replication.Settings(2, fetch_wait_max_ms=0), delivery.ProducerSettings(acks=1))
    kinds = (delivery.Send, delivery.RequestSent, delivery.RequestArrived, delivery.ConnectionLost)
    events = alphabet(settings.topic, *kinds, *FAILOVER)
    limits = {delivery.Send: 2, replication.BrokerCrashed: 1}
    searched = delivery_search.model(settings, (delivery.NONE_DOUBLED,))
    assert_same(searched, delivery.start(settings), events, 5, limits)


@pytest.mark.parametrize("ask", [explore, survey, walk, find_stuck])
def test_every_search_says_what_it_takes_where_something_of_another_type_came(ask):
    door = whole(None, lambda _, state, event: state, {"open": lambda _, state: True})
    for asked, says in (
        ((3, "outside", ["go"]), "model must be a Model, as `whole` makes it of a step, got 3"),
        ((door, "outside", 3), "events must be a collection of events, got int 3"),
    ):
        with pytest.raises(KafkaLearnError, match=says):
            ask(*asked)
    for limits, says in (
        (3, "at_most must be a dict from type to how often, got int 3"),
        ({"go": 1}, "at_most must be a dict from type to how often, got 'go' for a type"),
        ({str: "often"}, r"at_most\[str\] must be a whole number of at least 0"),
    ):
        with pytest.raises(KafkaLearnError, match=says):
            ask(door, "outside", ["go"], at_most=limits)
