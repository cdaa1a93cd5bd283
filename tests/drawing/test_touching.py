"""A picture that is touched: what may come next may come, a branch is a run of its own, and a game knows its par."""

import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.boards import BOARDS, board_named
from kafkalearn.drawing.widgets import touch
from kafkalearn.exercises import chapter09
from tests.every import every_case


@every_case("name", sorted(BOARDS))
def test_whatever_a_board_offers_can_happen_and_what_it_does_not_is_refused_in_words(name):
    board, line = board_named(name), []
    for number in range(4):
        offered = board.played(" > ".join(line)).touch["steps"][-1]["moves"]
        line.append(offered[number * 3 % len(offered)])
    played = board.played(" > ".join(line))

    assert len(played.pictures) == 5
    assert played.touch["line"] == " > ".join(line)
    assert json.loads(played.payload)["touch"]["link"].startswith(f"playground.html#touch.touched?board={name}&line=")
    for refused in set(board.moves) - set(board.played().touch["steps"][0]["moves"]):
        try:
            state = board.simulator.step(board.settings, board.initial, board.moves[refused])
        except KafkaLearnError:
            with pytest.raises(KafkaLearnError, match=r"move 1, .* cannot come there"):
                board.played(refused)
        else:
            assert state == board.initial


def test_a_move_at_an_earlier_step_is_a_branch_and_the_newest_step_is_on_show():
    touched = touch(board_named("replication"), "Produce > Fetch(2)", start=0)
    assert touched.value == 0

    touched.set(run="Produce > BrokerCrashed(2)")
    assert (touched.value, touched.message) == (2, "")
    touched.set(run="Produce > BrokerRestarted(2)")
    assert touched.message.startswith("move 2, BrokerRestarted(2), cannot come there")
    assert touched.animation.touch["line"] == "Produce > BrokerCrashed(2)"


def test_a_game_that_is_played_is_judged_as_one_that_is_typed():
    game = chapter09.lose_a_committed_record
    touched = touch(board_named("game-09"))
    touched.set(run=game.judge.best)

    assert touched.animation.touch["said"].startswith(f"Broken in {game.judge.par} moves, and no run is shorter")
    assert game.judge.judge(touched.values["run"]) == game.judge.judge(game.judge.best)


def test_what_is_no_move_is_named_with_the_moves():
    with pytest.raises(KafkaLearnError, match=r"move 1, 'Explode', is none; the moves are: BrokerDied\(1\)"):
        board_named("coordinator").played("Explode")
