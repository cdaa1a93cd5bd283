"""Interactive pictures: a run that is played by clicking in its picture; each click is an event.

A `Board` is a simulator, its settings, the moves that a reader has, and what draws a moment. It plays a line of moves
(`kafkalearn.base.moves`) and says for each step of it what may come next, so that a page can offer it: by the thing in
the picture that a move is about, and below the picture. The line is the whole of what is kept: going back is a step of
the player, a move at an earlier step begins a branch, and the line opens the same run everywhere.

What was played is kept, so that a touch computes one step and draws one picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType
from typing import Any, Protocol

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.moves import BETWEEN, in_moves, moves_in, moves_of, things_of
from kafkalearn.base.promises import broken_in_words
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing.player import Animation, Picture, animation


class Simulator(Protocol):
    """What plays the moves: a simulator, as `docs/architecture.md` has it, or a game of the exercises."""

    step: Callable[[Any, Any, Any], Any]
    broken: Callable[..., tuple[str, ...]]


DrawMoment = Callable[[Any, "Frame[Any, Any]", "Frame[Any, Any] | None"], Picture]
DescribeMoment = Callable[[Any, "Frame[Any, Any]", "Frame[Any, Any] | None"], str]


@dataclass(frozen=True, slots=True)
class _Moment:
    frame: Frame[Any, Any]
    picture: Picture
    caption: str
    moves: tuple[str, ...]  # what may come next
    broken: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """An interactive run; see `board` and `game_board`.

    Attributes
    ----------
    simulator, settings, initial : object
        Who plays, with what, and from where.
    moves : mapping of str to event
        All that may happen, by its words.
    things : mapping of str to tuple of str
        What each move is about, as the picture names it.
    draw, describe : callable
        ``draw(settings, frame, before)`` and ``describe(settings, frame, before)``, for a moment.
    title : str
        The question.
    promise : str
        The promise that a game is to break, or the empty text; then all promises are watched.
    par : int
        How many moves the shortest run of the game has; 0 without a game.
    link : str
        The address of a run in the book, but for its line; empty where the book has none.
    exercise : Exercise
        Whose game it is, or None: whoever plays it to its par has done the exercise.
    """

    simulator: Simulator
    settings: object
    initial: object
    moves: Mapping[str, Any]
    things: Mapping[str, tuple[str, ...]]
    draw: DrawMoment
    describe: DescribeMoment
    title: str = ""
    promise: str = ""
    par: int = 0
    link: str = ""
    exercise: Any = None
    _kept: dict[tuple[str, ...], _Moment] = field(default_factory=dict, repr=False, compare=False)

    def played(self, line: str = "") -> Animation:
        """The run of a line, drawn, with what may come next at each step.

        Raises
        ------
        KafkaLearnError
            If a word is no move, or a move cannot come where it stands: which, and why.
        """
        words = tuple(moves_in(line, self.moves))
        moments = [self._moment(words[:count]) for count in range(len(words) + 1)]
        run = Trace(each.frame for each in moments)
        pictures, captions = [each.picture for each in moments], [each.caption for each in moments]
        drawn = animation(
            run, lambda frame, _: pictures[frame.index], lambda frame, _: captions[frame.index], title=self.title
        )
        touch = {
            "line": BETWEEN.join(words),
            "steps": [{"moves": each.moves, "broken": each.broken} for each in moments],
            "things": {words: names for words, names in self.things.items() if names},
            "means": {words: means for words, event in self.moves.items() if (means := _meaning(words, event))},
            "said": self._said(moments),
            "link": self.link,
        }
        return replace(drawn, start=len(words), touch=touch)

    def from_line(
        self, line: str | Sequence[Any], title: str, start: int, stills: Sequence[int] | None
    ) -> tuple[Callable[[str], Animation], str]:
        """What draws a line for a player that begins with `line`, words or events; and that line as text."""
        begun = line if isinstance(line, str) else BETWEEN.join(map(self.words_of, line))

        def drawn(run: str) -> Animation:
            played = replace(self._counted(run), title=title or self.title)
            if run != begun:
                return played
            count = len(played.pictures)
            return replace(played, start=start % count, stills=played.stills if stills is None else tuple(stills))

        return drawn, begun

    def _counted(self, run: str) -> Animation:
        """The run of a line; a game that is played to its par is an exercise that is done."""
        played = self.played(run)
        if self.exercise is None or not self.exercise.judge.judge(run):
            return played
        self.exercise.check(run)
        touch = {**(played.touch or {})}
        return replace(played, touch=touch | {"said": f"{touch['said']} The exercise is done."})

    def words_of(self, event: object) -> str:
        """The words of an event.

        Raises
        ------
        KafkaLearnError
            If it is not a move of this board.
        """
        for words, each in self.moves.items():
            if type(each) is type(event) and each == event:
                return words
        raise KafkaLearnError(f"{event!r} is not a move of this board; the moves are: {', '.join(self.moves)}")

    def _moment(self, words: tuple[str, ...]) -> _Moment:
        if words in self._kept:
            return self._kept[words]
        if words:
            before, event = self._moment(words[:-1]), self.moves[words[-1]]
            try:
                state = self.simulator.step(self.settings, before.frame.state, event)
            except KafkaLearnError as error:
                why = in_moves(error, self._events(before.frame.state), words[-1])
                raise KafkaLearnError(f"move {len(words)}, {words[-1]}, cannot come there: {why}") from error
            frame = Frame(len(words), event, state)
        else:
            before, frame = None, Frame(0, None, self.initial)
        was = None if before is None else before.frame
        moment = _Moment(
            frame,
            self.draw(self.settings, frame, was),
            self.describe(self.settings, frame, was) or (words[-1] if words else "the start"),
            tuple(each for each in self.moves if self._is_possible(frame.state, self.moves[each])),
            self._broken(frame.state, None if was is None else was.state),
        )
        self._kept[words] = moment
        return moment

    def _events(self, state: object) -> dict[str, object]:
        """The events of the moves; of one that depends on the state, that which it is now."""
        found = {}
        for words, event in self.moves.items():
            try:
                found[words] = event(state) if isinstance(event, partial | FunctionType) else event
            except KafkaLearnError:  # it is none now, so nothing speaks of it
                continue
        return found

    def _is_possible(self, state: object, event: object) -> bool:
        """Whether it may come, and leads to anything."""
        try_it = getattr(self.simulator, "tried", self.simulator.step)  # where a step is long, its first part is enough
        try:
            after = try_it(self.settings, state, event)
        except KafkaLearnError:
            return False
        return after != state or bool(getattr(after, "effects", ()))

    def _broken(self, state: object, before: object) -> tuple[str, ...]:
        if self.promise:
            return () if before is None else self.simulator.broken(self.settings, state, before, (self.promise,))
        return self.simulator.broken(self.settings, state, before)

    def _said(self, moments: Sequence[_Moment]) -> str:
        """How the run stands: of a game against its par, else against the promises."""
        count = len(moments) - 1
        moved = counted(count, "move")
        at = next((at for at, each in enumerate(moments) if each.broken), None)
        if not self.promise:
            return (
                f"{moved}; every promise holds." if at is None else f"Move {at}: {broken_in_words(moments[at].broken)}."
            )
        goal = f"Break this: {self.promise}. Par is {self.par}."
        if at is None:
            return f"{goal} {moved} so far, and it holds." if count else goal
        how = "and no run is shorter" if at == self.par else f"par is {self.par}"
        return f"Promise broken in {counted(at, 'move')}, {how}: {self.promise}."


def board(
    simulator: Any,
    settings: object,
    moves: Mapping[str, Any] | Sequence[Any],
    draw: DrawMoment,
    describe: DescribeMoment,
    *,
    title: str = "",
    initial: object = None,
    things: Mapping[str, Sequence[str]] | None = None,
) -> Board:
    """An interactive picture of a simulator.

    Parameters
    ----------
    simulator : module
        With ``start``, ``step`` and ``broken``.
    settings : Settings
        Its own.
    moves : sequence of event, or mapping of str to event
        What the reader may let happen; with words of one's own as the keys.
    draw, describe : callable
        ``draw(settings, frame, before)``; as the chapter's pictures are.
    title : str
        The question that stands above the picture.
    initial : state, optional
        Where the run begins, if not at the simulator's start.
    things : mapping of str to sequence of str, optional
        What a move is about, by its words, where its event does not say.

    Examples
    --------
    >>> from kafkalearn import replication
    >>> from kafkalearn.replication import BrokerCrashed, Fetch, Produce, Settings
    >>> from kafkalearn.views import describe_replication, draw_replication
    >>> events = [Produce(acks=1), Fetch(2), BrokerCrashed(1)]
    >>> pair = board(replication, Settings(2, fetch_wait_max_ms=0), events, draw_replication, describe_replication)
    >>> pair.played("Produce(acks=1) > BrokerCrashed(1)").captions[-1]
    'Broker 1 crashes; its disk keeps what it has.'
    >>> pair.played("Produce(acks=1)").touch["steps"][1]["moves"]
    ('Produce(acks=1)', 'Fetch(2)', 'BrokerCrashed(1)')
    """
    words = dict(moves) if isinstance(moves, Mapping) else moves_of(*moves)
    begin = simulator.start(settings) if initial is None else initial
    return Board(simulator, settings, begin, words, _things(words, things), draw, describe, title)


def game_board(
    exercise: Any,
    draw: DrawMoment,
    describe: DescribeMoment,
    *,
    title: str = "",
    things: Mapping[str, Sequence[str]] | None = None,
) -> Board:
    """An interactive picture of a game of the exercises, with its promise and the par of the search.

    Raises
    ------
    KafkaLearnError
        If the exercise is not a game.

    Examples
    --------
    >>> from kafkalearn.exercises.chapter09 import lose_a_committed_record
    >>> from kafkalearn.views import describe_replication, draw_replication
    >>> game = game_board(lose_a_committed_record, draw_replication, describe_replication)
    >>> game.played("Produce").touch["said"]
    'Break this: committed records survive. Par is 5. 1 move so far, and it holds.'
    """
    game = exercise.judge
    if not hasattr(game, "promise") or not hasattr(game, "moves"):
        raise KafkaLearnError(f"{exercise.name} is not a game: it has no moves and no promise to break")
    return Board(
        game,
        game.settings,
        game.initial,
        game.moves,
        _things(game.moves, things),
        draw,
        describe,
        title or "Your move",
        game.promise,
        game.par,
        exercise=exercise,
    )


def _things(moves: Mapping[str, Any], given: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    found = {words: things_of(event) for words, event in moves.items()}
    return found | {words: tuple(names) for words, names in (given or {}).items() if words in moves}


def _meaning(words: str, event: object) -> str:
    """What an event is, by the first line of its class, where its words are only its name."""
    lines = (type(event).__doc__ or "").splitlines()
    return lines[0].replace("`", "").replace("*", "") if lines and words.startswith(type(event).__name__) else ""
