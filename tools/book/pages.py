"""What is looked for in a finished page: loads from outside, and links that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# A tag that makes a browser fetch something by itself, and the attribute that says what. Links wait for a click.
LOADS = {
    **dict.fromkeys(["audio", "embed", "iframe", "img", "input", "script", "source", "track", "video"], "src"),
    **{"link": "href", "object": "data", "image": "href", "use": "href"},
}
# The same from within a style or a script.
LOADS_IN_TEXT = re.compile(
    r"""(?:url\(\s*["']?|@import\s+["']?|\bfrom\s*["']|\b(?:import|fetch|importScripts)\(\s*["'])((?:https?:)?//[^"')\s]+)"""
)


class Page(HTMLParser):
    """One page read: what it loads, which anchors it has, where its links go."""

    def __init__(self, html: str):
        """Read the whole page at once."""
        super().__init__(convert_charrefs=True)
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser for each opening tag."""
        values = {name: value or "" for name, value in attrs}
        self._inside = tag
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.loads += _outside(LOADS_IN_TEXT.findall(values.get("style", "")))
        if tag == "a" and "href" in values and values.get("class") != "anchor-link":  # nbconvert's own, at headings
            self.links.append(values["href"])
        elif tag in LOADS and values.get("rel") != "canonical":
            addresses = [values.get(LOADS[tag], ""), values.get("xlink:href", "")]
            self.loads += _outside(addresses)
            self.links += [address for address in addresses if address and not _outside([address])]

    def handle_endtag(self, tag: str) -> None:
        """Called by the parser for each closing tag."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Called by the parser for the text between tags."""
        if self._inside in ("style", "script"):
            self.loads += _outside(LOADS_IN_TEXT.findall(data))


def _outside(addresses: Iterable[str]) -> list[str]:
    return [address for address in addresses if address.startswith(("http://", "https://", "//"))]


def _anchor(fragment: str) -> str:
    """The anchor that a fragment names; that of a state, ``part.form?field=value``, is its part."""
    state = re.fullmatch(r"(\w+)\.\w+\?.*", fragment)
    return state[1] if state else unquote(fragment)


def _leads(fragment: str, page: Page) -> bool:
    """Whether a browser finds the fragment: as it stands, as nbconvert writes ids that are not ASCII, or decoded."""
    return not page.anchors.isdisjoint({fragment, _anchor(fragment)})


def faults(folder: Path) -> Iterator[str]:
    """A sentence for each load from outside and each dead link in the pages of a folder.

    Addresses of the web behind ordinary links are not tried: the book is made offline.
    """
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.html"))}
    for path, page in pages.items():
        yield from (f"{path.name} loads {address} from outside" for address in page.loads)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.name} links to {link}, which is not there"
            elif parts.fragment and target in pages and not _leads(parts.fragment, pages[target]):
                yield f"{path.name} links to {link}, but that page has no such heading"
