"""Every picture of every run of the contract: it parses, fits, changes, and shows names as words and nothing else.

A name is a text of a run with which the simulator takes any other in its place. Pictures may hold shapes and words, a
page what a player is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.tables import PlainTable, table
from kafkalearn.coordinator import look_up
from kafkalearn.drawing.player import Animation
from kafkalearn.offsets import encode_key
from kafkalearn.views import animate, draw_assignment, record_bytes, render_text
from tests.contract.drawing import Drawing
from tests.contract.simulator import Run
from tests.contract.test_contract import DRAWN_ELSEWHERE, SIMULATORS
from tests.drawing.drawn import HIGHEST, assert_well_drawn, elements_of
from tests.every import every_case
from tests.schedules import sensible_run

DRAWN = {name: SIMULATORS[name] for name in sorted(SIMULATORS.keys() - DRAWN_ELSEWHERE - {"consumer"})}
RUNS = [(name, number) for name, each in DRAWN.items() for number in range(len(each.runs))]
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</script><script>alert(1)</script>",
    "]]><b>&lt;i&gt;",
    "a\x00b\x1b[2J\u202e",
    "`*_|$[x](javascript:alert(1))",
    "line\nbreak\ttab",
    "x" * 200 + "<&>",
)
SHAPES = {"svg", "rect", "path", "text", "tspan", "g", "circle", "line", "polyline", "polygon", "ellipse", "defs"}
SHAPES |= {"pattern", "marker", "title", "clipPath"}
OF_A_PLAYER = {"div", "p", "img", "script", "style"}
OF_A_TABLE = {"table", "thead", "tbody", "tr", "th", "td", "p"}


def texts_in(value: Any) -> Iterator[str]:
    """Every text that settings or an event are made of; of bytes, as keys are, what they say."""
    if isinstance(value, str | bytes):
        yield value if isinstance(value, str) else value.decode(errors="ignore")
    elif is_dataclass(value):
        for each in fields(value):
            yield from texts_in(getattr(value, each.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from texts_in(each)


def renamed(value: Any, name: str, other: str) -> Any:
    """The same with another text wherever one stands."""
    if isinstance(value, str):
        return other if value == name else value
    if isinstance(value, bytes):
        return other.encode() if value == name.encode() else value
    if is_dataclass(value):
        given = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        changed = {key: renamed(each, name, other) for key, each in given.items()}
        return value if changed == given else replace(value, **changed)
    if isinstance(value, tuple):
        members = [renamed(each, name, other) for each in value]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    return value


@cache
def hostile_run(name: str, number: int, hostile: str) -> tuple[Run, int]:
    """A run with a text that was written to do harm in place of each name; and how many names it has."""
    simulator, run, names = DRAWN[name], DRAWN[name].runs[number], 0
    for text in dict.fromkeys(texts_in((run.settings, *run.events))):
        other = f"{hostile}{names or ''}"
        try:
            changed = Run(renamed(run.settings, text, other), renamed(tuple(run.events), text, other))
            simulator.part("simulate")(changed.settings, changed.events)
        except (KafkaLearnError, KeyError, ValueError):  # a word of Kafka's, and no name
            continue
        run, names = changed, names + 1
    return run, names


def shown_of(name: str, run: Run) -> Animation:
    trace = DRAWN[name].part("simulate")(run.settings, run.events)
    return animate(trace, run.settings, title="What happens?")


class Tags(HTMLParser):
    """The tags of a page and their attributes, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag

    @property
    def names(self) -> set[str]:
        return {tag for tag, _ in self.found}

    @property
    def handlers(self) -> set[str]:
        return {name for _, attributes in self.found for name in attributes if name.startswith("on")}


def assert_only_shapes_and_words(drawing):
    for element in elements_of(str(drawing)):
        assert element.tag.rpartition("}")[2] in SHAPES
        assert not [name for name in element.attrib if name.lower().startswith("on") or "href" in name]
    shown = Tags(drawing.html)
    assert [tag for tag, _ in shown.found] == ["img"]
    assert {name for _, attributes in shown.found for name in attributes} == {"alt", "style", "src"}


def assert_drawn_and_said(shown: Animation, most_high: int = HIGHEST):
    assert_well_drawn(shown.pictures, most_high)
    for drawing, caption in zip(shown.pictures, shown.captions, strict=True):
        assert caption
        assert not [each for each in ("\n", "(x=", "object at") if each in caption]
        assert all(float(each.get("x", 0)) <= drawing.size[0] for each in elements_of(drawing))


