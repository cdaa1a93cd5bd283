"""Controls, progress and touched pictures: what the page sends, and what it is sent."""

import json
import re
from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.boards import BOARDS, board_named
from kafkalearn.coordinator.lookup import look_up
from kafkalearn.drawing import widgets
from kafkalearn.drawing.player import picture
from kafkalearn.drawing.widgets import ProgressBar, touch
from kafkalearn.exercises import chapter09
from kafkalearn.exercises.kit.exercise import Progress
from kafkalearn.exercises.kit.result import NOT_ATTEMPTED, RIGHT
from kafkalearn.views import animation, describe_lookup, draw_lookup, play, progress_bar, slider, vary
from tests.every import every_case


def name_it(**values):
    return picture(20, label=repr(values))


def animation_of(group_id, broker_count):
    return animation(look_up(group_id, range(broker_count), broker_count), draw_lookup)


def refuse_odd(number):
    if number % 2:
        raise KafkaLearnError(f"number must be even, got {number} <odd>")
    return picture(20, label=str(number))


def send(varied, asked, *values):
    """What the page sends when a reader has turned a control."""
    varied.set_state({"_values": json.dumps({"asked": asked, "values": values})})
    return json.loads(varied._answer)


def test_turning_a_control_draws_again():
    varied = vary(animation_of, group_id="billing", broker_count=(1, 6, 3))

    varied.set(group_id="shipping")

    assert varied.frame.state.settings.group_id == "shipping"
    assert varied.values == {"group_id": "shipping", "broker_count": 3}
    assert json.loads(varied._values)["values"] == ["shipping", 3]


def test_the_page_turns_a_control_and_hears_that_it_is_done():
    varied = vary(animation_of, group_id="billing", broker_count=(1, 6, 3))

    assert send(varied, 7, "shipping", 4) == {"asked": 7, "message": ""}
    assert varied.values == {"group_id": "shipping", "broker_count": 4}
    assert varied.frame.state.settings.group_id == "shipping"


def test_a_choice_goes_by_its_position_so_that_it_may_be_anything():
    varied = vary(name_it, unclean=[False, True], min_isr=[1, 2])

    send(varied, 1, 1, 0)

    assert varied.values == {"unclean": True, "min_isr": 1}
    assert repr({"unclean": True, "min_isr": 1}) in varied.animation.text


def test_what_draw_refuses_is_said_in_place_and_the_picture_stays():
    varied = vary(refuse_odd, number=2)

    assert send(varied, 1, 3) == {"asked": 1, "message": "number must be even, got 3 <odd>"}
    assert (varied.message, varied.animation.text) == ("number must be even, got 3 <odd>", "2")

    varied.set(number=4)
    assert (varied.message, varied.animation.text) == ("", "4")


@pytest.mark.parametrize("values", [(99,), ("3",), (True,), (2.5,), (None,)])
def test_what_no_control_of_ours_would_send_is_refused_in_place(values):
    varied = vary(name_it, it=(1, 9))

    assert send(varied, 1, *values)["message"].startswith("it ")
    assert varied.animation.text == repr({"it": 1})


def test_a_control_that_is_not_there_or_cannot_stand_there_is_an_error():
    varied = vary(name_it, it=(1, 9))

    with pytest.raises(KafkaLearnError, match="there is no control 'that'; there are it"):
        varied.set(that=1)
    with pytest.raises(KafkaLearnError, match="it goes from 1 to 9, got 10"):
        varied.set(it=10)
    assert varied.values == {"it": 1}


def test_first_values_that_draw_refuses_are_an_error():
    with pytest.raises(KafkaLearnError, match="must be even"):
        vary(refuse_odd, number=1)


def test_an_error_that_is_not_ours_is_not_hidden():
    varied = vary(lambda number: picture(20, label=str(1 / number)), number=1)

    with pytest.raises(ZeroDivisionError):
        varied.set(number=0)
    assert varied.message == "ZeroDivisionError: division by zero"


def test_a_player_gives_its_animation_and_where_it_starts():
    varied = vary(lambda it: play(look_up(it, [1], 1), draw_lookup, start=2), it="ok")

    assert varied.value == 2
    assert len(varied.animation.pictures) == 6


def test_a_single_picture_has_no_frame():
    with pytest.raises(KafkaLearnError, match="a single picture is on show"):
        vary(name_it, it=1).frame  # noqa: B018


def test_what_is_no_picture_is_refused():
    with pytest.raises(KafkaLearnError, match="draw must return a Picture, an Animation or a Player, got str"):
        vary(lambda it: "<svg/>", it=1)


def test_the_output_holds_the_values_and_a_picture_and_is_the_same_every_time():
    bundles = [vary(animation_of, group_id="<ok>", broker_count=2)._repr_mimebundle_()[0] for _ in range(2)]
    for bundle in bundles:
        del bundle["application/vnd.jupyter.widget-view+json"]

    assert bundles[0] == bundles[1]
    assert bundles[0]["text/plain"].startswith("group id: <ok>, broker count: 2\nStep 0 of 7")
    assert "<p>group id: &lt;ok&gt;, broker count: 2</p><img" in bundles[0]["text/html"]
    assert sorted(bundles[0]) == ["image/svg+xml", "text/html", "text/plain"]


