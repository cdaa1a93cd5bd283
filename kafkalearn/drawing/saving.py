"""Export pictures and runs as files for slides: SVG, PNG, and animated GIF."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Protocol

import matplotlib
from PIL import Image
from resvg_py import svg_to_bytes

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.player import Animation, Picture, stack

PIXELS_WIDE = 1600  # of a PNG or GIF: sharp on a projector
_FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"  # the same letters on every machine


class Played(Protocol):
    """A player of either kind: that of a notebook, or that of a page."""

    @property
    def animation(self) -> Animation:
        """What is played."""
        ...

    @property
    def value(self) -> int:
        """Position of the frame on show."""
        ...


def save(shown: Picture | Animation | Played, path: str | Path, seconds: float = 2.0) -> Path:
    """Write what is shown to a file for slides, and return its path.

    Parameters
    ----------
    shown : Picture, Animation or Player
        A picture is itself; of a player the frame on show is taken, of an animation its key frames below each other.
    path : str or Path
        Its ending decides: .svg, .png, or .gif for the whole run.
    seconds : float
        How long a film shows each frame.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    KafkaLearnError
        If this is nothing that is drawn, the ending is another, the time cannot be, or the file cannot be written.

    Examples
    --------
    >>> from kafkalearn.coordinator import look_up
    >>> from kafkalearn.views import animation, draw_lookup
    >>> save(animation(look_up("ok", [1], 1), draw_lookup), "run.mp4")
    Traceback (most recent call last):
        ...
    kafkalearn.base.errors.KafkaLearnError: 'run.mp4' must end in .svg, .png or .gif
    """
    path = Path(path)
    if path.suffix not in (".svg", ".png", ".gif"):
        raise KafkaLearnError(f"{path.name!r} must end in .svg, .png or .gif")
    picture, run = _parts(shown)
    if path.suffix == ".svg":
        return _written(path, picture.encode())
    return _written(path, _png(picture) if path.suffix == ".png" else _film(run, seconds))


def _parts(shown: Picture | Animation | Played) -> tuple[Picture, list[Picture]]:
    """The one picture, and the run with its words."""
    if isinstance(shown, Picture):
        return shown, [shown]
    if isinstance(shown, Animation):
        return shown.pictures[0] if len(shown.pictures) == 1 else shown.still, _captioned(shown)
    if isinstance(getattr(shown, "animation", None), Animation):
        return shown.animation.pictures[shown.value], _captioned(shown.animation)
    raise KafkaLearnError(f"a Picture, an Animation or a Player can be saved, got {type(shown).__name__}")


def _captioned(run: Animation) -> list[Picture]:
    pairs = zip(run.pictures, run.captions, strict=True)
    return [stack([picture], [words], words or picture.label) for picture, words in pairs]


def _film(pictures: Sequence[Picture], seconds: float) -> bytes:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.02 <= seconds <= 600:
        raise KafkaLearnError(f"seconds must be from 0.02 to 600 for each picture, got {seconds!r}")
    first, *others = _same_size([Image.open(BytesIO(_png(each))).convert("RGB") for each in pictures])
    film = BytesIO()
    first.save(film, "GIF", save_all=True, append_images=others, duration=round(1000 * seconds), loop=0)
    return film.getvalue()


def _png(picture: Picture) -> bytes:
    return bytes(svg_to_bytes(svg_string=picture, width=PIXELS_WIDE, font_dirs=[str(_FONTS)], skip_system_fonts=True))


def _same_size(images: list[Image.Image]) -> list[Image.Image]:
    """A film has one size: shorter pictures get the panel's colour below them."""
    height = max(each.height for each in images)
    whole = [Image.new("RGB", (each.width, height), each.getpixel((0, 0))) for each in images]
    for ground, each in zip(whole, images, strict=True):
        ground.paste(each)
    return whole


def _written(path: Path, content: bytes) -> Path:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise KafkaLearnError(f"{path} cannot be written: {error.strerror}") from None
    return path
