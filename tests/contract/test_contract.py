"""Every simulator keeps one contract. A new one joins the `SIMULATORS` of its package, in this folder."""

import inspect
import pickle
import pkgutil
import re
from collections.abc import Hashable, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from importlib import import_module
from itertools import pairwise

import pytest

from kafkalearn import scenarios
from kafkalearn.base import facts
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, shown
from kafkalearn.base.trace import extend, run
from kafkalearn.releases.lines import RELEASES
from kafkalearn.views import animate, render_text
from tests import contract
from tests.contract.simulator import PARTS
from tests.every import every_case
from tests.project.modules import MODULES

BY_FILE = [
    import_module(f"{contract.__name__}.{each.name}").SIMULATORS
    for each in pkgutil.iter_modules(contract.__path__)
    if not each.name.startswith("test_") and each.name not in ("drawing", "simulator")
]
SIMULATORS = {name: each for part in BY_FILE for name, each in part.items()}
RUNS = [pytest.param(each, each_run, id=name) for name, each in SIMULATORS.items() for each_run in each.runs]
every_simulator = pytest.mark.parametrize("simulator", SIMULATORS.values(), ids=SIMULATORS)
every_run = pytest.mark.parametrize(("simulator", "one"), RUNS)

NONSENSE = (None, "Fetch", 7, object())


def trace_of(simulator, one):
    """The run, from the simulator's own `simulate`."""
    return simulator.part("simulate")(one.settings, one.events)


def test_every_simulator_is_held_to_the_contract():
    held = {each.part("step").__module__ for each in SIMULATORS.values()}
    assert held == {name for name, path in MODULES.items() if is_simulator(path.read_text(encoding="utf-8"))}
    assert sum(map(len, BY_FILE)) == len(SIMULATORS), "two simulators have one name"


def is_simulator(source):
    return re.search(r"^def step\(", source, re.MULTILINE) and re.search(r"^INVARIANTS\b", source, re.MULTILINE)


@every_simulator
def test_each_part_is_where_the_contract_has_it(simulator):
    for name in PARTS:
        assert simulator.part(name) is not None
    assert list(inspect.signature(simulator.part("start")).parameters) == ["settings"]
    assert len(inspect.signature(simulator.part("step")).parameters) == 3
    assert list(inspect.signature(simulator.part("simulate")).parameters) == ["settings", "events", "initial"]


@every_simulator
def test_settings_refuse_each_release_that_the_simulator_was_never_asked_about_and_say_which_it_knows(simulator):
    kind, one = simulator.part("Settings"), simulator.runs[0].settings
    if "release" not in {field.name for field in fields(kind)}:
        return  # what it runs in has one, or it has none
    answers = import_module(kind.__module__).ANSWERS_FOR
    required = [each.name for each in fields(kind) if each.init and each.default is each.default_factory]
    needed = {name: getattr(one, name) for name in required}
    for release in RELEASES:
        if release not in answers:
            words = f"{answers.simulator} answers for {answers.first} to {answers.last}, not {release}: "
            with pytest.raises(KafkaLearnError, match=re.escape(words)):
                kind(**needed, release=release)
    kind(**needed, release=answers.first)
    kind(**needed, release=answers.last)


@every_run
def test_settings_events_and_states_are_frozen_and_can_be_hashed(simulator, one):
    for frame in trace_of(simulator, one):
        for each in (one.settings, frame.state, frame.event):
            assert isinstance(hash(each), int)
            assert isinstance(each, Hashable)
        for each in (one.settings, frame.state, frame.event):
            if each is not None and is_dataclass(each) and fields(each):
                with pytest.raises(FrozenInstanceError):
                    setattr(each, fields(each)[0].name, None)


@every_run
def test_a_step_is_pure(simulator, one):
    step = simulator.part("step")
    for before, after in pairwise(trace_of(simulator, one)):
        as_it_was = pickle.dumps(before.state)
        again = step(one.settings, before.state, after.event)
        assert again == after.state
        assert again.effects == after.state.effects
        assert pickle.dumps(before.state) == as_it_was


@every_run
def test_effects_are_told_by_classes_of_their_own_and_are_no_part_of_what_makes_states_equal(simulator, one):
    homes = (simulator.home, *simulator.effects_in)
    trace = trace_of(simulator, one)
    events = {type(frame.event) for frame in trace}
    for frame in trace:
        assert isinstance(frame.state.effects, tuple)
        assert all(
            f"{type(effect).__module__}.".startswith(tuple(f"{home}." for home in homes))
            for effect in frame.state.effects
        )
        assert all(isinstance(each, facts.Effect) for each in frame.state.effects)
        assert frame.event is None or isinstance(frame.event, facts.Event)
        assert events.isdisjoint(map(type, frame.state.effects))
        other = replace(frame.state, effects=("something else",))
        assert other == frame.state
        assert hash(other) == hash(frame.state)
    assert any(frame.state.effects for frame in trace), "the run shows no effect"


