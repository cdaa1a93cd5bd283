"""A group and its two stores of offsets as a picture: its records, what each store says, who believes which.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_offset_stores, settings))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kafkalearn.phrases import counted
from kafkalearn.trace import Frame, Trace
from kafkalearn.views.drawing.frames import Animation, animation
from kafkalearn.views.drawing.names import cut_end, cut_name, two_lines
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, READ, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import filled, outlined, rect, text
from kafkalearn.views.zookeeper.offset_stores_words import describe_offset_stores, held, name_of, storage_words
from kafkalearn.zookeeper.commits.effects import Began, CommittingEffect, RecordsRead, ZnodeWritten
from kafkalearn.zookeeper.commits.events import CommittingEvent
from kafkalearn.zookeeper.commits.settings import Settings
from kafkalearn.zookeeper.commits.state import Consumer, OldGroup
from kafkalearn.zookeeper.layout import last_name

LEFT, ZOOKEEPER, TOPIC = 25, 604, 800  # where records, nodes and the topic's offsets begin
STORE_WIDTH, CELL = 175, 34
TOP, ROW, MOST_PARTITIONS, SHOWN_RECORDS = 150, 92, 3, 16
CARD_WIDTH, CARD_HEIGHT, MOST_CARDS = 308, 84, 3
LINE_LENGTH = 104
NEVER, ONCE, TWICE = Fill(EMPTY, ""), Fill(READ, ""), Fill("#f2b94b", "/")


def animate_offset_stores(
    settings: Settings,
    trace: Trace[OldGroup, CommittingEvent],
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Animation:
    """A run of `kafkalearn.zookeeper.commits` as `kafkalearn.views.play` takes it, every moment drawn.

    Parameters
    ----------
    settings, trace
        The run, and its settings.
    title, start, stills
        As in `kafkalearn.views.animation`.

    Examples
    --------
    >>> from kafkalearn.zookeeper.commits import Produce, simulate
    >>> animate_offset_stores(Settings(), simulate(Settings(), [Produce(0, 2)])).captions[1]
    '2 records come to partition 0.'
    """
    draw = partial(draw_offset_stores, settings)
    return animation(trace, draw, describe_offset_stores, title=title, start=start, stills=stills)


def draw_offset_stores(
    settings: Settings,
    frame: Frame[OldGroup, CommittingEvent],
    before: Frame[OldGroup, CommittingEvent] | None = None,
) -> Picture:
    """One moment of a group and its stores, drawn; what has just been written, asked or read has a thick edge.

    Parameters
    ----------
    settings : kafkalearn.zookeeper.commits.Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.zookeeper.commits.simulate` and the one before it, by which is seen what the topic got.

    Examples
    --------
    >>> from kafkalearn.zookeeper.commits import Produce, simulate
    >>> draw_offset_stores(Settings(), simulate(Settings(), [Produce(0, 2)])[1]).label
    '2 records come to partition 0.'
    """
    group = frame.state
    count = min(settings.partition_count, MOST_PARTITIONS)
    bottom = TOP + count * ROW
    in_topic = group.in_topic(settings)
    had = in_topic if before is None else before.state.in_topic(settings)
    heads = ((LEFT, f"records of {cut_name(settings.topic, 24)}"), (ZOOKEEPER, "in ZooKeeper"), (TOPIC, "in the topic"))
    parts = [text(x, TOP - 18, words, BODY, bold=True) for x, words in heads]
    for at in range(count):
        began = next((each for each in group.effects if isinstance(each, Began) and each.partition == at), None)
        top = TOP + at * ROW
        written = any(_writes(each, at) for each in group.effects)
        parts += [
            _records(group, at, top),
            _store(ZOOKEEPER, top, group.zookeeper[at], written, began, None if began is None else began.in_zookeeper),
            _store(TOPIC, top, in_topic[at], in_topic[at] != had[at], began, None if began is None else began.in_topic),
        ]
    cards = group.consumers[:MOST_CARDS]
    parts += [_card(each, LEFT + at * (CARD_WIDTH + 13), bottom + 4) for at, each in enumerate(cards)]
    if not cards:
        parts.append(text(LEFT, bottom + 46, "no consumer runs", SMALL, colour=MUTED))
    words = describe_offset_stores(frame, before)
    return picture(
        bottom + CARD_HEIGHT + 56,
        text(LEFT, 38, f"{cut_name(settings.group, 30)}: which offset is the true one?", TITLE, bold=True),
        text(WIDTH - 25, 38, _hidden(settings, group), SMALL, "end", MUTED),
        *_sentence(words),
        *parts,
        _legend(bottom + CARD_HEIGHT + 34),
        label=words,
    )


def _hidden(settings: Settings, group: OldGroup) -> str:
    more = (
        (settings.partition_count - MOST_PARTITIONS, "more partition"),
        (len(group.consumers) - MOST_CARDS, "more consumer"),
    )
    return ", ".join(counted(count, what) for count, what in more if count > 0)


def _writes(effect: CommittingEffect, partition: int) -> bool:
    return isinstance(effect, ZnodeWritten) and last_name(effect.path) == str(partition)


def _sentence(words: str) -> list[str]:
    """What happened, in at most two lines."""
    lines = two_lines(words, LINE_LENGTH)
    return [text(LEFT, 70 + 24 * at, each, BODY - 1, colour=MARK) for at, each in enumerate(lines)]


def _records(group: OldGroup, partition: int, top: float) -> str:
    """The last records of a partition: never read, read once, read again; those of this moment with a thick edge."""
    end, reads = group.log_ends[partition], group.reads[partition]
    now = {
        offset
        for each in group.effects
        if isinstance(each, RecordsRead) and each.partition == partition
        for offset in each.offsets
    }
    first = max(0, end - SHOWN_RECORDS)
    parts = [text(LEFT, top + 16, f"partition {partition}", SMALL)]
    for offset in range(first, end):
        times = reads[offset] if offset < len(reads) else 0
        box = (LEFT + (offset - first) * CELL, top + 24, CELL - 4, 30)
        parts += [
            filled((NEVER, ONCE, TWICE)[min(times, 2)], box),
            outlined(box, stroke=MARK if offset in now else MUTED, width=4 if offset in now else 1),
            rect(box[0] + 3, top + 29, CELL - 10, 20, PANEL, rx=3),
            text(box[0] + box[2] / 2, top + 44, str(offset), SMALL, "middle"),
        ]
    if not end:
        parts.append(text(LEFT, top + 44, "no records yet", SMALL, colour=MUTED))
    return "\n".join(parts)


def _store(x: float, top: float, offset: int | None, written: bool, began: Began | None, found: int | None) -> str:
    """What a store has for a partition; and for who has just begun, whether it was asked, and believed."""
    is_asked = began is not None and found is not None
    is_marked = written or is_asked
    box = (x, top + 8, STORE_WIDTH, 30)
    words = _verdict(began, found) if began is not None else "written" if written else ""
    return "\n".join(
        [
            rect(*box, PANEL),
            outlined(box, stroke=MARK if is_marked else INK, width=4 if is_marked else 1.3),
            text(
                x + 12, top + 29, held(offset), BODY, colour=MUTED if offset is None else INK, bold=offset is not None
            ),
            text(x, top + 60, words, SMALL, colour=MARK if is_marked else MUTED, bold=is_marked),
        ]
    )


def _verdict(began: Began, found: int | None) -> str:
    if found is None:
        return "not asked"
    if began.is_reset:
        return "asked, of no use"
    return "asked, believed" if found == began.offset else "asked, not the larger"


def _card(consumer: Consumer, x: float, top: float) -> str:
    """A consumer: its settings, where it is, what it is doing about a commit."""
    box = (x, top, CARD_WIDTH, CARD_HEIGHT)
    at = ", ".join(f"{partition}: {offset}" for partition, offset in consumer.consumed[:3])
    more = f", {len(consumer.consumed) - 3} more" if len(consumer.consumed) > 3 else ""
    doing = consumer.status if consumer.commit is None else "commits, waits for the answer"
    if consumer.commit is not None and consumer.commit.is_waiting:
        doing = f"commits, {counted(consumer.commit.tries_left, 'try', 'tries')} left"
    return "\n".join(
        [
            rect(*box, PANEL, rx=5),
            outlined(box, stroke=INK, width=1.3),
            text(x + 12, top + 23, name_of(consumer.name), BODY, bold=True),
            text(x + CARD_WIDTH - 12, top + 23, cut_end(doing, 20), SMALL, "end", MUTED),
            text(x + 12, top + 47, storage_words(consumer), SMALL),
            text(x + 12, top + 70, cut_end(f"consumed {at}{more}" if at else "has no offset yet", 34), SMALL),
        ]
    )


def _legend(y: float) -> str:
    parts, x = [], float(LEFT)
    for fill, words in ((NEVER, "never read"), (ONCE, "read once"), (TWICE, "read again")):
        parts += [filled(fill, (x, y - 13, 26, 16)), rect(x, y - 13, 26, 16, stroke=MUTED, stroke_width=0.75)]
        parts.append(text(x + 33, y, words, SMALL))
        x += 33 + 8.7 * len(words) + 22
    return "\n".join(parts)
