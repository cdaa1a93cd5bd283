"""A fetch pipeline, shown: a sentence or two about each moment, and a picture of it.

In the picture logs on brokers, fetchers, queues of chunks and streams stand from left to right.
"""

from __future__ import annotations

from kafkalearn.base.errors import capitalised, listed
from kafkalearn.base.facts import in_words, span
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.zookeeper.fetching import cluster
from kafkalearn.zookeeper.fetching.cluster import FetchingEvent
from kafkalearn.zookeeper.fetching.model import ENDED, SHUTDOWN_COMMAND, Chunk, Fetcher, Pipeline, Stream


def describe_fetching(
    frame: Frame[Pipeline, FetchingEvent], before: Frame[Pipeline, FetchingEvent] | None = None
) -> str:
    """A sentence or two about a frame of `kafkalearn.zookeeper.fetching`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching import Append, Assigned, Fetch, FindLeaders, Next, Settings, simulate
    >>> from kafkalearn.zookeeper.fetching import StartConnections
    >>> owns = StartConnections([Assigned("orders", 0, offset=0)])
    >>> for frame in simulate(Settings(), [Append("orders", 0, count=3), owns, FindLeaders(), Fetch(1), Next()]):
    ...     print(describe_fetching(frame))
    The consumer owns nothing yet.
    Offsets 0 to 2 are new in orders-0.
    A rebalance has ended: the consumer owns orders-0, which has no leader yet.
    Fetcher 0 of broker 1 is started. Fetcher 0 of broker 1 fetches orders-0 from 0.
    A chunk is in the queue of stream 0: 0 to 2 of orders-0.
    The application reads 0 of orders-0.
    """
    if frame.event is None:
        return "The consumer owns nothing yet."
    said = [_event_words(frame), *map(_effect_words, frame.state.effects)]
    return " ".join(f"{capitalised(each)}." for each in said if each)


def _event_words(frame: Frame[Pipeline, FetchingEvent]) -> str:
    match frame.event:
        case cluster.StartConnections():
            owned = [each.topic_partition for each in frame.state.registry]
            has = "has" if len(owned) == 1 else "have"
            return f"a rebalance has ended: the consumer owns {listed(owned)}, which {has} no leader yet"
        case cluster.FindLeaders() if not frame.state.effects:
            return "the leader finder asks, and finds no leader"
    return in_words(frame.event)


def _effect_words(effect: cluster.Effect) -> str:
    match effect:
        case cluster.OffsetReset(partition, asked, offset):
            why = "nothing was committed" if asked < 0 else f"it has no {asked}"
            return f"fetched and consumed of {partition} are reset to {offset}: {why}"
        case cluster.Enqueued(partition, stream, _, ()):
            return f"a chunk without a whole record of {partition} is in the queue of stream {stream}"
        case cluster.Enqueued(partition, stream, _, offsets):
            return f"a chunk is in the queue of stream {stream}: {span(offsets)} of {partition}"
        case cluster.Committed(offsets):
            return "committed: " + listed(f"{partition} {offset}" for partition, offset in offsets)
    return in_words(effect)


# The picture.

TOP, BOTTOM, HIGHEST = 92, 36, 590
COLUMNS = (25, 300, 535, 755)  # where logs, fetchers, queues and streams begin
ROW, SLOT = 92, 34
MOST_ROWS = (HIGHEST - TOP - BOTTOM) // ROW
SHOWN_RECORDS = 8
CELL = 31


def draw_fetching(
    trace: Trace[Pipeline, FetchingEvent],
    frame: Frame[Pipeline, FetchingEvent],
    before: Frame[Pipeline, FetchingEvent] | None = None,
) -> Picture:
    """One moment of a fetch pipeline, drawn; what has just happened has a marked edge.

    Parameters
    ----------
    trace : tuple of Frame
        The whole run: every frame of it is drawn to the same size.
    frame, before : Frame
        A frame of it and the one before, which is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching import Next, Settings, simulate
    >>> trace = simulate(Settings(), [Next()])
    >>> draw_fetching(trace, trace[1]).label
    'Stream 0 has nothing: its thread waits.'
    """
    state = frame.state
    names = [log.topic_partition for log in state.cluster.logs]
    rows = max(_row_count(each.state) for each in trace)
    bottom = TOP + rows * ROW
    heads = ("logs, and registry", "fetchers", "queues of chunks", "streams")
    parts = [
        *(svg.text(x, 74, words, svg.BODY, bold=True) for x, words in zip(COLUMNS, heads, strict=True)),
        *(svg.arrow(x - 26, 68, x - 6, 68, svg.MUTED) for x in COLUMNS[1:]),
        *(_log(frame, log, at, TOP + at * ROW) for at, log in enumerate(state.cluster.logs[:rows])),
        *(_fetcher(frame, each, names, TOP + at * ROW) for at, each in enumerate(sorted(state.fetchers)[:rows])),
    ]
    for at, stream in enumerate(state.streams[:rows]):
        parts += [_queue(frame, stream, at, names, trace), _stream(frame, stream, at, names)]
    return picture(
        bottom + BOTTOM,
        svg.text(25, 38, "From the broker to the application", svg.TITLE, bold=True),
        svg.text(svg.WIDTH - 25, 38, _hidden(state, rows), svg.SMALL, "end", svg.MUTED),
        *parts,
        _finder(frame, bottom + 18),
        label=describe_fetching(frame),
    )


