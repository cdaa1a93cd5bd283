"""A producer of keyless records in words and pictures.

In words: a sentence about a frame (`describe_keyless`), where the next record goes (`keyless_rule`), the whole of it as
text (`keyless_text`). As a picture: a lane for each partition, batches filling up; `draw_keyless` draws a frame of
`kafkalearn.partitioning.keyless.simulate`.
"""

from __future__ import annotations

from itertools import pairwise

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.hashing import murmur2, to_positive
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    LEFT,
    WIDE,
    Block,
    at_ends,
    beside,
    cells,
    free,
    label,
    meter,
    rule,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.partitioning import keyless
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.partitioning.keyless import Batch, Event, Producer, RecordAppended, Settings

# In words.


def describe_keyless(
    settings: Settings, frame: Frame[Producer, Event], before: Frame[Producer, Event] | None = None
) -> str:
    """A sentence or two about a frame of a producer; the one before it is not needed.

    >>> from kafkalearn.partitioning.keyless import Send
    >>> from kafkalearn.partitioning.keyless import simulate
    >>> settings = Settings(3, "2.3")
    >>> describe_keyless(settings, simulate(settings, [Send()])[1])
    'Record 1 (100 bytes) opens a batch in partition 1.'
    """
    state, event = frame.state, frame.event
    match event:
        case keyless.Send():
            placed = appended_in(state)
            assert placed is not None, "a record that is sent goes somewhere"
            return _describe_send(state, event, placed) + _describe_draw(state, placed)
        case keyless.SendToOtherTopic():
            return "A record without a key goes to another topic."
        case keyless.Drain(partitions):
            if partitions is None:
                return "All waiting batches are sent."
            return f"The waiting batches of partitions {', '.join(map(str, partitions))} are sent."
        case keyless.SenderLooks():
            said = ", ".join(f"{weight} for partition {each}" for each, weight in weights(state).items())
            likely = f"weights {said}" if said else "every partition is as likely to be drawn"
            return f"The sending thread looks at the queues: {likely}."
    return f"A producer of Kafka {settings.release} ({keyless.rule_of(settings.release)}) has written nothing yet."


def appended_in(state: Producer) -> RecordAppended | None:
    """The record that the last event wrote; None if it wrote none."""
    return next((each for each in state.effects if isinstance(each, RecordAppended)), None)


def _describe_send(state: Producer, event: keyless.Send, placed: RecordAppended) -> str:
    kind = "" if event.key is None else f", key {event.key!r}"
    verb = "opens a batch in" if placed.has_opened_batch else "goes to"
    return f"Record {sum(state.record_counts)} ({event.value_bytes} bytes{kind}) {verb} partition {placed.partition}."


def _describe_draw(state: Producer, placed: RecordAppended) -> str:
    """The sticky partition that was drawn while the record was written."""
    drawn = [each for each in state.effects if isinstance(each, keyless.PartitionDrawn)]
    if not drawn:
        return ""
    if state.current == drawn[0].previous:
        return f" Partition {state.current} was drawn again."
    when = "for it" if placed.partition == state.current else "for the next"
    return f" Partition {state.current} was drawn {when}."


def weights(state: Producer) -> dict[int, int]:
    """The weight of each partition in the next draw; empty if all are as likely."""
    if state.load is None:
        return {}
    sums = state.load.running_sums
    return dict(zip(state.load.partitions, (b - a for a, b in pairwise((0, *sums))), strict=True))


def keyless_rule(settings: Settings, state: Producer) -> str:
    """Where the next record goes, in the terms of the release's rule."""
    rule = keyless.rule_of(settings.release)
    if rule.startswith("round robin"):
        if state.counter is None:
            return "the counter starts at a random number"
        number, count = to_positive(state.counter), len(settings.candidates)
        return f"next: {number} % {count} = {number % count}, partition {settings.candidates[number % count]}"
    if state.current is None:
        return "next: a partition drawn at random"
    by_rule = _sticky_rule if rule == "sticky" else _uniform_rule
    return by_rule(settings, state, is_filling=not keyless.all_full(state.queue(state.current)))


def _sticky_rule(settings: Settings, state: Producer, is_filling: bool) -> str:
    if len(settings.candidates) == 1:
        return f"next: partition {state.current}, there is no other"
    if is_filling:
        return f"next: partition {state.current}, if the record fits into its batch"
    return "next: another partition than now, for a new batch has to be opened"


def _uniform_rule(settings: Settings, state: Producer, is_filling: bool) -> str:
    if state.produced_bytes < settings.batch_size:
        return f"next: partition {state.current}, until {settings.batch_size} bytes went there"
    if is_filling:
        return f"next: partition {state.current}, until its batch is full: enough bytes went there"
    return f"next: a partition drawn anew, enough bytes went to partition {state.current}"


