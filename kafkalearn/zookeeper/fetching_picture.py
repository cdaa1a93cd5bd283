"""A fetch pipeline, shown: a sentence or two about each moment, and a picture of it.

In the picture logs on brokers, fetchers, queues of chunks and streams stand from left to right.
"""

from __future__ import annotations

from kafkalearn.base.errors import capitalised, listed
from kafkalearn.base.facts import in_words, span
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    arrow,
    beside,
    cells,
    free,
    label,
    panel,
    row,
    rule,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
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

COLUMNS = {"logs, and registry": 255, "fetchers": 210, "queues of chunks": 195, "streams": 218}  # and their widths
LOGS, FETCHERS, QUEUES, STREAMS = COLUMNS.values()
APART = 30  # pixels between two columns, where an arrow leads on
ROW, THING, MOST_ROWS = 92, 76, 5  # pixels of a row, and of what stands in it
SLOT, MOST_SLOTS, CHUNK_HEIGHT = 34, 3, 24
SHOWN_RECORDS, CELL = 8, 31


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
    fetchers = sorted(state.fetchers)
    rows = max(_row_count(each.state) for each in trace)
    page = stack(
        row(
            label("From the broker to the application", svg.TITLE, bold=True),
            label(_hidden(state, rows), colour=svg.MUTED),
            width=WIDE,
        ),
        space(height=6),
        _heads(),
        space(height=8),
        *(
            _row(
                _log(frame, state.cluster.logs[at], at) if at < len(state.cluster.logs) else space(),
                _fetcher(frame, fetchers[at], names) if at < len(fetchers) else space(),
                _queue(frame, at, names, trace) if at < len(state.streams) else space(),
                _stream(frame, at, names) if at < len(state.streams) else space(),
            )
            for at in range(rows)
        ),
        _finder(frame),
    )
    return sheet(page, describe_fetching(frame))


def _heads() -> Block:
    """The names of the columns, and arrows from each to the next."""
    shown: list[Block] = []
    for words, width in COLUMNS.items():
        if shown:
            shown.append(arrow(APART, svg.MUTED))
        shown.append(label(words, svg.BODY, bold=True, width=width))
    return beside(*shown)


def _row(*things: Block) -> Block:
    """What stands in a row, each in its column, above a hair."""
    lefts = [sum(list(COLUMNS.values())[:at]) + APART * at for at in range(len(COLUMNS))]
    placed = zip(lefts, things, strict=True)
    drawn = [lambda x, y, left=left, thing=thing: thing.draw(x + left, y) for left, thing in placed]
    return stack(free(WIDE, ROW - 12, *drawn), rule(), space(height=11))


def _row_count(state: Pipeline) -> int:
    return min(MOST_ROWS, max(len(state.cluster.logs), len(state.fetchers), len(state.streams)))


def _hidden(state: Pipeline, rows: int) -> str:
    counts = {"partitions": len(state.cluster.logs), "fetchers": len(state.fetchers), "streams": len(state.streams)}
    more = [f"{count - rows} more {what}" for what, count in counts.items() if count > rows]
    return f"not drawn: {listed(more)}" if more else ""


def _log(frame: Frame[Pipeline, FetchingEvent], log: cluster.Log, at: int) -> Block:
    """A partition on its leader, and below it what the consumer's partition info says."""
    state, partition = frame.state, log.topic_partition
    leader = "no leader" if log.leader is None else f"broker {log.leader}"
    is_gone = log.leader is not None and log.leader not in state.cluster.live_brokers
    appended = [each for each in state.effects if isinstance(each, cluster.Appended)]
    new = {offset for each in appended if each.topic_partition == partition for offset in each.offsets}
    first = max(log.start_offset, log.end_offset - SHOWN_RECORDS)
    shown = range(first, log.end_offset)
    records = cells(
        len(shown),
        CELL,
        {svg.fill(at): [offset - first for offset in shown]},
        {offset - first: str(offset) for offset in shown},
        height=26,
        marked=[offset - first for offset in shown if offset in new],
        has_edges=False,
    )
    owned = next((each for each in state.registry if each.topic_partition == partition), None)
    words = f"fetched {owned.fetched_offset}, consumed {owned.consumed_offset}" if owned else "not owned"
    resets = [each for each in state.effects if isinstance(each, cluster.OffsetReset)]
    is_reset = any(each.topic_partition == partition for each in resets)
    return stack(
        label(f"{svg.cut_name(str(partition), 16)}, {leader}{' (down)' if is_gone else ''}", bold=True),
        space(height=2),
        records if shown else label(f"empty, the next offset is {log.end_offset}", colour=svg.MUTED),
        space(height=3 if shown else 9),
        label(words, **svg.stress(is_reset, svg.INK if owned else svg.MUTED)),
    )