def _row_count(state: Pipeline) -> int:
    return min(MOST_ROWS, max(len(state.cluster.logs), len(state.fetchers), len(state.streams)))


def _hidden(state: Pipeline, rows: int) -> str:
    counts = {"partitions": len(state.cluster.logs), "fetchers": len(state.fetchers), "streams": len(state.streams)}
    more = [f"{count - rows} more {what}" for what, count in counts.items() if count > rows]
    return f"not drawn: {listed(more)}" if more else ""


def _log(frame: Frame[Pipeline, FetchingEvent], log: cluster.Log, at: int, top: float) -> str:
    """A partition on its leader, and below it what the consumer's partition info says."""
    state, x, partition = frame.state, COLUMNS[0], log.topic_partition
    leader = "no leader" if log.leader is None else f"broker {log.leader}"
    is_gone = log.leader is not None and log.leader not in state.cluster.live_brokers
    parts = [
        svg.text(
            x,
            top + 15,
            f"{svg.cut_name(str(partition), 16)}, {leader}{' (down)' if is_gone else ''}",
            svg.SMALL,
            bold=True,
        )
    ]
    appended = [each for each in state.effects if isinstance(each, cluster.Appended)]
    new = {offset for each in appended if each.topic_partition == partition for offset in each.offsets}
    first = max(log.start_offset, log.end_offset - SHOWN_RECORDS)
    for offset in range(first, log.end_offset):
        box = (x + (offset - first) * CELL, top + 22, CELL - 3, 26)
        parts += [
            svg.filled(svg.fill(at), box),
            svg.outlined(*([box] if offset in new else []), **svg.edge(True)),
        ]
        parts.append(svg.text(box[0] + box[2] / 2, top + 40, str(offset), svg.SMALL, "middle"))
    if log.end_offset == log.start_offset:
        parts.append(svg.text(x, top + 40, f"empty, the next offset is {log.end_offset}", svg.SMALL, colour=svg.MUTED))
    owned = next((each for each in state.registry if each.topic_partition == partition), None)
    words = f"fetched {owned.fetched_offset}, consumed {owned.consumed_offset}" if owned else "not owned"
    resets = [each for each in state.effects if isinstance(each, cluster.OffsetReset)]
    is_reset = any(each.topic_partition == partition for each in resets)
    parts.append(
        svg.text(
            x,
            top + 66,
            words,
            svg.SMALL,
            **svg.stress(is_reset, svg.INK if owned else svg.MUTED),
        )
    )
    return "\n".join([*parts, svg.line(x, top + ROW - 12, svg.WIDTH - 25, top + ROW - 12, svg.FAINT, 1)])


def _fetcher(frame: Frame[Pipeline, FetchingEvent], fetcher: Fetcher, names: list[TopicPartition], top: float) -> str:
    """A fetcher thread: its name, what it asks for next, and what it has in hand while it waits."""
    x, width, event = COLUMNS[1], 210, frame.event
    works = isinstance(event, cluster.Fetch) and (event.broker_id, event.fetcher_id) == fetcher.key
    box = (x, top, width, ROW - 16)
    name = f"fetcher {fetcher.key.fetcher_id}, broker {fetcher.key.broker_id}{' (dead)' if fetcher.is_dead else ''}"
    parts = [
        svg.card(box, works, is_on=not fetcher.is_dead),
        svg.text(x + 10, top + 19, name, svg.SMALL, bold=True),
    ]
    asks = ", ".join(f"{each} from {offset}" for each, offset in fetcher.offsets) or "no partitions"
    parts.append(svg.text(x + 10, top + 40, svg.cut_end(asks, 24), svg.SMALL))
    if fetcher.in_hand:
        parts.append(svg.text(x + 10, top + 64, "waits with", svg.SMALL, colour=svg.MARK, bold=True))
        answer = fetcher.in_hand[0]
        chunk = Chunk(answer.topic_partition, answer.fetch_offset, answer.offsets)
        parts.append(_chunk(chunk, names, (x + 102, top + 46, 100, 24), is_marked=True, is_short=True))
    return "\n".join(parts)


