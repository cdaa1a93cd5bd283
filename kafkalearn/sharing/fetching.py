"""ShareFetch: which partitions are read in which order, when an answer waits, what wakes it, what it has in it.

Source: `SharePartitionManager.processShareFetch`, `DelayedShareFetch`, `ShareFetchUtils` of 4.4.0, read.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.coordinator.share_model import Read
from kafkalearn.sharing import acquiring, appending, in_flight, stored
from kafkalearn.sharing.acquiring import Wish
from kafkalearn.sharing.events import FetchedPartition, ShareFetch
from kafkalearn.sharing.group_settings import duration_ms
from kafkalearn.sharing.model import Batch, Delivery, Key, Log, SharePartition, Waiting
from kafkalearn.sharing.turn import WRITE_ERRORS, Turn


def begin(turn: Turn, waiting: Waiting) -> None:
    """A fetch looks for records in its partitions; it waits if it finds too little.

    What was never read by a leader is asked for at the share coordinator, whose answers come one after the other.
    """
    request = waiting.request
    if not waiting.partitions or request.max_records == 0 or request.max_bytes <= 0:
        turn.answered.append((waiting, {}))
        return
    cold: list[str] = []
    partitions: list[str] = []
    errors = list(waiting.errors)
    for name in waiting.partitions:
        log = turn.log(name)
        if log.leader != request.broker:
            errors.append((name, "NOT_LEADER_OR_FOLLOWER", ""))
            continue
        partitions.append(name)
        if turn.share((str(request.group), name)) is None:
            cold.append(name)
    waiting = replace(waiting, partitions=tuple(partitions), errors=tuple(errors))
    if not partitions:
        turn.answered.append((waiting, {}))
        return
    waiting = wait(turn, waiting)
    _try(turn, waiting)
    turn.settle()
    for name in cold:
        _initialize(turn, request, name)


def wait(turn: Turn, waiting: Waiting) -> Waiting:
    """A fetch waits, behind all that wait already."""
    waiting = replace(waiting, number=1 + max((each.number for each in turn.cluster.waiting), default=0))
    turn.change(waiting=(*turn.cluster.waiting, waiting))
    return waiting


def _initialize(turn: Turn, request: ShareFetch, name: str) -> None:
    """The leader reads what is stored of a share-partition; its fetches look again, or have an error for it."""
    key = (str(request.group), name)
    log = turn.log(name)
    before = stored.state_of(turn.settings, turn.cluster, *key)
    answer = turn.ask(Read(stored.whose(turn.settings, *key), log.leader_epoch, turn.cluster.now_ms))
    error = "NONE" if answer.error == "NONE" else WRITE_ERRORS.get(answer.error, "UNKNOWN_SERVER_ERROR")
    start = None
    if error == "NONE" and before is not None:
        start = before.start_offset if before.start_offset != -1 else _start_by_policy(turn, key[0], log)
        error = "NONE" if start is not None else "OFFSET_NOT_AVAILABLE"
    if error != "NONE" or before is None or start is None:
        _add_error(turn, key, error)
        return
    turn.put(in_flight.loaded(key, log.leader_epoch, before, start))
    turn.resume_dead_letters(key)
    look_again(turn, *key)


def _start_by_policy(turn: Turn, group: str, log: Log) -> int | None:
    """Where a group begins to read that nobody has told; None: its policy asks for a record that there is none of."""
    policy = turn.configs(group).get("share.auto.offset.reset", "latest")
    if policy == "latest":
        return log.end_offset
    if policy == "earliest":
        return log.start_offset
    return appending.offset_for_time(log, turn.cluster.now_ms - duration_ms(policy.partition(":")[2]))


def _add_error(turn: Turn, key: Key, error: str) -> None:
    """The fetches that wait for a share-partition have an error for it; where that is all, they are answered."""
    found = []
    for each in turn.cluster.waiting:
        if each.request.group == key[0] and key[1] in each.partitions:
            others = tuple(one for one in each.errors if one[0] != key[1])
            each = replace(each, errors=(*others, (key[1], error, "")))
        found.append(each)
    turn.change(waiting=tuple(found))


def look_again(turn: Turn, group: str | None, partition: str) -> None:
    """The fetches that wait for a partition, and of this group if one is named, see whether there is something now."""
    for each in turn.cluster.waiting:
        is_watching = partition in each.partitions and (group is None or each.request.group == group)
        now = next((one for one in turn.cluster.waiting if one.number == each.number), None)
        if is_watching and now is not None:
            _try(turn, now)


def _try(turn: Turn, waiting: Waiting) -> None:
    """Answer a fetch if there are enough bytes that it may acquire."""
    offsets = _acquirable(turn, waiting)
    if not offsets:
        return
    fresh = [name for name, offset in offsets.items() if _share(turn, waiting, name).looked_up != offset]
    sizes = _shared_bytes(waiting.request.max_bytes, len(offsets), len(fresh))
    found, has_error = _read(turn, waiting, {name: offsets[name] for name in fresh}, sizes, waiting.request.max_bytes)
    for name in fresh:
        if found[name] is not None:
            turn.put(replace(_share(turn, waiting, name), looked_up=offsets[name]))
        has_error = has_error or found[name] is None
    if not has_error and not _has_enough(turn, waiting, offsets):
        return
    if not fresh:
        found, _ = _read(
            turn,
            waiting,
            offsets,
            _shared_bytes(waiting.request.max_bytes, len(offsets), len(offsets)),
            waiting.request.max_bytes,
        )
    else:
        rest = {name: offset for name, offset in offsets.items() if name not in found}
        more, _ = _read(
            turn,
            waiting,
            rest,
            _shared_bytes(waiting.request.max_bytes, len(offsets), len(rest)),
            waiting.request.max_bytes,
        )
        found = {**more, **found}
    _answer(turn, waiting, offsets, found)


def _share(turn: Turn, waiting: Waiting, name: str) -> SharePartition:
    share = turn.share((str(waiting.request.group), name))
    assert share is not None
    return share


def _acquirable(turn: Turn, waiting: Waiting) -> dict[str, int]:
    """Where each partition is to be read that may give records, in the order of the request."""
    offsets = {}
    for name in waiting.partitions:
        share = turn.share((str(waiting.request.group), name))
        if share is None:
            continue
        share, may = in_flight.can_acquire(share, turn.max_locks(share.key[0]))
        turn.put(share)
        if may:
            share, offsets[name] = in_flight.next_fetch_offset(share)
            turn.put(share)
    return offsets


def _shared_bytes(max_bytes: int, partition_count: int, read_count: int) -> int:
    """The bytes that each partition may give; what is left over, one of them by chance, is left out."""
    return max_bytes // partition_count if max_bytes >= partition_count else max_bytes // max(1, read_count)


def _read(
    turn: Turn, waiting: Waiting, offsets: dict[str, int], size: int, limit: int
) -> tuple[dict[str, tuple[Batch, ...] | None], bool]:
    """What the logs give, in this order; None: the offset is out of range. The first batch of all comes whole."""
    found: dict[str, tuple[Batch, ...] | None] = {}
    is_one_given = True
    is_committed = turn.is_committed(str(waiting.request.group))
    for name, offset in offsets.items():
        log = turn.log(name)
        if appending.is_out_of_range(log, offset):
            found[name] = None
            continue
        batches = appending.read(log, offset, log.upper_bound(is_committed), min(size, limit), is_one_given)
        found[name] = batches
        if batches:
            is_one_given = False
            limit = max(0, limit - sum(each.size for each in batches))
    return found, any(each is None for each in found.values())


def _has_enough(turn: Turn, waiting: Waiting, offsets: dict[str, int]) -> bool:
    request = waiting.request
    size = _shared_bytes(request.max_bytes, len(offsets), len(offsets))
    is_committed = turn.is_committed(str(request.group))
    total = 0
    for name, offset in offsets.items():
        log = turn.log(name)
        if _share(turn, waiting, name).looked_up == offset:
            total += min(size, appending.bytes_from(log, offset, log.upper_bound(is_committed)))
    return total >= min(request.min_bytes, request.max_bytes)


def _answer(turn: Turn, waiting: Waiting, offsets: dict[str, int], found: dict[str, tuple[Batch, ...] | None]) -> None:
    """Acquire from what was read, partition by partition, as long as records are wanted."""
    taken = 0
    answers: dict[str, FetchedPartition] = {}
    moved: list[str] = []
    for name, batches in found.items():
        share = _share(turn, waiting, name)
        log = turn.log(name)
        if batches is None:
            turn.put(in_flight.log_start_moved(share, log.start_offset))
            answers[name] = FetchedPartition(name)
            continue
        try:
            answer, count = _acquire(turn, waiting, share, offsets[name], batches, waiting.request.max_records - taken)
        except in_flight.BrokerFailedError:
            answers = {each: FetchedPartition(each, error="UNKNOWN_SERVER_ERROR") for each in offsets}
            break
        answers[name] = answer
        taken += count
        if batches:
            moved.append(name)
    _done(turn, waiting, answers)
    for name in moved:
        look_again(turn, waiting.request.group, name)


def _acquire(
    turn: Turn, waiting: Waiting, share: SharePartition, offset: int, batches: tuple[Batch, ...], room: int
) -> tuple[FetchedPartition, int]:
    request, (group, name) = waiting.request, share.key
    log = turn.log(name)
    wish = Wish(
        request.member, request.mode, request.batch_size, room, turn.delivery_limit(group), turn.max_locks(group),
        turn.cluster.now_ms + turn.lock_duration_ms(group),
    )  # fmt: skip
    aborted = ()
    if turn.is_committed(group) and batches:
        aborted = log.aborted(offset, log.upper_bound(is_committed=True))
    got = acquiring.acquire(share, wish, offset, batches)
    turn.put(got.share)  # which stays so if what was aborted cannot be taken out
    if aborted and got.ranges:
        got = acquiring.without_aborted(got, batches, aborted)
        turn.put(got.share)
    if not got.ranges:
        return FetchedPartition(name), 0
    _note(turn, group, name, request.member, got.ranges, log)
    return FetchedPartition(name, got.ranges, _sliced(batches, got.ranges[0][0], got.ranges[-1][1])), got.count


def _note(turn: Turn, group: str, name: str, member: str, ranges: tuple[tuple[int, int, int], ...], log: Log) -> None:
    """Note each record that was delivered; a hole of compaction and a marker are offsets, and no records."""
    there = {offset for batch in log.batches if not batch.is_control for offset in batch.offsets}
    more = tuple(
        Delivery(group, name, offset, member, count)
        for first, last, count in ranges
        for offset in range(first, last + 1)
        if offset in there
    )
    again = {(group, name, each.offset) for each in more} & turn.cluster.accepted
    turn.change(deliveries=(*turn.cluster.deliveries, *more), repeated=turn.cluster.repeated | again)


def _sliced(batches: tuple[Batch, ...], first: int, last: int) -> tuple[tuple[int, int, int, str], ...]:
    """The batches from the one that has the first acquired offset to the one that has the last."""
    begin = max((place for place, each in enumerate(batches) if each.base_offset <= first), default=0)
    return tuple(each.shown for each in batches[begin:] if each.base_offset <= last or each is batches[begin])


def _done(turn: Turn, waiting: Waiting, answers: dict[str, FetchedPartition]) -> None:
    """A fetch waits no more."""
    turn.change(waiting=tuple(each for each in turn.cluster.waiting if each.number != waiting.number))
    turn.answered.append((waiting, answers))


def expire(turn: Turn, waiting: Waiting) -> None:
    """The end of a wait: the fetch takes what there is, be it nothing."""
    offsets: dict[str, int] = {} if waiting.refusal else _acquirable(turn, waiting)
    waiting = replace(waiting, has_waited=waiting.request.max_wait_ms > 0)
    if not offsets:
        _done(turn, waiting, {})
        return
    size = _shared_bytes(waiting.request.max_bytes, len(offsets), len(offsets))
    found, _ = _read(turn, waiting, offsets, size, waiting.request.max_bytes)
    _answer(turn, waiting, offsets, found)
