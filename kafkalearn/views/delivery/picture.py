"""A producer and its partition as a picture: callbacks and requests in flight above, logs below.

The partition is drawn by `kafkalearn.views.replication.picture`; the producer stands on top of it. The settings
come first, so that they can be bound once: ``play(trace, partial(draw_delivery, settings))``.
"""

from __future__ import annotations

from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.promises import broken
from kafkalearn.delivery.record_results import (
    DOUBLED,
    LOST,
    OPEN,
    REJECTED,
    SAFE,
    WRITTEN,
    RecordResult,
    record_results,
)
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.state import ANSWERED, AT_BROKER, Delivery, Request
from kafkalearn.log.sequences import window_of
from kafkalearn.replication.effects import NONE
from kafkalearn.trace import Frame
from kafkalearn.views.delivery.words import (
    describe_delivery,
    of_partition,
    producer_in_words,
    remembered,
    request_in_words,
    values_in_words,
)
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, READ, SMALL, TITLE, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import edge, filled, line, number, outlined, rect, text
from kafkalearn.views.replication.picture import ROW_HEIGHT, ROWS_TOP, draw_replication

LEFT, NAMES, LANE_LEFT = 16, 30, 216
CHIP_WIDTH, CHIP_HEIGHT, CHIP_GAP, MOST_CHIPS = 112, 44, 8, 6
LANE_HEIGHT = 48
GOOD, BAD, UNKNOWN = Fill(READ, ""), fill(1), Fill(EMPTY, "")


def draw_delivery(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None = None
) -> Picture:
    """One moment of a producer in front of a partition, drawn.

    The lanes above: each record the application sent, with its callback and its result; what waits and what is in
    flight; and of an idempotent producer the batches that the leader remembers. Below: the partition.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of the trace and the one before it.

    Examples
    --------
    >>> from kafkalearn.delivery import Send, simulate
    >>> trace = simulate(Settings(), [Send()])
    >>> draw_delivery(Settings(), trace[1], trace[0]).label
    'The application sends m1. Its request goes to broker 1 with sequence 0.'
    """
    earlier = None if before is None else of_partition(before)
    below = _logs(settings, draw_replication(settings.topic, of_partition(frame), earlier))
    lanes = [_applications(frame.state, before), _network(frame.state)]
    if settings.producer.is_idempotent or remembered(settings, frame.state) is not None:
        lanes.append(_window(settings, frame.state, before))
    top = 46
    elements = []
    for name, said, drawn in lanes:
        elements.append(text(NAMES, top + 19, name, BODY, bold=True))
        elements.append(text(NAMES, top + 39, said, SMALL, colour=MUTED))
        elements += [f'<g transform="translate(0,{number(top)})">', *drawn, "</g>"]
        top += LANE_HEIGHT
    elements.append(_promises(settings, frame.state, top + 2))
    top += 32
    return picture(
        top + below.size[1],
        text(LEFT, 32, f"Producer: {producer_in_words(settings)}", TITLE, bold=True),
        *elements,
        line(LEFT, top, WIDTH - LEFT, top, INK, 2),
        below.replace("<svg ", f'<svg x="0" y="{number(top)}" ', 1),
        label=describe_delivery(settings, frame, before),
    )


def _logs(settings: Settings, whole: Picture) -> Picture:
    """The picture of the partition down to its last log: what clients get stands above it already."""
    width, height = whole.size
    kept = ROWS_TOP + ROW_HEIGHT * settings.topic.replica_count + 4
    old, new = (f'viewBox="0 0 {number(width)} {number(each)}"' for each in (height, kept))
    return Picture(whole.replace(old, new, 1).replace(f' height="{number(height)}"', f' height="{number(kept)}"', 1))


def _applications(state: Delivery, before: Frame[Delivery, DeliveryEvent] | None) -> tuple[str, str, list[str]]:
    known = {} if before is None else {each.value: each for each in record_results(before.state)}
    found = record_results(state)
    stored = {value for each in state.producer.put_aside for value in each.values}
    was_stored = stored if before is None else {v for each in before.state.producer.put_aside for v in each.values}
    parts = []
    for at, each in enumerate(found[-MOST_CHIPS:]):
        is_same = each.value in known and (each.value in stored) == (each.value in was_stored)
        was = known.get(each.value) if is_same else None
        parts.append(_record(each, was, before is not None, _chip(at), is_stored=each.value in stored))
    return "the application", "its callbacks", parts or [_nothing("has sent nothing yet")]


def _chip(at: int) -> float:
    return LANE_LEFT + at * (CHIP_WIDTH + CHIP_GAP)


