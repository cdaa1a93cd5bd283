"""What holds in a simulator, by name, and one place that judges it for all of them.

Every simulator names two kinds of statements about its states, each a mapping from a name to a predicate of
``(settings, state)``:

- `INVARIANTS` hold in every state that can be reached. A state that breaks one is a fault of the simulator, so
  `check` raises.
- `PROMISES` are what a user hopes for. Some settings and accidents break them, and to show that is what a simulator
  is for: `broken` lists them, and a search (``find``, `kafkalearn.base.search`) tries to break them.

A predicate that has to see the state before as well says so by its type, `Since`. One that a search is to remember
test by test comes `InParts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Never, TypeAlias, TypeVar

from kafkalearn.base.checks import one_of

Settings = TypeVar("Settings")
State = TypeVar("State")
Parts = TypeVar("Parts")


@dataclass(frozen=True, slots=True)
class Since(Generic[Settings, State]):
    """A statement about a step: ``holds(settings, before, state)``. About a first state it says nothing.

    >>> never_falls = Since(lambda settings, before, state: state >= before)
    >>> never_falls(None, 3), never_falls(None, 3, before=4)
    (True, False)
    """

    holds: Callable[[Settings, State, State], bool]

    def __call__(self, settings: Settings, state: State, before: State | None = None) -> bool:
        """Whether it holds in a state that came after `before`; None: there was none before."""
        return before is None or self.holds(settings, before, state)


@dataclass(frozen=True, slots=True)
class InParts(Generic[Settings, State, Parts]):
    """A statement that is the sum of tests, each of which looks at few parts of the state.

    `tests` gives them for some settings; each takes what `read` makes of a state.

    >>> both_even = InParts(lambda settings: [lambda pair: pair[0] % 2 == 0, lambda pair: pair[1] % 2 == 0],
    ...                     lambda settings, state: state)
    >>> both_even(None, (2, 4)), both_even(None, (2, 5))
    (True, False)
    """

    tests: Callable[[Settings], Iterable[Callable[[Parts], bool]]]
    read: Callable[[Settings, State], Parts]

    def __call__(self, settings: Settings, state: State) -> bool:
        """Whether all tests hold in a state."""
        parts = self.read(settings, state)
        return all(test(parts) for test in self.tests(settings))


Predicate: TypeAlias = Callable[[Never, Never], bool]
"""Of the settings and states of one simulator alone: which, its own annotations say. `Since` and `InParts` are such."""

Promises: TypeAlias = Mapping[str, Predicate]


def of_inner(
    promises: Promises,
    inner: Callable[[Never], object],
    settings_of: Callable[[Never], object] = lambda settings: settings,
) -> Promises:
    """The statements about a state, as statements about a larger one that holds it.

    Parameters
    ----------
    promises : mapping of str to predicate
        Those of the simulator inside.
    inner, settings_of : callable
        The inner state of the larger one, and the settings inside its settings.

    Examples
    --------
    >>> of_number = {
    ...     "small": lambda settings, number: number < settings,
    ...     "rises": Since(lambda settings, before, number: before < number),
    ... }
    >>> failing(of_inner(of_number, inner=len), 3, "four", before="sixty")
    ('small', 'rises')
    """

    def lifted(predicate: Any) -> Predicate:  # whoever gave it knows of which settings and states it is
        if isinstance(predicate, Since):
            holds = predicate.holds
            return Since(lambda settings, before, state: holds(settings_of(settings), inner(before), inner(state)))
        return lambda settings, state: predicate(settings_of(settings), inner(state))

    return {name: lifted(predicate) for name, predicate in promises.items()}


def failing(
    promises: Promises, settings: object, state: object, before: object = None, names: Iterable[str] | None = None
) -> tuple[str, ...]:
    """The names of those statements that do not hold in a state.

    Parameters
    ----------
    promises : mapping of str to predicate
        `INVARIANTS` or `PROMISES` of a simulator.
    settings, state
        Those of the run, and the state to be judged.
    before
        The state before it, for statements about a step; without it these are not judged.
    names : iterable of str, optional
        Judge these alone.

    Raises
    ------
    KafkaLearnError
        If there is no statement of one of these names; the nearest names are given.

    Examples
    --------
    >>> promises = {"even": lambda settings, state: state % 2 == 0, "small": lambda settings, state: state < settings}
    >>> failing(promises, 9, 11)
    ('even', 'small')
    """
    chosen = tuple(promises if names is None else names)
    for name in chosen:
        one_of("promise", name, promises)
    return tuple(name for name in chosen if not _holds(promises[name], settings, state, before))


def _holds(predicate: Any, settings: object, state: object, before: object) -> bool:
    return predicate(settings, state, before) if isinstance(predicate, Since) else predicate(settings, state)


Check: TypeAlias = Callable[..., None]
Broken: TypeAlias = Callable[..., tuple[str, ...]]


def broken_in_words(names: Sequence[str], is_old: bool = False) -> str:
    """Which promises are broken, as a clause; of one that has been broken before, that it still is.

    >>> broken_in_words(["committed records survive"]), broken_in_words(["a", "b"], is_old=True)
    ('promise broken: committed records survive', 'promises still broken: a; b')
    """
    return f"{'promise' if len(names) == 1 else 'promises'} {'still ' if is_old else ''}broken: {'; '.join(names)}"


def judges(invariants: Promises, promises: Promises, progress: Promises | None = None) -> tuple[Check, Broken]:
    """The functions `check` and `broken` of a simulator, made from its invariants and its promises.

    Promises of progress need not hold in each state, so `broken` lists them only where they are named: a run that
    `find_stuck` hands back is judged by them beside the others.

    >>> check, broken = judges({"whole": lambda settings, state: state == int(state)}, {})
    >>> check(None, 7)
    >>> check(None, 7.5)
    Traceback (most recent call last):
    ...
    AssertionError: not so in this state: whole
    >>> rest = {"rest": lambda settings, number: not number}
    >>> _, broken = judges({}, {"small": lambda settings, number: number < 9}, rest)
    >>> broken(None, 9), broken(None, 9, names=["small", "rest"])
    (('small',), ('small', 'rest'))
    """
    known = {**promises, **(progress or {})}

    def check(settings: object, state: object, before: object = None) -> None:
        """Raise AssertionError, with the names of the invariants that do not hold in a state.

        `before` is the state before it, for invariants about a step; without it these are not judged.
        """
        found = failing(invariants, settings, state, before)
        if found:
            raise AssertionError(f"not so in this state: {'; '.join(found)}")

    def broken(
        settings: object, state: object, before: object = None, names: Iterable[str] | None = None
    ) -> tuple[str, ...]:
        """The names of the promises that a state breaks; none if all are kept.

        `before` is the state before it, for promises about a step; `names` are those to judge, promises of progress
        among them, and all but these if not given.
        Raises KafkaLearnError if there is no promise of such a name.
        """
        return failing(known, settings, state, before, promises if names is None else names)

    return check, broken
