from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import extend
from kafkalearn.consuming.push import Process, Produce, Rewind, Settings, simulate, step
from kafkalearn.drawing.svg import SMALL
from kafkalearn.views import animate_push, describe_push, draw_push, push_text
from tests.consuming.push.test_promises import EVENTS, SETTINGS
from tests.views.golden import expected

STORY = [
    *[Produce()] * 3,
    Process("billing", 2),
    *[Produce()] * 4,
    Process("billing", 9),
    Process("billing"),
    Process("search"),
    *[Produce()] * 2,
    Process("search", 3),
    Rewind("billing", 4),
    Process("billing", 3),
]


@pytest.mark.parametrize("when_full", ["drop", "refuse"])
def test_both_brokers_read_as_expected(when_full):
    trace = simulate(Settings(("billing", "search"), queue_limit=4, retention=6, when_full=when_full), STORY)
    actual = "\n\n".join(push_text(frame, before) for frame, before in zip(trace, (None, *trace), strict=False))
    assert actual == expected(f"push-{when_full}.txt", actual)


def test_each_frame_is_as_large_as_the_others_and_looks_different_from_the_one_before():
    drawn = animate_push(simulate(Settings(("billing", "search"), queue_limit=4, retention=6), STORY))
    assert len({picture.size for picture in drawn.pictures}) == 1
    assert all(one != other for one, other in pairwise(drawn.pictures))


@given(settings=SETTINGS, events=st.lists(EVENTS, max_size=25))
def test_every_run_can_be_drawn_and_said(settings, events):
    trace = simulate(settings, [])
    for event in events:
        try:
            trace = extend(step, settings, trace, [event])
        except IllegalEvent:
            continue
    for frame, before in zip(trace[-3:], (None, *trace)[-4:-1], strict=False):
        picture = draw_push(trace, frame, before)
        elements = list(ElementTree.fromstring(picture).iter())
        assert min(float(each.get("font-size")) for each in elements if each.get("font-size")) >= SMALL
        assert picture.size[1] <= 590
        assert "\n" not in describe_push(frame, before)
        assert push_text(frame).startswith(describe_push(frame))


def test_what_has_no_room_is_counted():
    settings = Settings(("billing",), queue_limit=90, retention=90)
    trace = simulate(settings, [Produce()] * 80)
    drawing = draw_push(trace, trace[-1])
    assert ">and 60 older<" in drawing
    assert ">and 60 newer; 2 sent, 78 waiting<" in drawing
