"""A game: break a promise of a simulator in as few moves as a search of all runs needs, and share the run as a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Generic, TypeVar

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.moves import BETWEEN, MOST_MOVES, in_moves, plain, words_in
from kafkalearn.base.moves import moves_of as moves_of
from kafkalearn.exercises.kit.compare import is_blank
from kafkalearn.exercises.kit.given import taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Result, Sentence, as_words, kind_of, say

Settings = TypeVar("Settings")
State = TypeVar("State")
Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class Game(Generic[Settings, State, Event]):
    """Judges a run by whether, and how soon, it breaks a promise.

    Parameters
    ----------
    step, broken : callable
        The simulator's own ``step(settings, state, event)`` and ``broken(settings, state, before, names)``.
    settings, initial : object
        Those of the run, and where it begins.
    promise : str
        The name of the promise that is to be broken.
    moves : mapping of str to event
        All that is allowed, by the words in which a line says it; see `moves_of`.
    best : str
        A line that breaks the promise. No shorter one does: the tests search all of them.

    Examples
    --------
    >>> def step(settings, number, event):
    ...     return number + event
    >>> def broken(settings, number, before, names):
    ...     return names if number > 4 else ()
    >>> game = Game(step, broken, None, 0, "it stays below five", {"one": 1, "three": 3}, "three > three")
    >>> game.judge("one > one > three")
    Not right yet. The promise is broken in 3 moves; par is 2.
    Your run as a line: one > one > three
    """

    step: Callable[[Settings, State, Event], State]
    broken: Callable[[Settings, State, State, tuple[str, ...]], tuple[str, ...]]
    settings: Settings
    initial: State
    promise: str
    moves: Mapping[str, Event]
    best: str

    @property
    def par(self) -> int:
        """How many moves the shortest runs have."""
        return len(self.best.split(BETWEEN))

    def judge(self, answer: object) -> Result:
        """The result of a run: a list of moves or of their words, or a line of them."""
        answer = taken(answer)
        if is_blank(answer) or (isinstance(answer, list | tuple | str) and not answer):
            return Result(NOT_ATTEMPTED)
        run = self.read(answer)
        if isinstance(run, Sentence):
            return Result(ERROR, (run,))
        played = self.play(run)
        if isinstance(played, Sentence):
            return Result(ERROR, (played,))
        if played is None:
            words = f"After {counted(len(run), 'move')} the promise still holds: *{self.promise}*."
            return Result(WRONG, (words, self._to_share(run)))
        line = self._to_share(run[:played])
        if played > self.par:
            return Result(WRONG, (f"The promise is broken in {counted(played, 'move')}; par is {self.par}.", line))
        return Result(RIGHT, (f"The promise is broken in {counted(played, 'move')}, and no run is shorter.", line))

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer is the same run."""
        return self.read(taken(answer)) == self.read(wrong)

    def read(self, answer: object) -> list[str] | Sentence:
        """The words of the moves; or, where some are none, a sentence that says so."""
        if isinstance(answer, str):
            answer = words_in(answer)
        if not isinstance(answer, list | tuple):
            example = as_words(BETWEEN.join(list(self.moves)[:2]))
            return say(f"{{}} is {kind_of(answer)}; give a list of moves, or a line such as {{}}.", answer, example)
        if len(answer) > MOST_MOVES:
            return say("These are {} moves; more than {} are not played.", len(answer), MOST_MOVES)
        run = []
        for number, move in enumerate(answer, start=1):
            words = self._words_of(move)
            if words is None:
                known = as_words(", ".join(self.moves))
                return say("Move {}, {}, is not a move of this game. The moves are: {}.", number, move, known)
            run.append(words)
        return run

    def play(self, run: Iterable[str]) -> int | Sentence | None:
        """With which move the promise is broken; None: with none; a sentence, if a move cannot come where it is."""
        state = self.initial
        for number, words in enumerate(run, start=1):
            try:
                after = self.step(self.settings, state, self.moves[words])
            except KafkaLearnError as error:
                reason = as_words(in_moves(error, self.moves, words))
                return say("Move {}, {}, cannot come there: {}.", number, as_words(words), reason)
            if self.broken(self.settings, after, state, (self.promise,)):
                return number
            state = after
        return None

    def table(self) -> str:
        """The moves in Markdown, for the question."""
        return ", ".join(f"`{words}`" for words in self.moves)

    def _words_of(self, move: object) -> str | None:
        if isinstance(move, str):
            return next((words for words in self.moves if plain(words) == plain(move)), None)
        if isinstance(move, type) and is_dataclass(move):
            return move.__name__ if move.__name__ in self.moves else None
        return next((words for words, event in self.moves.items() if event == move), None)

    def _to_share(self, run: Iterable[str]) -> Sentence:
        return say("Your run as a line: {}", as_words(BETWEEN.join(run)))
