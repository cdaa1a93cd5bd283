import ipywidgets
import pytest

from kafkalearn.coordinator.simulator import look_up
from kafkalearn.errors import KafkaLearnError
from kafkalearn.views import animation, draw_lookup, play, vary
from kafkalearn.views.drawing.picture import picture


def name_it(**values):
    return picture(20, label=repr(values))


def animation_of(group_id, broker_count):
    return animation(look_up(group_id, range(broker_count)), draw_lookup)


def refuse_odd(number):
    if number % 2:
        raise KafkaLearnError(f"number must be even, got {number} <odd>")
    return picture(20, label=str(number))


CONTROLS = {
    "text": ("billing", ipywidgets.Text, "billing"),
    "a tick": (True, ipywidgets.Checkbox, True),
    "a number": (50, ipywidgets.IntText, 50),
    "a range": ((1, 9), ipywidgets.IntSlider, 1),
    "a range with a start": ((1, 9, 3), ipywidgets.IntSlider, 3),
    "a choice": (["murmur2", "crc32"], ipywidgets.Dropdown, "murmur2"),
    "a widget": (ipywidgets.FloatSlider(0.5), ipywidgets.FloatSlider, 0.5),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_a_short_form_makes_a_control(name):
    short, kind, value = CONTROLS[name]

    varied = vary(name_it, it=short)

    assert type(varied.controls["it"]) is kind
    assert varied.values == {"it": value}


@pytest.mark.parametrize("short", [None, 1.5, (9, 1), (1, 2, 3, 4), [], (1.0, 2.0), ipywidgets.HBox()])
def test_what_is_no_control_is_refused(short):
    with pytest.raises(KafkaLearnError, match=r"control it=.*give text"):
        vary(name_it, it=short)


def test_turning_a_control_draws_again():
    varied = vary(animation_of, group_id="billing", broker_count=(1, 6, 3))

    varied.controls["group_id"].value = "shipping"

    assert varied.player.animation.trace[-1].state.settings.group_id == "shipping"


def test_what_draw_refuses_is_said_in_place_and_the_picture_stays():
    varied = vary(refuse_odd, number=2)

    varied.controls["number"].value = 3
    assert varied.message == "number must be even, got 3 <odd>"
    assert varied.player.animation.text == "2"
    assert "got 3 &lt;odd&gt;" in varied.children[1].value

    varied.controls["number"].value = 4
    assert (varied.message, varied.player.animation.text) == ("", "4")


def test_first_values_that_draw_refuses_are_an_error():
    with pytest.raises(KafkaLearnError, match="must be even"):
        vary(refuse_odd, number=1)


def test_an_error_that_is_not_ours_is_not_hidden():
    varied = vary(lambda number: picture(20, label=str(1 / number)), number=1)

    with pytest.raises(ZeroDivisionError):
        varied.controls["number"].value = 0


def test_a_player_gives_its_animation_and_where_it_starts():
    varied = vary(lambda it: play(look_up(it, [1]), draw_lookup, start=2), it="ok")

    assert varied.player.value == 2
    assert len(varied.player.animation.pictures) == 6


def test_a_single_picture_has_no_frame():
    with pytest.raises(KafkaLearnError, match="a single picture is on show"):
        vary(name_it, it=1).player.frame  # noqa: B018


def test_what_is_no_picture_is_refused():
    with pytest.raises(KafkaLearnError, match="draw must return a Picture, an Animation or a Player, got str"):
        vary(lambda it: "<svg/>", it=1)


def test_the_output_holds_the_values_and_a_picture_and_is_the_same_every_time():
    bundles = [vary(animation_of, group_id="<ok>", broker_count=2)._repr_mimebundle_() for _ in range(2)]
    for bundle in bundles:
        del bundle["application/vnd.jupyter.widget-view+json"]

    assert bundles[0] == bundles[1]
    assert bundles[0]["text/plain"].startswith("group_id = '<ok>', broker_count = 2\nStep 0 of 7")
    assert bundles[0]["text/html"].startswith("<p>group_id = &#x27;&lt;ok&gt;&#x27;, broker_count = 2</p>")


def test_the_name_of_the_widget_has_no_address():
    assert repr(vary(animation_of, group_id="ok", broker_count=2)) == "Varied(group_id, broker_count)"


def test_an_animation_is_shown_from_its_start_and_one_seen_to_its_end_stays_there():
    varied = vary(lambda group_id: animation(look_up(group_id, [1]), draw_lookup, start=-1), group_id="ok")
    assert varied.player.value == 5
    assert 'data-kl-start="5"' in varied._repr_mimebundle_()["text/html"]

    varied.controls["group_id"].value = "longer"
    assert varied.player.value == 9
