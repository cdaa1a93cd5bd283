"""Controls beside a picture: turn one, and the picture is drawn again with the new values.

Made of widgets that keep their state in the notebook and need no output area, so that a page without a kernel
still shows the picture of the first values. What `draw` refuses is written under the controls; the picture that
was there stays.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import ipywidgets

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.frames import Animation, still_animation
from kafkalearn.views.drawing.picture import Picture
from kafkalearn.views.drawing.style import MARK, PANEL
from kafkalearn.views.widgets.player import Player

_LABEL = {"description_width": "initial"}


class Varied(ipywidgets.VBox):
    """Controls and the picture or animation they change; see `vary`.

    Attributes
    ----------
    values : dict of str to object
        What the controls stand at. Set one by ``varied.controls["group_id"].value = "billing"``.
    controls : dict of str to ipywidgets.Widget
        By the names of `draw`'s arguments.
    player : Player
        What is on show.
    message : str
        What was wrong with the values last set, or the empty text.
    """

    def __init__(
        self, draw: Callable[..., Picture | Animation | Player], controls: dict[str, ipywidgets.Widget]
    ) -> None:
        """Draw once with the first values; what `draw` raises then is raised here."""
        self._draw = draw
        self.controls = controls
        drawn = draw(**self.values)
        self.player = Player(_as_animation(drawn), drawn.value if isinstance(drawn, Player) else None)
        self._shown_message = ipywidgets.HTML()
        self._show_message("")
        for control in controls.values():
            control.observe(self._redraw, names="value")
        row = ipywidgets.HBox(list(controls.values()), layout={"flex_flow": "row wrap"})
        super().__init__([row, self._shown_message, self.player])

    @property
    def values(self) -> dict[str, object]:
        """What the controls stand at now."""
        return {name: control.value for name, control in self.controls.items()}

    def _redraw(self, _: dict) -> None:
        try:
            self.player.animation = _as_animation(self._draw(**self.values))
            self._show_message("")
        except KafkaLearnError as error:
            self._show_message(str(error))

    def _show_message(self, words: str) -> None:
        self.message = words
        self._shown_message.value = _as_html(words)

    def __repr__(self) -> str:
        """Without an address: the same in every run."""
        return f"Varied({', '.join(self.controls)})"

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        animation, values = self.player.animation, _spelt(self.values)
        return super()._repr_mimebundle_(**kwargs) | {
            "text/html": f"<p>{escape(values)}</p>\n{animation.html(self.player.value)}",
            "image/svg+xml": str(animation.still),
            "text/plain": f"{values}\n{animation.text}",
        }


def vary(draw: Callable[..., Picture | Animation | Player], **controls: object) -> Varied:
    """A picture or an animation with controls for the arguments it depends on.

    Parameters
    ----------
    draw : callable
        ``draw(**values)`` returns a `Picture`, an `Animation` or a `Player`.
    **controls : object
        One for each argument of `draw`, under its name: text for a text field, ``True`` or ``False`` for a box to
        tick, a whole number for a number field, ``(low, high)`` or ``(low, high, start)`` of whole numbers for a
        slider, a list for a choice, or any ipywidget that has a value.

    Returns
    -------
    Varied
        A widget; where none can run, the picture or animation of the first values.

    Raises
    ------
    KafkaLearnError
        If a control is none of these, or from `draw` if it refuses the first values.

    Examples
    --------
    >>> from kafkalearn.coordinator import round_robin_leaders
    >>> from kafkalearn.views.coordinator.offsets_topic import draw_offsets_topic
    >>> def strip(broker_count, marked):
    ...     return draw_offsets_topic(round_robin_leaders(range(broker_count)), marked)
    >>> varied = vary(strip, broker_count=(1, 6, 3), marked=12)
    >>> varied.controls["marked"].value = 50
    >>> varied.message
    'marked must be a partition from 0 to 49, got 50'
    """
    return Varied(draw, {name: _control(name, wanted) for name, wanted in controls.items()})


def _control(name: str, wanted: object) -> ipywidgets.Widget:
    """The widget for a short form; the order matters, True is an int too."""
    look = {"description": name.replace("_", " "), "style": _LABEL}
    match wanted:
        case ipywidgets.Widget() if wanted.has_trait("value"):
            return wanted
        case bool():
            return ipywidgets.Checkbox(wanted, **look)
        case int():
            return ipywidgets.IntText(wanted, **look)
        case str():
            return ipywidgets.Text(wanted, **look)
        case (int(low), int(high)) | (int(low), int(high), int()) if low <= high:
            start = wanted[2] if len(wanted) == 3 else low
            return ipywidgets.IntSlider(start, low, high, **look)
        case list() if wanted:
            return ipywidgets.Dropdown(options=wanted, **look)
    raise KafkaLearnError(
        f"control {name}={wanted!r}: give text, True or False, a whole number, (low, high) or (low, high, start) "
        "of whole numbers, a list of choices, or an ipywidget with a value"
    )


def _as_animation(drawn: Picture | Animation | Player) -> Animation:
    match drawn:
        case Picture():
            return still_animation(drawn)
        case Animation():
            return drawn
        case Player():
            drawn.close()  # only its animation is wanted; animation(...) instead of play(...) would not have made it
            return drawn.animation
    raise KafkaLearnError(f"draw must return a Picture, an Animation or a Player, got {type(drawn).__name__}")


def _as_html(words: str) -> str:
    if not words:
        return ""
    look = f"background:{PANEL};color:{MARK};border-left:5px solid {MARK};padding:6px 12px;font-size:16px"
    return f'<div role="alert" style="{look}">{escape(words, quote=False)}</div>'


def _spelt(values: dict[str, object]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())
