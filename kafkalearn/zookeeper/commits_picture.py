"""A group with two stores of offsets, shown: who looked where, what was written, what a start believed; and a picture.

In the picture stand the group's records, what each store says, and who believes which. The settings come first, so that
they can be bound once: ``play(trace, partial(draw_offset_stores, settings))``.
"""

from __future__ import annotations

from kafkalearn.base.errors import begun, counted
from kafkalearn.base.facts import in_words, span
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    beside,
    cells,
    free,
    label,
    legend,
    line_of,
    row,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
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

RECORDS, STORE, STORES_GAP, ROW = 580, 175, 20, 92  # pixels: widths of records and stores, height of a partition
CELL, CELL_HEIGHT, SHOWN_RECORDS, MOST_PARTITIONS = 34, 30, 16, 3
CARD_WIDTH, CARD_HEIGHT, MOST_CARDS = 308, 84, 3
LINE_LENGTH = 104
FILLS = {svg.NOTHING: "never read", svg.Fill(svg.READ, ""): "read once", svg.TWICE: "read again"}


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
    words = describe_offset_stores(frame, before)
    in_topic = group.in_topic(settings)
    had = in_topic if before is None else before.state.in_topic(settings)
    heads = {
        f"records of {svg.cut_name(settings.topic, 24)}": RECORDS,
        "in ZooKeeper": STORE + 20,
        "in the topic": STORE,
    }
    sentence = stack(*(label(each, svg.BODY - 1, svg.MARK) for each in svg.two_lines(words, LINE_LENGTH)), gap=1)
    cards = [_card(each) for each in group.consumers[:MOST_CARDS]]
    runs = line_of(*cards, gap=13) if cards else label("no consumer runs", colour=svg.MUTED)
    hidden = label(_hidden(settings, group), colour=svg.MUTED)
    title = f"{svg.cut_name(settings.group, 30)}: which offset is the true one?"
    page = stack(
        row(label(title, svg.TITLE, bold=True, width=WIDE - hidden.width), hidden, gap=0),
        free(WIDE, 64, lambda x, y: sentence.draw(x, y + 4)),
        beside(*(label(name, svg.BODY, bold=True, width=width) for name, width in heads.items())),
        space(height=4),
        *(_partition(group, at, in_topic[at], is_new=in_topic[at] != had[at]) for at in range(_count(settings))),
        free(WIDE, CARD_HEIGHT + 12, runs.draw),
        legend(FILLS, FILLS, width=WIDE),
    )
    return sheet(page, words)


def _count(settings: Settings) -> int:
    return min(settings.partition_count, MOST_PARTITIONS)


def _hidden(settings: Settings, group: OldGroup) -> str:
    partitions, consumers = settings.partition_count - MOST_PARTITIONS, len(group.consumers) - MOST_CARDS
    more = ((partitions, "more partition"), (consumers, "more consumer"))
    return ", ".join(counted(count, what) for count, what in more if count > 0)


def _writes(effect: CommittingEffect, partition: int) -> bool:
    return isinstance(effect, ZnodeWritten) and last_name(effect.path) == str(partition)


def _partition(group: OldGroup, at: int, in_topic: int | None, *, is_new: bool) -> Block:
    """A partition: its last records, and what each store says."""
    began = next((each for each in group.effects if isinstance(each, Began) and each.partition == at), None)
    written = any(_writes(each, at) for each in group.effects)
    in_zookeeper = _store(group.zookeeper[at], written, began, None if began is None else began.in_zookeeper)
    stored = _store(in_topic, is_new, began, None if began is None else began.in_topic)
    records = _records(group, at)
    return free(
        WIDE,
        ROW,
        records.draw,
        lambda x, y: in_zookeeper.draw(x + RECORDS, y + 8),
        lambda x, y: stored.draw(x + RECORDS + STORE + STORES_GAP, y + 8),
    )


def _records(group: OldGroup, partition: int) -> Block:
    """The last records of a partition: never read, read once, read again; those of this moment with a marked edge."""
    end, reads = group.log_ends[partition], group.reads[partition]
    now = {
        offset
        for each in group.effects
        if isinstance(each, RecordsRead) and each.partition == partition
        for offset in each.offsets
    }
    first = max(0, end - SHOWN_RECORDS)
    times = {at: min(reads[at] if at < len(reads) else 0, len(FILLS) - 1) for at in range(first, end)}
    records = cells(
        end - first,
        CELL,
        {fill: [at - first for at, count in times.items() if count == rank] for rank, fill in enumerate(FILLS)},
        {at - first: str(at) for at in times},
        height=CELL_HEIGHT,
        marked=[at - first for at in times if at in now],
    )
    none = label("no records yet", colour=svg.MUTED)
    return stack(label(f"partition {partition}"), space(height=4), records if end else none)


def _store(offset: int | None, written: bool, began: Began | None, found: int | None) -> Block:
    """What a store has for a partition; and for who has just begun, whether it was asked, and believed."""
    is_marked = written or (began is not None and found is not None)
    colour = svg.MUTED if offset is None else svg.INK
    words = _verdict(began, found) if began is not None else "written" if written else ""
    holds = label(held(offset), svg.BODY, colour, bold=offset is not None)
    box = free(
        STORE,
        CELL_HEIGHT,
        lambda x, y: [svg.outlined((x, y, STORE, CELL_HEIGHT), **svg.edge(is_marked))],
        lambda x, y: holds.draw(x + 12, y + 3),
    )
    return stack(box, space(height=4), label(words, **svg.stress(is_marked, svg.MUTED)))


def _verdict(began: Began, found: int | None) -> str:
    if found is None:
        return "not asked"
    if began.is_reset:
        return "asked, of no use"
    return "asked, believed" if found == began.offset else "asked, not the larger"


def _card(consumer: Consumer) -> Block:
    """A consumer: its settings, where it is, what it is doing about a commit."""
    at = ", ".join(f"{partition}: {offset}" for partition, offset in consumer.consumed[:3])
    more = f", {len(consumer.consumed) - 3} more" if len(consumer.consumed) > 3 else ""
    doing = consumer.status if consumer.commit is None else "commits, waits for the answer"
    if consumer.commit is not None and consumer.commit.is_waiting:
        doing = f"commits, {counted(consumer.commit.tries_left, 'try', 'tries')} left"
    does = label(svg.cut_end(doing, 20), colour=svg.MUTED)
    name = label(name_of(consumer.name), svg.BODY, bold=True, width=CARD_WIDTH - 24 - does.width)
    inside = stack(
        row(name, does, gap=0),
        label(storage_words(consumer)),
        label(svg.cut_end(f"consumed {at}{more}" if at else "has no offset yet", 34)),
        gap=2,
    )
    return free(
        CARD_WIDTH,
        CARD_HEIGHT,
        lambda x, y: [svg.outlined((x, y, CARD_WIDTH, CARD_HEIGHT))],
        lambda x, y: inside.draw(x + 12, y + 5),
    )
