"""The load of brokers, drawn: what they take over from dead ones, and what a plan has them copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kafkalearn.arguments import iterable
from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.leadership import load_without, moved_bytes
from kafkalearn.operations.leadership.state import Led
from kafkalearn.operations.reassignment import Target
from kafkalearn.phrases import counted, listed
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import FILLS, INK, MARK, MUTED, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import Box, filled, line, outlined, pointer, text

LEFT, BAR_LEFT, BAR_ROOM = 20, 130, 620
TOP, ROW_HEIGHT, MOST_HEIGHT = 70, 48, 420
MOST_BROKERS = 24
BEFORE, INHERITED = FILLS[0], FILLS[1]
IN, OUT = FILLS[2], FILLS[1]
UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


def draw_load(partitions: Sequence[Led], dead: Iterable[int]) -> Picture:
    """What each broker leads when others die: what it led before, and behind it what it takes over.

    The thick line is an even share of the partitions among those that are left. The busiest has a pointer.

    Parameters
    ----------
    partitions : sequence of Led
        As `kafkalearn.operations.leadership.partition_of` makes them.
    dead : iterable of int
        Broker ids.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import partition_of
    >>> three = [partition_of("orders", number, replicas) for number, replicas in enumerate([(1, 2), (2, 3), (3, 1)])]
    >>> draw_load(three, dead=[1]).label
    'Without broker 1: broker 2 leads 2 partitions, 1 of them taken over; broker 3 leads 1 partition.'
    """
    gone = tuple(sorted({*iterable("dead", dead, of="broker ids")}))
    left = load_without(partitions, gone)
    _require_room(left)
    before = Counter(each.leader for each in partitions)
    taken = {each.broker_id: each.leader_count - before[each.broker_id] for each in left}
    longest, even = max(each.leader_count for each in left), len(partitions) / len(left)
    unit = BAR_ROOM / max(longest, even, 1)
    step = _step(len(left))
    title = f"Without {_brokers(gone)}" if gone else "All brokers live"
    bottom = TOP + step * len(left)
    shapes: list[str] = [text(LEFT, 36, f"{title}: who leads how much", TITLE, bold=True)]
    for place, each in enumerate(left):
        top = TOP + step * place
        kept = (BAR_LEFT, top + 4, before[each.broker_id] * unit, step - 12)
        new = (BAR_LEFT + kept[2], top + 4, taken[each.broker_id] * unit, step - 12)
        words = f"{each.leader_count:,} of {len(partitions):,}, {size_words(each.led_bytes)}"
        is_busiest = each.leader_count == longest
        shapes += _bars(f"broker {each.broker_id}", ((BEFORE, kept), (INHERITED, new)), top + step / 2 + 4)
        shapes.append(
            text(WIDTH - LEFT, top + step / 2 + 4, words, SMALL, "end", MARK if is_busiest else INK, is_busiest)
        )
        if is_busiest:
            shapes.append(pointer(new[0] + new[2], top + 6))
    x = BAR_LEFT + even * unit
    shapes += [line(x, TOP - 4, x, bottom, INK, 3), text(x, TOP - 10, "even", SMALL, "middle", MUTED)]
    shapes += _legend(bottom + 26, ((BEFORE, "led before"), (INHERITED, "taken over")))
    said = [_load_words(each.broker_id, each.leader_count, taken[each.broker_id]) for each in left]
    return picture(bottom + 46, *shapes, label=f"{title}: {'; '.join(said)}.")


def draw_moves(partitions: Sequence[Led], plan: Sequence[Target]) -> Picture:
    """What a plan has each broker receive and send, in bytes; the largest of all sets how long it takes.

    Parameters
    ----------
    partitions : sequence of Led
        Before the plan, with their sizes.
    plan : sequence of Target
        As `kafkalearn.operations.reassignment.plan_of` makes it.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import partition_of
    >>> partitions = [partition_of("orders", 0, [1, 2], size_bytes=2_000_000)]
    >>> draw_moves(partitions, [Target("orders", 0, (3, 2))]).label
    'The plan copies 2.0 MB: broker 1 sends 2.0 MB; broker 3 receives 2.0 MB.'
    """
    moved = moved_bytes(partitions, plan)
    total = sum(each.in_bytes for each in moved)
    if not moved:
        return picture(
            60, text(LEFT, 36, "The plan copies nothing", TITLE, bold=True), label="The plan copies nothing."
        )
    _require_room(moved)
    longest = max(1, *(max(each.in_bytes, each.out_bytes) for each in moved))
    unit, step = BAR_ROOM / longest, _step(len(moved))
    half = (step - 10) / 2
    bottom = TOP + step * len(moved)
    shapes = [text(LEFT, 36, f"The plan copies {size_words(total)}", TITLE, bold=True)]
    for place, each in enumerate(moved):
        top = TOP + step * place
        boxes = ((IN, (BAR_LEFT, top, each.in_bytes * unit, half)),
                 (OUT, (BAR_LEFT, top + half, each.out_bytes * unit, half)))  # fmt: skip
        shapes += _bars(f"broker {each.broker_id}", boxes, top + half + 6)
        for at, amount in enumerate((each.in_bytes, each.out_bytes)):
            is_busiest, words = amount == longest, ("in ", "out ")[at] + size_words(amount)
            y = top + half * at + half / 2 + 6
            if step >= ROW_HEIGHT or is_busiest:
                shapes.append(text(WIDTH - LEFT, y, words, SMALL, "end", MARK if is_busiest else INK, is_busiest))
    shapes += _legend(bottom + 22, ((IN, "receives"), (OUT, "sends")))
    said = [_moved_words(each.broker_id, each.in_bytes, each.out_bytes) for each in moved]
    said = [each for each in said if each]
    return picture(bottom + 42, *shapes, label=f"The plan copies {size_words(total)}: {'; '.join(said)}.")


def size_words(size_bytes: int) -> str:
    """A size as disks are sold, in thousands.

    >>> size_words(2_320_000_000), size_words(12)
    ('2.3 GB', '12 bytes')
    """
    for unit, name in UNITS:
        if size_bytes >= unit:
            return f"{size_bytes / unit:,.1f} {name}"
    return counted(size_bytes, "byte")


def _step(count: int) -> float:
    """The height of a row: less where there are many."""
    return min(ROW_HEIGHT, MOST_HEIGHT / count)


def _require_room(brokers: Sequence[object]) -> None:
    if not brokers:
        raise KafkaLearnError("no broker is left that could be drawn: leave one of them alive")
    if len(brokers) > MOST_BROKERS:
        raise KafkaLearnError(f"the picture has room for {MOST_BROKERS} brokers, got {len(brokers)}")


def _bars(name: str, boxes: Iterable[tuple[Fill, Box]], middle: float) -> Iterator[str]:
    yield text(LEFT, middle, name, SMALL, bold=True)
    for look, box in boxes:
        if box[2]:
            yield filled(look, box)
            yield outlined(box, stroke=INK, width=1.5)


def _legend(top: float, names: Iterable[tuple[Fill, str]]) -> Iterator[str]:
    for at, (look, words) in enumerate(names):
        box = (BAR_LEFT + 170 * at, top - 13, 22, 16)
        yield filled(look, box)
        yield outlined(box, stroke=INK, width=1.5)
        yield text(box[0] + 30, top, words, SMALL, colour=MUTED)


def _brokers(broker_ids: Sequence[int]) -> str:
    return f"broker{'s' * (len(broker_ids) > 1)} {listed(broker_ids)}"


def _load_words(broker_id: int, count: int, taken: int) -> str:
    return f"broker {broker_id} leads {counted(count, 'partition')}" + (
        f", {taken} of them taken over" if taken else ""
    )


def _moved_words(broker_id: int, in_bytes: int, out_bytes: int) -> str:
    parts = (("receives", in_bytes), ("sends", out_bytes))
    words = [f"{verb} {size_words(amount)}" for verb, amount in parts if amount]
    return f"broker {broker_id} {listed(words)}" if words else ""
