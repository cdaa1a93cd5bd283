"""``python -m tools.whole_path``: the moving picture at the top of README, docs/whole-path.svg.

It moves by CSS alone, so a code host shows it; letters and dark colours are those of the book.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from pathlib import Path

from kafkalearn import drawing
from kafkalearn.journey.film import moving_picture
from tools.book.face import SIDE
from tools.environment import ROOT

PICTURE = ROOT / "docs" / "whole-path.svg"
_PAIR = re.compile(r'\[fill="(#\w{6})"\] \{ fill: light-dark\((#\w{6}), (#\w{6})\); \}')
_FOLDER = Path(drawing.__file__).parent


def text() -> str:
    """The picture."""
    plain = moving_picture()
    return moving_picture(_letters() + _dark(plain))


def _letters() -> str:
    """The letters of the book, in the picture: a page that shows it lends it none."""
    faces = "".join(
        f'@font-face{{font-family:"kl";font-weight:{weight};src:url(data:font/ttf;base64,'
        f"{b64encode((_FOLDER / name).read_bytes()).decode()})}}"
        for weight, name in ((400, "font-regular.ttf"), (700, "font-bold.ttf"))
    )
    return f'{faces}text{{font-family:"kl",sans-serif}}'


def _dark(plain: str) -> str:
    """For each colour of the picture the one that stands for it in the dark."""
    pairs = {light: dark for light, _, dark in _PAIR.findall((SIDE / "face.css").read_text(encoding="utf-8"))}
    used = sorted(each for each in pairs if each in plain)
    rules = "".join(f'[fill="{each}"]{{fill:{pairs[each]}}}[stroke="{each}"]{{stroke:{pairs[each]}}}' for each in used)
    return f"@media (prefers-color-scheme:dark){{svg{{fill:{pairs['#1a1a1a']}}}{rules}}}"


def main() -> int:
    """Write the picture."""
    PICTURE.write_text(text(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
