"""Notebook widgets: the player, controls, a progress bar."""

from __future__ import annotations

from kafkalearn.base.errors import require

require("kafkalearn.drawing.widgets", "anywidget", "ipywidgets")  # before they are imported, so that it is a sentence

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

import anywidget
import ipywidgets
import traitlets
from IPython.core.getipython import get_ipython
from IPython.display import display

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Event, Frame, State, Trace
from kafkalearn.drawing import player
from kafkalearn.drawing.controls import Control, check_values, control
from kafkalearn.drawing.player import Animation, Picture
from kafkalearn.drawing.touching import Board

# The player: step through a trace forwards and backwards, in the notebook and on the exported page.
#
# All frames are drawn in Python once and sent once; a step happens in the browser and is as fast with a busy kernel,
# a remote one or none. The index of the frame on show is `Player.value`, for later cells to read or to set.


def _script() -> str:
    """The player's module; in a notebook's page it also keeps what is shown in the file, for the next day."""
    states = Path(__file__).parents[1] / "lab" / "kafkalearn-lab" / "states.js"
    ends = "export default { render: renderLive };"
    return player.live_script().replace(ends, states.read_text("utf-8") + ends.replace("{", "{ initialize,"))


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

    _esm = _script()
    _css = player.live_style()
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
    draw: player.Draw[State, Event] | None = None,
    describe: player.Describe[State, Event] | None = None,
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Player:
    """A player for a trace, or for an animation that was drawn already.

    The key p, pressed outside any text, gives the player the keys, and so does a click on the picture: left and right
    step, Page Up and Page Down jump by ten, Home and End go to the ends, space plays and pauses, f fills the screen, s
    saves the picture, Escape gives the keys back to the cells. A run that ends in a loop has a button more, and r: it
    plays the loop round and round.

    Parameters
    ----------
    trace, draw, describe, title, start, stills
        As in `kafkalearn.drawing.player.animation`; an animation comes alone, it has all of them.

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
    >>> from kafkalearn.coordinator.picture import draw_lookup
    >>> player = play(look_up("ok", leaders=[1, 2], partition_count=2), draw_lookup)
    >>> player.value = 5
    >>> player.frame.state.broker_id
    1
    """
    return Player(player.to_play(trace, draw, describe, title=title, start=start, stills=stills))


# Controls beside a picture: turn one, and the picture is drawn again with the new values.
#
# The page draws both from data (`kafkalearn.drawing.controls`), so that a page without a kernel shows the controls
# as they stood. What `draw` refuses is written under the controls; the picture that was there stays.


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
        self._values = player.values_for_page(controls, list(self.values.values()))
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
        self._values = player.values_for_page(self.controls, list((self.values | values).values()), asked)

    def _hear(self, change: dict[str, Any]) -> None:
        """Callback of a change: draw with the values that the page, or `set`, has put in."""
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
        shown = self.animation
        html = player.player_html(shown.payload, shown.still.html, self.value, self.controls, values, shown.loop)
        text = f"{player.words_of(self.controls, values)}\n{self.animation.text}"
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
    >>> from kafkalearn.coordinator.picture import draw_offsets_topic
    >>> def strip(broker_count, marked):
    ...     return draw_offsets_topic(round_robin_leaders(range(broker_count)), marked)
    >>> varied = vary(strip, broker_count=(1, 6, 3), marked=12)
    >>> varied.set(marked=50)
    >>> varied.message
    'marked must be a partition from 0 to 49, got 50'
    """
    return Varied(draw, tuple(control(name, wanted) for name, wanted in controls.items()))


def touch(
    board: Board,
    line: str | Sequence[object] = "",
    *,
    title: str = "",
    start: int = -1,
    stills: Sequence[int] | None = None,
) -> Varied:
    """An interactive picture: a click is an event.

    A click on a thing in the picture offers what may happen to it at the step on show; below the picture stands all
    that may happen. A move at an earlier step begins a branch. The line of moves stands above the picture: it can be
    typed, kept, and opened again. ``values["run"]`` is the line on show.

    Parameters
    ----------
    board : Board
        From `kafkalearn.drawing.touching.board` or `game_board`.
    line : str, or sequence of events
        The moves to begin with; as text, with ``>`` between them.
    title, start, stills
        As of `play`; the first picture on show is the last of the line, if `start` does not say another.

    Examples
    --------
    >>> from kafkalearn.drawing.touching import game_board
    >>> from kafkalearn.exercises.chapter09 import lose_a_committed_record
    >>> from kafkalearn.views import describe_replication, draw_replication
    >>> touched = touch(game_board(lose_a_committed_record, draw_replication, describe_replication), "Produce")
    >>> touched.set(run="Produce > PowerLost(1)")
    >>> touched.value, touched.frame.event
    (2, PowerLost(broker_id=1, flushed_to=0))
    """
    draw, begun = board.from_line(line, title, start, stills)
    return vary(draw, run=begun)


def _as_animation(drawn: Picture | Animation | Player) -> Animation:
    match drawn:
        case Picture():
            return player.still_animation(drawn)
        case Animation():
            return drawn
        case Player():
            drawn.close()  # only its animation is wanted; animation(...) instead of play(...) would not have made it
            return drawn.animation
    raise KafkaLearnError(f"draw must return a Picture, an Animation or a Player, got {type(drawn).__name__}")


# A progress bar for jobs that take seconds: in a notebook a widget, elsewhere silence.

Update: TypeAlias = Callable[[int, int], None]


class ProgressBar(ipywidgets.HBox):
    """A progress bar with its text; only the text stays in the output, the same in every run."""

    def __init__(self, words: str) -> None:
        """An empty bar."""
        self._words = words
        self._progress = ipywidgets.IntProgress(0, 0, 1, description=words, style={"description_width": "initial"})
        self._count = ipywidgets.Label()
        self._start = monotonic()
        super().__init__([self._progress, self._count])

    def update(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts are finished; the total may grow. 0 of 0: another process makes it."""
        if total == 0:
            self._count.value = f"made in the background just now, waiting, {monotonic() - self._start:.0f} s"
            return
        self._progress.max = max(total, 1)
        self._progress.value = done
        elapsed = monotonic() - self._start
        left = elapsed * (total - done) / done if done else 0
        self._count.value = f"{done:,} of {total:,}, {elapsed:.0f} s" + (
            f", about {left:.0f} s to go" if left >= 1 else ""
        )

    def finish(self, style: str) -> None:
        """Stop where it is and turn green (``"success"``, then also full) or red (``"danger"``)."""
        if style == "success":
            self._progress.value = self._progress.max
        self._progress.bar_style = style
        self._count.value = f"{'done' if style == 'success' else 'failed'}, {monotonic() - self._start:.1f} s"

    def __repr__(self) -> str:
        """The words, and no figure that differs from run to run."""
        return self._words

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return (super()._repr_mimebundle_(**kwargs) or {}) | {"text/plain": self._words}


@contextmanager
def progress_bar(words: str) -> Iterator[Update]:
    """A bar for the time of a ``with``; the value is ``update(done, total)``, which any thread may call.

    Outside a notebook nothing is shown, so that the same function serves a script.

    Parameters
    ----------
    words : str
        What is being done; also what stays in the output as text.

    Examples
    --------
    >>> with progress_bar("hash 10 million group ids") as update:
    ...     update(1, 4)
    """
    if not hasattr(get_ipython(), "kernel"):  # a terminal or a script, no notebook
        yield lambda done, total: None
        return
    bar = ProgressBar(words)
    display(bar)
    try:
        yield bar.update
    except BaseException:
        bar.finish("danger")
        raise
    bar.finish("success")
