"""Every game has the par that it names: a run of so many moves breaks the promise, and no shorter one does."""

import pytest

from kafkalearn import delivery, replication
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.search import explore
from kafkalearn.delivery.search import model as delivery_model
from kafkalearn.exercises.kit.game import MOST_MOVES, Game, moves_of
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG
from kafkalearn.replication import BrokerCrashed, Fetch, Produce, TimePassed
from kafkalearn.replication.search import model as replication_model
from tests.exercises.every_exercise import EXERCISES, name_of

GAMES = [(chapter, exercise) for chapter, exercise in EXERCISES if isinstance(exercise.judge, Game)]
each_game = pytest.mark.parametrize("exercise", [exercise for _, exercise in GAMES], ids=name_of)
MODELS = {delivery.step: delivery_model, replication.step: replication_model}


def shortest(game, most):
    """As many moves as a shortest run has, or None: all runs of up to `most` moves, each state once."""
    seen, states = {game.initial}, [game.initial]
    for depth in range(1, most + 1):
        after = []
        for state in states:
            for event in game.moves.values():
                try:
                    new = game.step(game.settings, state, event)
                except KafkaLearnError:
                    continue
                if game.broken(game.settings, new, state, (game.promise,)):
                    return depth
                if new not in seen:
                    seen.add(new)
                    after.append(new)
        states = after
    return None


@each_game
def test_no_run_is_shorter_than_par(exercise):
    game = exercise.judge
    if game.step in MODELS:  # the search of the library is quicker there
        search = explore(
            MODELS[game.step](game.settings, (game.promise,)), game.initial, tuple(game.moves.values()), depth=game.par
        )
        assert (search.outcome, search.depth) == ("found", game.par)
    else:
        assert shortest(game, game.par) == game.par


@each_game
def test_the_question_names_par_and_all_moves(exercise):
    game = exercise.judge

    assert f"**par {game.par}**" in exercise.asks
    assert all(f"`{words}`" in exercise.asks for words in game.moves)
    assert f"`{game.best}`" in exercise.reasoning


@each_game
def test_the_line_that_is_shared_can_be_checked_again(exercise):
    first = exercise.check(exercise.solve())

    line = str(first.sentences[1]).removeprefix("Your run as a line: ")
    assert exercise.check(line)


@each_game
def test_a_run_may_be_events_words_or_a_line(exercise):
    game = exercise.judge
    words = game.best.split(" > ")
    events = [game.moves[each] for each in words]

    for run in (words, tuple(words), events, "\n".join(words), game.best.upper(), game.best.replace(" ", "") + " > "):
        assert game.judge(run), run


def test_chapters_with_a_game():
    assert {name_of(chapter) for chapter, _ in GAMES} >= {
        f"chapter{number}" for number in ("05", "05b", "09", "10", "13")
    }


GAME = Game(
    replication.step,
    replication.broken,
    replication.Settings(2, fetch_wait_max_ms=0),
    replication.start(replication.Settings(2, fetch_wait_max_ms=0)),
    replication.ACKNOWLEDGED_SURVIVE,
    moves_of(Produce(acks=1), Fetch(2), BrokerCrashed(1), replication.SessionExpired(1), TimePassed(10)),
    "Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)",
)


@pytest.mark.parametrize(
    ("run", "outcome", "said"),
    [
        ("", NOT_ATTEMPTED, "Not attempted yet."),
        ([...], NOT_ATTEMPTED, "Not attempted yet."),
        (
            "Produce(acks=1) > TimePassed(10) > BrokerCrashed(1) > SessionExpired(1) > TimePassed(10)",
            WRONG,
            "Not right yet. The promise is broken in 4 moves; par is 3.\n"
            "Your run as a line: Produce(acks=1) > TimePassed(10) > BrokerCrashed(1) > SessionExpired(1)",
        ),
        (
            [Produce(acks=1), Fetch(2)],
            WRONG,
            "Not right yet. After 2 moves the promise still holds: *acknowledged records survive*.\n"
            "Your run as a line: Produce(acks=1) > Fetch(2)",
        ),
        (
            "Fetch(2) > Fetch(3)",
            ERROR,
            "This cannot be checked. Move 2, 'Fetch(3)', is none of this game. The moves are: Produce(acks=1), "
            "Fetch(2), BrokerCrashed(1), SessionExpired(1), TimePassed(10).",
        ),
        (
            "BrokerCrashed(1) > BrokerCrashed(1)",
            ERROR,
            "This cannot be checked. Move 2, BrokerCrashed(1), cannot come there: BrokerCrashed(broker_id=1): the "
            "broker is down already.",
        ),
        (7, ERROR, "This cannot be checked. 7 is a whole number; give a list of moves, or a line such as "),
        ("Fetch(2) > " * (MOST_MOVES + 1), ERROR, "This cannot be checked. These are 51 moves; more than 50 are not"),
    ],
    ids=["empty", "untouched", "over par", "not broken", "no such move", "senseless move", "number", "too long"],
)
def test_what_is_said_of_a_run(run, outcome, said):
    result = GAME.judge(run)

    assert result.outcome == outcome
    assert repr(result).startswith(said)


def test_at_par_it_is_right():
    assert GAME.judge(GAME.best).outcome == RIGHT
    assert GAME.par == 3