def _fetcher(frame: Frame[Pipeline, FetchingEvent], fetcher: Fetcher, names: list[TopicPartition]) -> Block:
    """A fetcher thread: its name, what it asks for next, and what it has in hand while it waits."""
    event = frame.event
    works = isinstance(event, cluster.Fetch) and (event.broker_id, event.fetcher_id) == fetcher.key
    name = f"fetcher {fetcher.key.fetcher_id}, broker {fetcher.key.broker_id}{' (dead)' if fetcher.is_dead else ''}"
    asks = ", ".join(f"{each} from {offset}" for each, offset in fetcher.offsets) or "no partitions"
    lines = [space(height=3), label(name, bold=True), label(asks, width=FETCHERS - 20)]
    if fetcher.in_hand:
        answer = fetcher.in_hand[0]
        chunk = Chunk(answer.topic_partition, answer.fetch_offset, answer.offsets)
        held = _chunk(chunk, names, (FETCHERS - 122, CHUNK_HEIGHT), is_marked=True, is_short=True)
        lines.append(beside(label("waits with", colour=svg.MARK, bold=True, width=102), held))
    return panel(stack(*lines), width=FETCHERS, height=THING, pad=10, is_on=not fetcher.is_dead, is_new=works)


def _queue(
    frame: Frame[Pipeline, FetchingEvent],
    number: int,
    names: list[TopicPartition],
    trace: Trace[Pipeline, FetchingEvent],
) -> Block:
    """The queue of a stream, the next chunk on top, and its free places."""
    queue = frame.state.streams[number].queue
    drawn = min(MOST_SLOTS, max(2, *(len(each.state.streams[number].queue) for each in trace)))
    size = QUEUES, min(SLOT, (THING - 2) / drawn) - 5
    new = [each for each in frame.state.effects if isinstance(each, cluster.Enqueued) and each.stream == number]
    places = [
        _chunk(each, names, size, is_marked=any((one.topic_partition, one.fetch_offset) == each[:2] for one in new))
        for each in queue[:drawn]
    ]
    nothing = free(*size, lambda x, y: [svg.filled(svg.NOTHING, (x, y, *size))])
    more = [label(f"and {len(queue) - drawn} more", colour=svg.MUTED, width=QUEUES, at_end=True)]
    return stack(*places, *[nothing] * (drawn - len(places)), *(more if len(queue) > drawn else []), gap=5)


def _chunk(
    chunk: Chunk,
    names: list[TopicPartition],
    size: tuple[float, float],
    is_marked: bool = False,
    is_short: bool = False,
) -> Block:
    if chunk == SHUTDOWN_COMMAND:
        words, fill = "shutdown message", svg.NOTHING
    else:
        name = "" if is_short else f"{svg.cut_name(str(chunk.topic_partition), 12)}: "
        words = name + (span(chunk.offsets) if chunk.offsets else "nothing whole")
        fill = svg.fill(names.index(chunk.topic_partition))
    width, height = size
    return free(
        width,
        height,
        lambda x, y: [svg.filled(fill, (x, y, width, height))],
        lambda x, y: [svg.outlined((x, y, width, height), **svg.edge(True)) if is_marked else ""],
        lambda x, y: [svg.text(x + 10, y + height / 2 + 5, words, svg.SMALL)],
    )


def _stream(frame: Frame[Pipeline, FetchingEvent], number: int, names: list[TopicPartition]) -> Block:
    """A stream: the chunk that is being read, and what the application got last."""
    stream: Stream = frame.state.streams[number]
    reads = [each for each in frame.state.effects if isinstance(each, cluster.Read) and each.stream == number]
    name = f"stream {number}" if stream.status == "ready" else f"stream {number}: {stream.status}"
    left = space(height=CHUNK_HEIGHT)
    if stream.chunk is not None:
        left = beside(label("left", width=38), _chunk(stream.chunk, names, (STREAMS - 56, CHUNK_HEIGHT)))
    lines = [space(height=3), label(name, bold=True), left]
    if reads:
        words = f"read {reads[0].offset} of {svg.cut_name(str(reads[0].topic_partition), 9)}"
        lines.append(label(words, colour=svg.MARK, bold=True))
    return panel(
        stack(*lines, gap=2), width=STREAMS, height=THING, pad=10, is_on=stream.status != ENDED, is_new=bool(reads)
    )


def _finder(frame: Frame[Pipeline, FetchingEvent]) -> Block:
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
    return label(svg.cut_end(words, 96), svg.BODY, **svg.stress(is_marked))