def _queue(
    frame: Frame[Pipeline, FetchingEvent],
    stream: Stream,
    number: int,
    names: list[TopicPartition],
    trace: Trace[Pipeline, FetchingEvent],
) -> str:
    """The queue of a stream, the next chunk on the right, and its free places."""
    x, top, width = COLUMNS[2], TOP + number * ROW, 195
    slots = max(2, *(len(each.state.streams[number].queue) for each in trace))
    drawn = min(slots, 3)
    height = min(SLOT, (ROW - 18) / drawn)
    new = [each for each in frame.state.effects if isinstance(each, cluster.Enqueued) and each.stream == number]
    parts = []
    for place in range(drawn):
        box = (x, top + place * height, width, height - 5)
        if place >= len(stream.queue):
            parts.append(svg.filled(svg.NOTHING, box))
            continue
        chunk = stream.queue[place]
        is_new = any((each.topic_partition, each.fetch_offset) == chunk[:2] for each in new)
        parts.append(_chunk(chunk, names, box, is_marked=is_new))
    if len(stream.queue) > drawn:
        parts.append(
            svg.text(x + width, top + ROW - 20, f"and {len(stream.queue) - drawn} more", svg.SMALL, "end", svg.MUTED)
        )
    return "\n".join(parts)


def _chunk(
    chunk: Chunk,
    names: list[TopicPartition],
    box: tuple[float, float, float, float],
    is_marked: bool = False,
    is_short: bool = False,
) -> str:
    if chunk == SHUTDOWN_COMMAND:
        words, ground = "shutdown message", svg.rect(*box, svg.EMPTY)
    else:
        name = "" if is_short else f"{svg.cut_name(str(chunk.topic_partition), 12)}: "
        words = name + (span(chunk.offsets) if chunk.offsets else "nothing whole")
        ground = svg.filled(svg.fill(names.index(chunk.topic_partition)), box)
    x, y, _, height = box
    edge = svg.outlined(*([box] if is_marked else []), **svg.edge(True))
    return "\n".join([ground, edge, svg.text(x + 10, y + height / 2 + 5, words, svg.SMALL)])


def _stream(frame: Frame[Pipeline, FetchingEvent], stream: Stream, number: int, names: list[TopicPartition]) -> str:
    """A stream: the chunk that is being read, and what the application got last."""
    x, top, width = COLUMNS[3], TOP + number * ROW, 220
    reads = [each for each in frame.state.effects if isinstance(each, cluster.Read) and each.stream == number]
    box = (x, top, width, ROW - 16)
    name = f"stream {number}" if stream.status == "ready" else f"stream {number}: {stream.status}"
    parts = [
        svg.card(box, bool(reads), is_on=stream.status != ENDED),
        svg.text(x + 10, top + 19, name, svg.SMALL, bold=True),
    ]
    if stream.chunk is not None:
        parts.append(svg.text(x + 10, top + 41, "left", svg.SMALL))
        parts.append(_chunk(stream.chunk, names, (x + 48, top + 25, width - 56, 24)))
    if reads:
        words = f"read {reads[0].offset} of {svg.cut_name(str(reads[0].topic_partition), 9)}"
        parts.append(svg.text(x + 10, top + 65, words, svg.SMALL, colour=svg.MARK, bold=True))
    return "\n".join(parts)


def _finder(frame: Frame[Pipeline, FetchingEvent], y: float) -> str:
    """The leader finder: what it does, and the partitions without a leader."""
    finder, missing = frame.state.leader_finder, frame.state.no_leader
    if finder is None:
        words = "no leader finder runs"
    elif finder.waits_for is not None:
        broker_id, number = finder.waits_for
        words = f"the leader finder waits for the lock of fetcher {number}, broker {broker_id}"
    elif missing:
        words = f"without a leader: {listed(missing)}"
    else:
        words = "the leader finder sleeps: each partition has a leader"
    is_marked = isinstance(frame.event, cluster.FindLeaders) or (finder is not None and finder.waits_for is not None)
    return svg.text(25, y, svg.cut_end(words, 96), svg.BODY, **svg.stress(is_marked))
