"""What a page shows of a cell's values: the player and controls that the reader turns, text, tables and pictures.

`Player`, `Varied` and `progress_bar` stand in for `kafkalearn.drawing.widgets` where no notebook runs. They are drawn
by the script that draws them in a notebook, from the same data. `stand_in` puts this module where the chapters' imports
look for the widgets; where these can be imported themselves, nothing is changed. All other values are shown in the
kinds of Jupyter's rich display, found without IPython. `Outputs` has what a cell shows, in the order of showing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import player
from kafkalearn.drawing.controls import Control, check_values, control
from kafkalearn.drawing.player import Animation, Picture
from kafkalearn.drawing.touching import Board

KIND = "application/x-kafkalearn-player"
"""The kind of output that the page's script mounts as a player: the data that `player_html` writes into a page."""

_NAMES = ("", ".controls", ".player", ".progress_bar")


class Player:
    """An animation on show, as `kafkalearn.drawing.widgets.Player`; `value` is the frame on show."""

    def __init__(self, animation: Animation, value: int | None = None) -> None:
        """Show `animation`, from frame `value` on if that is given."""
        self.animation = animation
        self.value = animation.start if value is None else value

    @property
    def value(self) -> int:
        """Position of the frame on show, from 0."""
        return self._value

    @value.setter
    def value(self, value: int) -> None:
        self._value = self.animation.checked_place(value)

    @property
    def frame(self) -> Frame:
        """The frame on show."""
        return self.animation.frame_at(self.value)

    def __repr__(self) -> str:
        """The same in every run."""
        return f"Player({len(self.animation.pictures)} frames)"

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        state = {"value": self.value, "_animation": self.animation.payload, "_controls": "[]", "_values": "{}"}
        return {KIND: state, "image/svg+xml": str(self.animation.still), "text/plain": self.animation.text}


class Varied(Player):
    """Controls and the picture or animation they change, as `kafkalearn.drawing.widgets.Varied`."""

    def __init__(self, draw: Callable[..., Picture | Animation | Player], controls: tuple[Control, ...]) -> None:
        """Draw once with the first values; what `draw` raises then is raised here."""
        self._draw, self.controls = draw, controls
        self.values = {each.name: each.first for each in controls}
        self.message = ""
        drawn = draw(**self.values)
        super().__init__(_as_animation(drawn), drawn.value if isinstance(drawn, Player) else None)

    def set(self, **values: object) -> None:
        """Turn controls, as a reader would; KafkaLearnError if there is no such control or it cannot stand so."""
        check_values(self.controls, values)
        self.draw_with(self.values | values)

    def from_page(self, values: Sequence[object]) -> None:
        """Draw with the values that the page has sent; what `draw` refuses is in `message`, the picture stays."""
        try:
            pairs = zip(self.controls, values, strict=True)
            self.draw_with({each.name: each.from_page(value) for each, value in pairs})
        except KafkaLearnError as error:
            self.message = str(error)
        except Exception as error:
            self.message = f"{type(error).__name__}: {error}"

    def draw_with(self, values: dict[str, object]) -> None:
        """Draw anew; an animation keeps its place, and one seen to its end stays at the end."""
        self.values = values
        old, self.animation = self.animation, _as_animation(self._draw(**values))
        self.value = self.animation.place_after(old, self.value)
        self.message = ""

    def __repr__(self) -> str:
        """The same in every run."""
        return f"Varied({', '.join(self.values)})"

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        shown, values = super()._repr_mimebundle_(), list(self.values.values())
        described = json.dumps([each.for_page for each in self.controls], ensure_ascii=False)
        shown[KIND] |= {"_controls": described, "_values": player.values_for_page(self.controls, values)}
        return shown | {"text/plain": f"{player.words_of(self.controls, values)}\n{self.animation.text}"}


def play(
    trace: Trace | Animation,
    draw: player.Draw | None = None,
    describe: player.Describe | None = None,
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Player:
    """A player for a trace or an animation, as `kafkalearn.drawing.widgets.play`."""
    return Player(player.to_play(trace, draw, describe, title=title, start=start, stills=stills))


def vary(draw: Callable[..., Picture | Animation | Player], **controls: object) -> Varied:
    """A picture or an animation with controls, as `kafkalearn.drawing.widgets.vary`."""
    return Varied(draw, tuple(control(name, wanted) for name, wanted in controls.items()))


def touch(
    board: Board,
    line: str | Sequence[object] = "",
    *,
    title: str = "",
    start: int = -1,
    stills: Sequence[int] | None = None,
) -> Varied:
    """A picture that can be touched, as `kafkalearn.drawing.widgets.touch`."""
    draw, begun = board.from_line(line, title, start, stills)
    return vary(draw, run=begun)


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int], None]]:
    """The words of a job; a page shows no bar."""
    if hasattr(sys.stdout, "show"):
        sys.stdout.show(_Words(words))
    yield lambda done, total: None