def keyless_text(
    settings: Settings, frame: Frame[Producer, Event], before: Frame[Producer, Event] | None = None
) -> str:
    """A frame of `kafkalearn.partitioning.keyless` as a few lines of text.

    >>> from kafkalearn.partitioning.keyless import Send
    >>> from kafkalearn.partitioning.keyless import simulate
    >>> settings = Settings(2, "2.3", draw=(0,).__getitem__)
    >>> print(keyless_text(settings, simulate(settings, [Send()] * 3)[-1]))
    Record 3 (100 bytes) goes to partition 0.
    next: 3 % 2 = 1, partition 1
      partition 0: 2 written, 0 sent, waiting [2 records, 279 bytes]
      partition 1: 1 written, 0 sent, waiting [1 record, 170 bytes]
    """
    state = frame.state
    head = [describe_keyless(settings, frame), keyless_rule(settings, state)]
    if state.produced_bytes:
        head.append(f"bytes to partition {state.current} since it was drawn: {state.produced_bytes}")
    return "\n".join([*head, *(_lane_text(state, partition) for partition in range(settings.partition_count))])


def _lane_text(state: Producer, partition: int) -> str:
    queue, written = state.queue(partition), state.record_counts[partition]
    sent = written - sum(batch.record_count for batch in queue)
    waiting = " ".join(_batch_text(batch) for batch in queue) or "nothing"
    mark = ">" if partition == state.current else " "
    return f"{mark} partition {partition}: {written} written, {sent} sent, waiting {waiting}"


def _batch_text(batch: Batch) -> str:
    is_full = ", full" if batch.is_full else ""
    return f"[{counted(batch.record_count, 'record')}, {batch.byte_count} bytes{is_full}]"


# As a picture.

NAMES, LANE_HEIGHT, MOST_LANES = 174, 58, 7  # pixels; of so many lanes the picture fits a small window
BATCH_WIDTH, BATCH_HEIGHT, BATCH_GAP, MOST_BATCHES = 144, 40, 12, 4
METER = 420, 20  # width and height in pixels
OPEN, CLOSED = svg.fill(0), svg.fill(4)


def draw_keyless(
    settings: Settings, frame: Frame[Producer, Event], before: Frame[Producer, Event] | None = None
) -> Picture:
    """One moment of a producer that writes records without keys, drawn.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of the trace; the one before it is not needed.

    Examples
    --------
    >>> from kafkalearn.partitioning.keyless import Send
    >>> from kafkalearn.partitioning.keyless import simulate
    >>> settings = Settings(3, batch_size=1000)
    >>> draw_keyless(settings, simulate(settings, [Send()])[1]).label
    'Record 1 (100 bytes) opens a batch in partition 1. Partition 1 was drawn for it.'
    """
    state = frame.state
    has_meter = keyless.rule_of(settings.release) == "uniform sticky"
    title = f"Records without a key: Kafka {settings.release}, {keyless.rule_of(settings.release)}"
    page = stack(
        label(title, svg.TITLE, bold=True),
        space(height=8),
        at_ends(
            beside(
                space(NAMES), label("waiting batches, records: bytes; darker: full, takes no more", colour=svg.MUTED)
            ),
            label("records", colour=svg.MUTED, at_end=True),
        ),
        space(height=6),
        *(_lane(settings, state, each) for each in _shown(settings, state)),
        space(height=12),
        label(keyless_rule(settings, state), svg.BODY, bold=True),
        *([space(height=10), _meter(settings, state)] if has_meter else []),
    )
    return sheet(page, describe_keyless(settings, frame))


