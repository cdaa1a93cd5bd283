"""The purgatory's lists as a picture: who watches which key, what is done and still listed, and the timer.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_purgatory, settings))``.
"""

from __future__ import annotations

from kafkalearn.purgatory.operations.conditions import Never
from kafkalearn.purgatory.operations.effects import (
    AT_ONCE,
    BY_EVENT,
    BY_FORCE,
    BY_TIME,
    WHILE_LISTED,
    Checked,
    Completed,
    Parked,
    Purged,
)
from kafkalearn.purgatory.operations.events import (
    CheckAndComplete,
    FactChanged,
    ForceComplete,
    PurgatoryEvent,
    TimePassed,
    TryCompleteElseWatch,
)
from kafkalearn.purgatory.operations.settings import Settings
from kafkalearn.purgatory.operations.state import Purgatory
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, INK, MARK, MUTED, PANEL, READ, SMALL, TITLE, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import edge, filled, line, rect, text

TOP, ROW_HEIGHT, LEFT, CHIP_WIDTH, CHIP_GAP, MOST_CHIPS = 92, 62, 230, 136, 12, 5
LEAST_ROWS = 3  # so that the pictures of a run have one size
WAITING, DONE = Fill(READ, ""), fill(1)
HOW = {
    AT_ONCE: "is done at once: what it wants is there",
    WHILE_LISTED: "was put on the lists, looks again, and is done",
    BY_EVENT: "finds its condition true, and is done",
    BY_FORCE: "is completed by force",
    BY_TIME: "has waited long enough: time ends it",
}


def draw_purgatory(
    settings: Settings, frame: Frame[Purgatory, PurgatoryEvent], before: Frame[Purgatory, PurgatoryEvent] | None = None
) -> Picture:
    """One moment of a purgatory, drawn: a row for each key that is watched.

    Parameters
    ----------
    settings : Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.purgatory.operations.simulate` and the one before it.

    Examples
    --------
    >>> from kafkalearn.purgatory import delayed_produce
    >>> from kafkalearn.purgatory.operations import simulate
    >>> settings, events = Settings(), [TryCompleteElseWatch(delayed_produce("p1", {"orders-0": 7}))]
    >>> draw_purgatory(settings, simulate(settings, events)[1]).label
    'p1 waits until HW orders-0 >= 8, for at most 30,000 ms.'
    """
    purgatory: Purgatory = frame.state
    rows = purgatory.lists or (("nobody watches", ()),)
    bottom = TOP + max(len(rows), LEAST_ROWS) * ROW_HEIGHT
    facts = ", ".join(f"{name} = {value:,}" for name, value in purgatory.facts) or "none yet"
    return picture(
        bottom + 100,
        text(25, 38, f"Who waits at {purgatory.wheels.now_ms:,} ms", TITLE, bold=True),
        text(LEFT, 74, "watchers, in the order they came; hatched: done, and still on the list", SMALL, colour=MUTED),
        *(_row(purgatory, key, names, TOP + at * ROW_HEIGHT) for at, (key, names) in enumerate(rows)),
        text(25, bottom + 32, "facts", BODY, bold=True),
        text(LEFT, bottom + 32, facts, BODY),
        text(25, bottom + 62, "timer", BODY, bold=True),
        text(LEFT, bottom + 62, _timer_words(purgatory), BODY),
        text(25, bottom + 88, _counts(settings, purgatory), SMALL, colour=MUTED),
        label=describe_purgatory(frame, before),
    )


def _row(purgatory: Purgatory, key: str, names: tuple[str, ...], top: float) -> str:
    event_keys = [effect.key for effect in purgatory.effects if isinstance(effect, Checked)]
    shown = names[-MOST_CHIPS:]
    hidden = len(names) - len(shown)
    is_walked = key in event_keys
    return "\n".join(
        [
            line(25, top + ROW_HEIGHT, WIDTH - 25, top + ROW_HEIGHT, MUTED, 1),
            text(25, top + 38, key, BODY, bold=is_walked, colour=MARK if is_walked else INK),
            text(LEFT - 8, top + 38, f"+{hidden}", SMALL, "end", MUTED) if hidden else "",
            *(_chip(purgatory, name, LEFT + at * (CHIP_WIDTH + CHIP_GAP), top + 9) for at, name in enumerate(shown)),
        ]
    )


