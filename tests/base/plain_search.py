"""A search as anybody would write it first: nothing remembered but the states, each step worked out where it is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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


class Plain(NamedTuple):
    """What there is to find."""

    broken: tuple[str, ...]  # by the first state that breaks a promise
    depth: int
    state_count: int


def plain_search(
    model: Model,
    initial: object,
    events: Sequence,
    depth: int | None,
    at_most: Mapping[type, int] | None = None,
    is_full: bool = True,
) -> Plain:
    """Level by level, each state once; states that differ by names alone are one.

    A search that is not full leaves out states that were met with as much of every limited event left.
    """
    limits = at_most or {}
    namings = [each for each in model.relabellings if {*map(each.event, events)} == {*events}]

    def one_of_its_names(parts: tuple, left: tuple) -> tuple:
        return frozenset([parts, *(moved(naming, parts) for naming in namings)]), left

    frontier = [(model.split(initial), tuple(limits.values()))]
    seen, level = {one_of_its_names(*frontier[0])}, 0
    broken = _broken(model, frontier[0][0])
    while frontier and not broken and level != depth:
        level, before, frontier = level + 1, frontier, []
        for parts, left in before:
            for event in events:
                remaining = _remaining(limits, left, event)
                ended = after(model, parts, event)
                if ended in (None, parts) or remaining is None:
                    continue
                state = one_of_its_names(ended, remaining)
                if state in seen or (not is_full and any(_is_covered(state, other) for other in seen)):
                    continue
                seen.add(state)
                frontier.append((ended, remaining))
                broken = _broken(model, ended)
                if broken:
                    return Plain(broken, level, len(seen))
    return Plain(broken, level, len(seen))


def _is_covered(state: tuple, other: tuple) -> bool:
    return state[0] == other[0] and all(mine <= its for mine, its in zip(state[1], other[1], strict=True))


def _broken(model: Model, parts: tuple) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, holds in model.promises if not holds(Parts(parts))))


def _remaining(limits: Mapping[type, int], left: tuple[int, ...], event: object) -> tuple[int, ...] | None:
    """What is left of the limited events after this one; None: it may not happen again."""
    counts = dict(zip(limits, left, strict=True))
    if type(event) in counts:
        counts[type(event)] -= 1
    return None if min(counts.values(), default=0) < 0 else tuple(counts.values())
