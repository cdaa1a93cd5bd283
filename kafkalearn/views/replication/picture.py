"""A replicated partition as a picture: a log for each broker with its two marks, and beside it what the leader knows.

A frame of `kafkalearn.replication`, of a run or of what a search has found, becomes one drawing; what has changed
since the frame before has a thick border. The settings come first, so that they can be bound once:
``play(trace, partial(draw_replication, settings))``.
"""

from __future__ import annotations

from textwrap import wrap

from kafkalearn.phrases import capitalised
from kafkalearn.replication.effects import ConsumerRead, NoReachableLeader, ProduceAnswered
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.promises import PROMISES, broken
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import CUT_OFF, DOWN, FROZEN, Partition
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH
from kafkalearn.views.drawing.svg import rect, text
from kafkalearn.views.replication.effects import effects_in_words
from kafkalearn.views.replication.leader_view import KNOWN_LEFT, leader_view
from kafkalearn.views.replication.logs import LEFT, cells, first_offset, legend, log_marks, offsets
from kafkalearn.views.replication.replica_status import (
    assignment_in_words,
    head_in_words,
    replica_status,
    waiting_in_words,
)
from kafkalearn.views.replication.words import describe_replication

ROWS_TOP, ROW_HEIGHT, PANEL_HEIGHT = 92, 90, 82
BAND_LETTERS, BAND_LINES = 80, 2


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
    state, earlier = frame.state, None if before is None else before.state
    first = first_offset(state, earlier)
    bottom = ROWS_TOP + ROW_HEIGHT * settings.broker_count
    assignment = assignment_in_words(settings, state)
    clients, waiting, below = (38, 58, 66) if assignment else (20, 48, 60)  # five rows are as high as a laptop allows
    return picture(
        bottom + below + 70,
        text(LEFT, 32, capitalised(head_in_words(state)), TITLE, bold=True),
        text(WIDTH - LEFT, 32, f"{state.now_ms:,} ms", BODY, "end", MUTED),
        text(KNOWN_LEFT, 60, "the leader knows", SMALL, colour=MUTED),
        legend(state),
        offsets(first),
        *(_row(state, earlier, id_, first, ROWS_TOP + ROW_HEIGHT * (id_ - 1)) for id_ in settings.broker_ids),
        *_replicas(bottom + 18, assignment),
        _said(bottom + clients, "clients get", _to_clients(frame)),
        _said(bottom + waiting, "waiting", waiting_in_words(state) or "nothing"),
        _promises(bottom + below, settings, state, () if earlier is None else broken(settings, earlier)),
        label=describe_replication(settings, frame, before),
    )


def _row(state: Partition, before: Partition | None, broker_id: int, first: int, top: float) -> str:
    log = state.replica(broker_id).log
    was = log if before is None else before.replica(broker_id).log
    names = replica_status(state, broker_id).split(", ")
    first_line, line = (47, 16) if len(names) < 3 else (45, 14)
    return "\n".join(
        each
        for each in [
            _frame(state, broker_id, top),
            text(LEFT + 14, top + 28, f"broker {broker_id}", BODY, bold=True),
            *(text(LEFT + 14, top + first_line + line * at, name, SMALL) for at, name in enumerate(names[:3])),
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
    look = {"stroke": INK, "stroke_width": 2}
    if is_off or broker.status == CUT_OFF:
        look = {"stroke": MUTED, "stroke_width": 2, "stroke_dasharray": "2 6"}
    elif state.replica(broker_id).leading is not None:
        look = {"stroke": INK, "stroke_width": 5}
    elif broker_id not in state.controller.assignment.replicas:
        look = {"stroke": MUTED, "stroke_width": 1.5, "stroke_dasharray": "3 9"}
    elif broker_id not in state.controller.isr:
        look = {"stroke": MUTED, "stroke_width": 3, "stroke_dasharray": "12 8"}
    return rect(LEFT, top, WIDTH - 2 * LEFT, PANEL_HEIGHT, EMPTY if is_off else PANEL, rx=6, **look)


def _to_clients(frame: Frame[Partition, ReplicationEvent]) -> str:
    """What producers and consumers get in this step."""
    answers = tuple(
        each for each in frame.state.effects if isinstance(each, ProduceAnswered | ConsumerRead | NoReachableLeader)
    )
    only = Partition(frame.state.controller, frame.state.replicas, frame.state.ledger, effects=answers)
    return "; ".join(effects_in_words(Frame(frame.index, frame.event, only))) or "nothing"


def _said(y: float, name: str, words: str) -> str:
    look = MUTED if words == "nothing" else INK
    shown = words if len(words) <= 84 else words[:81] + "..."
    return "\n".join(
        [
            text(LEFT + 14, y, name, SMALL, colour=MUTED),
            text(LEFT + 134, y, shown, BODY - 2, colour=look, bold=look == INK),
        ]
    )


def _replicas(y: float, assignment: str) -> list[str]:
    """Which brokers hold a replica, where that may change."""
    if not assignment:
        return []
    return [text(LEFT + 14, y, "assignment", SMALL, colour=MUTED), text(LEFT + 134, y, assignment, BODY - 2, bold=True)]


def _promises(y: float, settings: Settings, state: Partition, wrong_before: tuple[str, ...]) -> str:
    """The band at the bottom: in a thick border the promises that are broken, the newly broken first."""
    wrong = broken(settings, state)
    if not wrong:
        words = "nobody leads: no log to judge by" if state.leader is None else f"all {len(PROMISES)} promises hold"
        return text(LEFT + 14, y + 24, words, SMALL, colour=MUTED)
    ordered = sorted(wrong, key=lambda name: name in wrong_before)
    lines = wrap(f"BROKEN: {'; '.join(ordered)}", BAND_LETTERS)
    if len(lines) > BAND_LINES:
        lines = wrap(f"BROKEN: {'; '.join(ordered[:2])}; and {len(wrong) - 2} more", BAND_LETTERS)
    middle = y + 38 - 11 * (len(lines) - 1)
    return "\n".join(
        [
            rect(LEFT, y, WIDTH - 2 * LEFT, 62, PANEL, stroke=MARK, stroke_width=6, rx=4),
            *(
                text(WIDTH / 2, middle + 23 * at, each, BODY, "middle", MARK, bold=True)
                for at, each in enumerate(lines)
            ),
        ]
    )