def _chip(purgatory: Purgatory, name: str, x: float, y: float) -> str:
    is_waiting = purgatory.is_waiting(name)
    is_new = any(isinstance(effect, Parked | Completed) and effect.name == name for effect in purgatory.effects)
    plate = 9.4 * len(name[:12]) + 10
    return "\n".join(
        [
            filled(WAITING if is_waiting else DONE, (x, y, CHIP_WIDTH, ROW_HEIGHT - 18)),
            rect(x, y, CHIP_WIDTH, ROW_HEIGHT - 18, rx=4, **edge(is_new)),
            "" if is_waiting else rect(x + CHIP_WIDTH / 2 - plate / 2, y + 11, plate, 22, PANEL, rx=3),
            text(x + CHIP_WIDTH / 2, y + 28, name[:12], SMALL + 1, "middle"),
        ]
    )


def _timer_words(purgatory: Purgatory) -> str:
    timers = sorted(purgatory.wheels.timers, key=lambda timer: timer.expires_ms)
    shown = ", ".join(f"{timer.name} until {timer.expires_ms:,} ms" for timer in timers[:3])
    return shown + (f", {len(timers) - 3} more" if len(timers) > 3 else "") or "empty"


def _counts(settings: Settings, purgatory: Purgatory) -> str:
    return (
        f"{len(purgatory.waiting)} waiting, {purgatory.watched_count} entries on lists; a purge comes when "
        f"{purgatory.estimated_count} (listed since the last one) - {purgatory.delayed_count} (in the timer) "
        f"> {settings.purge_interval}"
    )


def describe_purgatory(
    frame: Frame[Purgatory, PurgatoryEvent], before: Frame[Purgatory, PurgatoryEvent] | None = None
) -> str:
    """What the last event did, in a sentence or two.

    >>> from kafkalearn.purgatory.operations import simulate
    >>> describe_purgatory(simulate(Settings(), [CheckAndComplete("orders-0")])[1])
    'The watchers of orders-0 are called: 0 completed.'
    """
    purgatory: Purgatory = frame.state
    done = [f"{each.name} {HOW[each.how]}." for each in purgatory.effects if isinstance(each, Completed)]
    match frame.event:
        case TryCompleteElseWatch(operation):
            preposition = "for" if operation.condition == Never() else "until"
            words = f"{operation.name} waits {preposition} {operation.condition}"
            is_waiting = purgatory.is_waiting(operation.name)
            first = [f"{words}, for at most {operation.timeout_ms:,} ms."] if is_waiting else []
        case FactChanged(name, value):
            first = [f"{name} is {value:,} now; nobody has looked yet."]
        case CheckAndComplete(key):
            count = sum(isinstance(each, Completed) for each in purgatory.effects)
            first = [f"The watchers of {key} are called: {count} completed."]
        case ForceComplete():
            first = []
        case TimePassed(ms):
            first = [f"{ms:,} ms pass."]
        case _:
            first = ["Nobody waits."]
    dropped = sum(each.dropped_count for each in purgatory.effects if isinstance(each, Purged))
    purged = [f"The lists are purged: {dropped} entries of completed operations go."] if dropped else []
    return " ".join([*first, *done, *purged])


def purgatory_text(
    frame: Frame[Purgatory, PurgatoryEvent], before: Frame[Purgatory, PurgatoryEvent] | None = None
) -> str:
    """The same as plain text; completed operations that are still listed stand in brackets.

    >>> from kafkalearn.purgatory import delayed_produce
    >>> from kafkalearn.purgatory.operations import simulate
    >>> print(purgatory_text(simulate(Settings(), [TryCompleteElseWatch(delayed_produce("p1", {"a-0": 7}))])[1]))
    p1 waits until HW a-0 >= 8, for at most 30,000 ms.
      a-0: p1
      timer: p1 until 30,000 ms
    """
    purgatory: Purgatory = frame.state
    lines = [describe_purgatory(frame, before)]
    for key, names in purgatory.lists:
        lines.append(f"  {key}: " + ", ".join(n if purgatory.is_waiting(n) else f"[{n}]" for n in names))
    return "\n".join([*lines, f"  timer: {_timer_words(purgatory)}"])
