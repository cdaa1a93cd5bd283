"""Share groups as a picture: records in a row, who holds each and for how long, how often it was delivered.

For runs of `kafkalearn.sharing` and of `kafkalearn.sharing.work`. The bar at the foot of a cell is the lock, running
down; below the row stand the start offset, which creeps, and how much is in flight. The settings come first, so that
they can be bound once: ``play(trace, partial(draw_sharing, settings))``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import axes, kit, svg
from kafkalearn.drawing.player import Picture
from kafkalearn.sharing import events, model, work
from kafkalearn.sharing.events import AcknowledgeAnswer, Answer, FetchAnswer, HeartbeatAnswer, LockRanOut
from kafkalearn.sharing.model import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    Cluster,
    Held,
    Log,
    SharePartition,
)

LEFT, WIDTH = 24, svg.WIDTH - 2 * 24
ROW, LABEL, CELL, MOST_CELLS = 30, 150, 66, 12  # pixels: a program, the names left of a log, a record
CELL_HEIGHT, LANE, BAR = 62, 120, 6  # a record, its log with offsets and marks, a lock
MOST_LANES, MOST_PROGRAMS, MOST_DONE = 2, 3, 12

Settings: TypeAlias = model.Settings | work.Settings
SharingFrame: TypeAlias = Frame[Any, Any]  # of either simulator

LOOKS = {
    "": svg.Fill(svg.EMPTY, "."),
    AVAILABLE: svg.COPIED,
    ACQUIRED: svg.OPEN,
    ACKNOWLEDGED: svg.COMMITTED,
    ARCHIVING: svg.LOST,
}
MARKER = svg.Fill(svg.FAINT, "")
WORDS = {
    "": "not read yet",
    AVAILABLE: "can be had",
    ACQUIRED: "acquired",
    ACKNOWLEDGED: "accepted: done",
    ARCHIVING: "given up, on its way out",
}
IN_A_CELL = {ACKNOWLEDGED: "done", ARCHIVING: "dying"}


def cluster_of(state: Cluster | work.Work) -> Cluster:
    """The cluster in a state of either simulator."""
    return state if isinstance(state, Cluster) else state.cluster


def cluster_settings(settings: Settings) -> model.Settings:
    """The settings of the cluster among those of either simulator."""
    return settings if isinstance(settings, model.Settings) else settings.cluster


def draw_sharing(settings: Settings, frame: SharingFrame, before: SharingFrame | None = None) -> Picture:
    """One moment of a share group, drawn: its programs, and each share-partition record by record.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of a run, and the one before it: what has changed since has a marked border. Of a long log the offsets
        around the start offset are shown, and of many share-partitions the first two.

    Examples
    --------
    >>> from kafkalearn.sharing.work import Arrive, Poll, settings, simulate
    >>> trace = simulate(settings(), [Arrive(2), Poll("c1")])
    >>> draw_sharing(settings(), trace[2], trace[1]).label
    'c1 polls: it gets 0 to 1, delivered for the 1st time.'
    """
    cluster, past = cluster_of(frame.state), None if before is None else cluster_of(before.state)
    chosen = cluster_settings(settings)
    limits = f"lock {_time(chosen.record_lock_duration_ms)}, at most {chosen.delivery_count_limit} deliveries"
    shares = _shown(cluster)
    state = frame.state if isinstance(frame.state, work.Work) else None
    lanes = [_lane(chosen, cluster, each, None if past is None else past.share_partition(*each.key)) for each in shares]
    page = kit.stack(
        kit.row(
            kit.label(f"Kafka {chosen.release}: {limits}", svg.TITLE - 2, bold=True),
            kit.label(f"now {_time(cluster.now_ms)}", svg.BODY, svg.MUTED, at_end=True),
            width=WIDTH,
        ),
        kit.space(height=6),
        *([] if state is None else [_program(state, each) for each in state.programs[:MOST_PROGRAMS]]),
        *(lanes or [kit.label("no leader has read a share-partition yet", svg.BODY, svg.MUTED)]),
        *([] if state is None else [kit.label(_done(state), width=WIDTH)]),
        _legend(cluster, shares),
        gap=4,
    )
    return kit.sheet(page, describe_sharing(settings, frame, before), left=LEFT)


def _time(ms: int) -> str:
    return f"{ms / 1000:g} s" if ms < 120_000 else f"{ms / 60_000:.3g} min"


def _shown(cluster: Cluster) -> list[SharePartition]:
    """The share-partitions that are drawn: those that leaders have in memory, or those that they had, as stored."""
    return sorted(cluster.share_partitions, key=lambda each: each.key)[:MOST_LANES]


def _program(state: work.Work, program: work.Program) -> kit.Block:
    has = ", ".join(str(offset) for _, offset in program.has)
    words = f"works on {has}" if has else "has nothing"
    if not program.is_connected:
        words = "has no session" + (f", and thinks that it has {has}" if has else "")
    lost = [one[1] for one in program.has if not _still_has(state.cluster, program.name, *one)]
    is_wrong = lost and program.is_connected
    said = f"its lock on {', '.join(map(str, lost))} has run out: it does not know" if is_wrong else ""
    inside = kit.row(
        kit.label(svg.cut_end(program.name, 8), svg.BODY, bold=True, width=LABEL - 18),
        kit.label(words, svg.BODY),
        kit.label(said, colour=svg.MARK, bold=True, at_end=True),
        gap=4,
        width=WIDTH - 28,
    )
    return kit.panel(kit.stack(kit.space(height=3), inside), width=WIDTH, height=ROW)


def _still_has(cluster: Cluster, member: str, partition: str, offset: int) -> bool:
    share = cluster.share_partition(work.GROUP, partition)
    held = share.held(offset) if share is not None else None
    return held is not None and held.member == member


def _offsets(share: SharePartition, log: Log) -> range:
    """The offsets that are shown: those around the start offset."""
    first = max(log.start_offset, min(share.start_offset, log.end_offset) - 3)
    first = max(0, min(first, log.end_offset - 1)) if log.end_offset - first < 1 else first
    return range(first, min(first + MOST_CELLS, log.end_offset))


def _lane(settings: model.Settings, cluster: Cluster, share: SharePartition, past: SharePartition | None) -> kit.Block:
    """A share-partition: its records, what is in flight, and how far its start offset has come."""
    group, name = share.key
    found = cluster.log(name)
    assert found is not None
    log: Log = found
    shown = _offsets(share, log)
    hidden = log.end_offset - shown.stop

    def draw(x: float, y: float) -> list[str]:
        axis, top = axes.Axis(x + LABEL, shown.start, MOST_CELLS, CELL), y + 24
        foot, has_moved = top + CELL_HEIGHT, past is not None and past.start_offset != share.start_offset
        is_right = axis.x(share.start_offset) > svg.WIDTH / 2
        at, anchor = (x + LABEL, "start") if is_right else (x + WIDTH, "end")
        flight = f"in flight {share.in_flight_count} of {settings.max_record_locks}, done {share.done_count}"
        return [
            *kit.label(name, bold=True, width=LABEL - 12).draw(x, top + 10),
            *kit.label(group, colour=svg.MUTED, width=LABEL - 12).draw(x, top + 32),
            *(line for at in shown for line in _cell(settings, cluster, share, past, log, at, axis, top)),
            *_batches(share, shown, axis, top),
            svg.text(x + WIDTH, top - 8, f"+{hidden}" if hidden > 0 else "", svg.SMALL, "end", svg.MUTED),
            axes.mark(axis, share.start_offset, "start", (top - 2, foot + 8), foot + 24, is_new=has_moved),
            svg.text(at, foot + 24, flight, svg.SMALL, anchor, svg.MUTED),
        ]

    return kit.free(WIDTH, LANE, draw)


def _batches(share: SharePartition, shown: range, axis: axes.Axis, top: float) -> list[str]:
    """A line over each batch in flight that has one state for all; what was split has none."""
    return [
        svg.line(axis.x(batch.first) + 4, top - 4, axis.x(batch.last + 1) - 4, top - 4, svg.MUTED)
        for batch in share.batches
        if not batch.is_split and shown and batch.last >= shown.start and batch.first < shown.stop
    ]


def _cell(
    settings: model.Settings, cluster: Cluster, share: SharePartition, past: SharePartition | None, log: Log,
    offset: int, axis: axes.Axis, y: float,
) -> list[str]:  # fmt: skip
    """A record: who holds it and how often it was delivered; one that was given up is a ghost."""
    held = _held(cluster, share, offset)
    box, middle = axis.box(offset, y, CELL_HEIGHT), axis.middle(offset)
    is_new = past is not None and held != _held(cluster, past, offset) and held is not None
    state = "" if held is None else held.state
    number = svg.text(middle, y - 9, str(offset), svg.SMALL, "middle", svg.MUTED)
    if any(each.is_control and each.base_offset == offset for each in log.batches):
        return [number, *kit.chip(["marker"], MARKER, width=box[2], height=CELL_HEIGHT).draw(*box[:2])]
    if state == ARCHIVED:
        return [number, axes.ghost(box, "gone", svg.MARK if is_new else svg.MUTED)]
    words = svg.cut_end(held.member, 6) if held and state == ACQUIRED else IN_A_CELL.get(state, "")
    count = f"x{held.count}" if held and held.count else ""
    return [
        number,
        svg.filled(LOOKS[state], box),
        svg.outlined(box, stroke=svg.MARK, stroke_width=svg.STRONG) if is_new else "",
        svg.text(middle, y + 23, words, svg.SMALL, "middle", bold=state == ACQUIRED),
        svg.text(middle, y + 43, count, svg.SMALL, "middle"),
        *([] if held is None else _lock(settings, cluster, held, box)),
    ]


def _lock(settings: model.Settings, cluster: Cluster, held: Held, box: svg.Box) -> list[str]:
    """What is left of a lock, as a bar that runs down."""
    if held.state != ACQUIRED or held.lock_ms is None:
        return []
    left = max(0, held.lock_ms - cluster.now_ms) / max(1, settings.record_lock_duration_ms)
    x, y, width = box[0] + 6, box[1] + CELL_HEIGHT - BAR - 5, box[2] - 12
    return [
        svg.rect(x, y, width, BAR, svg.PANEL),
        svg.rect(x, y, width * min(left, 1), BAR, svg.MARK if left < 0.34 else svg.MUTED),
    ]


def _legend(cluster: Cluster, shares: list[SharePartition]) -> kit.Block:
    """The fills that are used; a record that was given up is a ghost, and so has none."""
    found = [
        _held(cluster, each, offset)
        for each in shares
        if (log := cluster.log(each.key[1])) is not None
        for offset in _offsets(each, log)
    ]
    states = {"" if each is None else each.state for each in found}
    ghosts = "struck through: given up" if ARCHIVED in states else ""
    used = [LOOKS[each] for each in states if each in LOOKS]
    names = {LOOKS[state]: words for state, words in WORDS.items()}
    return kit.line_of(kit.legend(used, names), kit.label(ghosts, colour=svg.MUTED), gap=20)


def _held(cluster: Cluster, share: SharePartition, offset: int) -> Held | None:
    """The state of an offset, also of one that the start offset has passed; None: nobody has read it yet."""
    held = share.held(offset)
    if held is not None:
        return held
    name = (*share.key, offset)
    counts = [each.count for each in cluster.deliveries if (each.group, each.partition, each.offset) == name]
    if name in cluster.accepted:
        return Held(ACKNOWLEDGED, max(counts, default=0))
    if name in cluster.given_up or offset < share.start_offset:
        return Held(ARCHIVED, max(counts, default=0))
    return None


def _done(state: work.Work) -> str:
    if not state.processed:
        return "processed: nothing yet"
    shown = state.processed[-MOST_DONE:]
    said = ", ".join(f"{each.offset} by {each.program}{'' if each.is_taken else ' (not taken)'}" for each in shown)
    return f"processed: {'... ' if len(state.processed) > MOST_DONE else ''}{said}"


# The same in words.


def describe_sharing(settings: Settings, frame: SharingFrame, before: SharingFrame | None = None) -> str:
    """A sentence or two about a frame: what happened, and what it was answered.

    >>> from kafkalearn.sharing.work import Arrive, Poll, TimePassed, settings, simulate
    >>> chosen = settings(lock_ms=30_000)
    >>> trace = simulate(chosen, [Arrive(), Poll("c1"), TimePassed(30_000), Poll("c2")])
    >>> for now, earlier in zip(trace[1:], trace):
    ...     print(describe_sharing(chosen, now, earlier))
    A record comes to t-0: 0.
    c1 polls: it gets 0, delivered for the 1st time.
    30 s pass. The lock of c1 on 0 runs out.
    c2 polls: it gets 0, delivered for the 2nd time.
    """
    if frame.event is None:
        return "Before the first request."
    effects = frame.state.effects
    cluster, past = cluster_of(frame.state), None if before is None else cluster_of(before.state)
    said = [_event_in_words(frame.event, effects, cluster, past), *_locks_in_words(effects)]
    if past is not None:
        said += _start_in_words(cluster, past)
    names = {str(getattr(frame.event, each, "")) for each in ("program", "member", "group", "topic")}
    first = said[0] if said[0].split()[0] in names else capitalised(said[0])
    return " ".join(f"{each}." for each in (first, *map(capitalised, said[1:])))


def _event_in_words(event: Any, effects: tuple[object, ...], cluster: Cluster, past: Cluster | None) -> str:
    match event:
        case work.Arrive(record_count=count, partition=name) | events.Produce(record_count=count, partition=name):
            log = cluster.log(name)
            last = 0 if log is None else log.end_offset - 1
            what = "a record comes" if count == 1 else f"{count} records come, as one batch,"
            return f"{what} to {name}: {_range(last - count + 1, last)}"
        case work.Poll():
            return in_words(event) + _fetched(effects)
        case events.ShareFetch(member=name, epoch=epoch):
            what = {0: "opens a session and asks for records", -1: "ends its session"}.get(epoch, "asks for records")
            return f"{name} {what}{_fetched(effects)}"
        case work.Accept() | work.Release() | work.Reject() | work.Renew():
            return in_words(event) + _told(effects)
        case work.Keep(program=name, ms=ms):
            return f"{name} works on for {_time(ms)} and renews its locks in time"
        case events.ShareAcknowledge(member=name, epoch=epoch):
            what = "ends its session" if epoch == -1 else "says what became of records"
            return f"{name} {what}{_told(effects)}"
        case work.Crash() | work.Close() | work.Hang():
            return in_words(event)
        case events.TimePassed(ms=ms):
            return f"{_time(ms)} pass"
        case events.ShareGroupHeartbeat(member=name, epoch=epoch):
            what = {0: "joins", -1: "leaves"}.get(epoch, "sends a heartbeat")
            return f"{name} {what}{_beaten(effects)}"
        case events.BrokerRestarted(is_clean=is_clean):
            how = "stopped" if is_clean else "killed"
            return f"the broker is {how} and comes back: it knows what is stored, and no more"
        case events.EndTxn(transaction=name, commit=commit):
            return f"the transaction {name} is {'committed' if commit else 'aborted'}"
        case events.AlterGroupConfigs(group=name, configs=configs):
            what = ", ".join(f"{key}={value}" for key, value in configs)
            return f"{name} gets {what}{_refused(effects)}"
        case events.AlterShareGroupOffsets(group=name, offsets=offsets):
            where = ", ".join(f"{one} to {offset}" for one, offset in offsets)
            return f"somebody sets where {name} begins: {where}{_refused(effects)}"
    return (in_words(event) or type(event).__name__) + _refused(effects)


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def _fetched(effects: tuple[object, ...]) -> str:
    answers = [each for each in effects if isinstance(each, FetchAnswer)]
    if not answers:
        return ": it waits"
    answer = answers[-1]
    if answer.error != "NONE":
        return f": {answer.error}"
    got = [
        f"{_range(first, last)}{f' of {each.partition}' if len(answer.partitions) > 1 else ''}, delivered for the "
        f"{ORDINALS.get(count, f'{count}th')} time"
        for each in answer.partitions
        for first, last, count in each.acquired
    ]
    wrong = [each.acknowledge_error for each in answer.partitions if each.acknowledge_error != "NONE"]
    said = f": it gets {'; '.join(got)}" if got else ": it gets nothing"
    return f"{said}; what it said before is refused, {wrong[0]}" if wrong else said


def _told(effects: tuple[object, ...]) -> str:
    answers = [each for each in effects if isinstance(each, AcknowledgeAnswer)]
    if not answers:
        return ""
    errors = [answers[-1].error, *(each.error for each in answers[-1].partitions)]
    wrong = next((each for each in errors if each != "NONE"), None)
    return f": {wrong}, its word does not count" if wrong else ""


def _beaten(effects: tuple[object, ...]) -> str:
    answer = next((each for each in effects if isinstance(each, HeartbeatAnswer)), None)
    if answer is None or answer.epoch < 0:
        return ""
    if answer.error != "NONE":
        return f": {answer.error}"
    if answer.assignment is None:
        return f": epoch {answer.epoch}"
    return f": epoch {answer.epoch}, it is to read {', '.join(answer.assignment) or 'nothing yet'}"


def _refused(effects: tuple[object, ...]) -> str:
    answers = [each for each in effects if isinstance(each, Answer)]
    return f": {answers[-1].error}" if answers and answers[-1].error != "NONE" else ""


def _locks_in_words(effects: tuple[object, ...]) -> list[str]:
    lost: dict[tuple[str, str], list[LockRanOut]] = {}
    for each in effects:
        if isinstance(each, LockRanOut):
            lost.setdefault((each.member, each.partition), []).append(each)
    return [
        f"the lock of {member} on {_range(some[0].first, some[-1].last)} runs out" for (member, _), some in lost.items()
    ]


def _start_in_words(cluster: Cluster, past: Cluster) -> list[str]:
    said = []
    for share in cluster.share_partitions:
        earlier = past.share_partition(*share.key)
        if earlier is not None and earlier.start_offset < share.start_offset:
            said.append(f"the start offset of {share.key[1]} goes from {earlier.start_offset} to {share.start_offset}")
    return said


def sharing_text(settings: Settings, frame: SharingFrame, before: SharingFrame | None = None) -> str:
    """A frame as a few lines of text.

    >>> from kafkalearn.sharing.work import Accept, Arrive, Poll, settings, simulate
    >>> trace = simulate(settings(), [Arrive(3), Poll("c1"), Accept("c1", [1])])
    >>> print(sharing_text(settings(), trace[3], trace[2]))
    c1 has processed what it has, and accepts it.
    c1 works on 0, 2
    c2 has nothing
    t-0: start 0, in flight 3 of 2000, 1 done
      0 ACQUIRED by c1, 1 delivery, 30 s left
      1 ACKNOWLEDGED, 1 delivery
      2 ACQUIRED by c1, 1 delivery, 30 s left
    """
    cluster = cluster_of(frame.state)
    chosen = cluster_settings(settings)
    lines = [describe_sharing(settings, frame, before)]
    if isinstance(frame.state, work.Work):
        for program in frame.state.programs:
            has = ", ".join(str(offset) for _, offset in program.has)
            lines.append(f"{program.name} works on {has}" if has else f"{program.name} has nothing")
    for share in sorted(cluster.share_partitions, key=lambda each: each.key):
        flight = f"in flight {share.in_flight_count} of {chosen.max_record_locks}, {share.done_count} done"
        lines.append(f"{share.key[1]}: start {share.start_offset}, {flight}")
        for batch in share.batches:
            if batch.whole is not None:
                lines.append(f"  {_range(batch.first, batch.last)} {_held_in_words(cluster, batch.whole)}")
            else:
                lines += [f"  {offset} {_held_in_words(cluster, held)}" for offset, held in batch.items()]
    return "\n".join(lines)


def _held_in_words(cluster: Cluster, held: Held) -> str:
    tried = counted(held.count, "delivery", "deliveries")
    if held.state != ACQUIRED or held.lock_ms is None:
        return f"{held.state}, {tried}"
    return f"{held.state} by {held.member}, {tried}, {_time(held.lock_ms - cluster.now_ms)} left"
