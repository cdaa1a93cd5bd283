"""Pictures and runs as files for slides: SVG, PNG, and a film as GIF."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.errors import KafkaLearnError
from kafkalearn.extras import require
from kafkalearn.views.drawing.picture import Picture, stack

if TYPE_CHECKING:
    from PIL import Image

PIXELS_WIDE = 1600  # of a PNG or GIF: sharp on a projector


def save_picture(picture: Picture, path: str | Path) -> Path:
    """Write a picture as .svg or .png, and say where.

    Raises
    ------
    KafkaLearnError
        If the name ends otherwise, or the file cannot be written.
    """
    path = _named(path, ".svg", ".png")
    return _written(path, str(picture).encode() if path.suffix == ".svg" else png(picture))


def save_film(pictures: Sequence[Picture], captions: Sequence[str], path: str | Path, seconds: float) -> Path:
    """Write a run as .gif, each picture below its words for so many seconds; say where.

    Raises
    ------
    KafkaLearnError
        If the name ends otherwise, the time is no positive number, or the file cannot be written.
    """
    path = _named(path, ".gif")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.02 <= seconds <= 600:
        raise KafkaLearnError(f"seconds must be from 0.02 to 600 for each picture, got {seconds!r}")
    pages = [stack([each], [words], words) for each, words in zip(pictures, captions, strict=True)]
    first, *others = _same_size([_image(page) for page in pages])
    film = BytesIO()
    first.save(film, "GIF", save_all=True, append_images=others, duration=round(1000 * seconds), loop=0)
    return _written(path, film.getvalue())


def png(picture: Picture, width: int = PIXELS_WIDE) -> bytes:
    """The picture as PNG, with matplotlib's own fonts: the same on every machine."""
    require(__name__, "resvg_py", "matplotlib")
    import matplotlib as mpl
    from resvg_py import svg_to_bytes

    fonts = str(Path(mpl.get_data_path()) / "fonts" / "ttf")
    return bytes(svg_to_bytes(svg_string=str(picture), width=width, font_dirs=[fonts], skip_system_fonts=True))


def _image(picture: Picture) -> Image.Image:
    from PIL import Image

    return Image.open(BytesIO(png(picture))).convert("RGB")


def _same_size(images: list[Image.Image]) -> list[Image.Image]:
    """A film has one size: shorter pictures get the panel's colour below them."""
    from PIL import Image

    height = max(each.height for each in images)
    whole = [Image.new("RGB", (each.width, height), each.getpixel((0, 0))) for each in images]
    for ground, each in zip(whole, images, strict=True):
        ground.paste(each)
    return whole


def _named(path: str | Path, *endings: str) -> Path:
    path = Path(path)
    if path.suffix not in endings:
        raise KafkaLearnError(f"{path.name!r} must end in {' or '.join(endings)}")
    return path


def _written(path: Path, content: bytes) -> Path:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise KafkaLearnError(f"{path} cannot be written: {error.strerror}") from None
    return path