class _Words(str):
    """Text that shows itself without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def stand_in() -> None:
    """Let imports of the widgets find this module, where the packages that they need are not installed."""
    if find_spec("anywidget") is None or find_spec("ipywidgets") is None:
        for name in _NAMES:
            sys.modules[f"kafkalearn.drawing.widgets{name}"] = sys.modules[__name__]


def _as_animation(drawn: object) -> Animation:
    match drawn:
        case Picture():
            return player.still_animation(drawn)
        case Animation():
            return drawn
        case Player():
            return drawn.animation
    raise KafkaLearnError(f"draw must return a Picture, an Animation or a Player, got {type(drawn).__name__}")


WIDTH = 79
MOST_ITEMS = 1000


def pretty(value: object) -> str:
    """The text of a value, as a notebook writes it: a container that is too long for a line gets one for each item.

    >>> pretty({"a": 1}), pretty((1,)), pretty("text")
    ("{'a': 1}", '(1,)', "'text'")
    >>> print(pretty({"numbers": list(range(10)), "again": list(range(10, 25))}))
    {'numbers': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
     'again': [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]}
    """
    return _laid_out(value, 0, 0, 0, ())


def _laid_out(value: object, indent: int, column: int, behind: int, inside: tuple[int, ...]) -> str:
    """The text of a value that begins at `column`; its items are indented as those of what it stands in, and more.

    `behind` characters follow on its last line.
    """
    flat = repr(value)
    is_whole = not hasattr(value, "__len__") or isinstance(value, str) or len(value) <= MOST_ITEMS
    if "\n" not in flat and column + len(flat) + behind <= WIDTH and is_whole:
        return flat
    ends = _ENDS.get(type(value))  # None: it has no items to show in lines
    if ends is None or not value or id(value) in inside:
        return flat
    opening, closing = ends
    is_single = isinstance(value, tuple) and len(value) == 1
    closing = "," * is_single + closing
    indent, column = indent + len(opening), column + len(opening)
    lines, left = [], len(value)
    for label, item in _items(value):
        left -= 1
        follows = 1 if left else behind + len(closing)
        lines.append(label + _laid_out(item, indent, column + len(label), follows, (*inside, id(value))))
        column = indent
        if len(lines) == MOST_ITEMS and left:
            lines.append("...")
            break
    return opening + (",\n" + " " * indent).join(lines) + closing


def _items(value: object) -> Iterator[tuple[str, object]]:
    """Each item with what stands before it."""
    if isinstance(value, dict | MappingProxyType):
        ordered = value.most_common() if isinstance(value, Counter) else value.items()
        yield from ((f"{key!r}: ", item) for key, item in ordered)
    elif isinstance(value, set | frozenset):
        try:
            yield from (("", item) for item in sorted(value))
        except TypeError:
            yield from (("", item) for item in value)
    else:
        yield from (("", item) for item in value)


_ENDS = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
    Counter: ("Counter({", "})"),
    MappingProxyType: ("mappingproxy({", "})"),
}


MOST_CHARACTERS = 200_000  # of what one cell prints: a loop without end fills no memory
_METHODS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "text/markdown": "_repr_markdown_"}


def bundle(value: object) -> dict[str, object]:
    """What a page can show of a value, by kind; ``text/plain`` is always there.

    >>> from kafkalearn.base.tables import PlainTable
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
    "image/svg+xml": "{}",  # before its image: drawn in the page it has the page's letters and colours
    "text/html": '<div class="jp-RenderedHTMLCommon">{}</div>',
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


_shown: dict[tuple[str, str], list[Player]] = {}  # by page and cell


def forget(page: str) -> None:
    """A page begins anew."""
    for key in [key for key in _shown if key[0] == page]:
        del _shown[key]


def shown_on(page: str, cell: str) -> Callable[[object], dict[str, object]]:
    """How a cell that runs now shows its values: players are kept, to be asked again."""
    players = _shown[page, cell] = []

    def show(value: object) -> dict[str, object]:
        shown = bundle(value)
        if KIND in shown and isinstance(value, Player):
            players.append(value)
        return shown

    return show


def turn(payload: Mapping[str, object]) -> dict[str, object]:
    """Turn the controls of a player: ``{page, cell, at, values}``, `at` its place among the cell's players.

    Returns
    -------
    dict
        ``animation``, what is to be seen now, as text for the player; ``value``, the frame to show;
        ``message``, what was wrong with the values, or the empty text.
    """
    varied = _player(payload)
    if not isinstance(varied, Varied):
        raise KafkaLearnError("this player has no controls")
    varied.from_page(payload["values"])
    return {"animation": varied.animation.payload, "value": varied.value, "message": varied.message}


def step(payload: Mapping[str, object]) -> None:
    """The reader has stepped: ``{page, cell, at, value}``; later cells read it from the player."""
    _player(payload).value = payload["value"]


def _player(payload: Mapping[str, object]) -> Player:
    players = _shown.get((payload["page"], payload["cell"]), [])
    if not 0 <= payload["at"] < len(players):
        raise KafkaLearnError("the cell of this picture has not been run: run it first")
    return players[payload["at"]]


ANSWERS = {"turn": turn, "step": step}
