"""A replicated partition as a picture: a log for each broker with its two marks, and beside it what the leader knows.

A frame of `kafkalearn.replication`, of a run or of what a search has found, becomes one drawing; what has changed
since the frame before has a marked border. The settings come first, so that they can be bound once:
``play(trace, partial(draw_replication, settings))``.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.base.errors import capitalised
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, RecordCell, lane, mark
from kafkalearn.drawing.kit import Block, free, label, legend, panel, promises, row, sheet, space, stack
from kafkalearn.drawing.player import Picture
from kafkalearn.replication.events import (
    ConsumerRead,
    FetchAnswered,
    NoReachableLeader,
    ProduceAnswered,
    ReplicationEvent,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import PROMISES, broken
from kafkalearn.replication.state import CUT_OFF, DOWN, FROZEN, Leadership, Log, Partition, Remote
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

LEFT, CELLS_LEFT, CELL, CELL_COUNT = 16, 178, 42, 14
TOP, ABOVE, ROW_GAP, PANEL_HEIGHT = 10, 48, 8, 82  # pixels: above the head, between it and the rows; of rows
KNOWN_LEFT = 808
BAND_HEIGHT = 62
CELL_DOWN, CELL_HEIGHT = 23, 31
MOST_LETTERS = 3  # of a record's value in its cell
MOST_EPOCHS = 5
STRIPES = (svg.fill(4), svg.fill(3), svg.fill(5), svg.MOVED, svg.TOMBSTONE)  # of leader epochs


def draw_replication(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> Picture:
    """One moment of a replicated partition, drawn.

    Each broker has a row: its status, its log with HW above and LEO below, and, right, what the leader knows of it.
    Records below a log's HW are green, those above it amber; a stripe at their foot has the colour of the leader epoch
    that wrote them, once there is more than one. What an acknowledged producer relies on and the leader has lost stays
    as a ghost. Below the rows: what clients get, which requests wait, and which promises are broken.

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
    page = stack(
        replication_rows(settings, frame, before),
        space(height=4),
        *_below(settings, frame, () if before is None else broken(settings, before.state)),
    )
    return sheet(page, describe_replication(settings, frame, before), top=TOP, below=8)


