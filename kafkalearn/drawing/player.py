"""Pictures, animations, and the player that steps through them: text that needs no kernel and no network.

- `picture`: shapes on a light panel of their own, as a notebook shows them
- `animation`: a trace drawn frame by frame; what a player plays, and what stays on the page when nothing runs
- `player_html`: everything that a page needs to play it
"""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

from kafkalearn.base.checks import sequence
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.trace import Event, Frame, State, Trace, Trapped
from kafkalearn.drawing import svg
from kafkalearn.drawing.controls import Control
from kafkalearn.drawing.looping import STRIP_HEIGHT, Describe, how_it_ends, marked, strip
from kafkalearn.drawing.tokens import LEADER, SAID

# A picture.

LINE_LENGTH = 84  # characters of bold body text that fit into a picture of the usual width


class Picture(str):
    """SVG text that a notebook shows as a picture, also where nothing runs or scripts are stripped."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """What the picture shows, in words."""
        return html.unescape(_between(self, 'aria-label="', '"'))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels."""
        return float(_between(self, ' width="', '"')), float(_between(self, ' height="', '"'))

    @property
    def html(self) -> str:
        """An ``<img>`` that holds the whole picture: sanitisers that strip inline SVG let it pass."""
        code = b64encode(self.encode()).decode()
        return f'<img alt="{html.escape(self.label)}" style="max-width:100%" src="data:image/svg+xml;base64,{code}">'

    def of_height(self, height: float) -> Picture:
        """The same picture on a ground of another height.

        >>> picture(20, label="nothing", width=30).of_height(25).size
        (30.0, 25.0)
        """
        (width, own), high = self.size, svg.number(height)
        if own == height:
            return self
        head, _, *shapes = self.split("\n")
        old = svg.number(own)
        head = head.replace(
            f' {old}" width="{svg.number(width)}" height="{old}"',
            f' {high}" width="{svg.number(width)}" height="{high}"',
        )
        return Picture("\n".join([head, svg.rect(0, 0, width, height, fill=svg.PANEL), *shapes]))

    def __repr__(self) -> str:
        """The label: IPython shows a str by its repr, whatever else it offers."""
        return self.label

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": str(self), "text/html": self.html, "text/plain": self.label}


def picture(height: float, *elements: str, label: str, width: float = svg.WIDTH) -> Picture:
    """A whole picture on its own light panel.

    Parameters
    ----------
    height, width : float
        In pixels; the page scales it down where there is less room.
    *elements : str
        What the functions of `kafkalearn.drawing.svg` return; later ones lie on top.
    label : str
        What it shows, for those who hear it.

    Examples
    --------
    >>> drawing = picture(20, svg.rect(0, 0, 10, 10, fill="red"), label="a red square", width=30)
    >>> drawing.label, drawing.size
    ('a red square', (30.0, 20.0))
    >>> print(*drawing.splitlines()[1:], sep=chr(10))
    <rect x="0" y="0" width="30" height="20" fill="#fdfcf8"/>
    <rect x="0" y="0" width="10" height="10" fill="red"/>
    </svg>
    """
    wide, high = svg.number(width), svg.number(height)
    shape = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    look = f'role="img" font-family="{svg.SANS}" fill="{svg.INK}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {shape} {look} aria-label="{svg.escape(label)}">'
    ground = svg.rect(0, 0, width, height, fill=svg.PANEL)
    return Picture("\n".join([head, ground, *(each for each in elements if each), "</svg>"]))


def stack(pictures: Sequence[Picture], captions: Sequence[str], label: str, gap: float = 14) -> Picture:
    """Several pictures under each other, each with its words above it: a run on one page."""
    elements, top, width = [], 0.0, max(each.size[0] for each in pictures)
    for each, caption in zip(pictures, captions, strict=True):
        for words in wrap(caption, int(LINE_LENGTH * width / svg.WIDTH)):
            top += 26
            elements.append(svg.text(16, top, words, svg.BODY, bold=True))
        top += 10 if caption else 0
        elements.append(each.replace("<svg ", f'<svg x="0" y="{svg.number(top)}" ', 1))
        top += each.size[1] + gap
    return picture(top - gap, *elements, label=label, width=width)


def _between(whole: str, start: str, end: str) -> str:
    begin = whole.index(start) + len(start)
    return whole[begin : whole.index(end, begin)]


