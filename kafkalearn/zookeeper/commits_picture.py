"""A group with two stores of offsets, shown: who looked where, what was written, what a start believed; and a picture.

In the picture stand the group's records, what each store says, and who believes which. The settings come first, so that
they can be bound once: ``play(trace, partial(draw_offset_stores, settings))``.
"""

from __future__ import annotations

from kafkalearn.base.errors import begun, counted
from kafkalearn.base.facts import in_words, span
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.offsets.replicated import Appended, Deferred, Elected, Loaded, Resigned
from kafkalearn.offsets.replicated_picture import event_words as broker_words
from kafkalearn.zookeeper.commits import model
from kafkalearn.zookeeper.commits.model import (
    Began,
    CommittingEffect,
    CommittingEvent,
    Consumer,
    OldGroup,
    RecordsRead,
    Settings,
    ZnodeWritten,
)
from kafkalearn.zookeeper.layout import last_name

LONGEST_NAME = 20  # characters of a consumer's name
MOST_SAID = 4  # effects that are named


def name_of(name: str) -> str:
    """A consumer's name, short enough for a sentence and for a card."""
    return svg.cut_name(name, LONGEST_NAME)


def describe_offset_stores(
    frame: Frame[OldGroup, CommittingEvent], before: Frame[OldGroup, CommittingEvent] | None = None
) -> str:
    """What the last event did, in a sentence or a few; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.commits import Produce, Read, Settings, Shutdown, Start, simulate
    >>> run = [Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4), Start("new", "kafka")]
    >>> for frame in simulate(Settings(), run)[3:]:
    ...     print(describe_offset_stores(frame))
    old reads. The application gets 0 to 7 of partition 0.
    old is shut down. ZooKeeper's node of partition 0 gets 8. old has left.
    4 records come to partition 0.
    new starts: topic first, ZooKeeper too. Partition 0: the topic has nothing, ZooKeeper has 8. It begins at 8.
    """
    if frame.event is None:
        return "Nobody is in the group, and both stores are empty."
    said = [_event_words(frame.event), *_effects_words(frame.state)]
    return " ".join(f"{begun(each, _FIRST_WORDS)}." for each in said if each)


def storage_words(consumer: Consumer | model.Start) -> str:
    """Where a consumer commits and looks, in a few words.

    >>> storage_words(model.Start("c1")), storage_words(model.Start("c1", "kafka"))
    ('ZooKeeper alone', 'topic first, ZooKeeper too')
    """
    if consumer.offsets_storage == model.ZOOKEEPER:
        return "ZooKeeper alone"
    return "topic first, ZooKeeper too" if consumer.dual_commit_enabled else "topic alone"


def held(offset: int | None) -> str:
    """What a store has for a partition.

    >>> held(8), held(-1), held(None)
    ('8', 'nothing', 'nothing')
    """
    return "nothing" if offset is None or offset < 0 else str(offset)


_FIRST_WORDS = ("the", "partition", "it", "an", "broker", "and", "no", "members", "a")


def _event_words(event: CommittingEvent) -> str:
    match event:
        case model.Start(name):
            return f"{name_of(name)} starts: {storage_words(event)}"
        case model.StoreGroup():
            return "members of the new kind join the group"
    return broker_words(event) if isinstance(event, model.OF_COORDINATORS) else in_words(event)


def _effects_words(group: OldGroup) -> list[str]:
    words = list(filter(None, map(_effect_words, group.effects)))
    appended = sum(len(each.offsets) for each in group.effects if isinstance(each, Appended))
    if appended:
        words.insert(0, f"the topic gets {counted(appended, 'record')}")
    hidden = len(words) - MOST_SAID
    return [*words[:MOST_SAID], *([f"and {hidden} more"] if hidden > 0 else [])]


def _effect_words(effect: CommittingEffect) -> str:
    match effect:
        case model.Began():
            return _began_words(effect)
        case model.RecordsRead(_, partition, offsets) if offsets:
            return f"the application gets {span(offsets)} of partition {partition}"
        case model.ZnodeWritten(path, offset):
            return f"ZooKeeper's node of partition {last_name(path)} gets {offset}"
        case model.ZnodeUnchanged(path, offset):
            return f"ZooKeeper's node of partition {last_name(path)} is not written: {offset} is no news"
        case Deferred():
            return "the answer waits for the replicas"
        case Elected(broker_id):
            return f"broker {broker_id} is elected, and has to load the topic"
        case Loaded(broker_id, count, status):
            return f"broker {broker_id} has read {counted(count, 'record')} of the topic, and is {status}"
        case Appended() | Resigned():
            return ""
    return in_words(effect)


def _began_words(began: model.Began) -> str:
    asked = {"the topic": began.in_topic, "ZooKeeper": began.in_zookeeper}
    found = ", ".join(f"{store} has {held(offset)}" for store, offset in asked.items() if offset is not None)
    reset = ", as auto.offset.reset says" if began.is_reset else ""
    return f"partition {began.partition}: {found}. It begins at {began.offset}{reset}"


# The picture.

LEFT, ZOOKEEPER, TOPIC = 25, 604, 800  # where records, nodes and the topic's offsets begin
STORE_WIDTH, CELL = 175, 34
TOP, ROW, MOST_PARTITIONS, SHOWN_RECORDS = 150, 92, 3, 16
CARD_WIDTH, CARD_HEIGHT, MOST_CARDS = 308, 84, 3
LINE_LENGTH = 104
NEVER, ONCE, TWICE = svg.NOTHING, svg.Fill(svg.READ, ""), svg.TWICE