def replication_rows(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> Block:
    """Who leads, and a row for each broker."""
    state, earlier = frame.state, None if before is None else before.state
    axis = axis_of(state, earlier)
    now = label(f"{state.now_ms:,} ms", svg.BODY, svg.MUTED)
    head = label(capitalised(head_in_words(state)), svg.TITLE, bold=True, width=svg.WIDTH - 2 * LEFT - now.width - 20)
    return stack(
        row(head, now, width=svg.WIDTH - 2 * LEFT),
        _above(state, axis),
        *(_broker(state, earlier, id_, axis) for id_ in settings.broker_ids),
    )


def broker_box(place: int) -> svg.Box:
    """Where the row of a broker stands in the picture; `place` is 0 for the first."""
    top = TOP + label("", svg.TITLE).height + ABOVE
    return LEFT, top + (PANEL_HEIGHT + ROW_GAP) * place, svg.WIDTH - 2 * LEFT, PANEL_HEIGHT


def _below(
    settings: Settings, frame: Frame[Partition, ReplicationEvent], wrong_before: tuple[str, ...]
) -> Iterator[Block]:
    """What is said below the rows."""
    assignment = assignment_in_words(settings, frame.state)
    if assignment:
        yield _said("assignment", assignment)
    yield _said("clients get", _to_clients(frame))
    yield _said("waiting", waiting_in_words(frame.state) or "nothing")
    yield _promises(settings, frame.state, wrong_before)


def _above(state: Partition, axis: Axis) -> Block:
    """What the fills mean, the offsets, and the name of the column on the right."""
    cut = f"{axis.first} older not shown" if axis.first else "offset"
    return free(
        svg.WIDTH - 2 * LEFT,
        ABOVE,
        lambda x, y: fills_legend(state).draw(CELLS_LEFT, y),
        lambda x, y: [
            svg.text(KNOWN_LEFT, y + 20, "the leader knows", svg.SMALL, colour=svg.MUTED),
            svg.text(x + 14, y + 40, cut, svg.SMALL, colour=svg.MUTED),
            axis.numbers(y + 40),
        ],
    )


def _broker(state: Partition, before: Partition | None, broker_id: int, axis: Axis) -> Block:
    """A broker's row; the leader's name is blue, and who does not run or is cut off is an outline alone."""
    replica = state.replica(broker_id)
    was = replica.log if before is None else before.replica(broker_id).log
    is_on = replica.broker.status not in (DOWN, FROZEN, CUT_OFF)
    leads = is_on and replica.leading is not None
    names = replica_status(state, broker_id).split(", ")[:3]
    lost = _lost(state) if leads else {}
    inside = free(
        svg.WIDTH - 2 * LEFT - 28,
        PANEL_HEIGHT,
        stack(
            space(height=9),
            label(f"broker {broker_id}", svg.BODY, svg.LEADER if leads else svg.INK, bold=True),
            *(label(each, colour=svg.LEADER if each == "leader" else svg.INK) for each in names),
            gap=-4 if len(names) > 2 else -1,
        ).draw,
        lambda _, y: log_lane(replica.log, was, axis, y, lost),
        lambda _, y: [leader_view(state, before, broker_id, y)],
    )
    return stack(panel(inside, width=svg.WIDTH - 2 * LEFT, height=PANEL_HEIGHT, is_on=is_on), space(height=ROW_GAP))


# A log: records as cells, the HW above, the LEO below.


def axis_of(state: Partition, before: Partition | None) -> Axis:
    """The offsets that are shown: from 0, or as many as fit before the end of the longest log."""
    states = [state] if before is None else [state, before]
    longest = max(each.log_end_offset for one in states for each in one.replicas)
    return Axis(CELLS_LEFT, max(0, longest - CELL_COUNT), CELL_COUNT, CELL)


def fills_legend(state: Partition) -> Block:
    """What the fills and, of more than one leader epoch, the stripes stand for."""
    logs = [each.log for each in state.replicas]
    used = [cell.fill for log in logs for cell in cells_of(log, log.log_start_offset).values()]
    known = sorted({record.leader_epoch for log in logs for record in log.records if record})
    stripes = {_stripe(epoch): f"epoch {epoch}" for epoch in known[-MOST_EPOCHS:] if epoch >= 0}
    names = {svg.COMMITTED: "below the HW: committed", svg.OPEN: "written"}
    used += stripes if len(known) > 1 else []
    return legend(used, names | stripes, width=KNOWN_LEFT - CELLS_LEFT - 20)


def _stripe(epoch: int) -> svg.Fill:
    return STRIPES[epoch % len(STRIPES)]


def cells_of(log: Log, first: int) -> dict[int, RecordCell]:
    """A log's records as cells, by offset, from `first` on."""
    shown = range(max(first, log.log_start_offset), log.log_end_offset)
    records = {offset: log.records[offset - log.first_offset] for offset in shown}
    is_striped = len({each.leader_epoch for each in log.records if each}) > 1 or any(
        each.leader_epoch > 0 for each in records.values()
    )
    return {
        offset: RecordCell(
            each.value[:MOST_LETTERS],
            svg.COMMITTED if offset < log.high_watermark else svg.OPEN,
            _stripe(each.leader_epoch) if is_striped and each.leader_epoch >= 0 else None,
        )
        for offset, each in records.items()
    }


def log_lane(log: Log, was: Log, axis: Axis, top: float, lost: dict[int, str] | None = None) -> list[str]:
    """A log in its row: its records, what was cut or lost as ghosts, and its two marks, each with its number."""
    y, end = top + CELL_DOWN, top + CELL_DOWN + CELL_HEIGHT
    moved = log.high_watermark != was.high_watermark
    longer = log.log_end_offset != was.log_end_offset
    before = {at: each for at, each in cells_of(was, axis.first).items() if at >= log.log_start_offset}
    return [
        *lane(axis, cells_of(log, axis.first), before, y, CELL_HEIGHT, ghosts=lost),
        mark(axis, log.high_watermark, "HW", (top + 20, end + 4), top + 16, is_new=moved),
        mark(axis, log.log_end_offset, "LEO", (y - 2, end + 7), top + 77, is_new=longer, is_open=True),
    ]


def _lost(state: Partition) -> dict[int, str]:
    """The acknowledged records that the leader does not have, by offset."""
    leader = state.leader
    if leader is None:
        return {}
    has = {offset: each.words for offset, each in cells_of(leader.log, leader.log.log_start_offset).items()}
    told = state.ledger.acknowledged
    return {
        offset: value[:MOST_LETTERS]
        for offset, value in told
        if offset >= leader.log.log_end_offset and has.get(offset) != value
    }


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
            svg.text(KNOWN_LEFT, top + 40, known, svg.TITLE - 4, colour=svg.MARK if is_new else svg.INK, bold=True),
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


def _said(name: str, words: str) -> Block:
    is_quiet = words == "nothing"
    room = svg.WIDTH - 2 * LEFT - 154
    return row(
        space(6),
        label(name, colour=svg.MUTED, width=104),
        label(words, svg.BODY - 2, svg.MUTED if is_quiet else svg.INK, bold=not is_quiet, width=room),
        space(),
    )


def _promises(settings: Settings, state: Partition, wrong_before: tuple[str, ...]) -> Block:
    """The last lines: which promises are broken, the newly broken first."""
    hold = "nobody leads: no log to judge by" if state.leader is None else f"all {len(PROMISES)} promises hold"
    return promises(broken(settings, state), wrong_before, hold, width=svg.WIDTH - 2 * LEFT, height=BAND_HEIGHT)
