"""``NOTICES.txt``: what the wheel and the book carry that is not ours, with its licences, made from what is in them.

    python -m tools.notices

Fonts are found in the package, Python's libraries in the bytes of Pyodide's WebAssembly, style sheets of Jupyter by the
installed packages that write them into a page. What is found and has no entry here stops the command. The wheel has
the file among its licences, the book beside its scripts.

Spark, Kafka, Java and all packages that an extra names are fetched by who installs them: they are carried by neither.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path

from tools.book.face import NOTICES
from tools.book.face import licences as font_licences
from tools.book.live.packages import ACE, PYODIDE, files
from tools.environment import ROOT

COMMAND = "python -m tools.notices"
TEXTS = Path(__file__).parent / "book" / "live" / "licences"
WHEEL, BOOK = "the wheel", "the book"
RULE = "\n" + "=" * 80 + "\n"


@dataclass(frozen=True, slots=True)
class Carried:
    """Something that is not ours, as a section of the file."""

    name: str
    where: str  # in what of ours, and in which file
    licence: str  # by its SPDX name
    text: str

    def __str__(self) -> str:
        """The section."""
        return f"{self.name}\nin {self.where}\n{self.licence}\n\n{self.text.strip()}\n"


@dataclass(frozen=True, slots=True)
class Library:
    """A library in Pyodide's WebAssembly."""

    name: str
    mark: bytes  # what stands in the WebAssembly if it is there
    licence: str  # a file of `TEXTS`; empty: no text is asked for
    copyright: str


LIBRARIES = (
    Library("musl, the C library of Emscripten", b"", "MIT", "Copyright (c) 2005-2020 Rich Felker, et al."),
    Library("Emscripten", b"", "MIT", "Copyright (c) 2010-2014 Emscripten authors, see its AUTHORS file"),
    Library("LLVM's compiler-rt, libc++ and libc++abi", b"", "", "Apache-2.0 WITH LLVM-exception"),
    Library(
        "libffi", b"_ctypes", "MIT", "Copyright (c) 1996-2024 Anthony Green, Red Hat, Inc and others"
    ),
    Library("zlib", b"1.3.1\0", "Zlib", "Copyright (C) 1995-2024 Jean-loup Gailly and Mark Adler"),
    Library("bzip2", b"bzip2", "bzip2-1.0.6", "Copyright (C) 1996-2019 Julian R Seward"),
    Library("XZ Utils, liblzma", b"liblzma", "0BSD", "Copyright (C) The XZ Utils authors and contributors"),
    Library("Zstandard", b"Zstandard", "BSD-3-Clause", "Copyright (c) Meta Platforms, Inc. and affiliates"),
    Library(
        "Expat", b"expat_", "MIT",
        "Copyright (c) 1998-2000 Thai Open Source Software Center Ltd and Clark Cooper\n"
        "Copyright (c) 2001-2025 Expat maintainers",
    ),
    Library("libmpdec", b"mpd_", "BSD-2-Clause", "Copyright (c) 2008-2024 Stefan Krah"),
    Library("mimalloc", b"mimalloc", "MIT", "Copyright (c) 2018-2025 Microsoft Corporation, Daan Leijen"),
    Library(
        "HACL*", b"HACL", "MIT",
        "Copyright (c) 2016-2022 INRIA, CMU and Microsoft Corporation\nCopyright (c) 2022-2024 HACL* Contributors",
    ),
    Library("SQLite", b"sqlite3", "", "in the public domain"),
)  # fmt: skip
NOT_THERE = (b"OpenSSL", b"ncurses", b"libxml2", b"libuuid", b"GNU dbm")
"""Libraries that other builds of Python have; if one of them comes, it needs an entry."""

FONTS = {
    "font-text*.woff2": "Atkinson Hyperlegible Next", "font-regular.ttf": "Atkinson Hyperlegible Next",
    "font-bold.ttf": "Atkinson Hyperlegible Next", "font-code.woff2": "Atkinson Hyperlegible Mono",
    "font-chinese.woff2": "Noto Sans SC",
}  # fmt: skip
FONT_ENDINGS = (".woff2", ".woff", ".ttf", ".otf")
PHOSPHOR = "Copyright (c) 2014-2017, PhosphorJS Contributors"
BOOTSTRAP = re.compile(r"/\*!\s*\* (Bootstrap Reboot v[\d.]+)[^*]*\* (Copyright[^*]*?)\s*\* (Copyright[^*]*?)\s*\*")
NORMALIZE = "Copyright Nicolas Gallagher and Jonathan Neal (normalize.css, which it comes from)"
STYLES = ("nbconvert", "jupyterlab", "jupyterlab_pygments")  # whose sheets a chapter's page has


class NoEntry(Exception):  # noqa: N818  (named for what has happened)
    """Something is carried that this module does not know; the message says what."""


