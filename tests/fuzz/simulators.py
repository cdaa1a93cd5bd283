"""Every simulator that keeps the contract, given odd settings and odd events in the middle of its runs."""

from __future__ import annotations

import pickle
from dataclasses import fields
from random import Random

from kafkalearn.base.errors import shown
from tests.contract.simulator import Run, Simulator
from tests.contract.test_contract import SIMULATORS
from tests.fuzz.faults import Faults
from tests.fuzz.odd import hints_of, judges_itself, spoilt, with_odd_field

MOST_AFTERWARDS = 4  # events of the run that follow an odd one: what was accepted must not fail them


def fuzz_simulator(name: str, seed: int, rounds: int) -> Faults:
    """Give a simulator `rounds` odd events, each at some moment of one of its runs, and half as many odd settings."""
    simulator = SIMULATORS[name]
    faults, random = Faults(), Random(f"{name}/{seed}")
    for _ in range(rounds):
        one = random.choice(simulator.runs)
        _try_event(simulator, faults, random, one)
        if random.random() < 0.5:
            _try_settings(simulator, faults, random, one)
    return faults


def _try_event(simulator: Simulator, faults: Faults, random: Random, one: Run) -> None:
    trace = simulator.part("simulate")(one.settings, one.events)
    place = random.randrange(len(trace))
    event = random.choice([*one.events, *simulator.senseless])
    home = f"{simulator.home}: {type(event).__name__}"
    for odd in faults.attempt(f"{home} with an odd field", lambda: _with_odd_field(random, event)):
        _go_on(simulator, faults, one.settings, trace[place].state, [odd, *one.events[place:]][: MOST_AFTERWARDS + 1])


def _with_odd_field(random: Random, event: object) -> object:
    """The event with one field odd: made anew, so that what looks at its fields does so."""
    names = [field.name for field in fields(event) if field.init]
    if not names or judges_itself(type(event)):
        return with_odd_field(random, event)
    name = random.choice(names)
    hint = hints_of(type(event)).get(name)
    kept = {each: getattr(event, each) for each in names}
    return type(event)(**{**kept, name: spoilt(random, kept[name], hint)})


def _try_settings(simulator: Simulator, faults: Faults, random: Random, one: Run) -> None:
    home = f"{simulator.home}.Settings"
    for settings in faults.attempt(f"{home} with an odd field", lambda: with_odd_field(random, one.settings)):
        faults.attempt(f"hash({shown(settings, 300)})", lambda: hash(settings))  # noqa: B023
        for state in faults.attempt(f"start({shown(settings, 300)})", lambda: simulator.part("start")(settings)):  # noqa: B023
            _go_on(simulator, faults, settings, state, one.events[:MOST_AFTERWARDS])


def _go_on(simulator: Simulator, faults: Faults, settings: object, state: object, events: list[object]) -> None:
    """Step through events: what is refused leaves the state as it was; what is accepted keeps the invariants."""
    step, check = simulator.part("step"), simulator.part("check")
    for event in events:
        as_it_was = pickle.dumps(state)
        written = f"{simulator.home}: {shown(event, 300)} with {shown(settings, 100)}"
        after = faults.attempt(written, lambda: step(settings, state, event))  # noqa: B023
        if pickle.dumps(state) != as_it_was:
            faults.note(f"{simulator.home}: a state was changed", written)
        if after and not faults.attempt(f"pickle after {written}", lambda: pickle.dumps(after[0])):  # noqa: B023
            return
        for new in after:
            faults.attempt(f"invariants after {written}", lambda: check(settings, new, state))  # noqa: B023
            faults.attempt(f"hash after {written}", lambda: hash(new))  # noqa: B023
            state = new