# A trace drawn once, frame by frame.
#
# Frames of one run share most of their lines. `Animation.payload` numbers the distinct lines and stores each once; a
# frame is then a few runs of line numbers, so that an animation of a hundred frames is hardly larger than one of ten.

MOST_FRAMES = 500  # more than anyone steps through; each is drawn beforehand
STILL_COUNT = 3
Draw: TypeAlias = Callable[[Frame[State, Event], Frame[State, Event] | None], Picture]


@dataclass(frozen=True, slots=True)
class Animation:
    """A rendered run: one picture and one caption for each frame of the trace."""

    trace: Trace[Any, Any] = field(repr=False)  # of any simulator
    pictures: tuple[Picture, ...] = field(repr=False)
    captions: tuple[str, ...] = field(repr=False)
    title: str
    stills: tuple[int, ...]  # the frames that stand for the whole where it cannot be stepped
    start: int = 0  # the frame to show first
    touch: Mapping[str, Any] | None = field(default=None, repr=False)  # what may happen next (drawing.touching)

    @property
    def loop(self) -> int | None:
        """The frame from which the run goes round and round, where it does."""
        return self.trace.loop_start if isinstance(self.trace, Trapped) else None

    @property
    def payload(self) -> str:
        """Serialize the animation for the browser, as JSON: the distinct lines, and each frame as runs of them."""
        lines: dict[str, int] = {}
        frames = [_runs([lines.setdefault(line, len(lines)) for line in each.split("\n")]) for each in self.pictures]
        parts = {"title": self.title, "captions": self.captions, "lines": list(lines), "frames": frames}
        if self.touch is not None:
            parts |= {"touch": self.touch}
        if self.loop is not None:
            parts |= {"loop": self.loop}
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

    @property
    def still(self) -> Picture:
        """The key frames under each other in one picture."""
        pictures, captions = [self.pictures[at] for at in self.stills], [_headline(self, at) for at in self.stills]
        return stack(pictures, captions, label=self.text.replace("\n", " "))

    @property
    def text(self) -> str:
        """The captions in order, those of the key frames only where the animation is long."""
        indexes = range(len(self.pictures)) if len(self.pictures) <= 24 else self.stills
        lines = [self.title, *(_headline(self, index) for index in indexes)]
        return "\n".join(line for line in lines if line) or self.pictures[0].label

    def frame_at(self, value: int) -> Frame[Any, Any]:
        """The frame of the trace that is drawn at a place.

        Raises
        ------
        KafkaLearnError
            If it is a single picture.
        """
        if not self.trace:
            raise KafkaLearnError("a single picture is on show: only what was made from a trace has frames")
        return self.trace[value]

    def checked_place(self, value: int) -> int:
        """The place, if there is a frame; else the error that says which there are."""
        count = len(self.pictures)
        if not 0 <= value < count:
            raise KafkaLearnError(f"value must be from 0 to {count - 1}, got {value}: the animation has {count} frames")
        return value

    def place_after(self, old: Animation, value: int) -> int:
        """Where to go on when this one takes the place of `old`: at the same frame, and at the end if that was seen."""
        last = len(self.pictures) - 1
        if self.touch is not None:  # what was touched has just happened
            return last
        return last if value == len(old.pictures) - 1 else min(value, last)

    def html(self, start: int | None = None) -> str:
        """A player that needs no kernel and no network; without scripts its key frames remain."""
        start = self.start if start is None else start
        return player_html(self.payload, self.still.html, start, loop=self.loop)

    def mimebundle(self, start: int | None = None) -> dict[str, str]:
        """The MIME types in which a page may show it, the richest first."""
        return {"text/html": self.html(start), "image/svg+xml": str(self.still), "text/plain": self.text}

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return self.mimebundle()


