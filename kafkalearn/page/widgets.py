"""The player and the controls of a page: what stands in for `kafkalearn.views.widgets` where no notebook runs.

Both are drawn by the script that draws them in a notebook, from the same data. `stand_in` puts this module where the
chapters' imports look for the widgets; where these can be imported themselves, nothing is changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from kafkalearn.errors import KafkaLearnError
from kafkalearn.trace import Frame, Trace
from kafkalearn.views.drawing.controls import Control, check_values, control
from kafkalearn.views.drawing.frames import Animation, Describe, Draw, still_animation, to_play
from kafkalearn.views.drawing.page import values_for_page, words_of
from kafkalearn.views.drawing.picture import Picture

KIND = "application/x-kafkalearn-player"
"""The kind of output that the page's script mounts as a player: the data that `player_html` writes into a page."""

_NAMES = ("", ".controls", ".player", ".progress_bar")


class Player:
    """An animation on show, as `kafkalearn.views.widgets.player.Player`; `value` is the frame on show."""

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
    """Controls and the picture or animation they change, as `kafkalearn.views.widgets.controls.Varied`."""

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
        shown[KIND] |= {"_controls": described, "_values": values_for_page(self.controls, values)}
        return shown | {"text/plain": f"{words_of(self.controls, values)}\n{self.animation.text}"}


def play(
    trace: Trace | Animation,
    draw: Draw | None = None,
    describe: Describe | None = None,
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Player:
    """A player for a trace or an animation, as `kafkalearn.views.widgets.player.play`."""
    return Player(to_play(trace, draw, describe, title=title, start=start, stills=stills))


def vary(draw: Callable[..., Picture | Animation | Player], **controls: object) -> Varied:
    """A picture or an animation with controls, as `kafkalearn.views.widgets.controls.vary`."""
    return Varied(draw, tuple(control(name, wanted) for name, wanted in controls.items()))


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
            sys.modules[f"kafkalearn.views.widgets{name}"] = sys.modules[__name__]


def _as_animation(drawn: object) -> Animation:
    match drawn:
        case Picture():
            return still_animation(drawn)
        case Animation():
            return drawn
        case Player():
            return drawn.animation
    raise KafkaLearnError(f"draw must return a Picture, an Animation or a Player, got {type(drawn).__name__}")