def test_a_value_that_means_something_else_is_shown_by_its_word():
    varied = vary(name_it, retention_days=slider(0, 10, words={0: "default"}))

    assert varied._repr_mimebundle_()[0]["text/plain"].startswith("retention days: default\n")


def test_the_name_of_the_widget_has_no_address():
    assert repr(vary(animation_of, group_id="ok", broker_count=2)) == "Varied(group_id, broker_count)"


def test_an_animation_is_shown_from_its_start_and_one_seen_to_its_end_stays_there():
    varied = vary(lambda group_id: animation(look_up(group_id, [1], 1), draw_lookup, start=-1), group_id="ok")
    assert varied.value == 5
    assert '"value":5,' in varied._repr_mimebundle_()[0]["text/html"]

    varied.set(group_id="longer")
    assert varied.value == 9


LEADERS = (1, 2, 3)


def player(group_id="ok", **options):
    return play(look_up(group_id, LEADERS, 3), draw_lookup, describe_lookup, **options)


def animation_of_player(group_id):
    return animation(look_up(group_id, LEADERS, 3), draw_lookup)


def test_the_value_is_the_position_of_the_frame_on_show():
    shown = player()
    shown.value = 2

    assert shown.frame.index == 2
    assert shown.frame.state.group_hash == 3548


def test_stepping_can_be_observed():
    shown, seen = player(), []
    shown.observe(lambda change: seen.append(change["new"]), names="value")

    shown.value = 3

    assert seen == [3]


@pytest.mark.parametrize("value", [-1, 6])
def test_a_frame_that_is_not_there_is_refused_and_nothing_changes(value):
    shown = player(start=4)

    with pytest.raises(KafkaLearnError, match=f"value must be from 0 to 5, got {value}: the animation has 6 frames"):
        shown.value = value
    assert shown.value == 4


def test_a_start_that_is_not_there_is_refused():
    with pytest.raises(KafkaLearnError, match="start must be from 0 to 5, or -1 for the last, got 9"):
        player(start=9)


@pytest.mark.parametrize(("start", "group_id", "value"), [(5, "longer", 9), (3, "longer", 3), (4, "", 3), (5, "x", 4)])
def test_another_animation_keeps_the_place_and_the_end_stays_the_end(start, group_id, value):
    shown = player(start=start)

    shown.animation = animation_of_player(group_id)

    assert shown.value == value
    assert shown.frame.state.settings.group_id == group_id
    assert json.loads(shown._animation)["captions"][0] == "the start"


def test_the_browser_moves_the_player():
    shown = player()
    shown.set_state({"value": 4})

    assert shown.value == 4


def test_a_step_that_comes_too_late_for_a_shorter_animation_is_dropped():
    shown = player("a longer one")
    shown.animation = animation_of_player("x")

    shown.set_state({"value": 9})

    assert shown.value == 0


def test_the_output_has_something_for_every_kind_of_page():
    data, _ = player(title="Who?")._repr_mimebundle_()

    assert sorted(data) == ["application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/html", "text/plain"]
    assert data["text/plain"].startswith("Who?\nStep 0 of 5: Which broker")


def test_a_converter_that_has_no_model_shows_the_player_that_needs_none():
    data, _ = player()._repr_mimebundle_()
    shown = new_code_cell(outputs=[new_output("execute_result", data, execution_count=1)])

    page, _ = HTMLExporter().from_notebook_node(new_notebook(cells=[shown]))

    assert "data-kl-start" in page
    assert "vnd.jupyter.widget-view" not in page


def test_two_players_of_the_same_run_leave_the_same_output():
    data = [player()._repr_mimebundle_()[0] for _ in range(2)]
    for each in data:
        del each["application/vnd.jupyter.widget-view+json"]

    assert data[0] == data[1]
    assert repr(player()) == "Player(6 frames)"


def test_an_animation_that_was_drawn_already_is_played_as_it_is():
    drawn = animation(look_up("ok", brokers=3), draw_lookup, describe_lookup, title="Which broker?", start=2)
    player = play(drawn)

    assert player.animation is drawn
    assert player.value == 2
    with pytest.raises(KafkaLearnError, match="an animation has its title, start and stills already"):
        play(drawn, title="Another?")
    with pytest.raises(KafkaLearnError, match="give the function that draws a moment of the trace"):
        play(look_up("ok", brokers=3))


CELL = """
from kafkalearn.views import progress_bar
with progress_bar("hash the ids") as update:
    for done in range(5):
        update(done, 4)
"""


def test_outside_a_notebook_nothing_is_shown(capsys):
    with progress_bar("hash the ids") as update:
        update(1, 4)

    assert capsys.readouterr() == ("", "")


