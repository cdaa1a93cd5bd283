import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import run
from kafkalearn.drawing.controls import control, slider
from kafkalearn.drawing.player import picture
from kafkalearn.drawing.svg import text
from kafkalearn.views import animation

FORMS = {
    "text": ("billing", "text", "billing"),
    "a tick": (True, "tick", True),
    "a number": (50, "number", 50),
    "a range": ((1, 9), "slider", 1),
    "a range with a start": ((1, 9, 3), "slider", 3),
    "a slider with words": (slider(0, 9, 3, {0: "none"}), "slider", 3),
    "a choice": (["murmur2", "crc32"], "choice", "murmur2"),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_short_form_makes_a_control(name):
    short, kind, first = FORMS[name]

    made = control("it", short)

    assert (made.kind, made.first) == (kind, first)
    assert made.from_page(made.to_page(first)) == first
    assert made.checked(first) == first


@pytest.mark.parametrize("short", [None, 1.5, (9, 1), (1, 2, 3, 4), [], (1.0, 2.0), (1, 9, 10), (False, 2), object()])
def test_what_is_no_control_is_refused(short):
    with pytest.raises(KafkaLearnError, match=r"control it=.*(give text|a slider needs whole numbers)"):
        control("it", short)


@pytest.mark.parametrize(("low", "high", "words"), [(0, 3, {4: "no"}), (0, 3, {"0": "no"}), (3, 0, {}), (0, 1.5, {})])
def test_a_slider_that_makes_no_sense_is_refused(low, high, words):
    with pytest.raises(KafkaLearnError, match="slider"):
        slider(low, high, words=words)


@pytest.mark.parametrize(
    ("short", "value", "words"),
    [
        ("text", 5, "it takes text, got 5"),
        (True, 1, "it takes True or False, got 1"),
        (7, True, "it takes a whole number, got True"),
        (7, "7", "it takes a whole number, got '7'"),
        ((1, 9), 0, "it goes from 1 to 9, got 0"),
        (["a", "b"], "c", "it is one of a, b, got 'c'"),
        ([1, 2], True, "it is one of 1, 2, got True"),
    ],
)
def test_a_value_that_it_cannot_stand_at_is_refused(short, value, words):
    with pytest.raises(KafkaLearnError) as refused:
        control("it", short).checked(value)
    assert str(refused.value) == words


@pytest.mark.parametrize("position", [-1, 2, "0", None, True])
def test_a_choice_that_is_not_there_is_refused(position):
    with pytest.raises(KafkaLearnError, match="it has 2 choices, got number"):
        control("it", ["a", "b"]).from_page(position)


def test_yes_and_no_are_the_words_for_true_and_false():
    assert control("unclean", [False, True]).for_page["options"] == ["no", "yes"]


def draw_sum(frame, before):
    shared = [text(0, 20 * line, f"line {line}") for line in range(1, 9)]
    return picture(200, *shared, text(0, 190, str(frame.state)), label=f"sum {frame.state}")


def sums(*numbers, **options):
    return animation(run(lambda settings, total, number: total + number, None, 0, numbers), draw_sum, **options)


def played(payload):
    """What the browser puts together from the payload: each frame as SVG."""
    animation = json.loads(payload)
    pairs = [list(zip(runs[::2], runs[1::2], strict=True)) for runs in animation["frames"]]
    return [
        "\n".join(animation["lines"][at] for start, count in each for at in range(start, start + count))
        for each in pairs
    ]


@given(st.lists(st.integers(-5, 5), max_size=20))
def test_the_browser_gets_exactly_the_pictures_that_were_drawn(numbers):
    shown = sums(*numbers)

    assert played(shown.payload) == list(shown.pictures)


def test_lines_that_frames_share_are_sent_once():
    payload = sums(*range(1, 100)).payload

    assert [payload.count(f">line {line}<") for line in range(1, 9)] == [1] * 8


def test_frames_that_look_alike_need_no_further_lines():
    alone, many = json.loads(sums().payload), json.loads(sums(*[0] * 100).payload)

    assert many["lines"] == alone["lines"]
    assert many["frames"] == alone["frames"] * 101


def test_captions_are_the_events_unless_described():
    assert sums(5, 2).captions == ("the start", "5", "2")
    assert sums(5, 2, describe=lambda frame, before: f"{before and before.state} -> {frame.state}").captions == (
        "None -> 0",
        "0 -> 5",
        "5 -> 7",
    )


@pytest.mark.parametrize(("count", "stills"), [(1, (0,)), (2, (0, 1)), (3, (0, 1, 2)), (9, (0, 4, 8))])
def test_first_middle_and_last_frame_stand_for_the_whole(count, stills):
    assert sums(*range(1, count)).stills == stills


def test_other_stills_can_be_chosen_also_from_the_end():
    assert sums(1, 2, 3, stills=(-1, 1)).stills == (1, 3)
    assert sums(1, 2, 3, stills=(-1, 1)).still.count("<svg") == 3


def test_the_text_is_the_title_and_every_step():
    assert sums(5, 2, title="Sums").text == "Sums\nStep 0 of 2: the start\nStep 1 of 2: 5\nStep 2 of 2: 2"


def test_the_text_of_a_long_animation_is_that_of_its_stills():
    assert sums(*[1] * 40).text.split("\n") == ["Step 0 of 40: the start", "Step 20 of 40: 1", "Step 40 of 40: 1"]


def test_without_scripts_the_page_keeps_a_whole_picture():
    page = sums(5, 2, title="<Sums>").html()

    bare = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    assert re.fullmatch(r'<div class="kl-player" data-kl-start><img alt="[^"]+" [^>]+></div>\s*', bare)


def test_nothing_in_an_animation_can_end_the_script_that_holds_it():
    page = sums(1, describe=lambda *_: "</script><!-- <script>").html()

    assert page.count("</script>") == 2
    assert "<!--" not in page


def test_an_animation_is_the_same_text_every_time():
    assert sums(1, 2).mimebundle() == sums(1, 2).mimebundle()


def test_five_hundred_frames_are_an_animation_and_one_more_is_not():
    assert len(sums(*[1] * 499).pictures) == 500
    with pytest.raises(KafkaLearnError, match=r"has 501; show a part, trace\[:500\], or every 2. frame, trace\[::2\]"):
        sums(*[1] * 500)


def test_what_is_no_trace_or_no_picture_is_refused():
    with pytest.raises(KafkaLearnError, match="the trace is empty"):
        animation((), draw_sum)
    with pytest.raises(KafkaLearnError, match=r"<lambda>\(frame, before\) must return .* got str"):
        animation(run(lambda settings, total, number: total + number, None, 0, [1]), lambda frame, before: "<svg/>")


@pytest.mark.parametrize("stills", [(), (3,), (-4,)])
def test_a_still_that_is_not_there_is_refused(stills):
    with pytest.raises(KafkaLearnError, match="give positions of frames, from 0 to 2"):
        sums(5, 2, stills=stills)


def test_the_frames_of_a_run_get_the_height_of_the_highest():
    trace = run(lambda _, size, event: size + event, None, 20, [30, -10])
    shown = animation(trace, lambda frame, before: picture(frame.state, text(0, 9, "a"), label="a", width=99))

    assert [each.size for each in shown.pictures] == [(99, 50)] * 3
    assert len({each.split("\n")[1] for each in shown.pictures}) == 1
