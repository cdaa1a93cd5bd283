"""A log that is cut under its readers, drawn: each broker's log, and what each consumer knows (KIP-320).

A frame of a run of `kafkalearn.consuming.truncation` becomes one drawing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.consuming.truncation import GroupRead, Settings
from kafkalearn.consuming.truncation.events import Event
from kafkalearn.consuming.truncation.state import Consumer, Position
from kafkalearn.phrases import capitalised
from kafkalearn.replication.state import DOWN, FROZEN
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH
from kafkalearn.views.drawing.svg import edge, pointer, rect, text
from kafkalearn.views.operations.truncation_words import (
    consumer_words,
    describe_truncation,
    event_words,
    position_words,
)
from kafkalearn.views.replication.logs import LEFT, cells, first_offset, legend, log_marks, offset_x, offsets

TOP, BROKER_HEIGHT, CONSUMER_HEIGHT, KNOWN_LEFT = 92, 92, 62, 770


def draw_truncation(
    settings: Settings,
    frame: Frame[GroupRead, Event],
    before: Frame[GroupRead, Event] | None = None,
) -> Picture:
    """One moment: a row for each broker with its log, then one for each consumer, and what the group has committed.

    A cell's fill is its leader epoch. What was cut just now is crossed out; a pointer stands where a consumer reads on.

    Examples
    --------
    >>> from kafkalearn.consuming.truncation import Assign, simulate
    >>> settings = Settings()
    >>> trace = simulate(settings, [Assign("A")])
    >>> draw_truncation(settings, trace[1], trace[0]).label
    'A is given the partition. Nothing is committed: it has to look up where to begin.'
    """
    state, old = frame.state, frame.state if before is None else before.state
    first = first_offset(state.partition, old.partition)
    brokers = range(1, len(state.partition.replicas) + 1)
    consumers_top = TOP + BROKER_HEIGHT * len(brokers) + 6
    bottom = consumers_top + CONSUMER_HEIGHT * len(state.consumers)
    return picture(
        bottom + 46,
        text(LEFT, 32, capitalised(event_words(frame, before)), TITLE, bold=True),
        legend(state.partition),
        offsets(first),
        *(shape for each in brokers for shape in _broker(state, old, each, first)),
        *(
            shape
            for place, each in enumerate(state.consumers)
            for shape in _consumer(each, old.consumers[place], first, consumers_top + CONSUMER_HEIGHT * place)
        ),
        *_committed(state.committed, old.committed, bottom + 28),
        label=describe_truncation(settings, frame, before),
    )


def _broker(state: GroupRead, old: GroupRead, broker_id: int, first: int) -> Iterator[str]:
    top = TOP + BROKER_HEIGHT * (broker_id - 1)
    replica, was = (each.partition.replicas[broker_id - 1] for each in (state, old))
    controller = state.partition.controller
    is_leader, is_off = controller.leader == broker_id, replica.broker.status in (DOWN, FROZEN)
    border = {"stroke": INK if is_leader else MUTED, "stroke_width": 4 if is_leader else 1.5}
    yield rect(LEFT, top, WIDTH - 2 * LEFT, BROKER_HEIGHT - 8, EMPTY if is_off else PANEL, rx=6, **border)
    yield text(LEFT + 14, top + 28, f"broker {broker_id}", BODY, bold=True)
    yield text(LEFT + 14, top + 50, _role(replica.broker.status, is_leader, replica.leading is not None), SMALL)
    if is_leader:
        yield text(LEFT + 14, top + 69, f"epoch {controller.leader_epoch}", SMALL)
    yield from cells(replica.log, was.log, first, top)
    yield from log_marks(replica.log, was.log, first, top)


def _role(status: str, is_leader: bool, believes_to_lead: bool) -> str:
    if status in (DOWN, FROZEN):
        return status
    if is_leader:
        return "leader"
    return "thinks that it leads" if believes_to_lead else "follower"


def _consumer(consumer: Consumer, was: Consumer, first: int, top: float) -> Iterator[str]:
    owns, is_new = consumer.position is not None, consumer != was
    border = edge(is_new, MUTED, marked_width=3)
    yield rect(LEFT, top, WIDTH - 2 * LEFT, CONSUMER_HEIGHT - 8, PANEL, rx=6, **border)
    yield text(LEFT + 14, top + 34, f"consumer {consumer.name}", BODY, bold=owns)
    yield text(KNOWN_LEFT, top + 23, "takes for the leader", SMALL, colour=MUTED)
    yield text(KNOWN_LEFT, top + 44, consumer_words(consumer), SMALL, bold=True)
    if consumer.position is not None and consumer.position.offset >= 0:
        x = offset_x(consumer.position.offset, first)
        yield pointer(x, top + 4 + 14, MARK if consumer.position != was.position else INK)
        yield text(x - 9, top + 40, position_words(consumer.position), SMALL, bold=True)
    elif owns:
        yield text(offset_x(first, first), top + 34, "has to look up where to begin", SMALL)


def _committed(committed: Position | None, was: Position | None, y: float) -> Iterator[str]:
    words = "nothing" if committed is None else position_words(committed)
    yield text(LEFT + 14, y, "the group has committed", SMALL, colour=MUTED)
    yield text(232, y, words, BODY, bold=True, colour=MARK if committed != was else INK)