NOT_IN_THE_PICTURE = {"FollowersFetch"}
"""Of the whole path: followers of the offsets topic have no high watermark in it, which may be all that is new."""


@every_case("name, number", RUNS)
def test_every_picture_fits_is_labelled_with_its_sentence_and_differs_where_the_state_does(name, number):
    shown = shown_of(name, DRAWN[name].runs[number])
    assert_drawn_and_said(shown)
    if name != "journey":  # whose labels say what stands in the picture
        assert tuple(each.label for each in shown.pictures) == shown.captions
    for (one, other), (before, after) in zip(pairwise(shown.pictures), pairwise(shown.trace), strict=True):
        is_drawn = before.state != after.state and type(after.event).__name__ not in NOT_IN_THE_PICTURE
        assert one != other or not is_drawn, after.event


TALL = {"commits": 2_000, "wheel": 10_000}
"""Pictures that grow with what nobody has: more than four consumers of a partition, a timer of 2**63 ms."""


@every_case("seed", range(3))
@every_case("name", DRAWN)
def test_whatever_happens_can_be_drawn_and_said(name, seed):
    step, start = DRAWN[name].part("step"), DRAWN[name].part("start")
    drawing = Drawing(DRAWN[name], seed)
    settings = drawing.settings()
    trace = sensible_run(step, settings, start(settings), drawing.events(60))
    shown = animate(trace, settings)
    assert_drawn_and_said(shown, TALL.get(name, HIGHEST))
    assert not any("None" in each for each in shown.captions)
    assert len(render_text(trace, settings).split("\n\n")) == len(trace)


def assert_names_are_words(shown: Animation):
    for drawing in shown.pictures:
        assert_only_shapes_and_words(drawing)
    seen = Tags(shown.html())
    assert seen.names <= OF_A_PLAYER
    assert seen.handlers == set()
    assert shown.html().lower().count("</script") == 2


@pytest.mark.long
@every_case("hostile", HOSTILE)
@every_case("name", DRAWN)
def test_names_are_words_in_every_picture_caption_and_player(name, hostile):
    most = max(range(len(DRAWN[name].runs)), key=lambda number: hostile_run(name, number, HOSTILE[0])[1])
    run, _ = hostile_run(name, most, hostile)
    shown = shown_of(name, run)
    assert_names_are_words(shown)
    if name != "assignor":  # whose topics have their whole names in the cells
        assert max(drawing.size[1] for drawing in shown.pictures) <= HIGHEST
    assert render_text(shown.trace, run.settings)


WITHOUT_NAMES = {"failover", "journey", "lookup", "pods"}
"""Simulators of which no run says what a user could name freely; a look-up has as many events as its id has letters."""


def test_all_other_runs_have_names_that_may_be_any_text():
    named = {name for name, number in RUNS if hostile_run(name, number, HOSTILE[0])[1]}
    assert named == DRAWN.keys() - WITHOUT_NAMES


@every_case("hostile", HOSTILE)
def test_the_id_of_a_look_up_and_of_a_record_is_words_and_so_is_a_title(hostile):
    assert_names_are_words(animate(look_up(hostile[:40], brokers=3), title=hostile))
    key = encode_key("OFFSET_COMMIT", {"group": hostile[:40], "topic": hostile[:40], "partition": 1})
    assert_names_are_words(animate(record_bytes(key, None)))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_assignment_and_a_table_show_names_as_words(hostile):
    members = [Member(hostile, [hostile])]
    assert_only_shapes_and_words(draw_assignment(assign("range", {hostile: 2}, members), title=hostile))
    rows = [{hostile: hostile, "lag": 1}]
    for shown in (table(rows), table(rows, label=hostile), PlainTable((hostile,), ((hostile,),), (hostile,))):
        seen = Tags(shown._repr_html_())
        assert seen.names <= OF_A_TABLE
        assert seen.handlers == set()


def test_the_tags_of_hostile_text_would_be_found():
    assert Tags(HOSTILE[0]).handlers == {"onerror"}
    assert "svg" in Tags(HOSTILE[1]).names
    with pytest.raises(AssertionError):
        assert_only_shapes_and_words(type("Bare", (str,), {"html": ""})("<svg><a href='x'/></svg>"))
