"""Controls beside a picture: turn one, and the picture is drawn again with the new values.

The page draws both from data (`kafkalearn.views.drawing.controls`), so that a page without a kernel shows the controls
as they stood. What `draw` refuses is written under the controls; the picture that was there stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import traitlets

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.controls import Control, check_values, control
from kafkalearn.views.drawing.frames import Animation, still_animation
from kafkalearn.views.drawing.page import player_html, values_for_page, words_of
from kafkalearn.views.drawing.picture import Picture
from kafkalearn.views.widgets.player import Player


class Varied(Player):
    """Controls and the picture or animation they change; see `vary`.

    Attributes
    ----------
    controls : tuple of Control
        One for each argument of `draw`, in order.
    values : dict of str to object
        What the controls stand at.
    message : str
        What was wrong with the values last set, or the empty text.
    """

    _controls = traitlets.Unicode().tag(sync=True)
    _values = traitlets.Unicode().tag(sync=True)  # both sides set it
    _answer = traitlets.Unicode("{}").tag(sync=True)

    def __init__(self, draw: Callable[..., Picture | Animation | Player], controls: tuple[Control, ...]) -> None:
        """Draw once with the first values; what `draw` raises then is raised here."""
        self._draw, self.controls = draw, controls
        self.values = {each.name: each.first for each in controls}
        self.message = ""
        drawn = draw(**self.values)
        super().__init__(_as_animation(drawn), drawn.value if isinstance(drawn, Player) else None)
        self._controls = json.dumps([each.for_page for each in controls], ensure_ascii=False)
        self._values = values_for_page(controls, list(self.values.values()))
        self.observe(self._hear, names="_values")

    def set(self, **values: object) -> None:
        """Turn controls, as a reader would.

        Parameters
        ----------
        **values : object
            By the names of the controls; the others stay.

        Raises
        ------
        KafkaLearnError
            If there is no such control, or it cannot stand at the value.
        """
        check_values(self.controls, values)
        asked = json.loads(self._values)["asked"]
        self._values = values_for_page(self.controls, list((self.values | values).values()), asked)

    def _hear(self, change: dict[str, Any]) -> None:
        """Draw with the values that the page, or `set`, has put in."""
        sent = json.loads(change["new"])
        try:
            pairs = zip(self.controls, sent["values"], strict=True)
            self.values = {each.name: each.from_page(value) for each, value in pairs}
            self.animation = _as_animation(self._draw(**self.values))
            self.message = ""
        except KafkaLearnError as error:
            self.message = str(error)
        except Exception as error:
            self.message = f"{type(error).__name__}: {error}"
            raise
        finally:
            self._answer = json.dumps({"asked": sent["asked"], "message": self.message}, ensure_ascii=False)

    def __repr__(self) -> str:
        """Without an address: the same in every run."""
        return f"Varied({', '.join(self.values)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        values = list(self.values.values())
        html = player_html(self.animation.payload, self.animation.still.html, self.value, self.controls, values)
        text = f"{words_of(self.controls, values)}\n{self.animation.text}"
        return data | {"text/html": html, "text/plain": text}, metadata


def vary(draw: Callable[..., Picture | Animation | Player], **controls: object) -> Varied:
    """A picture or an animation with controls for the arguments it depends on.

    Parameters
    ----------
    draw : callable
        ``draw(**values)`` returns a `Picture`, an `Animation` or a `Player`.
    **controls : object
        One for each argument of `draw`, under its name: text for a text field, ``True`` or ``False`` for a box to
        tick, a whole number for a number field, ``(low, high)`` or ``(low, high, start)`` of whole numbers for a
        slider, `slider` for one whose values have words, a list for a choice.

    Returns
    -------
    Varied
        A widget; where none can run, the picture or animation of the first values, and what these are.

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
    >>> varied.set(marked=50)
    >>> varied.message
    'marked must be a partition from 0 to 49, got 50'
    """
    return Varied(draw, tuple(control(name, wanted) for name, wanted in controls.items()))


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