def draw_offset_stores(
    settings: Settings,
    frame: Frame[OldGroup, CommittingEvent],
    before: Frame[OldGroup, CommittingEvent] | None = None,
) -> Picture:
    """One moment of a group and its stores, drawn; what has just been written, asked or read has a marked edge.

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
    heads = (
        (LEFT, f"records of {svg.cut_name(settings.topic, 24)}"),
        (ZOOKEEPER, "in ZooKeeper"),
        (TOPIC, "in the topic"),
    )
    parts = [svg.text(x, TOP - 18, words, svg.BODY, bold=True) for x, words in heads]
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
        parts.append(svg.text(LEFT, bottom + 46, "no consumer runs", svg.SMALL, colour=svg.MUTED))
    words = describe_offset_stores(frame, before)
    return picture(
        bottom + CARD_HEIGHT + 56,
        svg.text(LEFT, 38, f"{svg.cut_name(settings.group, 30)}: which offset is the true one?", svg.TITLE, bold=True),
        svg.text(svg.WIDTH - 25, 38, _hidden(settings, group), svg.SMALL, "end", svg.MUTED),
        *_sentence(words),
        *parts,
        _legend(bottom + CARD_HEIGHT + 34),
        label=words,
    )


def _hidden(settings: Settings, group: OldGroup) -> str:
    partitions, consumers = settings.partition_count - MOST_PARTITIONS, len(group.consumers) - MOST_CARDS
    more = ((partitions, "more partition"), (consumers, "more consumer"))
    return ", ".join(counted(count, what) for count, what in more if count > 0)


def _writes(effect: CommittingEffect, partition: int) -> bool:
    return isinstance(effect, ZnodeWritten) and last_name(effect.path) == str(partition)


def _sentence(words: str) -> list[str]:
    """What happened, in at most two lines."""
    lines = svg.two_lines(words, LINE_LENGTH)
    return [svg.text(LEFT, 70 + 24 * at, each, svg.BODY - 1, colour=svg.MARK) for at, each in enumerate(lines)]


def _records(group: OldGroup, partition: int, top: float) -> str:
    """The last records of a partition: never read, read once, read again; those of this moment with a marked edge."""
    end, reads = group.log_ends[partition], group.reads[partition]
    now = {
        offset
        for each in group.effects
        if isinstance(each, RecordsRead) and each.partition == partition
        for offset in each.offsets
    }
    first = max(0, end - SHOWN_RECORDS)
    parts = [svg.text(LEFT, top + 16, f"partition {partition}", svg.SMALL)]
    for offset in range(first, end):
        times = reads[offset] if offset < len(reads) else 0
        box = (LEFT + (offset - first) * CELL, top + 24, CELL - 4, 30)
        parts += [
            svg.filled((NEVER, ONCE, TWICE)[min(times, 2)], box),
            svg.outlined(box, **svg.edge(offset in now)),
            svg.text(box[0] + box[2] / 2, top + 44, str(offset), svg.SMALL, "middle"),
        ]
    if not end:
        parts.append(svg.text(LEFT, top + 44, "no records yet", svg.SMALL, colour=svg.MUTED))
    return "\n".join(parts)


def _store(x: float, top: float, offset: int | None, written: bool, began: Began | None, found: int | None) -> str:
    """What a store has for a partition; and for who has just begun, whether it was asked, and believed."""
    is_marked = written or (began is not None and found is not None)
    colour = svg.MUTED if offset is None else svg.INK
    box = (x, top + 8, STORE_WIDTH, 30)
    words = _verdict(began, found) if began is not None else "written" if written else ""
    return "\n".join(
        [
            svg.rect(*box, svg.PANEL),
            svg.outlined(box, **svg.edge(is_marked)),
            svg.text(x + 12, top + 29, held(offset), svg.BODY, colour=colour, bold=offset is not None),
            svg.text(x, top + 60, words, svg.SMALL, **svg.stress(is_marked, svg.MUTED)),
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
            svg.rect(*box, svg.PANEL, rx=5),
            svg.outlined(box),
            svg.text(x + 12, top + 23, name_of(consumer.name), svg.BODY, bold=True),
            svg.text(x + CARD_WIDTH - 12, top + 23, svg.cut_end(doing, 20), svg.SMALL, "end", svg.MUTED),
            svg.text(x + 12, top + 47, storage_words(consumer), svg.SMALL),
            svg.text(
                x + 12, top + 70, svg.cut_end(f"consumed {at}{more}" if at else "has no offset yet", 34), svg.SMALL
            ),
        ]
    )


def _legend(y: float) -> str:
    parts, x = [], float(LEFT)
    for fill, words in ((NEVER, "never read"), (ONCE, "read once"), (TWICE, "read again")):
        parts += [
            svg.filled(fill, (x, y - 13, 26, 16)),
            svg.rect(x, y - 13, 26, 16, stroke=svg.FAINT, stroke_width=svg.HAIR),
        ]
        parts.append(svg.text(x + 33, y, words, svg.SMALL))
        x += 33 + svg.text_width(words, 8.7) + 22
    return "\n".join(parts)