def animation(
    trace: Trace[State, Event] | None,
    draw: Draw[State, Event],
    describe: Describe[State, Event] | None = None,
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Animation:
    """Render every frame of a trace.

    Parameters
    ----------
    trace : tuple of Frame
        What a simulator returns; 1 to 500 frames. Of one that a ``find_stuck`` has found, the loop or the dead end is
        marked, in the pictures and in the sentences.
    draw : callable
        ``draw(frame, before)`` returns the `Picture` of a frame; `before` is the frame before it in `trace`, or
        None, so that what changed can be marked. All get the height of the highest.
    describe : callable, optional
        ``describe(frame, before)`` returns the sentence under the picture, which is also what a screen reader says.
        Without it the event's name stands there.
    title : str
        The question that the run answers: the line above the picture, the name of the player for screen readers, and
        the first line of its text.
    start : int
        The frame to show first; -1 for the last.
    stills : sequence of int, optional
        Positions in `trace` of the frames that stand for the whole on paper; by default first, middle and last.

    Returns
    -------
    Animation
        Shown by `kafkalearn.drawing.widgets.play`; an Animation as the last line of a cell shows itself as well.

    Raises
    ------
    KafkaLearnError
        If the trace is empty, too long or none, if `draw` returns no picture, or `start` or a still is not in it.
    """
    if trace is None:
        raise KafkaLearnError("there is no run to play: the search has found none")
    moments = tuple(trace)
    trace = trace if isinstance(trace, Trapped) else Trace(moments)
    _refuse_length(len(trace))
    befores = (None, *moments)
    describe = describe or _event_name
    drawn = [_drawn(draw, frame, before) for frame, before in zip(moments, befores, strict=False)]
    highest = max((each.size[1] for each in drawn), default=0)
    pictures = tuple(each.of_height(highest) for each in drawn)
    if isinstance(trace, Trapped):
        describe = marked(trace, describe)
        pictures = tuple(_with_strip(trace, place, each) for place, each in enumerate(pictures))
    captions = tuple(describe(frame, before) for frame, before in zip(moments, befores, strict=False))
    return Animation(trace, pictures, captions, title, _stills(stills, len(trace)), _place(start, len(trace)))


def to_play(
    trace: Trace[State, Event] | Animation | None,
    draw: Draw[State, Event] | None = None,
    describe: Describe[State, Event] | None = None,
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Animation:
    """What a player is given: a trace drawn as by `animation`, or an animation that comes alone.

    Raises
    ------
    KafkaLearnError
        As `animation`; or if a trace comes without `draw`, or an animation with more.
    """
    if isinstance(trace, Animation):
        if draw or describe or title or start or stills:
            raise KafkaLearnError("an animation has its title, start and stills already: give them where it is made")
        return trace
    if draw is None:
        raise KafkaLearnError(
            "give the function that draws a moment of the trace: play(trace, draw_lookup); animate(trace) knows it"
        )
    return animation(trace, draw, describe, title=title, start=start, stills=stills)


def still_animation(picture: Picture) -> Animation:
    """An animation of one frame that is nothing but its picture."""
    return Animation(Trace(), (picture,), ("",), "", (0,))


def _refuse_length(count: int) -> None:
    if count == 0:
        raise KafkaLearnError("the trace is empty: run(...) always gives at least frame 0")
    if count > MOST_FRAMES:
        every = -(-count // MOST_FRAMES)
        raise KafkaLearnError(
            f"an animation has at most {MOST_FRAMES} frames, this trace has {count}; "
            f"show a part, trace[:{MOST_FRAMES}], or every {every}. frame, trace[::{every}]"
        )


def _drawn(draw: Draw[State, Event], frame: Frame[State, Event], before: Frame[State, Event] | None) -> Picture:
    drawn = draw(frame, before)
    if not isinstance(drawn, Picture):
        name = getattr(draw, "__name__", repr(draw))
        raise KafkaLearnError(
            f"{name}(frame, before) must return what kafkalearn.drawing.player.picture makes, "
            f"got {type(drawn).__name__}"
        )
    return drawn


def _with_strip(trace: Trapped[Any, Any], place: int, drawn: Picture) -> Picture:
    """A picture with all moments of its run below it, the loop or the dead end drawn as one."""
    width, height = drawn.size
    whole, label = drawn.replace("<svg ", '<svg x="0" y="0" ', 1), f"{drawn.label.rstrip('.')}. {how_it_ends(trace)}"
    return picture(height + STRIP_HEIGHT, whole, *strip(trace, place, height, width), label=label, width=width)


def _stills(stills: Sequence[int] | None, count: int) -> tuple[int, ...]:
    if stills is None:
        return tuple(sorted({round(part * (count - 1) / (STILL_COUNT - 1)) for part in range(STILL_COUNT)}))
    places = sequence("stills", stills, of="positions of frames")
    if not places or not all(_is_place(index, count) for index in places):
        raise KafkaLearnError(f"stills {shown(stills)}: give positions of frames, from 0 to {count - 1}")
    return tuple(sorted({index % count for index in stills}))


def _place(start: int, count: int) -> int:
    if not _is_place(start, count):
        raise KafkaLearnError(
            f"start must be from 0 to {count - 1}, or -1 for the last, got {shown(start)}: so many frames"
        )
    return start % count


def _is_place(index: object, count: int) -> bool:
    return isinstance(index, int) and -count <= index < count


def _event_name(frame: Frame[State, Event], _: Frame[State, Event] | None) -> str:
    return "the start" if frame.event is None else str(frame.event)


def _headline(animation: Animation, index: int) -> str:
    caption = animation.captions[index]
    return caption if len(animation.pictures) == 1 else f"Step {index} of {len(animation.pictures) - 1}: {caption}"


def _runs(numbers: Sequence[int]) -> list[int]:
    """Pairs of a first number and how many follow on it: 5, 6, 7, 2 is 5 3 2 1."""
    runs: list[int] = []
    for value in numbers:
        if runs and value == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [value, 1]
    return runs


# The player of an animation, as a page has it.

_HERE = Path(__file__).parent


@cache
def player_script() -> str:
    """The module that draws players and controls, in a notebook and on a page alike."""
    return "\n".join((_HERE / name).read_text("utf-8") for name in ("controls.js", "player.js"))


@cache
def player_style() -> str:
    """Its style sheet."""
    return (_HERE / "player.css").read_text("utf-8")


@cache
def looping_script() -> str:
    """What a page needs besides where a run goes round: it comes after the player."""
    looping = (_HERE / "looping.js").read_text("utf-8")
    return f'\n<script type="module">\n{looping}\ngoRoundAll();\n</script>'


@cache
def live_script() -> str:
    """The player with what is alive where a kernel, or a page's Python, answers: it can be touched, and things move.

    What a notebook keeps in its outputs is `player_script` alone.
    """
    looping, touching = ((_HERE / name).read_text("utf-8") for name in ("looping.js", "touching.js"))
    said = f"const SAID = {json.dumps(SAID)}, LEADER = {json.dumps(LEADER)};"
    return player_script().replace("export default { render };", f"\n{said}\n{looping}{touching}")


@cache
def live_style() -> str:
    """Its style sheet."""
    return player_style() + (_HERE / "touching.css").read_text("utf-8")


def player_html(
    payload: str,
    still: str,
    start: int,
    controls: Sequence[Control] = (),
    values: Sequence[object] = (),
    loop: int | None = None,
) -> str:
    """A player for an animation's payload from frame `start` on, beside the controls it was drawn with.

    Where no script runs, `still` remains, the HTML of the key frames. A run that goes round, from frame `loop` on,
    brings a script of its own, which other players do without.
    """
    described = json.dumps([each.for_page for each in controls], ensure_ascii=False)
    parts = {"_animation": payload, "_controls": described, "_values": values_for_page(controls, values)}
    state = ",".join([f'"value":{start}', *(f'"{name}":{text}' for name, text in parts.items())])
    data = f"{{{state}}}".replace("<", "\\u003c")  # no "</script>" may appear in a script
    stood_at = f"<p>{html.escape(words_of(controls, values))}</p>" if controls else ""
    goes_round = "" if loop is None else f' data-kl-loop="{loop}"'
    return (
        f'<div class="kl-player" data-kl-start{goes_round}>{stood_at}{still}'
        f'<script type="application/json">{data}</script></div>\n'
        f"<style>{player_style()}</style>\n"
        f'<script type="module">\n{player_script()}\nmountAll();\n</script>{looping_script() if goes_round else ""}'
    )


def values_for_page(controls: Sequence[Control], values: Sequence[object], asked: int = 0) -> str:
    """What the controls stand at, as JSON, and how often the page has asked for a picture until then."""
    sent = [control.to_page(value) for control, value in zip(controls, values, strict=True)]
    return json.dumps({"asked": asked, "values": sent}, ensure_ascii=False)


def words_of(controls: Sequence[Control], values: Sequence[object]) -> str:
    """The controls and what they stand at, on one line."""
    pairs = zip(controls, values, strict=True)
    return ", ".join(f"{control.label}: {control.shown(value)}" for control, value in pairs)
