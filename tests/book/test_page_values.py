"""What a page shows of a value is what a notebook shows: the same text, the same player, the same controls."""

from __future__ import annotations

import json
from collections import Counter, deque
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.lib.pretty import pretty as pretty_in_a_notebook

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import look_up, round_robin_leaders
from kafkalearn.coordinator.picture import draw_lookup
from kafkalearn.coordinator.words import describe_lookup
from kafkalearn.drawing.player import animation, picture
from kafkalearn.drawing.widgets import play as play_in_a_notebook
from kafkalearn.drawing.widgets import vary as vary_in_a_notebook
from tools.book.face import face
from tools.page import controls
from tools.page.cells import cells_before, names_of
from tools.page.controls import KIND, bundle, drawn, play, pretty, vary

PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(codec="ascii"), max_size=40))
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=8),
        st.lists(inner, max_size=8).map(tuple),
        st.dictionaries(st.text("abc_", max_size=12), inner, max_size=6),
    ),
    max_leaves=40,
)


@given(VALUES)
def test_text_has_the_lines_that_a_notebook_gives_it(value):
    assert pretty(value) == pretty_in_a_notebook(value)


@pytest.mark.parametrize(
    "value",
    [
        {3, 1, 2},
        frozenset(range(60)),
        deque(range(40)),
        Counter("which broker coordinates this group, and which partition has its offsets, and why"),
        MappingProxyType({f"key {number}": number for number in range(12)}),
        list(range(1200)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_containers_too(value):
    assert pretty(value).split() == pretty_in_a_notebook(value).split()


def steps(group_id, broker_count):
    if not group_id:
        raise KafkaLearnError("type a group id")
    return animation(look_up(group_id, round_robin_leaders(range(broker_count))), draw_lookup, describe_lookup)


CONTROLS = {"group_id": "billing", "broker_count": (1, 6, 3)}


def test_a_player_is_drawn_from_the_same_data_as_in_a_notebook():
    trace = look_up("billing", round_robin_leaders(range(3)))
    made = bundle(play(trace, draw_lookup, describe_lookup, title="Which broker?", start=2))
    wanted = play_in_a_notebook(trace, draw_lookup, describe_lookup, title="Which broker?", start=2)

    assert (made[KIND]["_animation"], made[KIND]["value"]) == (wanted._animation, wanted.value)
    assert made["text/plain"] == wanted._repr_mimebundle_()[0]["text/plain"]


def test_controls_are_drawn_from_the_same_data_and_answer_alike():
    here, there = vary(steps, **CONTROLS), vary_in_a_notebook(steps, **CONTROLS)
    assert bundle(here)[KIND]["_controls"] == there._controls
    assert bundle(here)["text/plain"] == there._repr_mimebundle_()[0]["text/plain"]

    for values in (["shipping", 3], ["", 3], ["search", 6], ["search", 9], [1, 2]):
        here.from_page(values)
        there._values = json.dumps({"asked": 1, "values": values})
        assert (here.animation.payload, here.value, here.message) == (there._animation, there.value, there.message)


def test_a_step_of_the_reader_is_known_to_later_cells():
    show = controls.shown_on("page", "cell")
    player = play(look_up("billing", round_robin_leaders(range(3))), draw_lookup)
    show(player)
    controls.step({"page": "page", "cell": "cell", "at": 0, "value": 5})

    assert player.frame == player.animation.trace[5]
    with pytest.raises(KafkaLearnError, match="has not been run"):
        controls.step({"page": "page", "cell": "cell", "at": 1, "value": 5})
    controls.forget("page")
    with pytest.raises(KafkaLearnError, match="has not been run"):
        controls.step({"page": "page", "cell": "cell", "at": 0, "value": 5})


@pytest.mark.parametrize(
    ("source", "needed", "made", "changed"),
    [
        ("a = b", "b", "a", ""),
        ("[x for x in rows]", "rows", "", ""),
        ("def f(x):\n    y = x + z\n    return y", "z", "f", ""),
        ("for row in rows:\n    total += row", "rows total", "row total", "total"),
        ("counts[key].append(1)", "counts key", "", "counts"),
        ("import os.path as p\nfrom a import b as c", "", "p c", ""),
        ("lambda x: x + k", "k", "", ""),
        ("with job(spark) as j:\n    j", "job spark", "j", ""),
        ("def broken(:", "", "", ""),
    ],
)
def test_the_names_of_a_cell(source, needed, made, changed):
    names = names_of(source)

    assert (set(needed.split()), set(changed.split())) == (names.needed, names.changed)
    assert set(made.split()) <= names.made


def test_a_cell_that_only_reads_is_not_run_for_another():
    sources = ["a = [1]", "a.append(2)", "print(a)", "b = 1", "sum(a)"]

    assert cells_before(sources, 4) == [0, 1]


def test_a_picture_that_was_run_is_drawn_in_the_page_as_the_recorded_one_and_has_its_letters():
    """As an image it would have other letters, and in the dark other colours."""
    shown = bundle(picture(40, "<path/>", label="A log"))

    assert "<img " in shown["text/html"]
    assert drawn({"shown": shown}).startswith("<svg ")
    assert ":is(.jp-RenderedHTML, .live-shown, .kl-player) > svg text { font-family: var(--kl-text); }" in face()
