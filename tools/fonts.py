"""Makes the fonts that the pages, the players and the lab are set in: what the project writes, and no more.

    python -m tools.fonts

It needs ``fonttools[woff]`` beside what the lock has. The letters are those of Western Europe, and every Chinese one
that a chapter or the package has: a test says when one is missing (`tests/drawing/test_face.py`). The fonts are
committed (``kafkalearn/lab/kafkalearn-lab``; for matplotlib, ``kafkalearn/drawing``), so that nobody else needs this.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fontTools.merge import Merger
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

from tools.book.live.packages import Package, files
from tools.chapters import chapter_paths
from tools.environment import ROOT

FOLDER = ROOT / "kafkalearn" / "lab" / "kafkalearn-lab"
DRAWING = ROOT / "kafkalearn" / "drawing"
TEXT = Package(
    "@fontsource-variable/atkinson-hyperlegible-next",
    "5.3.0",
    "UnLzNUy1RWoLDfydAatP4NaRm99X/WbQEph7q/PymJnCFIOOwKOx3pBmp5ys8trO0dM+CKGuJgeZP9fAR4mQpA==",
)
CODE = Package(
    "@fontsource-variable/atkinson-hyperlegible-mono",
    "5.3.0",
    "0IbthhO18EEpLe69h+cmrsxCkl4yk80gMk+fAN3+9M5zQvoR1JlkzoJRR6U9/UXLYpVBGEXu+Md2LO8TIp30dw==",
)
CHINESE = Package(
    "@fontsource/noto-sans-sc",
    "5.3.0",
    "HeqIlGm0+ohOKxZLuHj1qW6r6avHH0OWdKERAcSDI0RQ+MXrteuLKA+M+5eOA8rYy0MFvOR5AT0fQo2rUkye0Q==",
)
LATIN = {*range(0x20, 0x7F), *range(0xA0, 0x100), *map(ord, "–—‘’“”…•→←↑↓−≤≥×µ")}
_CHINESE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")


def chinese_letters() -> str:
    """Each Chinese letter and mark that a chapter or the package has, once, in order."""
    cells = (cell for path in chapter_paths() for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
    texts = ["".join(cell["source"]) for cell in cells]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "kafkalearn").rglob("*.py")]
    return "".join(sorted(set(_CHINESE.findall("".join(texts)))))


def _cut(data: bytes, letters: Iterable[int]) -> TTFont:
    font, options = TTFont(io.BytesIO(data)), Options()
    options.layout_features = ["kern", "liga", "mark", "mkmk", "tnum", "zero"]
    options.name_IDs = [0, 1, 2, 13, 14]
    cutter = Subsetter(options)
    cutter.populate(unicodes=letters)
    cutter.subset(font)
    return font


def _write(font: TTFont, name: str) -> None:
    font.flavor = "woff2"
    font.save(FOLDER / f"font-{name}.woff2")
    print(f"font-{name}.woff2", (FOLDER / f"font-{name}.woff2").stat().st_size)


def _latin(package: Package, stem: str, name: str) -> None:
    (data,) = files(package, f"files/{stem}.woff2").values()
    _write(_cut(data, LATIN), name)


def _for_figures(package: Package, stem: str) -> None:
    """The same letters for matplotlib, which reads neither packed fonts nor variable ones: one file a weight."""
    (data,) = files(package, f"files/{stem}.woff2").values()
    for weight, name in ((400, "regular"), (700, "bold")):
        font = instantiateVariableFont(_cut(data, LATIN), {"wght": weight})
        font.flavor = None
        path = DRAWING / f"font-{name}.ttf"
        font.save(path)
        print(path.name, path.stat().st_size)


def _chinese(letters: str) -> None:
    """One font of the pieces that hold the letters: the package has a hundred."""
    (listed,) = files(CHINESE, "unicode.json").values()
    missing, pieces = set(map(ord, letters)), []
    with tempfile.TemporaryDirectory() as folder:
        for piece, ranges in json.loads(listed).items():
            here = {code for code in missing if any(_holds(each, code) for each in ranges.split(","))}
            if here:
                missing -= here
                name = f"files/noto-sans-sc-{piece.strip('[]')}-400-normal.woff2"
                (data,) = files(CHINESE, name).values()
                font = _cut(data, here)
                font.flavor = None
                pieces.append(str(Path(folder, f"{len(pieces)}.ttf")))
                font.save(pieces[-1])
        if missing:
            raise SystemExit(f"no piece of {CHINESE.name} has {''.join(map(chr, missing))}")
        _write(Merger().merge(pieces), "chinese")
    (FOLDER / "font-chinese.txt").write_text(letters + "\n", encoding="utf-8")


def _holds(written: str, code: int) -> bool:
    """Whether a range as a style sheet has it, ``U+4e00-4e0f`` or ``U+4e00``, holds a letter."""
    first, _, last = written.strip().removeprefix("U+").partition("-")
    return int(first, 16) <= code <= int(last or first, 16)


def main() -> int:
    """Write the fonts and their licences."""
    for slope, name in (("normal", "text"), ("italic", "text-italic")):
        _latin(TEXT, f"atkinson-hyperlegible-next-latin-wght-{slope}", name)
    _for_figures(TEXT, "atkinson-hyperlegible-next-latin-wght-normal")
    _latin(CODE, "atkinson-hyperlegible-mono-latin-wght-normal", "code")
    _chinese(chinese_letters())
    licences = [f"{each.name} {each.version}\n\n{files(each, 'LICENSE')['LICENSE'].decode()}" for each in _ALL]
    (FOLDER / "font-licences.txt").write_text(("\n" + "-" * 80 + "\n").join(licences), encoding="utf-8")
    return 0


_ALL = (TEXT, CODE, CHINESE)

if __name__ == "__main__":
    sys.exit(main())