def _shown(settings: Settings, state: Producer) -> range:
    """The partitions that fit, among them the one that the record went to, or the sticky one."""
    appended = appended_in(state)
    marked = appended.partition if appended else state.current or 0
    first = max(0, min(marked - MOST_LANES // 2, settings.partition_count - MOST_LANES))
    return range(first, min(first + MOST_LANES, settings.partition_count))


def _lane(settings: Settings, state: Producer, partition: int) -> Block:
    """A partition: its name, its waiting batches, what was written and sent; the current one stands out."""
    is_current, is_led = partition == state.current, partition in settings.candidates
    queue, written = state.queue(partition), state.record_counts[partition]
    appended = appended_in(state)
    got_record = appended is not None and appended.partition == partition
    sent, weight = written - sum(batch.record_count for batch in queue), weights(state).get(partition)
    aside = f"{sent} sent" if weight is None else f"{sent} sent, weight {weight}"
    name = f"partition {partition}" if is_led else f"{partition}: no leader"
    called = label(name, svg.BODY, svg.INK if is_led else svg.MUTED, bold=is_current, width=NAMES - 20)
    counts = stack(
        label(f"{written} written", svg.BODY, width=150, at_end=True),
        label(aside, colour=svg.MUTED, width=150, at_end=True),
    )
    lane = at_ends(beside(space(20), called, _batches(queue, got_record)), counts, height=LANE_HEIGHT - 1)

    def stands_out(x: float, y: float) -> list[str]:
        middle = y + LANE_HEIGHT / 2
        pointer = svg.polygon([(x + 12, middle), (x - 6, middle - 11), (x - 6, middle + 11)], svg.MARK)
        return [svg.rect(x - LEFT, y, svg.WIDTH, LANE_HEIGHT, svg.EMPTY), pointer] if is_current else []

    return stack(free(WIDE, LANE_HEIGHT - 1, stands_out, lane.draw), rule())


def _batches(queue: tuple[Batch, ...], got_record: bool) -> Block:
    """The waiting batches, the oldest left; of a long queue the newest and how many more there are."""
    shown = queue[-MOST_BATCHES:]
    hidden = label(f"+{len(queue) - len(shown)}", colour=svg.MUTED)
    batches = beside(
        *(_batch(batch, got_record and at == len(shown) - 1) for at, batch in enumerate(shown)), gap=BATCH_GAP
    )
    more = hidden.draw if len(queue) > len(shown) else space().draw
    return free(batches.width, BATCH_HEIGHT, batches.draw, lambda x, y: more(x - hidden.width - 4, y + 10))


def _batch(batch: Batch, is_now: bool) -> Block:
    """A batch as full as it is; darker once no more goes in, with a marked border if it got the last record."""
    full = min(1, batch.byte_count / batch.limit_bytes) * BATCH_WIDTH
    words = f"{batch.record_count}: {batch.byte_count} B"
    size = BATCH_WIDTH, BATCH_HEIGHT
    return free(
        *size,
        lambda x, y: [svg.rect(x, y, *size, svg.PANEL)],
        lambda x, y: [svg.filled(CLOSED if batch.is_full else OPEN, (x, y, full, BATCH_HEIGHT))],
        lambda x, y: [svg.rect(x, y, *size, **svg.edge(is_now))],
        lambda x, y: [svg.text(x + BATCH_WIDTH / 2, y + 26, words, svg.SMALL + 1, "middle")],
    )


def _meter(settings: Settings, state: Producer) -> Block:
    """Bytes to the current partition since it was drawn, against the two marks at which it may change."""
    whole, (width, height) = 2 * settings.batch_size, METER
    done = meter(min(1, state.produced_bytes / whole), OPEN, least=0.5, width=width, height=height)
    half = label(str(settings.batch_size), width=width / 2 - 8, at_end=True)
    name = label("bytes there since it was drawn", width=296)
    count = label(str(state.produced_bytes), svg.BODY, bold=True, width=104, at_end=True)
    return beside(name, count, space(14), free(width, height, done.draw, half.draw), space(8), label(str(whole)))


# A key, step by step: its bytes, their hash, the hash without its sign, the remainder. One picture, for `vary`.

STEP_HEIGHT, STEP_NAMES, CELL_HEIGHT = 46, 234, 50  # pixels
MOST_CELLS, MOST_BYTES = 24, 20


def draw_key(key: bytes, partition_count: int) -> Picture:
    """How the Java client finds the partition of a key: bytes, murmur2, without the sign, remainder.

    >>> draw_key(b"order-42", 6).label
    'order-42: murmur2 501,153,024, without its sign 501,153,024, partition 0 of 6.'

    Raises
    ------
    KafkaLearnError
        If there are more partitions than the picture has room for.
    """
    if partition_count > MOST_CELLS:
        raise KafkaLearnError(f"the picture has room for {MOST_CELLS} partitions, got {partition_count}")
    key_hash = murmur2(key)
    positive = to_positive(key_hash)
    partition = partition_for_key(key, partition_count)
    shown = key[:MOST_BYTES].hex(" ") + (" ..." if len(key) > MOST_BYTES else "")
    steps = (
        ("the bytes of the key", shown or "none"),
        ("murmur2", f"{key_hash:,}"),
        ("& 0x7fffffff", f"{positive:,}" + (" (the sign bit is cut off)" if key_hash < 0 else "")),
        (f"% {partition_count}", f"partition {partition}"),
    )
    places = cells(
        partition_count,
        WIDE / partition_count,
        {svg.fill(2): [partition]},
        {number: str(number) for number in range(partition_count)},
        height=CELL_HEIGHT,
        marked=[partition],
    )
    page = stack(
        *(
            beside(label(name, svg.BODY, width=STEP_NAMES), label(value, svg.BODY, bold=True), height=STEP_HEIGHT)
            for name, value in steps
        ),
        space(height=8),
        places,
    )
    words = (
        f"{key.decode(errors='replace')}: murmur2 {key_hash:,}, without its sign {positive:,}, "
        f"partition {partition} of {partition_count}."
    )
    return sheet(page, words)
