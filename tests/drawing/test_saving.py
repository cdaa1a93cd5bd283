"""Pictures and runs as files: what is written can be read again, and shows what was drawn."""

import pytest
from PIL import Image

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.lookup import look_up
from kafkalearn.views import animation, describe_lookup, draw_lookup, play, save

RUN = look_up("ok", [1, 2], 2)


@pytest.fixture(scope="module")
def shown():
    return animation(RUN, draw_lookup, describe_lookup)


def test_a_picture_is_saved_as_it_is_drawn(shown, tmp_path):
    path = save(shown.pictures[1], tmp_path / "step.svg")

    assert path.read_text(encoding="utf-8") == shown.pictures[1]


def test_a_png_is_sharp_and_keeps_the_shape(shown, tmp_path):
    width, height = shown.pictures[1].size

    with Image.open(save(shown.pictures[1], tmp_path / "step.png")) as image:
        assert image.width == 1600
        assert abs(image.height - 1600 * height / width) < 1
        assert len(image.convert("RGB").getcolors(1_000_000)) > 20  # letters and lines are there


def test_a_film_has_every_frame_for_its_time(shown, tmp_path):
    with Image.open(save(shown, tmp_path / "run.gif", seconds=0.5)) as film:
        frames, times = [], []
        for at in range(film.n_frames):
            film.seek(at)
            frames.append(film.convert("RGB").tobytes())
            times.append(film.info["duration"])

    assert (len(frames), set(times)) == (len(RUN), {500})
    assert len(set(frames)) == len(RUN)


def test_a_player_saves_the_frame_on_show(shown, tmp_path):
    player = play(RUN, draw_lookup, describe_lookup, start=2)

    assert save(player, tmp_path / "now.svg").read_text(encoding="utf-8") == shown.pictures[2]
    assert save(player, tmp_path / "all.gif").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["run.mp4", "run", "run.SVG"])
def test_another_ending_is_refused_and_says_which_there_are(shown, tmp_path, name):
    with pytest.raises(KafkaLearnError, match=r"must end in \.svg, \.png or \.gif"):
        save(shown, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "1", True, 10**9])
def test_a_time_that_cannot_be_is_refused(shown, tmp_path, seconds):
    with pytest.raises(KafkaLearnError, match="seconds must be from"):
        save(shown, tmp_path / "run.gif", seconds)


def test_a_folder_that_is_not_there_is_said(shown, tmp_path):
    with pytest.raises(KafkaLearnError, match="cannot be written: No such file"):
        save(shown, tmp_path / "none" / "run.svg")


def test_what_is_not_drawn_is_refused(tmp_path):
    with pytest.raises(KafkaLearnError, match="a Picture, an Animation or a Player can be saved, got str"):
        save("<svg/>", tmp_path / "run.svg")