def fonts_of(folder: Path) -> dict[str, list[str]]:
    """The font files below a folder, by the font that each is cut from.

    Raises
    ------
    NoEntry
        If a file is none of those known.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(each for each in folder.rglob("*") if each.suffix in FONT_ENDINGS):
        name = next((font for pattern, font in FONTS.items() if fnmatch(path.name, pattern)), None)
        if name is None:
            raise NoEntry(f"{path.relative_to(folder.parent).as_posix()}: name in {__name__} what it is cut from")
        found.setdefault(name, []).append(path.relative_to(folder.parent).as_posix())
    return found


def libraries_in(wasm: bytes) -> list[Library]:
    """The libraries whose marks stand in a WebAssembly of Python's.

    Raises
    ------
    NoEntry
        If one is there that has no entry.
    """
    if strange := [mark.decode() for mark in NOT_THERE if mark in wasm]:
        raise NoEntry(f"{PYODIDE.name} {PYODIDE.version} has {', '.join(strange)}: give it an entry in {__name__}")
    return [each for each in LIBRARIES if each.mark in wasm]


def carried() -> Iterator[Carried]:
    """All that is carried, in order."""
    fonts = fonts_of(ROOT / "kafkalearn")
    places = "\n".join(f"   {name}: {', '.join(paths)}" for name, paths in fonts.items())
    yield Carried(
        "Fonts, cut to the letters that are used", f"{WHEEL} and {BOOK}:\n{places}", "OFL-1.1", font_licences()
    )
    (ace,) = files(ACE, "LICENSE").values()
    yield Carried(f"{ACE.name} {ACE.version}", f"{BOOK}: live/ace", "BSD-3-Clause", ace.decode("utf-8"))
    for name in STYLES:
        package = distribution(name)
        text = next(each for each in package.files or () if each.name == "LICENSE" and "licenses" in each.parts)
        what = f"{BOOK}: live/notebook-*.css"
        yield Carried(f"{name} {package.version}", what, "BSD-3-Clause", text.read_text(encoding="utf-8"))
    sheets = f"{BOOK}: live/notebook-*.css, as JupyterLab has it"
    phosphor = f"{PHOSPHOR}\n\n{_text('BSD-3-Clause')}"
    yield Carried("PhosphorJS", sheets, "BSD-3-Clause", phosphor)
    yield Carried("Material Design icons of Google", sheets, "Apache-2.0", "The text is that of kafkalearn's LICENSE.")
    yield from _of_the_reference()
    runtime = f"{BOOK}: live/runtime.js and live/snapshot.js"
    source = "Its source: https://github.com/pyodide/pyodide\n\n"
    yield Carried(f"{PYODIDE.name} {PYODIDE.version}", runtime, "MPL-2.0", source + _text("MPL-2.0"))
    more = "What its sources include of others: https://docs.python.org/3/license.html\n\n"
    yield Carried("CPython and its standard library", runtime, "Python-2.0", more + _text("Python-2.0"))
    (wasm,) = files(PYODIDE, "pyodide.asm.wasm").values()
    for each in libraries_in(wasm):
        text = f"{each.copyright}\n\n{_text(each.licence)}" if each.licence else each.copyright
        yield Carried(each.name, f"{runtime}, linked into Python", each.licence or "no text is asked for", text)


def _of_the_reference() -> Iterator[Carried]:
    """What stands in the pages of pdoc, whose style sheet begins with Bootstrap's."""
    package = distribution("pdoc")
    where = f"{BOOK}: reference/*.html and reference/reference.css"
    by_name = {each.name: each for each in package.files or ()}
    yield Carried(f"pdoc {package.version}", where, "MIT-0", by_name["LICENSE"].read_text(encoding="utf-8"))
    (sheet,) = (each for each in package.files or () if each.match("pdoc/templates/resources/bootstrap-reboot.min.css"))
    found = BOOTSTRAP.match(sheet.read_text(encoding="utf-8"))
    if found is None:
        raise NoEntry(f"{sheet} of pdoc {package.version} names other owners: read it, and say so in tools/notices.py")
    name, *owners = found.groups()
    copyrights = "\n".join([*owners, NORMALIZE])
    yield Carried(f"{name} and its icons", f"{where}, as pdoc has it", "MIT", f"{copyrights}\n\n{_text('MIT')}")


def _text(licence: str) -> str:
    return (TEXTS / f"{licence}.txt").read_text(encoding="utf-8")


def notices() -> str:
    """The whole file."""
    sections = [*carried()]
    names = "\n".join(f"- {each.name} ({each.licence})" for each in sections)
    head = (
        f"kafkalearn is licensed under Apache-2.0, see LICENSE. Its wheel and its book carry this of others, as\n"
        f"`{COMMAND}` has found it in them:\n\n{names}\n\n"
        "Apache Kafka and Apache Spark are trademarks of the Apache Software Foundation. Nothing of their code is\n"
        "carried: what the wheel has of them are names, defaults, sentences of logs and recorded answers.\n"
    )
    return RULE.join([head, *(f"\n{each}" for each in sections)])


def main() -> int:
    """Write the file."""
    NOTICES.write_text(notices(), encoding="utf-8")
    print(f"{NOTICES.name} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
