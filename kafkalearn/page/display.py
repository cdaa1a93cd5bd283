"""Values as a page shows them: the kinds of Jupyter's rich display, found without IPython."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from kafkalearn.page.pretty import pretty
from kafkalearn.page.widgets import KIND

MOST_CHARACTERS = 200_000  # of what one cell prints: a loop without end fills no memory
_METHODS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "text/markdown": "_repr_markdown_"}


def bundle(value: object) -> dict[str, object]:
    """What a page can show of a value, by kind; ``text/plain`` is always there.

    >>> from kafkalearn.tables import PlainTable
    >>> sorted(bundle(PlainTable(("offset",), ((1,),))))
    ['text/html', 'text/plain']
    """
    shown: Any = _from(value, "_repr_mimebundle_")
    if isinstance(shown, tuple):  # with metadata
        shown = shown[0]
    if not shown:
        shown = {kind: text for kind, name in _METHODS.items() if (text := _from(value, name))}
    return shown if "text/plain" in shown else {**shown, "text/plain": pretty(value)}


def drawn(part: dict[str, object]) -> str | None:
    """One of the `Outputs` as HTML; None for a player, which the page draws by itself.

    >>> drawn({"printed": "1 < 2"})
    '<pre class="live-printed">1 &lt; 2</pre>'
    """
    if "printed" in part:
        return f'<pre class="live-printed">{escape(part["printed"])}</pre>'
    if "error" in part:
        kind, words, line, source = (part["error"][name] for name in ("kind", "words", "line", "source"))
        where = f"<code>{escape(f'Line {line}: {source}' if source else f'Line {line}')}</code>" if line else ""
        return f'<div class="live-error"><strong>{kind}</strong><p>{escape(words)}</p>{where}</div>'
    shown = part["shown"]
    if KIND in shown:
        return None
    for kind, form in _DRAWN.items():
        if kind in shown:
            return form.format(shown[kind] if kind in _READY else escape(shown[kind]))
    return None


_DRAWN = {
    "text/html": '<div class="jp-RenderedHTMLCommon">{}</div>',
    "image/svg+xml": "{}",
    "text/markdown": "<pre>{}</pre>",
    "text/plain": "<pre>{}</pre>",
}
_READY = ("text/html", "image/svg+xml")


def _from(value: object, method: str) -> object:
    """What a value's own method gives; a class has the method of its instances, and is not asked."""
    found = None if isinstance(value, type) else getattr(value, method, None)
    return found() if callable(found) else None


@dataclass(slots=True)
class Outputs:
    """What a cell shows, in order: ``{"printed": text}``, ``{"shown": bundle}`` or ``{"error": ...}``.

    It can stand for ``sys.stdout``.
    """

    on_show: Callable[[object], dict[str, object]] = bundle
    parts: list[dict[str, object]] = field(default_factory=list)
    encoding: str = "utf-8"
    _left: int = MOST_CHARACTERS

    def write(self, text: str) -> int:
        """Print."""
        if self._left > 0:
            kept = text[: self._left]
            self._left -= len(kept)
            if self._left <= 0:
                kept += "\n… and more, which is left out"
            if self.parts and "printed" in self.parts[-1]:
                self.parts[-1]["printed"] += kept
            elif kept:
                self.parts.append({"printed": kept})
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """It is no terminal."""
        return False

    def show(self, *values: object, **_: object) -> None:
        """``display(...)`` of a notebook."""
        self.parts += [{"shown": self.on_show(value)} for value in values]
