"""What every model of a search is held to: a step there is the simulator's, whatever the brokers are called."""

from __future__ import annotations

from collections.abc import Callable

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.search import Model
from kafkalearn.base.trace import Parts


def after(model: Model, parts: tuple, event: object) -> tuple | None:
    """The parts after an event, None if it makes no sense."""
    draft = Parts(parts)
    try:
        model.happen(draft, event)
    except IllegalEvent:
        return None
    return draft.all()


def moved(naming, parts: tuple) -> tuple:
    """The parts of the same state under other names."""
    placed = {naming.places[place]: naming.part(place, part) for place, part in enumerate(parts)}
    return tuple(placed[place] for place in sorted(placed))


def assert_steps_as_the_simulator(model: Model, step: Callable, state: object, event: object) -> None:
    """`step` is the simulator's own, with its settings bound."""
    try:
        expected = model.split(step(state, event))
    except IllegalEvent:
        expected = None
    assert after(model, model.split(state), event) == expected


def assert_names_do_not_matter(model: Model, state: object, event: object) -> None:
    """The same event under other names leads to the same state under these names."""
    parts = model.split(state)
    ended = after(model, parts, event)
    for naming in model.relabellings:
        renamed = after(model, moved(naming, parts), naming.event(event))
        assert renamed == (None if ended is None else moved(naming, ended))
