"""A layout kit: a picture says what it shows, and where that stands follows from it.

Blocks are measured and put beside and below each other: `label`, `row`, `beside`, `stack`, `flow`, `panel`, `chip` for
a small thing with words on it, `fact` for words that may be new, `cells` for numbered places, `bar` and `meter` for
amounts, `envelope` for a message, `arrow` from one block to the next, `named` for a line with its name on the left. Of
them `sheet` makes the picture. `timeline` draws lanes of what happens over time; `legend` names the fills that were
used, and no others; `promises` says which promises are broken. What stands at an offset is drawn by
`kafkalearn.drawing.axes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from kafkalearn.base.errors import capitalised
from kafkalearn.base.promises import broken_in_words
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, TimeAxis
from kafkalearn.drawing.player import Picture, picture

NEAREST, NEAR, APART = 8, 20, 40  # pixels between the names of a legend: at least, as a rule, and at most
GROUNDS = (svg.PANEL, "#ffffff")  # fills that a legend's sample shows by its edge
LEFT, WIDE = 16, svg.WIDTH - 32  # pixels: of a sheet's edge, and between both
LETTER = 0.63  # of the size of a letter: how wide it is at most, in the widest face that a picture is shown in


@dataclass(frozen=True, slots=True)
class Block:
    """Something measured, in pixels, that draws itself where it is put."""

    width: float
    height: float
    draw: Callable[[float, float], list[str]]

    def at(self, left: float, top: float) -> Callable[[float, float], list[str]]:
        """What draws it within a `free` block, so far from its left upper corner.

        >>> label("HW", 20).at(100, 50)(5, 5)
        ['<text x="105" y="76" font-size="20">HW</text>']
        """
        return lambda x, y: self.draw(x + left, y + top)


def label(
    words: str,
    size: float = svg.SMALL,
    colour: str = svg.INK,
    *,
    bold: bool = False,
    width: float | None = None,
    at_end: bool = False,
) -> Block:
    """A line of text; in a `width` it is made smaller, and then cut, until it fits; `at_end` it ends at the right.

    >>> label("HW", 18).height, round(label("HW", 18).width, 1)
    (24.3, 22.7)
    >>> label("a very long name", 18, width=100).draw(0, 0)
    ['<text x="0" y="15.75" font-size="15">a very lo…</text>']
    """
    high = 1.35 * size  # also where the letters are made smaller: frames of one run have one size
    if width is not None and LETTER * size * len(words) > width:
        size = max(svg.SMALL, width / (LETTER * max(len(words), 1)))
        words = svg.cut_end(words, max(1, int(width / (LETTER * size))))
    room = LETTER * size * len(words) if width is None else width
    right, anchor = (room, "end") if at_end else (0, "start")
    return Block(room, high, lambda x, y: [svg.text(x + right, y + 1.05 * size, words, size, anchor, colour, bold)])


def space(width: float = 0, height: float = 0) -> Block:
    """Nothing, of a size."""
    return Block(width, height, lambda x, y: [])


def row(*blocks: Block, gap: float = 8, width: float | None = None) -> Block:
    """Blocks beside each other, their feet on one line; in a `width` the last one stands at its right end.

    >>> row(space(10, 5), space(20, 9)).width, row(space(10), space(20), width=100).width
    (38, 100)
    """
    wide = sum(each.width for each in blocks) + gap * (len(blocks) - 1)
    room, high = wide if width is None else width, max((each.height for each in blocks), default=0)

    def draw(x: float, y: float) -> list[str]:
        drawn, at = [], x
        for each in blocks:
            is_last = each is blocks[-1] and len(blocks) > 1
            drawn += each.draw(x + room - each.width if is_last else at, y + high - each.height)
            at += each.width + gap
        return drawn

    return Block(room, high, draw)


def stack(*blocks: Block, gap: float = 0) -> Block:
    """Blocks below each other.

    >>> stack(space(10, 5), space(20, 9), gap=2).height
    16
    """

    def draw(x: float, y: float) -> list[str]:
        drawn = []
        for each in blocks:
            drawn += each.draw(x, y)
            y += each.height + gap
        return drawn

    high = sum(each.height for each in blocks) + gap * max(len(blocks) - 1, 0)
    return Block(max((each.width for each in blocks), default=0), high, draw)


def panel(
    inside: Block, *, width: float, height: float, pad: float = 14, is_on: bool = True, is_new: bool = False
) -> Block:
    """A thing that holds others: a soft ground, marked if it acts; who does not run is an outline alone."""
    return Block(width, height, lambda x, y: [svg.card((x, y, width, height), is_new, is_on), *inside.draw(x + pad, y)])


def free(width: float, height: float, *shapes: Callable[[float, float], Iterable[str]]) -> Block:
    """Shapes that know their place from the left upper corner of the block, such as a `lane`."""
    return Block(width, height, lambda x, y: [line for each in shapes for line in each(x, y) if line])


def chip(
    lines: Sequence[str],
    fill: svg.Fill,
    *,
    width: float,
    height: float = 44,
    is_new: bool = False,
) -> Block:
    """A small thing with one or two lines of words, the second bold; marked if it is new.

    >>> drawn = chip(["m1", "LOST"], svg.LOST, width=112).draw(0, 0)
    >>> drawn[-1]
    '<text x="56" y="37" text-anchor="middle" font-weight="bold" font-size="15">LOST</text>'
    """
    fitted = [svg.cut_end(each, max(1, int(width / svg.LETTER))) for each in lines]
    step = min(20, height / 2 - 1)
    foot = height / 2 + 5 - step / 2 * (len(lines) - 1)

    def draw(x: float, y: float) -> list[str]:
        box = (x, y, width, height)
        return [
            svg.filled(fill, box),
            svg.outlined(box, stroke=svg.MARK, stroke_width=svg.STRONG) if is_new else "",
            *(
                svg.text(x + width / 2, y + foot + step * at, each, svg.SMALL, "middle", bold=at > 0)
                for at, each in enumerate(fitted)
            ),
        ]

    return Block(width, height, draw)


def envelope(words: str, below: str, fill: svg.Fill, *, width: float, to: str = "right", height: float = 44) -> Block:
    """A message with its name: it points to where it goes, "right" or "left"; where it waits, "", it does not.

    >>> envelope("m1", "to broker 1", svg.OPEN, width=200).draw(0, 0)[0]
    '<polygon points="0,0 188,0 200,22 188,44 0,44" fill="#f5d792"/>'
    """
    tip = 12

    def draw(x: float, y: float) -> list[str]:
        left, right, middle, foot = x, x + width, y + height / 2, y + height
        ends = {
            "right": [(left, y), (right - tip, y), (right, middle), (right - tip, foot), (left, foot)],
            "left": [(left + tip, y), (right, y), (right, foot), (left + tip, foot), (left, middle)],
        }.get(to, [(left, y), (right, y), (right, foot), (left, foot)])
        room = int((width - 32) / svg.LETTER)
        return [
            svg.polygon(ends, fill.colour),
            svg.text(x + 18, y + 19, svg.cut_end(words, room), svg.SMALL, bold=True),
            svg.text(x + 18, y + 37, svg.cut_end(below, room), svg.SMALL),
        ]

    return Block(width, height, draw)


def named(name: str, what: str, inside: Block, *, names: float = 200, height: float | None = None) -> Block:
    """A line of a picture: its name and below it what that is, and right of both what there is of it."""
    words = stack(label(name, svg.BODY, bold=True, width=names - 10), label(what, colour=svg.MUTED, width=names - 10))
    high = max(words.height, inside.height) if height is None else height
    return free(names + inside.width, high, words.draw, lambda x, y: inside.draw(x + names, y))


def fact(words: str, *, is_new: bool = False, width: float | None = None, height: float = 38) -> Block:
    """Words on a soft ground of their own; marked if they are new.

    >>> fact("epoch 2").width, "stroke" in fact("epoch 2", is_new=True).draw(0, 0)[0]
    (103.38, True)
    """
    wide = LETTER * svg.BODY * len(words) + 24 if width is None else width
    inside = label(words, svg.BODY, svg.MARK if is_new else svg.INK, bold=is_new, width=wide - 24)
    foot = (height - inside.height) / 2
    return Block(wide, height, lambda x, y: [svg.card((x, y, wide, height), is_new), *inside.draw(x + 12, y + foot)])


def arrow(width: float, colour: str = svg.INK, *, to: str = "right") -> Block:
    """From what stands on one side to what stands on the other: to the "right", or to the "left".

    >>> arrow(40).draw(0, 0) == [svg.arrow(4, 12, 34, 12)], arrow(40, to="left").width
    (True, 40)
    """
    ends = (4, width - 6) if to == "right" else (width - 4, 6)
    return Block(width, 24, lambda x, y: [svg.arrow(x + ends[0], y + 12, x + ends[1], y + 12, colour)])


def rule(width: float = WIDE) -> Block:
    """A hair between rows."""
    return Block(width, 1, lambda x, y: [svg.line(x, y, x + width, y, svg.FAINT, svg.HAIR)])


def beside(*blocks: Block, gap: float = 0, height: float | None = None) -> Block:
    """Blocks beside each other, their middles on one line; as high as the highest, or of a `height`.

    >>> beside(space(10, 5), space(20, 9), gap=2).width, beside(space(10, 5), height=30).height
    (32, 30)
    """
    high = max((each.height for each in blocks), default=0) if height is None else height

    def draw(x: float, y: float) -> list[str]:
        drawn = []
        for each in blocks:
            drawn += each.draw(x, y + (high - each.height) / 2)
            x += each.width + gap
        return drawn

    return Block(sum(each.width for each in blocks) + gap * max(len(blocks) - 1, 0), high, draw)


def flow(*blocks: Block, width: float = WIDE, gap: float = 20, between: float = 2) -> Block:
    """Blocks beside each other, and on a new line where there is no more room; `between` lines are so many pixels.

    >>> flow(space(60, 20), space(30, 20), space(60, 20), width=120).height
    42
    """
    lines: list[list[Block]] = [[]]
    for each in blocks:
        if sum(one.width + gap for one in lines[-1]) + each.width > width:
            lines.append([])
        lines[-1].append(each)
    return stack(*(beside(*line, gap=gap) for line in lines if line), gap=between)


def at_ends(left: Block, right: Block, *, width: float = WIDE, height: float | None = None) -> Block:
    """A block from the left edge on, and one that ends at the right, their middles on one line.

    >>> at_ends(space(10, 5), space(20, 9), width=100).width, at_ends(space(10, 5), space(20, 9)).height
    (100, 9)
    """
    return beside(left, space(width - left.width - right.width), right, height=height)


def cells(
    count: int,
    unit: float,
    filled: Mapping[svg.Fill, Iterable[int]],
    words: Mapping[int, str] | None = None,
    *,
    height: float | None = None,
    marked: Iterable[int] = (),
    has_edges: bool = True,
) -> Block:
    """Numbered places in a row, such as partitions: which of them have which fill, and what stands in them.

    Parameters
    ----------
    words : mapping of int to str, optional
        What stands in a place: muted in one without a fill.
    marked : iterable of int
        The places of what happens now.

    Examples
    --------
    >>> len(cells(3, 40, {svg.OPEN: [0, 2], svg.LOST: []}).draw(0, 0))
    2
    """
    high, fills = unit - 4 if height is None else height, {fill: list(places) for fill, places in filled.items()}
    taken = {at for places in fills.values() for at in places}

    def draw(x: float, y: float) -> list[str]:
        boxes: list[svg.Box] = [(x + unit * number + 2, y, unit - 4, high) for number in range(count)]
        named = {at: (x + unit * (at + 0.5), y + high / 2 + 6, each) for at, each in (words or {}).items()}
        drawn = [
            svg.outlined(*boxes) if has_edges else "",
            *(svg.filled(fill, *(boxes[at] for at in places)) for fill, places in fills.items()),
            svg.outlined(*(boxes[at] for at in marked), stroke=svg.MARK, stroke_width=svg.STRONG),
            svg.words_at([each for at, each in named.items() if at in taken], svg.SMALL),
            svg.words_at([each for at, each in named.items() if at not in taken], svg.BODY, fill=svg.MUTED),
        ]
        return [each for each in drawn if each]

    return Block(count * unit, high, draw)


def by_fill(fills: Iterable[svg.Fill]) -> dict[svg.Fill, list[int]]:
    """The places of each fill, as `cells` takes them, of the fills of all places.

    >>> list(by_fill([svg.OPEN, svg.LOST, svg.OPEN]).values())
    [[0, 2], [1]]
    """
    found: dict[svg.Fill, list[int]] = {}
    for at, each in enumerate(fills):
        found.setdefault(each, []).append(at)
    return found


def bar(parts: Iterable[tuple[svg.Fill, float]], *, height: float, width: float = 0) -> Block:
    """Lengths in pixels, one behind the other; what is nothing is left out.

    >>> bar([(svg.OPEN, 40), (svg.LOST, 0)], height=20).width, bar([(svg.OPEN, 40)], height=20, width=90).width
    (40, 90)
    """
    given = list(parts)

    def draw(x: float, y: float) -> list[str]:
        drawn = []
        for fill, length in given:
            box = (x, y, length, height)
            drawn += [svg.filled(fill, box), svg.outlined(box)] if length else []
            x += length
        return drawn

    return Block(max(width, sum(length for _, length in given)), height, draw)


def meter(share: float, fill: svg.Fill, *, least: float, width: float, height: float, colour: str = svg.INK) -> Block:
    """How much of a whole there is, both from 0 to 1, and a line at what it is measured against.

    >>> drawn = meter(0.25, svg.OPEN, least=0.5, width=200, height=20).draw(0, 0)
    >>> drawn[0].split('"')[1], drawn[-1].split()[1]
    ('M0 0h50v20h-50z', 'x1="100"')
    """
    part, at = bar([(fill, share * width)], height=height), least * width
    return free(
        width,
        height,
        part.draw,
        lambda x, y: [svg.outlined((x, y, width, height))],
        lambda x, y: [svg.line(x + at, y - 5, x + at, y + height + 5, colour)],
    )


def numbers(count: int, unit: float, first: int = 0) -> Block:
    """The numbers of `cells`, which stand above them."""
    axis = Axis(0, first, count, unit)
    return Block(count * unit, 22, lambda x, y: [replace(axis, left=x).numbers(y + 16)])


def line_of(*blocks: Block, gap: float = 8) -> Block:
    """Blocks beside each other from the left; none of them is moved to the right end."""
    return row(*blocks, space(), gap=gap)


def promises(wrong: Sequence[str], before: Sequence[str], hold: str, *, width: float, height: float) -> Block:
    """Which promises are broken, the newly broken first, on the colour of what is lost; else the words of `hold`.

    >>> promises([], [], "all hold", width=400, height=30).draw(0, 0)
    ['<text x="6" y="15.75" font-size="15" fill="#5f5f5f">all hold</text>']
    """
    if not wrong:
        return free(width, height, lambda x, y: label(hold, colour=svg.MUTED).draw(x + 6, y))
    letters, most = int((width - 168) / 10), 2 if height > 50 else 1
    ordered = sorted(wrong, key=lambda name: name in before)
    lines = wrap(capitalised(broken_in_words(ordered)), letters)
    if len(lines) > most:
        more = f"; and {len(wrong) - most} more" if len(wrong) > most else ""
        lines = wrap(f"{capitalised(broken_in_words(ordered[:most]))}{more}", letters)[:most]
    foot = 4 + (height - 4) / 2 + 6 - 11 * (len(lines) - 1)
    return free(
        width,
        height,
        lambda x, y: [svg.rect(x, y + 4, width, height - 4, svg.LOST.colour, rx=8)],
        lambda x, y: [
            svg.text(x + width / 2, y + foot + 23 * at, each, svg.BODY, "middle", bold=True)
            for at, each in enumerate(lines)
        ],
    )


def sheet(block: Block, words: str, *, left: float = LEFT, top: float = 12, below: float = 12) -> Picture:
    """The picture of a block; `words` say what it shows."""
    return picture(top + block.height + below, *block.draw(left, top), label=words)


def legend(used: Iterable[svg.Fill], names: Mapping[svg.Fill, str], *, width: float | None = None) -> Block:
    """The names of the fills that were used, in the order of `names`, beside a sample of each.

    In a `width` they stand as far apart as they can, so that their letters have room to grow on a slide.

    >>> both = {svg.OPEN: "written", svg.COMMITTED: "committed"}
    >>> len(legend([svg.OPEN, svg.OPEN], both).draw(0, 0))
    2
    """
    seen = set(used)

    def sample(fill: svg.Fill) -> Block:
        def draw(x: float, y: float) -> list[str]:
            box = (x, y + 5, 14, 12)
            return [svg.filled(fill, box), svg.outlined(box) if fill.colour in GROUNDS else ""]

        return free(14, 20, draw)

    shown = [row(sample(fill), label(words, colour=svg.MUTED)) for fill, words in names.items() if fill in seen]
    gap = NEAR if width is None or len(shown) < 2 else (width - sum(each.width for each in shown)) / (len(shown) - 1)
    return stack(line_of(*shown, gap=min(max(gap, NEAREST), APART)))


def timeline(axis: TimeAxis, lanes: Block, *, now_ms: int | None = None) -> Block:
    """Lanes over time, with hairs at round times through them and their names below; a line where it is `now_ms`."""

    def draw(x: float, y: float) -> list[str]:
        ticks, foot = axis.ticks(), y + lanes.height
        now = [] if now_ms is None else [axis.x(now_ms)]
        return [
            *(svg.line(at, y, at, foot, svg.FAINT, svg.HAIR) for at, _ in ticks),
            svg.line(axis.left, foot, axis.right, foot),
            *(svg.line(at, foot, at, foot + 6) for at, _ in ticks),
            *(svg.text(at, foot + 22, words, svg.SMALL, "middle") for at, words in ticks),
            *lanes.draw(x, y),
            *(svg.line(at, y - 4, at, foot, svg.MARK) for at in now),
            *(svg.pointer(at, y - 3, size=8) for at in now),
        ]

    return Block(lanes.width, lanes.height + 28, draw)
