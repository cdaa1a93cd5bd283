"""Transactions as a picture: the coordinator, the partitions with their last stable offsets, the groups' offsets.

For runs of `kafkalearn.transactions`, of its ``client`` and of its ``processing``: all of them have a cluster in their
state. A record's cell says what a ``read_committed`` reader makes of it; an aborted one is a ghost. The settings come
first, so that they can be bound once: ``play(trace, partial(draw_transactions, settings))``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kafkalearn.base.errors import capitalised
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import axes, kit, svg
from kafkalearn.drawing.player import Picture
from kafkalearn.transactions import client, model, processing
from kafkalearn.transactions.model import OFFSETS_PARTITION, Answer, Cluster, Group, Partition, Transaction
from kafkalearn.transactions.reader import ABORTED, fate, open_first

LEFT, WIDTH = 24, svg.WIDTH - 2 * 24
ROW, STATUS = 30, 230  # pixels: a line of the coordinator, a transaction's status
LABEL, CELL, MOST_CELLS = 126, 80, 10
CELL_HEIGHT, LANE = 44, 96  # a partition: its name, offsets, cells, marks
MOST_IDS, MOST_PARTITIONS = 2, 2

Settings: TypeAlias = model.Settings | client.Settings | processing.Settings
TransactionFrame: TypeAlias = Frame[Any, Any]  # of any of the three simulators

MARKER = svg.Fill(svg.FAINT, "")
LOOKS = {"read": svg.COMMITTED, "held back": svg.Fill(svg.EMPTY, "."), "open": svg.OPEN}
WORDS = {"read": "read", "held back": "cannot be read yet", "open": "open transaction"}


def cluster_of(state: Cluster | client.Application | processing.Processing) -> Cluster:
    """The cluster in a state of any of the three simulators."""
    return state if isinstance(state, Cluster) else state.cluster


def cluster_settings(settings: Settings) -> model.Settings:
    """The settings of the cluster among those of any of the three simulators."""
    return settings if isinstance(settings, model.Settings) else settings.cluster


def draw_transactions(settings: Settings, frame: TransactionFrame, before: TransactionFrame | None = None) -> Picture:
    """One moment of transactions, drawn: coordinator, two partitions, the offsets of groups.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of a run, and the one before it: what has changed since has a marked border. Of a long log the newest
        offsets are shown, and of many ids and partitions the first two.

    Examples
    --------
    >>> from kafkalearn.transactions import InitProducerId, Settings, simulate
    >>> trace = simulate(Settings(), [InitProducerId("x")])
    >>> draw_transactions(Settings(), trace[1], trace[0]).label
    'x asks for a producer id: it gets producer 0 with epoch 0.'
    """
    cluster, past = cluster_of(frame.state), None if before is None else cluster_of(before.state)
    chosen = cluster_settings(settings)
    head = f"transaction.version={chosen.transaction_version}, Kafka {chosen.release}"
    logs = [each for each in cluster.partitions if each.name != OFFSETS_PARTITION][:MOST_PARTITIONS]
    page = kit.stack(
        kit.row(
            kit.label(head, svg.TITLE - 2, bold=True),
            kit.label(f"now {_time(cluster.now_ms)}", svg.BODY, svg.MUTED, at_end=True),
            width=WIDTH,
        ),
        kit.space(height=6),
        *(_line(words) for words in _beliefs(frame.state)[:MOST_IDS]),
        *_coordinator(cluster, past),
        *(_partition(cluster, each, None if past is None else past.partition(each.name)) for each in logs),
        *(_group(each, None if past is None else past.group(each.name) == each) for each in cluster.groups[:1]),
        kit.space(height=8),
        _legend(logs),
        gap=4,
    )
    return kit.sheet(page, describe_transactions(settings, frame, before), left=LEFT)


def _time(ms: int) -> str:
    if ms < 120_000:
        return f"{ms / 1000:g} s"
    if ms < 7_200_000:
        return f"{ms / 60_000:g} min"
    return f"{ms / 3_600_000:.3g} h"


def _line(words: str, is_new: bool = False) -> kit.Block:
    """A line on a ground of its own."""
    inside = kit.stack(kit.space(height=4), kit.label(words, svg.BODY - 2, svg.MARK if is_new else svg.INK))
    return kit.panel(inside, width=WIDTH, height=ROW)


def _beliefs(state: Cluster | client.Application | processing.Processing) -> list[str]:
    """What each instance believes; none for a run of requests alone."""
    lines = []
    if isinstance(state, client.Application):
        for each in state.instances:
            has = f"producer {each.producer_id}, epoch {each.epoch}" if each.epoch >= 0 else "no epoch yet"
            words = f"instance {each.name}: {has}"
            words += f", in transaction {each.transaction}" if each.transaction else ""
            words += f", {each.fatal_error}" if each.fatal_error else ", must abort" if each.must_abort else ""
            mine = [one for one in state.requests if one.instance == each.name]
            words += f"; on their way: {len(mine)}" if mine else ""
            words += f", {sum(one.is_late for one in mine)} given up" if any(one.is_late for one in mine) else ""
            lines.append(words)
    elif isinstance(state, processing.Processing):
        for each in state.workers:
            words = f"worker {each.name}: generation {each.generation}, epoch {each.epoch}, "
            words += "no position yet" if each.position is None else f"next input record {each.position}"
            words += f", {each.fatal_error}" if each.fatal_error else ", must abort" if each.must_abort else ""
            words += ", in a transaction" if each.has_open else ""
            lines.append(words)
    return lines


def _coordinator(cluster: Cluster, past: Cluster | None) -> list[kit.Block]:
    hidden = len(cluster.transactions) - MOST_IDS
    head = "transaction coordinator" + (f", {hidden} more ids" if hidden > 0 else "")
    lines = [_transaction(each, past) for each in cluster.transactions[:MOST_IDS]]
    nothing = kit.label("knows no transactional id yet", colour=svg.MUTED)
    return [kit.label(head, svg.BODY, bold=True), *(lines or [nothing])]


def _transaction(held: Transaction, past: Cluster | None) -> kit.Block:
    is_new = past is not None and past.transaction(held.id) != held
    fill = svg.OPEN if held.status == "Ongoing" else svg.NOTHING
    return kit.line_of(
        kit.chip([f"{svg.cut_end(held.id, 10)}: {held.status}"], fill, width=STATUS, height=ROW, is_new=is_new),
        kit.stack(kit.label(f"producer {held.producer_id}, epoch {held.epoch}", width=190), kit.space(height=6)),
        kit.stack(kit.label(_destinations(held), bold=held.is_refused), kit.space(height=6)),
        gap=16,
    )


def _destinations(held: Transaction) -> str:
    names = ", ".join(_short(each) for each in sorted(held.partitions))
    if held.is_refused:
        return f"a leader refused its marker: {names}"
    if held.pending and names:
        return f"markers to write: {names}"
    return f"partitions: {names}" if names and held.is_open else ""


def _short(name: str) -> str:
    return "group's offsets" if name == OFFSETS_PARTITION else name


def _cells(partition: Partition) -> tuple[dict[int, axes.RecordCell], dict[int, str]]:
    """What a reader gets of each offset, and the aborted records, which it passes over."""
    cells: dict[int, axes.RecordCell] = {}
    aborted: dict[int, str] = {}
    for batch in partition.batches:
        found = fate(partition, batch)
        for offset in range(batch.offset, batch.last_offset + 1):
            if batch.kind != "data":
                cells[offset] = axes.RecordCell(batch.kind.lower(), MARKER)
            elif found == ABORTED:
                aborted[offset] = svg.cut_end(_record(batch.records[offset - batch.offset]), 6)
            else:
                cells[offset] = axes.RecordCell(
                    svg.cut_end(_record(batch.records[offset - batch.offset]), 6), LOOKS[found]
                )
    return cells, aborted


def _partition(cluster: Cluster, partition: Partition, past: Partition | None) -> kit.Block:
    """A lane: the newest offsets as cells, the last stable offset, and who holds it back."""
    (cells, aborted), (before, _) = _cells(partition), _cells(partition if past is None else past)
    end, stable = partition.end_offset, partition.last_stable_offset
    first = min({*cells, *aborted}, default=0)
    first = max(first, end - MOST_CELLS)
    is_away = partition.name in cluster.away
    has_moved = past is not None and past.last_stable_offset != stable

    def draw(x: float, y: float) -> list[str]:
        axis = axes.Axis(x + LABEL, first, MOST_CELLS, CELL)
        top, foot = y + 20, y + 20 + CELL_HEIGHT
        numbers = [(axis.middle(each), y + 15, str(each)) for each in range(first, end)]
        return [
            svg.text(x, top + 24, partition.name, svg.BODY, bold=True),
            svg.text(x, top + 44, "leader away" if is_away else "", svg.SMALL, colour=svg.MARK),
            svg.words_at(numbers, svg.SMALL, fill=svg.MUTED),
            svg.line(x + LABEL, foot + 3, x + WIDTH, foot + 3, svg.FAINT, svg.HAIR),
            *axes.lane(axis, cells, before, top, CELL_HEIGHT, ghosts=aborted),
            axes.mark(axis, stable, "LSO", (top - 4, foot + 8), foot + 24, is_new=has_moved),
            *(_holder(cluster, partition, axis.x(stable) + 44, foot + 24) if stable < end else []),
        ]

    return kit.free(WIDTH, LANE, draw)


def _holder(cluster: Cluster, partition: Partition, x: float, y: float) -> list[str]:
    """Who holds the last stable offset back, and how much."""
    holder = open_first(partition)
    assert holder is not None
    producer_id, _ = holder
    owner = next((each for each in cluster.transactions if each.producer_id == producer_id and each.is_open), None)
    behind = partition.end_offset - partition.last_stable_offset
    if owner is None or partition.name not in owner.partitions:
        words = f"producer {producer_id} holds back {behind}, and no coordinator knows of it"
    else:
        age = f" for {_time(cluster.now_ms - owner.started_ms)}" if 0 <= owner.started_ms < cluster.now_ms else ""
        words = f"{owner.id} holds back {behind}{age}"
    if x + svg.LETTER * len(words) > svg.WIDTH - LEFT:
        return [svg.text(x - 88, y, words, svg.SMALL, "end", svg.MARK)]
    return [svg.text(x, y, words, svg.SMALL, colour=svg.MARK)]


def _record(record: object) -> str:
    """A record's words: of a client's record (transaction, number), ``T1``."""
    if isinstance(record, tuple) and len(record) == 2:
        return f"T{record[0]}"
    return str(record)


def _group(group: Group, is_as_before: bool | None) -> kit.Block:
    """What a group has committed, and what waits for the end of a transaction."""
    holds = ", ".join(f"{each.partition}: {each.offset}" for each in group.committed) or "none"
    waits = ", ".join(f"{each.partition}: {each.offset} (producer {each.producer_id})" for each in group.pending)
    return _line(f"group {group.name}: committed {holds}; waiting {waits or 'none'}", is_as_before is False)


def _legend(logs: list[Partition]) -> kit.Block:
    """The fills that are used; aborted records are ghosts, and so have none."""
    parts = [_cells(each) for each in logs]
    used = [each.fill for cells, _ in parts for each in cells.values()]
    names = {LOOKS[name]: words for name, words in WORDS.items()}
    ghosts = kit.label(
        "struck through: aborted, passed over" if any(gone for _, gone in parts) else "", colour=svg.MUTED
    )
    return kit.line_of(kit.legend(used, names), ghosts, gap=20)


# The same in words.


def describe_transactions(settings: Settings, frame: TransactionFrame, before: TransactionFrame | None = None) -> str:
    """A sentence or two about a frame: what happened, and what it was answered.

    >>> from kafkalearn.transactions import EndTxn, InitProducerId, Produce, Settings, simulate
    >>> trace = simulate(Settings(), [InitProducerId("x"), Produce("x", "t-0", 0, 0, 0), EndTxn("x", 0, 0)])
    >>> describe_transactions(Settings(), trace[3], trace[2])
    'x ends its transaction with a commit. The decision is written; markers are on their way to t-0.'
    """
    if frame.event is None:
        return "Before the first request."
    cluster, past = cluster_of(frame.state), None if before is None else cluster_of(before.state)
    said = [_event_in_words(frame.event, _answer(frame.state)), *_what_changed(cluster, past)]
    names = {str(getattr(frame.event, each, "")) for each in ("id", "group", "member")}
    first = said[0] if said[0].split()[0] in names else capitalised(said[0])  # a name stays as it is
    return " ".join(f"{each}." for each in (first, *map(capitalised, said[1:])))


def _answer(state: Any) -> Answer:
    effects = state.effects
    if isinstance(state, Cluster):
        return effects[0] if effects else Answer()
    return Answer(effects[0].error) if effects else Answer()


def _refused(answer: Answer) -> str:
    error = answer.error
    if error == "NONE":
        error = next((each for _, each in answer.partitions if each != "NONE"), "NONE")
    return "" if error == "NONE" else f": {error}"


def _event_in_words(event: Any, answer: Answer) -> str:
    no = _refused(answer)
    match event:
        case model.InitProducerId(id=id_):
            got = no or f": it gets producer {answer.producer_id} with epoch {answer.epoch}"
            who = "a producer without a transactional id" if id_ is None else id_
            return f"{who} asks for a producer id{got}"
        case model.Produce(id=None, partition=name):
            return f"a record without a transaction comes to {name}{no}"
        case model.Produce(id=id_, partition=name, epoch=epoch):
            return f"a record of {id_}, epoch {epoch}, comes to {name}{no}"
        case model.TxnOffsetCommit(id=id_, group=group, offsets=offsets):
            where = ", ".join(f"{name} {offset}" for name, offset in offsets)
            return f"{id_} sends offsets of {group} along: {where}{no}"
        case model.OffsetCommit(group=group, offsets=offsets):
            return (
                f"{group} commits {', '.join(f'{name} {offset}' for name, offset in offsets)} without a transaction{no}"
            )
        case model.EndTxn(id=id_, commit=commit):
            return f"{id_} ends its transaction with {'a commit' if commit else 'an abort'}{no}"
        case model.MarkerArrived(id=id_, partition=name):
            return f"the marker of {id_} comes to {_short(name)}{no}"
        case model.TimePassed(ms=ms):
            return f"{_time(ms)} pass"
        case model.LeaderWentAway(partitions=names, is_known=True):
            return f"{', '.join(names)} has no leader any more"
        case model.LeaderWentAway(partitions=names):
            return f"the leader of {', '.join(names)} no longer answers"
        case model.AskedElsewhere(request=request):
            return f"at a broker that does not coordinate it, {_event_in_words(request, answer)}"
        case model.CoordinatorLoaded(partition=int(number)):
            return f"another broker leads partition {number} of __transaction_state, and loads it"
        case model.CoordinatorLoaded():
            return "another broker becomes the coordinator and loads its log"
        case model.BrokerRestarted(is_clean=is_clean):
            return f"the broker is {'stopped' if is_clean else 'killed'} and comes back"
        case client.Ended(commit=commit, instance=name):
            return f"instance {name} {'commits' if commit else 'aborts'}{no}"
        case processing.Ended(worker=name, commit=commit):
            return f"worker {name} {'commits' if commit else 'aborts'} its transaction{no}"
    return (in_words(event) or type(event).__name__) + no


def _what_changed(cluster: Cluster, past: Cluster | None) -> list[str]:
    """Decisions, ends and offsets that a step brought."""
    if past is None:
        return []
    said = []
    for each in cluster.transactions:
        earlier = past.transaction(each.id)
        was = earlier.status if earlier is not None else ""
        if each.status != was and each.status.startswith("Prepare"):
            where = ", ".join(_short(name) for name in sorted(each.partitions))
            said.append(
                f"the decision is written; markers are on their way to {where}" if where else "the decision is written"
            )
        elif each.status != was and each.status.startswith("Complete"):
            said.append(f"that was the last marker: {each.status}")
        elif each.is_refused and (earlier is None or not earlier.is_refused):
            said.append(f"the coordinator stops sending it, and {each.id} waits")
    for partition in cluster.partitions:
        earlier_log = past.partition(partition.name)
        if partition.name == OFFSETS_PARTITION or earlier_log is None:
            continue
        was, now = earlier_log.last_stable_offset, partition.last_stable_offset
        if was < now and was < earlier_log.end_offset:
            said.append(f"the LSO of {partition.name} goes from {was} to {now}")
    return said


def transactions_text(settings: Settings, frame: TransactionFrame, before: TransactionFrame | None = None) -> str:
    """A frame as a few lines of text.

    >>> from kafkalearn.transactions import InitProducerId, Produce, Settings, simulate
    >>> trace = simulate(Settings(partitions=("t-0",)), [InitProducerId("x"), Produce("x", "t-0", 0, 0, 0)])
    >>> print(transactions_text(Settings(), trace[2], trace[1]))
    A record of x, epoch 0, comes to t-0.
    x: Ongoing, producer 0, epoch 0, partitions t-0
    t-0: LSO 0, end 1: 0 open
    """
    cluster = cluster_of(frame.state)
    lines = [describe_transactions(settings, frame, before)]
    for held in cluster.transactions:
        where = ", ".join(_short(name) for name in sorted(held.partitions)) or "none"
        lines.append(f"{held.id}: {held.status}, producer {held.producer_id}, epoch {held.epoch}, partitions {where}")
    for each in cluster.partitions:
        if each.name != OFFSETS_PARTITION:
            said = ", ".join(f"{batch.offset} {fate(each, batch)}" for batch in each.batches) or "empty"
            lines.append(f"{each.name}: LSO {each.last_stable_offset}, end {each.end_offset}: {said}")
    for group in cluster.groups:
        holds = ", ".join(f"{one.partition} {one.offset}" for one in group.committed) or "none"
        waits = ", ".join(f"{one.partition} {one.offset}" for one in group.pending) or "none"
        lines.append(f"{group.name}: committed {holds}; waiting {waits}")
    return "\n".join(lines)
