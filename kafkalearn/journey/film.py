"""The whole path as a picture that plays by itself and can be broken by a click, where nothing but the page runs.

All that may follow is drawn beforehand: for each moment of the story, and each broker that could die in it, what comes
of it. `moving_picture` is the same story, and one such death, as an SVG that moves by itself.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

from kafkalearn.base.trace import Frame, Trace, extend
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Animation, Picture, animation, picture, player_script, player_style
from kafkalearn.journey.model import (
    BROKERS,
    BrokerCrashed,
    BrokerStarted,
    Commit,
    Event,
    FollowersFetch,
    Journey,
    Poll,
    Send,
    Settings,
)
from kafkalearn.journey.picture import HEIGHT, LETTERS, WIDTH, describe_journey, draw_journey
from kafkalearn.journey.simulator import simulate, step

_HERE = Path(__file__).parent
TITLE = "Click a broker: it dies. What follows?"
STORY = (
    *(Send("ann"), Send("dan"), FollowersFetch(), FollowersFetch(), FollowersFetch()),
    *(Poll("c1"), Poll("c2"), Commit("c1"), Commit("c2")),
    *(FollowersFetch(), FollowersFetch(), FollowersFetch(), Send("ann"), Send("dan")),
)
TELLING = 9  # the moment of the story that stands for it where nothing moves
MOST_ROUNDS = 4  # of fetches, until nothing is new to anybody


@dataclass(frozen=True, slots=True)
class Film:
    """A drawn story, and what follows from a death at each of its moments.

    Attributes
    ----------
    story : Animation
        What plays.
    forks : tuple of mapping of str to Animation
        For each moment of the story: what is clicked, and what follows.
    """

    story: Animation
    forks: tuple[dict[str, Animation], ...]

    @property
    def payload(self) -> str:
        """All that the page needs, as JSON: each line, each sentence and each frame once."""
        lines: dict[str, int] = {}
        frames: dict[tuple[int, ...], int] = {}
        captions: dict[str, int] = {}

        def kept(drawn: Animation, begin: int = 0) -> list[tuple[int, int]]:
            pairs = zip(drawn.pictures[begin:], drawn.captions[begin:], strict=True)
            return [
                (
                    frames.setdefault(
                        tuple(lines.setdefault(each, len(lines)) for each in drawing.split("\n")), len(frames)
                    ),
                    captions.setdefault(words, len(captions)),
                )
                for drawing, words in pairs
            ]

        story = kept(self.story)
        forks = [{name: kept(each, 1) for name, each in of_one.items()} for of_one in self.forks]
        parts = {"title": self.story.title, "lines": list(lines), "frames": [_runs(each) for each in frames]}
        parts |= {"captions": list(captions), "story": story, "forks": forks}
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

    @property
    def still(self) -> Picture:
        """One telling moment, where nothing runs."""
        return self.story.pictures[TELLING]

    @property
    def host(self) -> str:
        """The film without what plays it, for a page that has `film_style` and `film_script`."""
        data = f'{{"film":{self.payload}}}'.replace("<", "\\u003c")  # no "</script>" may appear in a script
        return (
            f'<div class="kl-player kl-film" data-kl-film>{self.still.html}'
            f'<script type="application/json">{data}</script></div>'
        )

    def html(self) -> str:
        """The film for a page: it needs no kernel and no network; without scripts one moment remains."""
        return (
            f"{self.host}\n<style>{player_style()}{film_style()}</style>\n"
            f'<script type="module">\n{player_script()}\n{film_script()}\nmountFilms();\n</script>'
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html(), "image/svg+xml": str(self.still), "text/plain": self.story.text}


@cache
def film_script() -> str:
    """What a page needs besides the player: ``mountFilms(root)``."""
    return (_HERE / "film.js").read_text("utf-8")


@cache
def film_style() -> str:
    """Its style sheet, besides the player's."""
    return (_HERE / "film.css").read_text("utf-8")