def test_in_a_notebook_only_the_words_stay():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])

    outputs = NotebookClient(notebook).execute().cells[0].outputs

    assert [each.data["text/plain"] for each in outputs] == ["hash the ids"]
    assert set(outputs[0].data) == {"text/plain", "application/vnd.jupyter.widget-view+json"}


def test_a_bar_follows_a_total_that_grows():
    bar = ProgressBar("hash the ids")
    bar.update(3, 4)
    bar.update(5, 12)

    progress, count = bar.children
    assert (progress.value, progress.max) == (5, 12)
    assert count.value.startswith("5 of 12, ")
    bar.update(4_000_000, 10_000_000)
    assert count.value.startswith("4,000,000 of 10,000,000, ")


def test_a_bar_says_how_long_it_will_take_here_by_what_it_took_so_far(monkeypatch):
    now = iter([100.0, 108.0, 112.0])
    monkeypatch.setattr(widgets, "monotonic", lambda: next(now))
    bar = ProgressBar("make the ids")
    bar.update(2_000_000, 10_000_000)
    assert bar.children[1].value == "2,000,000 of 10,000,000, 8 s, about 32 s to go"
    bar.update(10_000_000, 10_000_000)
    assert bar.children[1].value == "10,000,000 of 10,000,000, 12 s"


def test_a_bar_says_that_another_process_makes_what_is_waited_for():
    bar = ProgressBar("make the ids")
    bar.update(0, 0)
    assert bar.children[1].value.startswith("made in the background just now, waiting, ")


@pytest.mark.parametrize(("style", "value"), [("success", 4), ("danger", 1)])
def test_a_bar_that_is_done_is_full_and_one_that_failed_stays_where_it_was(style, value):
    bar = ProgressBar("hash the ids")
    bar.update(1, 4)

    bar.finish(style)

    assert (bar.children[0].value, bar.children[0].bar_style) == (value, style)


def test_the_output_of_a_bar_does_not_tell_how_far_it_came():
    bar = ProgressBar("hash the ids")
    before = bar._repr_mimebundle_()
    bar.update(3, 4)

    assert bar._repr_mimebundle_() == before
    assert repr(bar) == "hash the ids"


# A picture that is touched: what may come next may come, a branch is a run of its own, and a game knows its par.


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
    touched.set(run="Produce > BrokerStarted(2)")
    assert touched.message.startswith("move 2, BrokerStarted(2), cannot come there")
    assert touched.animation.touch["line"] == "Produce > BrokerCrashed(2)"


def test_a_game_that_is_played_is_judged_as_one_that_is_typed():
    game = chapter09.lose_a_committed_record
    touched = touch(board_named("game-09"))
    touched.set(run=game.judge.best)

    assert touched.animation.touch["said"].startswith(
        f"Promise broken in {game.judge.par} moves, and no run is shorter"
    )
    assert game.judge.judge(touched.values["run"]) == game.judge.judge(game.judge.best)


@every_case("name", sorted(BOARDS))
def test_what_cannot_come_is_refused_in_the_words_that_the_buttons_have(name):
    """An event's own name is said only where it is what stands on the button."""
    board, line, refused = board_named(name), [], set()
    for number in range(5):
        offered = board.played(" > ".join(line)).touch["steps"][-1]["moves"]
        for words in board.moves.keys() - set(offered):
            try:
                board.played(" > ".join([*line, words]))
            except KafkaLearnError as error:
                refused.add(str(error).partition(", cannot come there: ")[2])
        line.append(offered[number * 5 % len(offered)])
    names = {word for reason in refused for word in re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)*\b", reason)}

    assert {each for each in names if not any(words.startswith(each) for words in board.moves)} == set()
    assert not [reason for reason in refused if re.search(r"\w\(\w*\)|=", reason)]


def test_a_refusal_names_the_move_to_make_first():
    board = board_named("assignors")

    with pytest.raises(KafkaLearnError, match=r"cannot come there: .* first, with “all give up”$"):
        board.played("billing-1 leaves > the assignor runs")


def test_a_game_that_is_played_to_its_par_is_an_exercise_that_is_done():
    exercise = replace(chapter09.lose_a_committed_record, progress=Progress())
    assert exercise.progress.entry.outcome == NOT_ATTEMPTED
    touched = touch(replace(board_named("game-09"), exercise=exercise, _kept={}))
    *begun, last = exercise.judge.best.split(" > ")
    touched.set(run=" > ".join(begun))
    assert exercise.progress.entry.outcome == NOT_ATTEMPTED  # a run that is on its way is no answer

    touched.set(run=" > ".join([*begun, last]))

    assert (exercise.progress.entry.outcome, exercise.progress.entry.try_count) == (RIGHT, 1)
    assert touched.animation.touch["said"].endswith("The exercise is done.")


def test_what_is_no_move_is_named_with_the_moves():
    with pytest.raises(KafkaLearnError, match=r"move 1, 'Explode', is none; the moves are: BrokerCrashed\(1\)"):
        board_named("coordinator").played("Explode")
