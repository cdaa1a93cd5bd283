"""Transactions as a picture: the coordinator, the partitions with their last stable offsets, the groups' offsets.

For runs of `kafkalearn.transactions`, of its ``client`` and of its ``processing``: all of them have a cluster in their
state. A record's cell says what a ``read_committed`` reader makes of it; a marker is a black cell. The settings come
first, so that they can be bound once: ``play(trace, partial(draw_transactions, settings))``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kafkalearn.base.errors import capitalised
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.transactions import client, model, processing
from kafkalearn.transactions.model import OFFSETS_PARTITION, Answer, Batch, Cluster, Partition, Transaction
from kafkalearn.transactions.reader import ABORTED, fate, open_first

LEFT, TOP = 24, 62
ROW, GAP = 46, 8  # a transactional id, an instance
LABEL, CELL, MOST_CELLS = 150, 82, 10
LANE, CELL_HEIGHT = 112, 44  # a partition: its name, offsets, cells, marks
MOST_IDS, MOST_PARTITIONS = 2, 2

Settings: TypeAlias = model.Settings | client.Settings | processing.Settings
TransactionFrame: TypeAlias = Frame[Any, Any]  # of any of the three simulators

LOOKS = {
    "read": svg.Fill(svg.READ, ""),
    "held back": svg.Fill(svg.EMPTY, "."),
    "open": svg.OPEN,
    ABORTED: svg.Fill(svg.PANEL, ""),
}
WORDS = {"read": "read", "held back": "cannot be read yet", "open": "open transaction", ABORTED: "aborted: passed over"}


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
    parts = [
        svg.text(
            LEFT,
            40,
            f"transaction.version={chosen.transaction_version}, Kafka {chosen.release}",
            svg.TITLE - 2,
            bold=True,
        ),
        svg.text(svg.WIDTH - LEFT, 40, f"now {_time(cluster.now_ms)}", svg.TITLE - 2, "end"),
    ]
    drawn, y = _instances(frame.state, TOP)
    parts += drawn
    drawn, y = _coordinator(cluster, past, y)
    parts += drawn
    for each in [one for one in cluster.partitions if one.name != OFFSETS_PARTITION][:MOST_PARTITIONS]:
        parts += _partition(cluster, each, None if past is None else past.partition(each.name), y)
        y += LANE
    drawn, y = _groups(cluster, past, y)
    parts += drawn
    entries = [(LEFT + 236 * at, LOOKS[name], WORDS[name]) for at, name in enumerate(LOOKS)]
    parts.append(svg.legend(entries, y + 24))
    return picture(y + 42, *parts, label=describe_transactions(settings, frame, before))


def _time(ms: int) -> str:
    if ms < 120_000:
        return f"{ms / 1000:g} s"
    if ms < 7_200_000:
        return f"{ms / 60_000:g} min"
    return f"{ms / 3_600_000:.3g} h"


def _instances(state: Cluster | client.Application | processing.Processing, y: float) -> tuple[list[str], float]:
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
    parts = []
    for words in lines[:2]:
        parts += [
            svg.rect(LEFT, y, svg.WIDTH - 2 * LEFT, 32, svg.EMPTY, rx=4),
            svg.text(LEFT + 12, y + 22, words, svg.BODY),
        ]
        y += 32 + GAP
    return parts, y


def _coordinator(cluster: Cluster, past: Cluster | None, y: float) -> tuple[list[str], float]:
    parts = [svg.text(LEFT, y + 16, "transaction coordinator", svg.BODY, bold=True)]
    y += 26
    if not cluster.transactions:
        parts.append(svg.text(LEFT + 12, y + 28, "knows no transactional id yet", svg.SMALL, colour=svg.MUTED))
        return parts, y + ROW
    shown = cluster.transactions[:MOST_IDS]
    for each in shown:
        is_new = past is not None and past.transaction(each.id) != each
        box = (LEFT, y, svg.WIDTH - 2 * LEFT, ROW - 6)
        parts += [
            svg.filled(LOOKS["open"] if each.status == "Ongoing" else svg.Fill(svg.PANEL, ""), (LEFT, y, 300, ROW - 6)),
            svg.rect(*box, **svg.edge(is_new)),
            svg.text(LEFT + 16, y + 27, f"{svg.cut_end(each.id, 10)}: {each.status}", svg.BODY, bold=True),
            svg.text(LEFT + 314, y + 27, f"producer {each.producer_id}, epoch {each.epoch}", svg.SMALL),
            svg.text(LEFT + 490, y + 27, _destinations(each), svg.SMALL, bold=each.is_refused),
        ]
        y += ROW
    if len(cluster.transactions) > MOST_IDS:
        parts.append(
            svg.text(
                svg.WIDTH - LEFT,
                y - ROW * MOST_IDS - 10,
                f"+{len(cluster.transactions) - MOST_IDS} ids",
                svg.SMALL,
                "end",
            )
        )
    return parts, y + 4


def _destinations(held: Transaction) -> str:
    names = ", ".join(_short(each) for each in sorted(held.partitions))
    if held.is_refused:
        return f"a leader refused its marker: {names}"
    if held.pending and names:
        return f"markers to write: {names}"
    return f"partitions: {names}" if names and held.is_open else ""


def _short(name: str) -> str:
    return "group's offsets" if name == OFFSETS_PARTITION else name


def _partition(cluster: Cluster, partition: Partition, past: Partition | None, y: float) -> list[str]:
    """A lane: the newest offsets as cells, the last stable offset and the end below them."""
    cells = [(offset, batch) for batch in partition.batches for offset in range(batch.offset, batch.last_offset + 1)]
    shown = cells[-MOST_CELLS + 1 :] if len(cells) >= MOST_CELLS else cells
    first = shown[0][0] if shown else 0
    known = 0 if past is None else past.end_offset
    is_away = partition.name in cluster.away
    parts = [
        svg.text(LEFT, y + 42, partition.name, svg.BODY, bold=True),
        svg.text(LEFT, y + 64, "leader away" if is_away else "", svg.SMALL, colour=svg.MARK),
    ]
    for offset, batch in shown:
        x = LABEL + (offset - first) * CELL
        parts += _cell(partition, offset, batch, x, y + 22, past is not None and offset >= known)
    end, stable = partition.end_offset, partition.last_stable_offset
    bottom = y + 22 + CELL_HEIGHT
    end_x = LABEL + (end - first) * CELL
    parts.append(svg.line(LABEL, bottom + 3, svg.WIDTH - LEFT, bottom + 3, svg.FAINT))
    if stable < end:
        stable_x = LABEL + max(stable - first, 0) * CELL
        parts += [
            svg.line(stable_x, y + 8, stable_x, bottom + 12, svg.MARK),
            svg.text(stable_x + 4, bottom + 26, f"LSO {stable}", svg.SMALL, colour=svg.MARK, bold=True),
            *_holder(cluster, partition, stable_x + 88, bottom + 26),
        ]
    else:
        parts += [
            svg.pointer(end_x, bottom + 5, svg.INK, 6, is_below=True),
            svg.text(end_x + 14, bottom + 22, f"LSO {stable}, the end", svg.SMALL)
            if end_x < 800
            else svg.text(end_x - 14, bottom + 22, f"LSO {stable}, the end", svg.SMALL, "end"),
        ]
    return parts


def _holder(cluster: Cluster, partition: Partition, x: float, y: float) -> list[str]:
    holder = open_first(partition)
    assert holder is not None
    producer_id, _ = holder
    owner = next((each for each in cluster.transactions if each.producer_id == producer_id and each.is_open), None)
    behind = partition.end_offset - partition.last_stable_offset
    if owner is None or partition.name not in owner.partitions:
        words = (
            f"end {partition.end_offset}: producer {producer_id} holds back {behind}, and no coordinator knows of it"
        )
    else:
        age = f" for {_time(cluster.now_ms - owner.started_ms)}" if 0 <= owner.started_ms < cluster.now_ms else ""
        words = f"end {partition.end_offset}: {owner.id} holds back {behind}{age}"
    is_right = x + 9.3 * len(words) > svg.WIDTH - LEFT
    return [
        svg.text(svg.WIDTH - LEFT if is_right else x, y, words, svg.SMALL, "end" if is_right else "start", svg.MARK)
    ]


def _cell(partition: Partition, offset: int, batch: Batch, x: float, y: float, is_new: bool) -> list[str]:
    box = (x + 3, y, CELL - 6, CELL_HEIGHT)
    middle = x + CELL / 2
    parts = [svg.text(middle, y - 6, str(offset), svg.SMALL, "middle", svg.MUTED)]
    if batch.kind != "data":
        return [
            *parts,
            svg.rect(*box, svg.INK, **svg.edge(is_new)),
            svg.text(middle, y + 28, batch.kind, svg.SMALL, "middle", svg.PANEL),
        ]
    found = fate(partition, batch)
    words = svg.cut_end(_record(batch.records[offset - batch.offset]), 6)
    return [
        *parts,
        svg.filled(LOOKS[found], box),
        svg.rect(*box, **svg.edge(is_new)) if found != ABORTED else "",
        "" if found != ABORTED else svg.rect(*box, **svg.edge(is_new, svg.MUTED), stroke_dasharray="5 5"),
        svg.text(middle, y + 28, words, svg.SMALL, "middle", svg.MUTED if found == ABORTED else svg.INK),
        svg.line(x + 12, y + 32, x + CELL - 12, y + 12, svg.MUTED) if found == ABORTED else "",
    ]


def _record(record: object) -> str:
    """A record's words: of a client's record (transaction, number), ``T1``."""
    if isinstance(record, tuple) and len(record) == 2:
        return f"T{record[0]}"
    return str(record)


def _groups(cluster: Cluster, past: Cluster | None, y: float) -> tuple[list[str], float]:
    if not cluster.groups:
        return [], y
    parts = []
    for group in cluster.groups[:1]:
        earlier = None if past is None else past.group(group.name)
        holds = ", ".join(f"{each.partition}: {each.offset}" for each in group.committed) or "none"
        waits = ", ".join(f"{each.partition}: {each.offset} (producer {each.producer_id})" for each in group.pending)
        box = (LEFT, y + 4, svg.WIDTH - 2 * LEFT, 34)
        parts += [
            svg.filled(
                LOOKS["open"] if group.pending else svg.Fill(svg.PANEL, ""),
                (LEFT + 480, y + 4, svg.WIDTH - 2 * LEFT - 480, 34),
            ),
            svg.rect(*box, **svg.edge(past is not None and earlier != group)),
            svg.text(LEFT + 12, y + 27, f"group {group.name}  committed {holds}", svg.BODY, bold=True),
            svg.text(LEFT + 500, y + 27, f"waiting: {waits or 'none'}", svg.SMALL),
        ]
    return parts, y + 44


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
            return f"{id_} asks for a producer id{got}"
        case model.AddPartitionsToTxn(id=id_, partitions=names):
            return f"{id_} adds {', '.join(names)} to its transaction{no}"
        case model.AddOffsetsToTxn(id=id_, group=group):
            return f"{id_} adds the offsets of {group} to its transaction{no}"
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
        case model.WriteTxnMarkers(producer_id=producer_id, partitions=names):
            return f"somebody writes a marker for producer {producer_id} into {', '.join(names)}{no}"
        case model.TimePassed(ms=ms):
            return f"{_time(ms)} pass"
        case model.LeaderWentAway(partitions=names, is_known=True):
            return f"{', '.join(names)} has no leader any more"
        case model.LeaderWentAway(partitions=names):
            return f"the leader of {', '.join(names)} no longer answers"
        case model.LeaderCameBack(partitions=names):
            return f"the leader of {', '.join(names)} answers again"
        case model.AskedElsewhere(request=request):
            return f"at a broker that does not coordinate it, {_event_in_words(request, answer)}"
        case model.CoordinatorLoaded(partition=int(number)):
            return f"another broker leads partition {number} of __transaction_state, and loads it"
        case model.CoordinatorLoaded():
            return "another broker becomes the coordinator and loads its log"
        case model.BrokerRestarted(is_clean=is_clean):
            return f"the broker is {'stopped' if is_clean else 'killed'} and comes back"
        case client.Started(instance=name):
            return f"instance {name} starts and asks for an epoch{no}"
        case client.Sent(partition=name, instance=who):
            return f"instance {who} sends a record for {name}{no}"
        case client.Arrived():
            return f"a request comes to its leader{no}"
        case client.Ended(commit=commit, instance=name):
            return f"instance {name} {'commits' if commit else 'aborts'}{no}"
        case processing.Assigned(worker=name):
            return f"a rebalance gives the partition to worker {name}{no}"
        case processing.OffsetFetched(worker=name):
            return f"worker {name} asks for the committed offset again{no}"
        case processing.Processed(worker=name):
            return f"worker {name} processes a record and writes its result{no}"
        case processing.OffsetsSent(worker=name):
            return f"worker {name} sends the offset along in its transaction{no}"
        case processing.Ended(worker=name, commit=commit):
            return f"worker {name} {'commits' if commit else 'aborts'} its transaction{no}"
    return in_words(event) or type(event).__name__


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