@cache
def whole_path() -> Film:
    """The whole path of a record: it plays, and a click on a broker breaks it.

    Examples
    --------
    >>> film = whole_path()
    >>> film.story.captions[1]
    'ann sends A1. Its key goes to orders-0, and broker 1, which leads it, writes it down.'
    >>> for words in film.forks[-1]["broker 2"].captions[1:3]:
    ...     print(words)
    Broker 2 dies. Broker 3, which is in sync, leads orders-1. D2 had no answer yet.
    dan was told nothing, and sends D2 again: now to broker 3, which writes it down.
    """
    trace = _seen(simulate(Settings(), STORY))
    return Film(_drawn(trace, TITLE), tuple(_forks_of(frame) for frame in trace))


def _drawn(trace: Trace[Journey, Event], title: str) -> Animation:
    return animation(trace, draw_journey, describe_journey, title=title)


def _forks_of(frame: Frame[Journey, Event]) -> dict[str, Animation]:
    """What follows from each death at a moment, from that moment on."""
    forks = {}
    for broker in BROKERS:
        run = what_follows(frame.state, broker)
        begun = Trace((replace(run[0], event=frame.event), *run[1:]))
        forks[f"broker {broker}"] = _drawn(begun, f"Broker {broker} dies. What follows?")
    return forks


def what_follows(state: Journey, broker: int) -> Trace[Journey, Event]:
    """A broker's death and all that comes of it, until it is back and in sync; moments that look alike come once."""
    sends = [Send(state.producers[number].name) for number in (0, 1) if state.partitions[number].leader == broker]
    fetches = [FollowersFetch()] * MOST_ROUNDS
    trace = simulate(Settings(), [BrokerCrashed(broker), *sends, *fetches], state)
    polled = extend(step, Settings(), trace, [Poll(each.name) for each in state.consumers])
    pairs = zip(trace[-1].state.consumers, polled[-1].state.consumers, strict=True)
    commits = [Commit(new.name) for old, new in pairs if new.read != old.read]
    return _seen(extend(step, Settings(), polled, [*commits, *fetches, BrokerStarted(broker), *fetches]))


def _seen(trace: Trace[Journey, Event]) -> Trace[Journey, Event]:
    """The moments of a run that differ from the one before by more than what travelled; others are taken into that."""
    kept = [trace[0]]
    for frame in trace[1:]:
        if _without_ways(draw_journey(frame, kept[-1])) != _without_ways(draw_journey(kept[-1])):
            kept.append(frame)
        else:  # followers that have heard of the high watermark: nothing is to be seen of it
            kept[-1] = replace(kept[-1], state=replace(frame.state, effects=kept[-1].state.effects))
    return Trace(kept)


def _without_ways(drawn: Picture) -> list[str]:
    return [line for line in drawn.split("\n") if "data-ways" not in line]


def _runs(numbers: Sequence[int]) -> list[int]:
    """Pairs of a first number and how many follow on it, as the player reads them."""
    runs: list[int] = []
    for value in numbers:
        if runs and value == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [value, 1]
    return runs


# The same as one SVG that moves by itself, for a page that runs nothing.

SECONDS, MOVE_SECONDS = 2.4, 0.7  # how long a moment stands, and how long something travels
CAPTION_LINES, LINE_LENGTH, LINE_HEIGHT = 3, 56, 21