def _record(
    record: RecordResult, was: RecordResult | None, may_be_new: bool, x: float, *, is_stored: bool = False
) -> str:
    """A record: its value and its callback above, its result below; bad results are hatched."""
    look = GOOD if record.result == SAFE else UNKNOWN if record.result in (OPEN, REJECTED) else BAD
    callback = {None: "waits", NONE: "acked"}.get(record.callback, "aside" if is_stored else "failed")
    is_new = may_be_new and (was is None or (was.result, was.callback) != (record.result, record.callback))
    return "\n".join(
        [
            filled(look, (x, 2, CHIP_WIDTH, CHIP_HEIGHT)),
            rect(x + 3, 25, CHIP_WIDTH - 6, 19, PANEL, rx=3) if look.hatch else "",
            rect(x + 3, 4, CHIP_WIDTH - 6, 19, PANEL, rx=3) if look.hatch else "",
            outlined((x, 2, CHIP_WIDTH, CHIP_HEIGHT), stroke=MARK if is_new else INK, width=4 if is_new else 1.5),
            text(x + CHIP_WIDTH / 2, 18, f"{record.value[:4]}: {callback}", SMALL, "middle"),
            text(x + CHIP_WIDTH / 2, 40, _short(record.result), SMALL + 1, "middle", bold=record.result != OPEN),
        ]
    )


def _short(result: str) -> str:
    return {WRITTEN: "yet written", LOST: "LOST", DOUBLED: "DOUBLED"}.get(result, result)


def _nothing(words: str) -> str:
    return text(LANE_LEFT, 28, words, BODY, colour=MUTED)


def _network(state: Delivery) -> tuple[str, str, list[str]]:
    flying = [_request(each, LANE_LEFT + at * 250) for at, each in enumerate(state.producer.in_flight[:3])]
    more = len(state.producer.in_flight) - len(flying)
    if more:
        flying.append(text(WIDTH - LEFT, 44, f"+{more}", SMALL, "end", MUTED))
    waiting = "; ".join(values_in_words(batch.values) for batch in state.producer.waiting)
    parts = flying or [_nothing("nothing")]
    if waiting:
        x = LANE_LEFT + max(1, len(flying)) * 250
        parts.append(text(min(x, WIDTH - 200), 28, f"to be sent again: {waiting}"[:30], SMALL + 1, bold=True))
    return "in flight", "requests and answers", parts


def _request(request: Request, x: float) -> str:
    """A request: an arrow to the right on its way, a box where it waits, an arrow to the left for its answer."""
    width = 238
    stamp = request.batch.stamp
    numbered = "" if stamp is None else f", seq {stamp.first_sequence}"
    head = {ANSWERED: "\u25c0 ", AT_BROKER: "\u25fc "}.get(request.stage, "\u25b6 ")
    return "\n".join(
        [
            rect(x, 2, width, CHIP_HEIGHT, PANEL, stroke=INK, stroke_width=2, rx=4),
            text(x + 10, 19, f"{head}{values_in_words(request.batch.values)}{numbered}", SMALL + 1, bold=True),
            text(x + 10, 38, request_in_words(request)[:28], SMALL),
        ]
    )


def _window(
    settings: Settings, state: Delivery, before: Frame[Delivery, DeliveryEvent] | None
) -> tuple[str, str, list[str]]:
    """The batches the leader remembers: a place for each, the newest right."""
    known = remembered(settings, state)
    old = None if before is None else remembered(settings, before.state)
    batches = () if known is None else known[1].batches
    was = () if old is None else old[1].batches
    size = window_of(settings.topic.release)
    parts = []
    for at in range(size):
        x = _chip(at)
        if at >= len(batches):
            parts.append(rect(x, 2, CHIP_WIDTH, CHIP_HEIGHT, EMPTY, stroke=MUTED, stroke_dasharray="5 4"))
            continue
        each, is_new = batches[at], before is not None and batches[at] not in was
        first, last = each.first_sequence, each.last_sequence
        span = f"seq {first}" if first == last else f"seq {first}-{last}"
        parts.append(rect(x, 2, CHIP_WIDTH, CHIP_HEIGHT, READ, **edge(is_new)))
        parts.append(text(x + CHIP_WIDTH / 2, 19, span, SMALL + 1, "middle", bold=True))
        parts.append(text(x + CHIP_WIDTH / 2, 38, f"offset {each.base_offset}", SMALL, "middle"))
    who = "of no producer yet" if known is None else f"of producer {known[0]}, epoch {known[1].producer_epoch}"
    return "remembered", who, parts


def _promises(settings: Settings, state: Delivery, y: float) -> str:
    wrong = broken(settings, state)
    if not wrong:
        return text(NAMES, y + 18, "the application can rely on its callbacks", SMALL, colour=MUTED)
    return "\n".join(
        [
            rect(LEFT, y - 1, WIDTH - 2 * LEFT, 27, PANEL, stroke=MARK, stroke_width=5, rx=4),
            text(WIDTH / 2, y + 18, f"BROKEN: {'; '.join(wrong)}"[:88], BODY - 1, "middle", MARK, bold=True),
        ]
    )
