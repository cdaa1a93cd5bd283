"""A replicated partition as a picture: a log for each broker with its two marks, and beside it what the leader knows.

A frame of `kafkalearn.replication`, of a run or of what a search has found, becomes one drawing; what has changed
since the frame before has a thick border. The settings come first, so that they can be bound once:
``play(trace, partial(draw_replication, settings))``.
"""

from __future__ import annotations

from textwrap import wrap

from kafkalearn.base.errors import capitalised
from kafkalearn.base.promises import broken_in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.replication.events import (
    ConsumerRead,
    FetchAnswered,
    NoReachableLeader,
    ProduceAnswered,
    ReplicationEvent,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import PROMISES, broken
from kafkalearn.replication.state import CUT_OFF, DOWN, FROZEN, Leadership, Log, Partition, Record, Remote
from kafkalearn.replication.words import (
    assignment_in_words,
    describe_replication,
    effects_in_words,
    head_in_words,
    ids_in_words,
    remote_in_words,
    remote_of,
    replica_status,
    waiting_in_words,
)

ROWS_TOP, ROW_HEIGHT, PANEL_HEIGHT = 92, 90, 82
KNOWN_LEFT, KNOWN_WIDTH = 808, 164
BAND_LETTERS, BAND_LINES = 80, 2
LEFT, CELLS_LEFT, CELL, CELL_COUNT = 16, 178, 42, 14
MOST_TITLE = 56  # letters of a large title beside the time
CELL_DOWN, CELL_HEIGHT = 23, 31
CHARACTER = 9.4  # pixels of one in a label
MOST_LETTERS = 3  # of a record's value in its cell
MOST_FILLS = 6
NO_EPOCH = svg.Fill(svg.READ, "")


def draw_replication(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> Picture:
    """One moment of a replicated partition, drawn.

    Each broker has a row: its status, its log with HW above and LEO below, and, right, what the leader knows of it.
    A bar under the log goes up to the HW. Records are filled by the leader epoch that wrote them. Below the rows:
    what clients get, which requests wait, and, in a thick border, which promises are broken.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of the trace and the one before it.

    Examples
    --------
    >>> from kafkalearn.replication import Produce, simulate
    >>> settings = Settings(replica_count=2)
    >>> trace = simulate(settings, [Produce(acks=1)])
    >>> draw_replication(settings, trace[1], trace[0]).label
    '1 record comes to broker 1, acks=1. Request 1 is answered: written at offset 0.'
    """
    elements, bottom = replication_elements(settings, frame, before)
    return picture(bottom, *elements, label=describe_replication(settings, frame, before))


def replication_elements(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> tuple[list[str], float]:
    """The drawing of a partition as elements, and how far down it goes."""
    state, earlier = frame.state, None if before is None else before.state
    first = first_offset(state, earlier)
    bottom = ROWS_TOP + ROW_HEIGHT * settings.broker_count
    assignment = assignment_in_words(settings, state)
    clients, waiting, below = (38, 58, 66) if assignment else (20, 48, 60)  # five rows are as high as a laptop allows
    elements = [
        _head(capitalised(head_in_words(state))),
        svg.text(svg.WIDTH - LEFT, 32, f"{state.now_ms:,} ms", svg.BODY, "end", svg.MUTED),
        svg.text(KNOWN_LEFT, 60, "the leader knows", svg.SMALL, colour=svg.MUTED),
        epochs_legend(state),
        offsets(first),
        *(_row(state, earlier, id_, first, ROWS_TOP + ROW_HEIGHT * (id_ - 1)) for id_ in settings.broker_ids),
        *_replicas(bottom + 18, assignment),
        _said(bottom + clients, "clients get", _to_clients(frame)),
        _said(bottom + waiting, "waiting", waiting_in_words(state) or "nothing"),
        _promises(bottom + below, settings, state, () if earlier is None else broken(settings, earlier)),
    ]
    return elements, bottom + below + 70


def _head(words: str) -> str:
    return svg.text(LEFT, 32, words, svg.TITLE if len(words) <= MOST_TITLE else svg.BODY, bold=True)


def _row(state: Partition, before: Partition | None, broker_id: int, first: int, top: float) -> str:
    log = state.replica(broker_id).log
    was = log if before is None else before.replica(broker_id).log
    names = replica_status(state, broker_id).split(", ")
    first_line, line = (47, 16) if len(names) < 3 else (45, 14)
    return "\n".join(
        each
        for each in [
            _frame(state, broker_id, top),
            svg.text(LEFT + 14, top + 28, f"broker {broker_id}", svg.BODY, bold=True),
            *(svg.text(LEFT + 14, top + first_line + line * at, name, svg.SMALL) for at, name in enumerate(names[:3])),
            *cells(log, was, first, top),
            *log_marks(log, was, first, top),
            leader_view(state, before, broker_id, top),
        ]
        if each
    )


def _frame(state: Partition, broker_id: int, top: float) -> str:
    """The border shows the status: thick for the leader, broken outside the ISR, on grey when not running."""
    broker = state.replica(broker_id).broker
    is_off = broker.status in (DOWN, FROZEN)
    look = {"stroke": svg.INK, "stroke_width": 2}
    if is_off or broker.status == CUT_OFF:
        look = {"stroke": svg.MUTED, "stroke_width": 2, "stroke_dasharray": "2 6"}
    elif state.replica(broker_id).leading is not None:
        look = {"stroke": svg.INK, "stroke_width": 5}
    elif broker_id not in state.controller.assignment.replicas:
        look = {"stroke": svg.MUTED, "stroke_width": 1.5, "stroke_dasharray": "3 9"}
    elif broker_id not in state.controller.isr:
        look = {"stroke": svg.MUTED, "stroke_width": 3, "stroke_dasharray": "12 8"}
    return svg.rect(LEFT, top, svg.WIDTH - 2 * LEFT, PANEL_HEIGHT, svg.EMPTY if is_off else svg.PANEL, rx=6, **look)


# A log: records as cells, the HW above, the LEO below.


def first_offset(state: Partition, before: Partition | None) -> int:
    """The first offset that is shown: from 0, or as many as fit before the end of the longest log."""
    states = [state] if before is None else [state, before]
    return max(0, max(each.log_end_offset for one in states for each in one.replicas) - CELL_COUNT)


def offset_x(offset: int, first: int) -> float:
    """Where an offset begins; offsets that are not shown lie at the edges."""
    return CELLS_LEFT + min(max(offset - first, 0), CELL_COUNT) * CELL


def _fill(record: Record) -> svg.Fill:
    return NO_EPOCH if record.leader_epoch < 0 else svg.fill(record.leader_epoch % MOST_FILLS)


def epochs_legend(state: Partition) -> str:
    """Which fill is which leader epoch."""
    epochs = sorted({record.leader_epoch for each in state.replicas for record in each.log.records if record})
    entries = [
        (CELLS_LEFT + 110 * at, NO_EPOCH, "no epoch")
        if epoch < 0
        else (CELLS_LEFT + 110 * at, svg.fill(epoch % MOST_FILLS), f"epoch {epoch}")
        for at, epoch in enumerate(epochs[-MOST_FILLS:])
    ]
    return svg.legend(entries, 60, size=(22, 18), up=14, gap=29, width=1)


def offsets(first: int) -> str:
    """The offsets above the cells, and how many are not shown."""
    places = [(CELLS_LEFT + (at + 0.5) * CELL, 84, str(first + at)) for at in range(CELL_COUNT)]
    cut = f"{first} older not shown" if first else "offset"
    return "\n".join(
        [svg.text(LEFT + 14, 84, cut, svg.SMALL, colour=svg.MUTED), svg.words_at(places, svg.SMALL, fill=svg.MUTED)]
    )


def cells(log: Log, was: Log, first: int, top: float) -> list[str]:
    """The records as cells, new ones with a thick border, cut ones crossed out; the bar below them up to the HW."""
    y = top + CELL_DOWN
    shown = range(max(first, log.log_start_offset), min(log.log_end_offset, first + CELL_COUNT))
    records = {offset: log.records[offset - log.first_offset] for offset in shown}
    boxes = {offset: _box(offset, first, y) for offset in records}
    new = [boxes[offset] for offset in records if _at(was, offset) != records[offset]]
    gone = [_box(offset, first, y) for offset in range(max(first, log.log_end_offset), was.log_end_offset)]
    values = [(boxes[offset][0] + CELL / 2, y + 22, record.value[:MOST_LETTERS]) for offset, record in records.items()]
    plates = [(x - svg.text_width(word, 4.8) - 1, y + 7, svg.text_width(word, 9.6) + 2, 19) for x, _, word in values]
    hatched = [plate for plate, record in zip(plates, records.values(), strict=True) if _fill(record).hatch]
    high_watermark = offset_x(log.high_watermark, first)
    return [
        *(svg.filled(_fill(record), boxes[offset]) for offset, record in records.items()),
        *(svg.rect(*plate, svg.PANEL, rx=3) for plate in hatched),
        svg.outlined(*boxes.values(), stroke=svg.INK, width=1.2),
        svg.words_at(values, svg.SMALL),
        *(_crossed(box) for box in gone),
        svg.outlined(*new, stroke=svg.MARK, width=4),
        svg.rect(CELLS_LEFT, y + CELL_HEIGHT + 3, high_watermark - CELLS_LEFT, 7, svg.INK)
        if high_watermark > CELLS_LEFT
        else "",
    ]


def _box(offset: int, first: int, y: float) -> svg.Box:
    return (offset_x(offset, first) + 1, y, CELL - 2, CELL_HEIGHT)


def _at(log: Log, offset: int) -> Record | None:
    index = offset - log.first_offset
    return log.records[index] if 0 <= index < len(log.records) else None


def _crossed(box: svg.Box) -> str:
    """A record that has just been cut."""
    x, y, width, height = box
    edge = svg.rect(x, y, width, height, stroke=svg.MARK, stroke_width=2, stroke_dasharray="5 4")
    return "\n".join(
        [edge, svg.line(x, y, x + width, y + height, svg.MARK), svg.line(x, y + height, x + width, y, svg.MARK)]
    )


def log_marks(log: Log, was: Log, first: int, top: float) -> list[str]:
    """The two marks of a log, each with its number."""
    return [_high_watermark(log, was, first, top), _log_end(log, was, first, top)]


def _high_watermark(log: Log, was: Log, first: int, top: float) -> str:
    """The HW: a thick line through the log, its number above."""
    x, is_new = offset_x(log.high_watermark, first), log.high_watermark != was.high_watermark
    mark = svg.line(x, top + 20, x, top + CELL_DOWN + CELL_HEIGHT + 10, svg.MARK if is_new else svg.INK, 5)
    return "\n".join([mark, _label("HW", log.high_watermark, first, top + 17, is_new)])


def _log_end(log: Log, was: Log, first: int, top: float) -> str:
    """The LEO: a thin broken line where the next record goes, its number below."""
    x, is_new = offset_x(log.log_end_offset, first), log.log_end_offset != was.log_end_offset
    y = top + CELL_DOWN
    style = {"stroke": svg.MARK if is_new else svg.INK, "stroke_width": 2, "stroke_dasharray": "4 3"}
    mark = svg.element("line", x1=x, y1=y, x2=x, y2=y + CELL_HEIGHT + 9, **style)
    return "\n".join([mark, _label("LEO", log.log_end_offset, first, top + 77, is_new)])


def _label(name: str, offset: int, first: int, y: float, is_new: bool) -> str:
    """A mark's name and offset, in a thick border if it is new, with an arrow if it lies before what is shown."""
    x, words = offset_x(offset, first), f"{name} {offset}" if offset >= first else f"\u25c2 {name} {offset}"
    said = svg.text(x, y, words, svg.SMALL + 1, "middle", svg.MARK if is_new else svg.INK, bold=True)
    if not is_new:
        return said
    width = svg.text_width(words, CHARACTER) + 18
    return "\n".join(
        [svg.rect(x - width / 2, y - 16, width, 21, svg.PANEL, stroke=svg.MARK, stroke_width=2.5, rx=4), said]
    )


# The right column: what the leader knows of each follower, and its own ISR.


def leader_view(state: Partition, before: Partition | None, broker_id: int, top: float) -> str:
    """The right column: the leader's copy of a follower's LEO, and of itself its ISR."""
    leading = state.replica(broker_id).leading
    if leading is not None and state.replica(broker_id).is_running:
        return "\n".join(
            [
                svg.text(KNOWN_LEFT, top + 24, "its ISR", svg.SMALL, colour=svg.MUTED),
                svg.text(KNOWN_LEFT, top + 48, ids_in_words(leading.isr), svg.TITLE - 2, bold=True),
                _asked(leading, top + 72),
            ]
        )
    remote = remote_of(state, broker_id)
    if remote is None:
        return ""
    was = remote if before is None else remote_of(before, broker_id)
    is_new = was is not None and was.log_end_offset != remote.log_end_offset
    known = f"LEO {remote_in_words(remote)}"
    return "\n".join(
        [
            svg.rect(KNOWN_LEFT, top + 12, KNOWN_WIDTH, 38, svg.PANEL, rx=4, **svg.edge(is_new, svg.MUTED)),
            svg.text(KNOWN_LEFT + KNOWN_WIDTH / 2, top + 38, known, svg.TITLE - 4, "middle", bold=True),
            _answer_or_lag(state, broker_id, remote, top + 71),
        ]
    )


def _asked(leading: Leadership, y: float) -> str:
    """The ISR that the leader has asked for and not got yet."""
    if leading.proposal is None:
        return ""
    how = "refused" if leading.proposal.is_refused else "asked"
    words = f"{how}: {','.join(map(str, leading.proposal.isr))}"
    return svg.text(KNOWN_LEFT, y, words, svg.SMALL, colour=svg.MARK, bold=True)


def _answer_or_lag(state: Partition, broker_id: int, remote: Remote, y: float) -> str:
    """Under the copy: the HW that an answer has just brought, or since when the follower lacks something."""
    answers = [each for each in state.effects if isinstance(each, FetchAnswered) and each.broker_id == broker_id]
    if answers and answers[-1].high_watermark is not None:
        words = f"answer with HW {answers[-1].high_watermark}"
        return svg.text(KNOWN_LEFT, y, words, svg.SMALL, colour=svg.MARK, bold=True)
    if remote.last_caught_up_ms is None:
        return svg.text(KNOWN_LEFT, y, "never caught up", svg.SMALL, colour=svg.MUTED)
    since_ms = state.now_ms - remote.last_caught_up_ms
    words = f"caught up {_time(since_ms)} ago"  # with the leader's end as it was then: it may lack what came since
    if since_ms and state.leader is not None and remote.log_end_offset == state.leader.log_end_offset:
        words = "has everything"  # whenever it was: since 2.1 such a follower is never removed
    is_long = len(words) > 20
    x, anchor = (svg.WIDTH - LEFT - 10, "end") if is_long else (KNOWN_LEFT, "start")
    return svg.text(x, y, words, svg.SMALL, anchor, svg.MUTED)


def _time(ms: int) -> str:
    """A time short enough for its place.

    >>> _time(500), _time(30_001), _time(700_000)
    ('500 ms', '30.001 s', '11 min')
    """
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:g} s" if ms < 100_000 else f"{ms // 60_000} min"


# Below the rows: what clients get, what waits, and which promises are broken.


def _to_clients(frame: Frame[Partition, ReplicationEvent]) -> str:
    """What producers and consumers get in this step."""
    answers = tuple(
        each for each in frame.state.effects if isinstance(each, ProduceAnswered | ConsumerRead | NoReachableLeader)
    )
    only = Partition(frame.state.controller, frame.state.replicas, frame.state.ledger, effects=answers)
    return "; ".join(effects_in_words(Frame(frame.index, frame.event, only))) or "nothing"


def _said(y: float, name: str, words: str) -> str:
    look = svg.MUTED if words == "nothing" else svg.INK
    shown = words if len(words) <= 84 else words[:81] + "..."
    return "\n".join(
        [
            svg.text(LEFT + 14, y, name, svg.SMALL, colour=svg.MUTED),
            svg.text(LEFT + 134, y, shown, svg.BODY - 2, colour=look, bold=look == svg.INK),
        ]
    )


def _replicas(y: float, assignment: str) -> list[str]:
    """Which brokers hold a replica, where that may change."""
    if not assignment:
        return []
    return [
        svg.text(LEFT + 14, y, "assignment", svg.SMALL, colour=svg.MUTED),
        svg.text(LEFT + 134, y, assignment, svg.BODY - 2, bold=True),
    ]


def _promises(y: float, settings: Settings, state: Partition, wrong_before: tuple[str, ...]) -> str:
    """The band at the bottom: in a thick border the promises that are broken, the newly broken first."""
    wrong = broken(settings, state)
    if not wrong:
        words = "nobody leads: no log to judge by" if state.leader is None else f"all {len(PROMISES)} promises hold"
        return svg.text(LEFT + 14, y + 24, words, svg.SMALL, colour=svg.MUTED)
    ordered = sorted(wrong, key=lambda name: name in wrong_before)
    lines = wrap(capitalised(broken_in_words(ordered)), BAND_LETTERS)
    if len(lines) > BAND_LINES:
        lines = wrap(f"{capitalised(broken_in_words(ordered[:2]))}; and {len(wrong) - 2} more", BAND_LETTERS)
    middle = y + 38 - 11 * (len(lines) - 1)
    return "\n".join(
        [
            svg.rect(LEFT, y, svg.WIDTH - 2 * LEFT, 62, svg.PANEL, stroke=svg.MARK, stroke_width=6, rx=4),
            *(
                svg.text(svg.WIDTH / 2, middle + 23 * at, each, svg.BODY, "middle", svg.MARK, bold=True)
                for at, each in enumerate(lines)
            ),
        ]
    )