@every_run
@every_case("event", NONSENSE, ids=["None", "a str", "an int", "an object"])
def test_what_is_no_event_of_it_is_refused(simulator, one, event):
    step = simulator.part("step")
    # A look-up has no choice: it names the only event that may be next.
    words = f"unknown event {shown(event)}; expected one of " if simulator is not SIMULATORS["lookup"] else shown(event)
    for frame in trace_of(simulator, one):
        with pytest.raises(IllegalEvent, match=f"^{re.escape(words)}"):
            step(one.settings, frame.state, event)


@every_run
def test_an_event_that_makes_no_sense_is_refused_and_changes_nothing(simulator, one):
    state = simulator.part("start")(one.settings)
    as_it_was = pickle.dumps(state)
    for event in simulator.senseless:
        with pytest.raises(IllegalEvent):
            simulator.part("step")(one.settings, state, event)
    assert pickle.dumps(state) == as_it_was


@every_run
def test_invariants_hold_and_promises_are_judged_in_every_state(simulator, one):
    invariants, promises = simulator.part("INVARIANTS"), simulator.part("PROMISES")
    assert isinstance(invariants, Mapping)
    assert isinstance(promises, Mapping)
    assert invariants or promises
    before = None
    for frame in trace_of(simulator, one):
        simulator.part("check")(one.settings, frame.state, before)
        assert set(simulator.part("broken")(one.settings, frame.state, before)) <= set(promises)
        before = frame.state


@every_run
def test_to_simulate_is_to_run_from_the_start_and_to_extend_is_to_go_on(simulator, one):
    start, step, simulate = (simulator.part(name) for name in ("start", "step", "simulate"))
    whole = simulate(one.settings, one.events)
    assert whole == run(step, one.settings, start(one.settings), one.events)
    for cut in range(1, len(whole) + 1):
        assert extend(step, one.settings, whole[:cut], one.events[cut - 1 :]) == whole
        rest = simulate(one.settings, one.events[cut - 1 :], whole[cut - 1].state)
        assert [frame.state for frame in rest] == [frame.state for frame in whole[cut - 1 :]]


DRAWN_ELSEWHERE = {"classic", "load_beside_cleaner", "offsets_topic", "share_states", "throttles", "zookeeper_tree"}
"""Simulators whose runs have no picture that is played moment by moment."""


@every_run
def test_each_run_is_drawn_moment_by_moment_by_one_name(simulator, one):
    trace = trace_of(simulator, one)
    if simulator in map(SIMULATORS.get, DRAWN_ELSEWHERE):
        with pytest.raises(KafkaLearnError, match="no picture is known for states of kafkalearn"):
            animate(trace, one.settings)
    elif simulator is SIMULATORS["consumer"]:
        with pytest.raises(KafkaLearnError, match="has room for 6 members and 12 partitions of one topic"):
            animate(trace, one.settings)
    else:
        shown = animate(trace, one.settings, title="What happens?", stills=[0])
        assert (len(shown.pictures), shown.trace, shown.title, shown.stills) == (
            len(trace),
            trace,
            "What happens?",
            (0,),
        )
        assert all(shown.captions)
        assert len(render_text(trace, one.settings).split("\n\n")) == len(trace)


def test_a_run_is_drawn_with_settings_of_its_own():
    simulator = SIMULATORS["replication"]
    trace = trace_of(simulator, simulator.runs[0])
    outcome = scenarios.simulate("at 0 s: c1 joins")

    for wrong, what_came in ((None, "None"), (SIMULATORS["delivery"].runs[0].settings, "Settings")):
        with pytest.raises(KafkaLearnError, match=rf"of kafkalearn.replication.settings.Settings; got {what_came}"):
            animate(trace, wrong)
    with pytest.raises(
        KafkaLearnError, match=r"all that came of it: animate\(simulate\(...\)\), not of its trace alone"
    ):
        animate(outcome.trace)
    with pytest.raises(KafkaLearnError, match="the search has found none"):
        animate(None)
    for no_run in ("replication", 7, (7,), simulator.runs[0].settings):
        with pytest.raises(KafkaLearnError, match="a run is the tuple of moments that a simulator returns, got"):
            animate(no_run, simulator.runs[0].settings)
    assert len(animate(outcome).pictures) == len(outcome.trace)
