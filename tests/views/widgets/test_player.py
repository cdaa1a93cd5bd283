import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.lookup import look_up
from kafkalearn.views import animation, describe_lookup, draw_lookup, play

LEADERS = (1, 2, 3)


def player(group_id="ok", **options):
    return play(look_up(group_id, LEADERS, 3), draw_lookup, describe_lookup, **options)


def animation_of(group_id):
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

    shown.animation = animation_of(group_id)

    assert shown.value == value
    assert shown.frame.state.settings.group_id == group_id
    assert json.loads(shown._animation)["captions"][0] == "the start"


def test_the_browser_moves_the_player():
    shown = player()
    shown.set_state({"value": 4})

    assert shown.value == 4


def test_a_step_that_comes_too_late_for_a_shorter_animation_is_dropped():
    shown = player("a longer one")
    shown.animation = animation_of("x")

    shown.set_state({"value": 9})

    assert shown.value == 0


def test_the_output_has_something_for_every_kind_of_page():
    data, _ = player(title="Who?")._repr_mimebundle_()

    assert sorted(data) == ["application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/html", "text/plain"]
    assert data["text/plain"].startswith("Who?\nStep 0 of 5: Which broker")


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
