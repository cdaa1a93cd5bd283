"""The picture of the whole path, the film that plays it, and the moving picture of README."""

import json
import re
from xml.etree import ElementTree

import pytest

from kafkalearn.drawing.svg import SMALL
from kafkalearn.journey import Settings, simulate
from kafkalearn.journey.film import STORY, moving_picture, whole_path
from kafkalearn.journey.picture import COMMITTED, LETTERS, OPEN, WIDTH, draw_journey
from tests.drawing.drawn import assert_a_run_well_drawn, elements_of, words_at_a_frame, words_of
from tools import whole_path as command

FILM = whole_path()
FORKS = [(place, name) for place, of_one in enumerate(FILM.forks) for name in of_one]
LEAST_ON_A_PHONE, PHONE = 11, 343  # pixels: letters, and what a phone of 375 leaves a picture


@pytest.mark.parametrize(("place", "name"), FORKS)
def test_every_run_of_the_film_is_well_drawn(place, name):
    pictures = FILM.forks[place][name].pictures
    assert_a_run_well_drawn(pictures)
    assert [found for each in pictures for found in words_at_a_frame(each, least=2)] == []


def test_its_letters_can_be_read_on_a_phone_and_its_lines_are_thin():
    for drawing in FILM.story.pictures:
        assert {float(each.get("font-size")) for each in elements_of(drawing, "text")} == {LETTERS}
        assert LETTERS * PHONE / WIDTH >= LEAST_ON_A_PHONE
        assert {float(each.get("stroke-width", 1)) for each in elements_of(drawing)} <= {1, 1.5}
    assert LETTERS >= SMALL


def test_one_colour_means_one_thing():
    """Amber: not committed. Green: committed. The legend has one of each."""
    for frame in simulate(Settings(), STORY):
        drawing, partitions = draw_journey(frame), frame.state.partitions
        total = sum(len(replica.records) for each in partitions for replica in each.replicas)
        green = sum(record in each.committed for each in partitions for on in each.replicas for record in on.records)
        waiting = sum(bool(each.unanswered) for each in frame.state.producers)
        told = sum(bool(each.told) for each in frame.state.producers)
        read = sum(bool(each.read) for each in frame.state.consumers)
        assert drawing.count(f'fill="{COMMITTED}"') == green + told + read + 1
        assert drawing.count(f'fill="{OPEN}"') == total - green + waiting + 1


def test_what_is_cut_stays_as_a_ghost_and_every_death_is_said_with_its_cause_first():
    for name, drawn in FILM.forks[-1].items():
        assert drawn.captions[1].startswith(f"{name.capitalize()} dies.")
    cut = next(at for at, words in enumerate(FILM.forks[-1]["broker 2"].captions) if "cuts off" in words)
    before, after = (words_of(FILM.forks[-1]["broker 2"].pictures[at]).count("D2") for at in (cut - 1, cut))
    assert before == after  # crossed out, where it was


def test_the_page_is_given_every_frame_as_it_is_drawn():
    given = json.loads(FILM.payload)

    def drawn(number):
        runs = given["frames"][number]
        return "\n".join(
            line for at, count in zip(runs[::2], runs[1::2], strict=True) for line in given["lines"][at : at + count]
        )

    assert [drawn(frame) for frame, _ in given["story"]] == [*map(str, FILM.story.pictures)]
    for of_page, of_one in zip(given["forks"], FILM.forks, strict=True):
        for name, animation in of_one.items():
            assert [drawn(frame) for frame, _ in of_page[name]] == [*map(str, animation.pictures[1:])]
            assert [given["captions"][words] for _, words in of_page[name]] == [*animation.captions[1:]]


def test_the_moving_picture_of_readme_is_the_film_of_today():
    assert command.PICTURE.read_text(encoding="utf-8") == command.text(), f"python -m {command.__name__}"


def test_the_moving_picture_stands_still_where_that_is_asked_for_and_loads_nothing():
    drawing = moving_picture()
    assert "@media (prefers-reduced-motion:reduce){.moment,.arrived,.way{animation:none}.telling{visibility" in drawing
    moments = [each for each in elements_of(drawing, "g") if each.get("class", "").startswith("moment")]
    assert len(moments) == len(FILM.story.pictures) + len(FILM.forks[-1]["broker 2"].pictures) - 1
    assert sum("telling" in each.get("class", "") for each in moments) == 1
    assert not re.search(r'(href|src)="|url\((?!data:)|@import', command.text())
    assert ElementTree.fromstring(command.text()) is not None


def test_what_travels_arrives_where_it_is_drawn():
    for frame in simulate(Settings(), STORY):
        drawing = draw_journey(frame)
        places = {(each.get("x"), float(each.get("y"))) for each in elements_of(drawing, "text")}
        for group in elements_of(drawing, "g"):
            for way in (group.get("data-ways") or "").split(";"):
                words, _, _, x, y = way.split(",")
                assert (x, float(y) + 5.5) in places, words
