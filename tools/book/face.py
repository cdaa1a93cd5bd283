"""The face of the book, which JupyterLab shows too: the style that every page has, and its fonts."""

from __future__ import annotations

import re
from base64 import b64encode

from tools.environment import ROOT

SIDE = ROOT / "kafkalearn" / "lab" / "kafkalearn-lab"
"""What the book's pages and JupyterLab have in common."""
NOTICES = ROOT / "NOTICES.txt"
"""What the book and the wheel carry that is not ours, which `tools.notices` writes."""
_FONT = re.compile(r"@font-face \{[^}]*url\((font-[\w-]+\.woff2)\)[^}]*\}\n")


def face() -> str:
    """Type, scale, space and colours, without the fonts: for the head of a page."""
    return _FONT.sub("", (SIDE / "face.css").read_text(encoding="utf-8"))


def fonts() -> str:
    """The fonts with their bytes, for the one sheet that all pages share: Firefox takes none from a file beside it."""
    sheet = (SIDE / "face.css").read_text(encoding="utf-8")
    return "".join(each[0].replace(each[1], _address(each[1])) for each in _FONT.finditer(sheet))


def licences() -> str:
    """The licences of the fonts."""
    return (SIDE / "font-licences.txt").read_text(encoding="utf-8")


def _address(name: str) -> str:
    return f"data:font/woff2;base64,{b64encode((SIDE / name).read_bytes()).decode()}"
