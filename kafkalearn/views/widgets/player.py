"""The player: step through a trace forwards and backwards, in the notebook and on the exported page.

All frames are drawn in Python once and sent once; a step happens in the browser and is as fast with a busy kernel,
a remote one or none. The index of the frame on show is `Player.value`, for later cells to read or to set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from kafkalearn.trace import Event, Frame, State, Trace
from kafkalearn.views.drawing.frames import Animation, Describe, Draw, to_play
from kafkalearn.views.drawing.page import player_script, player_style


class Player(anywidget.AnyWidget):
    """An animation on show, with buttons, slider and keys; see `play`.

    Attributes
    ----------
    value : int
        Position of the frame on show, from 0. It changes as the reader steps, and stepping can be done by setting it.
    animation : Animation
        What is played. Another animation may be put in.
    frame : Frame
        The frame on show.
    """

    _esm = player_script()
    _css = player_style()
    _animation = traitlets.Unicode().tag(sync=True)
    value = traitlets.Int(0).tag(sync=True)

    def __init__(self, animation: Animation, value: int | None = None) -> None:
        """Show `animation`, from frame `value` on if that is given."""
        self._shown = animation
        super().__init__(_animation=animation.payload, value=animation.start if value is None else value)

    @property
    def animation(self) -> Animation:
        """What is played; a new animation keeps the place, and one seen to its end stays at the end."""
        return self._shown

    @animation.setter
    def animation(self, animation: Animation) -> None:
        value = animation.place_after(self._shown, self.value)
        self._shown = animation
        with self.hold_sync():  # one message: the browser never has the one without the other
            self._animation = animation.payload
            self.value = value

    @property
    def frame(self) -> Frame[Any, Any]:
        """The frame on show."""
        return self._shown.frame_at(self.value)

    @traitlets.validate("value")
    def _refuse_other_places(self, proposal: dict) -> int:
        return self._shown.checked_place(proposal["value"])

    def set_state(self, sync_data: dict) -> None:
        """Take what the browser sends; a step that was under way while the animation was changed comes too late."""
        if not 0 <= sync_data.get("value", 0) < len(self._shown.pictures):
            sync_data = {name: value for name, value in sync_data.items() if name != "value"}
        super().set_state(sync_data)

    def __repr__(self) -> str:
        """Without an address: the same in every run."""
        return f"Player({len(self._shown.pictures)} frames)"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return data | self._shown.mimebundle(self.value), metadata


def play(
    trace: Trace[State, Event] | Animation,
    draw: Draw[State, Event] | None = None,
    describe: Describe[State, Event] | None = None,
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Player:
    """A player for a trace, or for an animation that was drawn already.

    The key p, pressed outside any text, gives the player the keys, and so does a click on the picture: left and right
    step, Page Up and Page Down jump by ten, Home and End go to the ends, space plays and pauses, f fills the screen, s
    saves the picture, Escape gives the keys back to the cells.

    Parameters
    ----------
    trace, draw, describe, title, start, stills
        As in `kafkalearn.views.drawing.frames.animation`; an animation comes alone, it has all of them.

    Returns
    -------
    Player
        A widget; where none can run, the notebook, a code host or the exported page shows a player without a kernel
        or the still pictures.

    Raises
    ------
    KafkaLearnError
        As `animation`; or if a trace comes without `draw`, or an animation with more.

    Examples
    --------
    >>> from kafkalearn.coordinator import look_up
    >>> from kafkalearn.views.coordinator.picture import draw_lookup
    >>> player = play(look_up("ok", leaders=[1, 2], partition_count=2), draw_lookup)
    >>> player.value = 5
    >>> player.frame.state.broker_id
    1
    """
    return Player(to_play(trace, draw, describe, title=title, start=start, stills=stills))