def moving_picture(style: str = "") -> Picture:
    """The story, and then the death of broker 2 and what follows, as an SVG; with stillness asked for, one moment.

    Parameters
    ----------
    style : str
        Further CSS, for letters and for the dark.
    """
    film = whole_path()
    death = film.forks[-1]["broker 2"]
    pictures = [*film.story.pictures, *death.pictures[1:]]
    captions = [*film.story.captions, *death.captions[1:]]
    all_lines = [each.split("\n")[2:-1] for each in pictures]
    common = [line for line in all_lines[0] if all(line in lines for lines in all_lines)]
    whole = SECONDS * len(pictures)
    below, above = ([line for line in common if line.startswith("<rect") == is_box] for is_box in (True, False))
    shapes = [svg.element("style", _moves(whole, len(pictures)) + style), *below]
    pills: list[str] = []
    for number, (lines, words) in enumerate(zip(all_lines, captions, strict=True)):
        own = [line for line in lines if line not in common and "data-ways" not in line]
        ways = [way for line in lines if "data-ways" in line for way in _ways_in(line)]
        arriving = _arriving(own, ways)
        delay = f"animation-delay:{svg.number(number * SECONDS - whole)}s"
        is_telling = " telling" * (number == TELLING)
        standing = [*(line for line in own if line not in arriving), *_caption(words)]
        shapes.append(svg.group(*standing, **{"class": f"moment{is_telling}", "style": delay}))
        if arriving:
            shapes.append(svg.group(*arriving, **{"class": f"arrived{is_telling}", "style": delay}))
        pills += [_pill(way, delay) for way in ways]
    label = "A record on its way: " + " ".join(captions)
    height = HEIGHT + CAPTION_LINES * LINE_HEIGHT + 8
    return picture(height, *shapes, *above, *pills, label=label, width=WIDTH)


def _arriving(lines: Sequence[str], ways: Sequence[Sequence[str]]) -> list[str]:
    """The tiles of a moment that something is still on its way to."""
    ends = [f'<text x="{x}" y="{svg.number(float(y) + 5.5)}"' for *_, x, y in ways]
    at = [number for number, line in enumerate(lines) if any(line.startswith(each) for each in ends)]
    return [line for number in at for line in lines[number - 1 : number + 1]]


def _moves(whole: float, count: int) -> str:
    shown, moved = 100 / count, 100 * MOVE_SECONDS / whole
    return (
        f".moment,.arrived,.way{{animation:{svg.number(whole)}s linear infinite;visibility:hidden}}"
        ".moment{animation-name:moment}.arrived{animation-name:arrived}.way{animation-name:way}"
        f"@keyframes moment{{0%{{visibility:visible}}{shown:.4f}%{{visibility:visible}}"
        f"{shown + 0.0001:.4f}%,100%{{visibility:hidden}}}}"
        f"@keyframes arrived{{0%,{moved:.4f}%{{visibility:hidden}}"
        f"{moved + 0.0001:.4f}%,{shown:.4f}%{{visibility:visible}}"
        f"{shown + 0.0001:.4f}%,100%{{visibility:hidden}}}}"
        "@keyframes way{0%{visibility:visible;transform:translate(var(--x),var(--y))}"
        f"{moved:.4f}%{{visibility:visible;transform:none}}{moved + 0.0001:.4f}%,100%{{visibility:hidden}}}}"
        "@media (prefers-reduced-motion:reduce){.moment,.arrived,.way{animation:none}.telling{visibility:visible}}"
    )


def _caption(words: str) -> Iterator[str]:
    for number, line in enumerate(wrap(words, LINE_LENGTH)[:CAPTION_LINES]):
        yield svg.text(6, HEIGHT + 20 + number * LINE_HEIGHT, line, LETTERS)


def _ways_in(line: str) -> list[list[str]]:
    ways = line.split('data-ways="')[1].split('"')[0]
    return [each.split(",") for each in html.unescape(ways).split(";")]


def _pill(way: Sequence[Any], delay: str) -> str:
    words, x1, y1, x2, y2 = way[0], *map(float, way[1:])
    width = 24 + 10 * max(0, len(words) - 2)
    shapes = [
        svg.rect(x2 - width / 2 - 2, y2 - 12, width + 4, 24, svg.PANEL, rx=12, stroke=svg.LEADER, stroke_width=1.5),
        svg.text(x2, y2 + 5.5, words, LETTERS, "middle"),
    ]
    style = f"{delay};--x:{svg.number(x1 - x2)}px;--y:{svg.number(y1 - y2)}px"
    return svg.group(*shapes, **{"class": "way", "style": style})
