"""A run into a loop or a dead end as a reader sees it: in the sentences, in each picture, and in the player's bar."""

import json
import re
from itertools import pairwise

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.liveness import find_stuck
from kafkalearn.base.search import whole
from kafkalearn.base.trace import Trapped, run
from kafkalearn.drawing.looping import how_it_ends
from kafkalearn.drawing.player import looping_script, picture, player_script
from kafkalearn.replication import BrokerCrashed, Fetch, SessionExpired, Settings
from kafkalearn.replication import find_stuck as find_stuck_partition
from kafkalearn.views import animation, play, vary

WAYS = {"wake": "up", "turn": "left", "back": "up"}
UP = whole(None, lambda _, where, event: WAYS[event] if where != "over" else where, {"it is over": lambda _, s: s == 0})


def draw(frame, before):
    return picture(40, label=f"{frame.state}.")


def shown(trace, **more):
    return animation(trace, draw, lambda frame, before: f"{frame.event or 'start'}.", **more)


LOOP = find_stuck(UP, "abed", ["wake", "turn", "back"], fair=["turn", "back"]).trace


def test_the_sentences_say_where_the_loop_begins_and_where_it_is_there_again():
    assert LOOP.loop_start == 1
    captions = shown(LOOP).captions

    assert captions[0] == "start."
    assert captions[1].startswith("Here the loop begins: ")
    assert all(each.startswith("In the loop: ") for each in captions[2:-1])
    assert captions[-1].startswith("In the loop, and again as in step 1: ")


def test_a_dead_end_is_named():
    kinds = [Fetch, BrokerCrashed, SessionExpired]
    found = find_stuck_partition(Settings(2, fetch_wait_max_ms=0), kinds, at_most={BrokerCrashed: 2})

    assert shown(found.trace).captions[-2:] == (
        "SessionExpired(broker_id=1, successor=None).",
        "Dead end, nothing that has to happen can: SessionExpired(broker_id=2, successor=None).",
    )
    assert how_it_ends(found.trace) == "4 events lead into a dead end."
    assert shown(found.trace).loop is None
    assert looping_script() not in shown(found.trace).html()


def cells(drawn):
    """The cells of the strip, each with its place and its fill, and the frame around one."""
    found = re.findall(r'<rect x="([\d.]+)" y="86" width="([\d.]+)" height="26" fill="([^"]+)"', drawn)
    return [(float(x), fill) for x, _, fill in found]


def test_each_picture_has_all_moments_below_it_and_the_way_back_as_an_arrow():
    *boxes, around = cells(shown(LOOP).pictures[2])
    fills = [fill for _, fill in boxes]

    assert len(boxes) == len(LOOP)
    assert len({*fills[1:]}) == 1 != len({*fills[:2]})  # the way in is another colour than the loop
    assert around == (boxes[2][0], "none")
    assert shown(LOOP).pictures[2].label == f"{LOOP[2].state}. {how_it_ends(LOOP)}"
    back = re.search(r'<path d="M([\d.]+) 86V56H([\d.]+)V76"', shown(LOOP).pictures[0])
    step = boxes[1][0] - boxes[0][0]
    assert [float(each) for each in back.groups()] == [boxes[-1][0] + step / 2, boxes[1][0] + step / 2]


def test_a_run_of_many_moments_fits_the_picture():
    trace = Trapped(run(lambda _, state, event: state + event, None, 0, [1] * 200), loop_start=100)

    *boxes, _ = cells(shown(trace).pictures[7])

    assert len(boxes) == 201
    assert boxes[-1][0] < 1000 - 16
    assert all(one < other for (one, _), (other, _) in pairwise(boxes))


def test_the_player_is_told_and_brings_the_button_and_no_other_player_does():
    looping, other = shown(LOOP), shown(LOOP[:])

    assert json.loads(looping.payload)["loop"] == 1
    assert "loop" not in json.loads(other.payload)
    for html in (looping.html(), play(looping)._repr_mimebundle_()[0]["text/html"]):
        assert 'data-kl-start data-kl-loop="1">' in html
        assert html.endswith(looping_script())
    assert looping_script() not in other.html()
    assert "goRound" not in player_script()
    assert other.pictures[0].size == (1000, 40)


def test_controls_beside_a_loop_keep_its_button():
    looping, other = shown(LOOP), shown(LOOP[:])
    varied = vary(lambda turned: looping if turned else other, turned=True)

    assert varied._repr_mimebundle_()[0]["text/html"].endswith(looping_script())
    varied.set(turned=False)
    assert looping_script() not in varied._repr_mimebundle_()[0]["text/html"]


def test_where_nothing_was_found_there_is_nothing_to_play():
    with pytest.raises(KafkaLearnError, match="no run to play: the search has found none"):
        shown(None)
