"""Log compaction by the log cleaner: what it may take, when it comes, its two passes, and when tombstones go.

The first pass makes a map with the last offset of each key, the second copies the segments without what the map makes
obsolete. The sections follow a log through it: how dirty it is, what stops a cleaner, which segments become one, which
transactions are aborted, when the next pass comes, the map, the keep rule, the copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.formats.records import BATCH_HEADER_BYTES, MARKER_BYTES, bytes_of
from kafkalearn.formats.wire import varint_bytes
from kafkalearn.log import model
from kafkalearn.log.appending import size_of
from kafkalearn.log.index import FARTHEST, OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES, index_of
from kafkalearn.log.model import Batch, Cleanable, Decision, Log, Record, Segment, Settings, Transaction

# How dirty a log is, and whether that is enough. The *dirty* part begins at the checkpoint of the last cleaning. It
# ends where the first of three things is: an offset that is not decided yet, the active segment, or a segment that
# ``min.compaction.lag.ms`` still protects. Cleaning goes by whole segments. Only the *dirty ratio*, or
# ``max.compaction.lag.ms``, makes the cleaner begin.


def cleanable(settings: Settings, log: Log, now_ms: int) -> Cleanable:
    """What the cleaner may take of the log at a time, and whether it will.

    References
    ----------
    Apache Kafka, ``LogCleanerManager.cleanableOffsets`` and ``grabFilthiestCompactedLog``. Up to 3.0 records above
    the high watermark could be cleaned (KAFKA-13194).
    """
    first_dirty = first_dirty_offset(log)
    dirty = _closed_from(log, first_dirty)
    bound = max(first_dirty, _bound(settings, log, dirty, now_ms))
    first_uncleanable = next(iter(_closed_from(log, bound)), log.active).base_offset
    clean_bytes = sum(segment.size_bytes for segment in log.segments if segment.base_offset < first_dirty)
    cleanable_bytes = sum(segment.size_bytes for segment in dirty if segment.base_offset < first_uncleanable)
    must_clean = _must(settings, dirty, now_ms) and cleanable_bytes > 0
    found = Cleanable(first_dirty, first_uncleanable, clean_bytes, cleanable_bytes, must_clean, False)
    is_dirty_enough = found.ratio > settings.min_cleanable_dirty_ratio  # strictly: half of half is not enough
    return replace(found, is_eligible=settings.is_compacted and (is_dirty_enough or must_clean))


def first_dirty_offset(log: Log) -> int:
    """Where the last cleaning stopped; the log start offset if that was deleted, or if there was no cleaning."""
    if log.checkpoint is None or not log.log_start_offset <= log.checkpoint <= log.log_end_offset:
        return log.log_start_offset
    return log.checkpoint


def with_valid_checkpoint(settings: Settings, log: Log) -> Log:
    """The log after a look of the cleaner: since 2.4.1 it moves a checkpoint that the log no longer reaches.

    References
    ----------
    Apache Kafka, ``LogCleanerManager.cleanableOffsets``: ``forceUpdateCheckpoint``; KAFKA-8764 (2.4.1).
    """
    first_dirty = first_dirty_offset(log)
    if log.checkpoint in (None, first_dirty) or not (settings.is_compacted and settings.has("2.4.1")):
        return log
    return replace(log, checkpoint=first_dirty)


def _closed_from(log: Log, offset: int) -> tuple[Segment, ...]:
    """The closed segments from the one that holds an offset on."""
    bases = [segment.base_offset for segment in log.segments if segment.base_offset <= offset]
    from_base = bases[-1] if bases else 0
    return tuple(segment for segment in log.segments[:-1] if segment.base_offset >= from_base)


def _bound(settings: Settings, log: Log, dirty: tuple[Segment, ...], now_ms: int) -> int:
    """The first offset that must not be cleaned."""
    bounds = [log.active.base_offset]
    if settings.has("3.1"):
        bounds.append(log.last_stable_offset)
    elif log.first_unstable_offset is not None:
        bounds.append(log.first_unstable_offset)
    if settings.min_compaction_lag_ms > 0 and settings.has("0.10.1"):
        youngest_ms = now_ms - settings.min_compaction_lag_ms
        bounds += [segment.base_offset for segment in dirty if segment.largest_timestamp_ms > youngest_ms][:1]
    return min(bounds)


def _must(settings: Settings, dirty: tuple[Segment, ...], now_ms: int) -> bool:
    """Whether the oldest dirty segment has waited longer than max.compaction.lag.ms."""
    if not settings.has("2.3"):
        return False
    since = [segment.first_timestamp_ms for segment in dirty if segment.first_timestamp_ms > 0]
    return bool(since) and min(since) < now_ms - settings.max_compaction_lag_ms


# A cleaner that stopped: what happens then, and what shows it. Up to 2.0 an unexpected exception ended the cleaner
# thread, after one line in ``log-cleaner.log``, and with it all compaction of the broker until a restart. Since 2.1
# (KIP-346) the thread goes on without the partition. On topics with ``compact,delete`` the cleaner also deletes old
# segments, so that retention stops with it.


def stop(settings: Settings, log: Log, reason: str, is_java_error: bool = False) -> Log:
    """The log after an exception in its cleaner; a Java Error, such as out of memory, always ends the thread."""
    state = model.UNCLEANABLE if settings.has("2.1") and not is_java_error else model.DEAD
    return replace(log, cleaner=state, effects=(*log.effects, model.CleanerStopped(reason)))


def cleaner_failed(settings: Settings, log: Log, event: model.CleanerFailed) -> Log:
    """The log after an exception that came from outside the model."""
    if log.cleaner == model.DEAD:
        raise IllegalEvent(
            f"{event!r}: the cleaner thread is dead already; BrokerRestarted or ReplaceCleanerThreads come next"
        )
    return stop(settings, log, event.reason, event.is_java_error)


def restart(log: Log) -> Log:
    """The log after the broker was restarted: there is a thread again, and no partition is left out."""
    return replace(log, cleaner=model.RUNNING)


def replace_threads(settings: Settings, log: Log, event: model.ReplaceCleanerThreads) -> Log:
    """The log with new cleaner threads; a partition that was left out stays so."""
    if not settings.has("1.1"):
        raise IllegalEvent(f"{event!r}: log.cleaner.threads can be changed without a restart since 1.1 only")
    return replace(log, cleaner=model.RUNNING if log.cleaner == model.DEAD else log.cleaner)


def cleaner_metrics(settings: Settings, log: Log, now_ms: int) -> Mapping[str, int | None]:
    """What an operator of this release can see of a partition's cleaner, by name.

    The first two are always there: the line of ``cleaner-offset-checkpoint`` and the log end offset. If the first
    stands still while the second grows, this partition is not cleaned. The others are metrics under ``kafka.log``.

    Parameters
    ----------
    settings : Settings
        For the release.
    log : Log
        The partition.
    now_ms : int
        The clock.

    Examples
    --------
    >>> cleaner_metrics(Settings(release="2.0"), Log(cleaner="dead", last_round_ms=1000), now_ms=61000)
    {'cleaner-offset-checkpoint': None, 'log end offset': 0, 'time-since-last-run-ms': 60000}
    >>> cleaner_metrics(Settings(), Log(cleaner="uncleanable", last_round_ms=61000), now_ms=61000)
    {'cleaner-offset-checkpoint': None, 'log end offset': 0, 'time-since-last-run-ms': 0, \
'uncleanable-partitions-count': 1, 'uncleanable-bytes': 0, 'DeadThreadCount': 0}
    """
    whole_number("now_ms", now_ms, at_least=0)
    is_uncleanable = log.cleaner == model.UNCLEANABLE
    found: dict[str, int | None] = {"cleaner-offset-checkpoint": log.checkpoint, "log end offset": log.log_end_offset}
    if settings.has("0.10.2"):
        found["time-since-last-run-ms"] = None if log.last_round_ms is None else now_ms - log.last_round_ms
    if settings.has("2.1"):
        found["uncleanable-partitions-count"] = int(is_uncleanable)
        left_bytes = cleanable(settings, log, now_ms).cleanable_bytes
        found["uncleanable-bytes"] = left_bytes if is_uncleanable else 0
    if settings.has("2.4"):
        found["DeadThreadCount"] = int(log.cleaner == model.DEAD)
    return found


def groups_of(settings: Settings, segments: tuple[Segment, ...], end: int) -> tuple[tuple[Segment, ...], ...]:
    """The segments in groups, each of which becomes one segment: small ones are copied into a common new one.

    A group takes the next segment as long as the sizes *before* cleaning, of the files and of their indexes, stay
    within ``segment.bytes`` and ``segment.index.bytes``, and offsets stay within four bytes of the base.

    Parameters
    ----------
    settings : Settings
        For the two sizes.
    segments : tuple of Segment
        What is cleaned, in order.
    end : int
        The first offset behind them.

    References
    ----------
    Apache Kafka, ``Cleaner.groupSegmentsBySize``.
    """
    groups: list[list[Segment]] = []
    room: list[int] = []
    for segment, next_base in zip(segments, model.ends_of(segments, end), strict=True):
        sizes = _sizes(settings, segment)
        is_near = groups and (not segment.batches or next_base - 1 - groups[-1][0].base_offset <= FARTHEST)
        if is_near and all(size <= left for size, left in zip(sizes, room, strict=True)):
            groups[-1].append(segment)
        else:
            groups.append([segment])
            room = [settings.segment_bytes, settings.segment_index_bytes, settings.segment_index_bytes]
        room = [left - size for left, size in zip(room, sizes, strict=True)]
    return tuple(map(tuple, groups))


def _sizes(settings: Settings, segment: Segment) -> tuple[int, int, int]:
    index = index_of(settings, segment, is_closed=True)
    return segment.size_bytes, OFFSET_ENTRY_BYTES * len(index.offsets), TIME_ENTRY_BYTES * len(index.times)


# Transactions as the cleaner sees them. It reads batches in order. Data of an aborted transaction goes, whatever its
# keys are. A marker may go only if no batch of its transaction was read before it, and then like a tombstone: it gets a
# delete horizon first.


class CleanedTransactions:
    """What the cleaner knows of transactions while it reads batches in order."""

    def __init__(self, log: Log, start: int, end: int) -> None:
        """Begin before the first batch of the segment at `start`, to read as far as `end`.

        Aborted transactions are known by their markers: one that ended before `start` is over, and one that ended
        below the log start offset is forgotten, so that its batches are kept or removed by their keys.
        """
        first = max(start, log.log_start_offset)
        ends = ((each, each.last_offset) for each in log.transactions if each.is_aborted)
        known = (each for each, last in ends if last is not None and last >= first and each.first_offset < end)
        self._waiting = sorted(known, key=lambda each: each.first_offset)
        self._aborted: dict[int, Transaction] = {}  # by producer id, begun and not ended here
        self._with_data: set[Transaction] = set()  # aborted, with a batch that was read
        self._committed: set[int] = set()  # producers of which an undecided or committed batch was read

    def read(self, batch: Batch) -> bool:
        """Read the next batch, and answer whether it may go: aborted data, or a marker without data left.

        References
        ----------
        Apache Kafka, ``CleanedTransactionMetadata``.
        """
        while self._waiting and self._waiting[0].first_offset <= batch.last_offset:
            begun = self._waiting.pop(0)
            self._aborted.setdefault(begun.producer_id, begun)
        if batch.marker is not None:
            return self._end(batch)
        if not batch.is_transactional:
            return False
        if batch.producer_id in self._aborted:
            self._with_data.add(self._aborted[batch.producer_id])
            return True
        self._committed.add(batch.producer_id)
        return False

    def _end(self, marker: Batch) -> bool:
        if not marker.records:
            return True  # cleaned before, and kept empty because its producer is live
        if marker.marker == "ABORT":
            return self._aborted.pop(marker.producer_id, None) not in self._with_data
        has_data = marker.producer_id in self._committed
        self._committed.discard(marker.producer_id)
        return not has_data

    @property
    def with_data(self) -> frozenset[Transaction]:
        """The aborted transactions of which a batch was read: the log must still know them."""
        return frozenset(self._with_data)


@dataclass(frozen=True, slots=True)
class NextClean:
    """What the next pass over a log waits for."""

    at_ms: int | None  # the first moment at which the log is eligible if nothing is written; None: never
    missing_bytes: int | None  # more of them in closed segments would do now; None: no number would


def next_clean(settings: Settings, log: Log, now_ms: int) -> NextClean:
    """When the log becomes eligible, by the passing of time or by more bytes.

    A cleaner thread looks every ``log.cleaner.backoff.ms`` (15 s), so that the pass itself comes a little later.
    A tombstone whose delete horizon has passed waits for such a pass like everything else.

    Parameters
    ----------
    settings : Settings
        Of the topic.
    log : Log
        The partition.
    now_ms : int
        The clock; what is eligible already is so now.

    Examples
    --------
    >>> from kafkalearn.log.model import Append, NewBatch, Roll
    >>> from kafkalearn.log.simulator import step
    >>> settings = Settings("compact", max_compaction_lag_ms=60_000)
    >>> log = step(settings, Log(checkpoint=0), Append((NewBatch((("a", "1", 1000),)),)))
    >>> next_clean(settings, log, 2000)  # all of it is in the active segment
    NextClean(at_ms=None, missing_bytes=1)
    >>> next_clean(settings, step(settings, log, Roll()), 2000)
    NextClean(at_ms=2000, missing_bytes=0)

    References
    ----------
    Apache Kafka, ``LogCleanerManager.grabFilthiestCompactedLog``.
    """
    whole_number("now_ms", now_ms, at_least=0)
    if not settings.is_compacted:
        return NextClean(None, None)
    found = cleanable(settings, log, now_ms)
    if found.is_eligible:
        return NextClean(now_ms, 0)
    moments = (each for each in _moments(settings, log) if each > now_ms)
    at_ms = next((each for each in sorted(moments) if cleanable(settings, log, each).is_eligible), None)
    return NextClean(at_ms, _missing_bytes(settings, found.clean_bytes, found.cleanable_bytes))


def _moments(settings: Settings, log: Log) -> set[int]:
    """When a dirty segment leaves the protection of the one lag, and when it exceeds the other."""
    first_dirty = first_dirty_offset(log)
    closed = log.segments[:-1]
    ends = model.ends_of(closed, log.active.base_offset)
    dirty = [each for each, end in zip(closed, ends, strict=True) if end > first_dirty]
    ripe = {segment.largest_timestamp_ms + settings.min_compaction_lag_ms for segment in dirty}
    if settings.max_compaction_lag_ms == model.LONG_MAX:
        return ripe
    return ripe | {segment.first_timestamp_ms + settings.max_compaction_lag_ms + 1 for segment in dirty}


def _missing_bytes(settings: Settings, clean_bytes: int, cleanable_bytes: int) -> int | None:
    """The least number that lifts the dirty ratio above ``min.cleanable.dirty.ratio``."""
    least = settings.min_cleanable_dirty_ratio

    def is_enough(more_bytes: int) -> bool:
        dirty_bytes = cleanable_bytes + more_bytes
        return dirty_bytes > 0 and dirty_bytes / (clean_bytes + dirty_bytes) > least

    if least >= 1:
        return None
    too_few = max(0, int(Fraction(least) * clean_bytes / (1 - Fraction(least))) - cleanable_bytes - 1) - 1
    step = 1
    while not is_enough(too_few + step):  # a ratio near 1 is a float that many counts share
        step *= 2
        if step > model.LONG_MAX:
            return None
    enough = too_few + step
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return enough


# The first pass: which offset of each key is the last one. Kafka keeps 24 bytes for a key: a hash of it (MD5) and an
# offset. Keys are never compared, and when the map is full the pass stops: what it has not seen is left for the next
# cleaning. Here the keys themselves are kept; two keys with one hash are not modelled.


class CleanerDied(KafkaLearnError):  # noqa: N818  (named for what happened, as in the cleaner's log)
    """An exception inside the cleaner, which ends its thread or makes it leave the partition out."""


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """The last offset of each key in the dirty part, as far as the map went."""

    offsets: dict[bytes, int]
    latest_offset: int  # the map holds everything up to here
    is_full: bool


def offset_map(settings: Settings, log: Log, cleanable: Cleanable) -> OffsetMap:
    """The map of the dirty part, `cleanable.first_dirty_offset` up to the first uncleanable one.

    Raises
    ------
    CleanerDied
        Before 0.10.0, if one segment alone has more records than the map has room; in 0.8, at a record without key.

    References
    ----------
    Apache Kafka, ``Cleaner.buildOffsetMap``, ``SkimpyOffsetMap``.
    """
    dirty = _dirty_segments(log, cleanable)
    if not settings.has("0.10.0"):
        return _map_of_whole_segments(settings, dirty, cleanable)
    transactions = CleanedTransactions(log, dirty[0].base_offset, cleanable.first_uncleanable_offset)
    offsets: dict[bytes, int] = {}
    latest = cleanable.first_dirty_offset - 1
    for segment, end in zip(dirty, model.ends_of(dirty, cleanable.first_uncleanable_offset), strict=True):
        for batch in segment.batches:
            for record in () if transactions.read(batch) or batch.marker else batch.records:
                if record.key is None or record.offset < cleanable.first_dirty_offset:
                    continue
                if len(offsets) >= settings.usable_key_count:  # even if the key is known
                    return OffsetMap(offsets, latest, is_full=True)
                offsets[bytes_of(record.key)] = latest = record.offset
            latest = max(latest, batch.last_offset)
        latest = end - 1  # the gap behind the last batch counts as read
    return OffsetMap(offsets, latest, is_full=False)


def _dirty_segments(log: Log, cleanable: Cleanable) -> list[Segment]:
    """The segments from the one that holds the first dirty offset up to the first uncleanable one."""
    below = [each for each in log.segments if each.base_offset < cleanable.first_uncleanable_offset]
    ends = model.ends_of(below, cleanable.first_uncleanable_offset)
    return [each for each, end in zip(below, ends, strict=True) if end > cleanable.first_dirty_offset]


def _map_of_whole_segments(settings: Settings, dirty: list[Segment], cleanable: Cleanable) -> OffsetMap:
    """Before 0.10.0 a segment went into the map whole or not at all; one that could not ended the thread."""
    offsets: dict[bytes, int] = {}
    latest = cleanable.first_dirty_offset - 1
    for segment in dirty:
        if not segment.batches:
            continue
        count = segment.batches[-1].last_offset + 1 - segment.base_offset
        if count > settings.usable_key_count:
            raise CleanerDied(
                f"{count} messages in segment {segment.base_offset:020}.log but offset map can fit only "
                f"{settings.usable_key_count}; log.cleaner.dedupe.buffer.size must grow, or log.cleaner.threads shrink"
            )
        if len(offsets) + count > settings.usable_key_count:
            return OffsetMap(offsets, latest, is_full=True)
        for batch in segment.batches:
            for record in batch.records:
                if record.key is None and not settings.has("0.9.0"):
                    raise CleanerDied(f"the message at offset {record.offset} has no key; Kafka 0.8 required one")
                if record.key is not None:
                    offsets[bytes_of(record.key)] = record.offset
            latest = batch.last_offset
    return OffsetMap(offsets, latest, is_full=False)


# The keep rule: which records a cleaning leaves in the log, and why. A record stays if it lies behind what the offset
# map has seen, or is the last of its key. The last of a key that is a *tombstone* stays for a while: since 3.1 the
# first cleaning that meets it writes a *delete horizon* into its batch, and a later one that comes after the horizon
# drops it. Up to 3.0 the times of the segment files decided instead.

BEHIND_THE_MAP = "behind what the map has seen"
LAST_OF_KEY = "last of its key"
TOMBSTONE_NEW = "tombstone, met for the first time"
TOMBSTONE_WAITS = "tombstone, its horizon is not reached"
TOMBSTONE_GONE = "tombstone, its horizon has passed"
TOMBSTONE_YOUNG = "tombstone, its segment is young"
TOMBSTONE_OLD = "tombstone, its segment is old"
OVERTAKEN = "overtaken by offset {}"
NO_KEY = "no key"
ABORTED = "of an aborted transaction"
MARKER = "marker of a transaction"
MARKER_GONE = "marker without a transaction, its horizon has passed"


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What is the same for all records of one cleaning."""

    settings: Settings
    log: Log  # before it
    map: OffsetMap
    cleanable: Cleanable
    now_ms: int
    legacy_horizon_ms: int | None  # None: horizons are in the batches, as since 3.1


def discards_batch(cleaning: Cleaning, batch: Batch, may_go: bool, is_young: bool) -> bool:
    """Whether all of a batch goes because of its transaction; a marker has to wait like a tombstone.

    `may_go` comes from `kafkalearn.log.cleaner.CleanedTransactions`; `is_young` counts up to 3.0: the
    segment's file is younger than the horizon of this cleaning.
    """
    if not may_go or batch.marker is None:
        return may_go
    if cleaning.legacy_horizon_ms is not None:
        return not is_young
    return batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= cleaning.now_ms


def decide(cleaning: Cleaning, batch: Batch, record: Record, is_discarded: bool, is_young: bool) -> Decision:
    """Whether a record stays, and why; `is_discarded` is the answer of `discards_batch`.

    References
    ----------
    Apache Kafka, ``Cleaner.shouldRetainRecord``. The offset decides, not the timestamp.
    """
    if batch.marker is not None:
        return Decision(record.offset, not is_discarded, MARKER_GONE if is_discarded else MARKER)
    if is_discarded:
        return Decision(record.offset, False, ABORTED)
    if record.offset > cleaning.map.latest_offset:
        return Decision(record.offset, True, BEHIND_THE_MAP)
    if record.key is None:
        return Decision(record.offset, False, NO_KEY)
    newest = cleaning.map.offsets.get(bytes_of(record.key), -1)
    if newest > record.offset:
        return Decision(record.offset, False, OVERTAKEN.format(newest))
    if record.value is not None:
        return Decision(record.offset, True, LAST_OF_KEY)
    return _decide_on_tombstone(cleaning, batch, record, is_young)


def _decide_on_tombstone(cleaning: Cleaning, batch: Batch, record: Record, is_young: bool) -> Decision:
    if cleaning.legacy_horizon_ms is not None:
        return Decision(record.offset, is_young, TOMBSTONE_YOUNG if is_young else TOMBSTONE_OLD)
    if batch.delete_horizon_ms is None:
        return Decision(record.offset, True, TOMBSTONE_NEW)
    waits = cleaning.now_ms < batch.delete_horizon_ms
    return Decision(record.offset, waits, TOMBSTONE_WAITS if waits else TOMBSTONE_GONE)


# The second pass: segments are copied without what the map makes obsolete. Offsets never change, and a batch keeps its
# range of them. A batch without records left goes too, unless the log would forget something with it: the last offset
# of a live idempotent producer, or since 4.0 its own end (up to 4.3 the end of what was cleaned).


def clean(settings: Settings, log: Log, cleanable: Cleanable, now_ms: int) -> Log:
    """The log after one cleaning of what `cleanable` names; the effect `Cleaned` has the reasons.

    Raises
    ------
    CleanerDied
        As `kafkalearn.log.cleaner.offset_map`.

    References
    ----------
    Apache Kafka, ``Cleaner.doClean``, ``cleanSegments``, ``MemoryRecords.filterTo``; KIP-534 (3.1), KAFKA-17076 (4.0);
    the classes of 4.3.1 and 4.4.0, compared.
    """
    found = offset_map(settings, log, cleanable)
    end = found.latest_offset + 1
    cleaning = Cleaning(settings, log, found, cleanable, now_ms, _legacy_horizon_ms(settings, log, cleanable))
    copied = tuple(segment for segment in log.segments[:-1] if segment.base_offset < end)
    left = log.segments[len(copied) :]
    transactions = CleanedTransactions(log, log.segments[0].base_offset, left[0].base_offset)
    decisions: list[Decision] = []
    groups = groups_of(settings, copied, cleanable.first_uncleanable_offset)
    segments = tuple(_merged(cleaning, group, transactions, decisions) for group in groups)
    done = model.Cleaned(cleanable, found.latest_offset, found.is_full, cleaning.legacy_horizon_ms, tuple(decisions))
    return replace(
        log,
        segments=segments + left,
        checkpoint=end,
        transactions=_still_known(log, left[0].base_offset, transactions),
        effects=(*log.effects, done),
    )


def _legacy_horizon_ms(settings: Settings, log: Log, cleanable: Cleanable) -> int | None:
    """Up to 3.0: when the newest clean segment was written, less delete.retention.ms; 0 if nothing is clean."""
    if settings.has("3.1"):
        return None
    clean_ms = [each.modified_ms for each in log.segments if each.base_offset < cleanable.first_dirty_offset]
    return clean_ms[-1] - settings.delete_retention_ms if clean_ms else 0


def _still_known(log: Log, end: int, transactions: CleanedTransactions) -> tuple[Transaction, ...]:
    """The transactions the log still has to know: of those that ended below `end`, aborted ones with a batch left."""
    ended = {each for each in log.transactions if each.last_offset is not None and each.last_offset < end}
    return tuple(each for each in log.transactions if each not in ended or each in transactions.with_data)


def _merged(
    cleaning: Cleaning, group: tuple[Segment, ...], transactions: CleanedTransactions, decisions: list[Decision]
) -> Segment:
    """The one segment that a group becomes: at the base of its first, with the file time of its last."""
    batches = tuple(_copied(cleaning, group, transactions, decisions))
    return Segment(group[0].base_offset, batches, group[-1].modified_ms, group[0].created_ms)


def _copied(
    cleaning: Cleaning, group: tuple[Segment, ...], transactions: CleanedTransactions, decisions: list[Decision]
) -> Iterator[Batch]:
    """The batches of a group that stay; the decisions on all its records are added to `decisions`."""
    for segment in group:
        is_young = cleaning.legacy_horizon_ms is not None and segment.modified_ms > cleaning.legacy_horizon_ms
        for batch in segment.batches:
            may_go = transactions.read(batch)
            is_discarded = discards_batch(cleaning, batch, may_go, is_young)
            here = [decide(cleaning, batch, record, is_discarded, is_young) for record in batch.records]
            decisions += here
            kept = tuple(record for record, decision in zip(batch.records, here, strict=True) if decision.is_kept)
            if kept:
                yield _rewritten(cleaning, batch, kept, may_go)
            elif _must_not_be_forgotten(cleaning, batch):
                yield _emptied(batch)


def _emptied(batch: Batch) -> Batch:
    """The header alone: who wrote the batch, and its offsets; of nothing no codec is named."""
    size_bytes = BATCH_HEADER_BYTES
    return replace(batch, records=(), size_bytes=size_bytes, delete_horizon_ms=None, padding_bytes=0, codec="none")


def _must_not_be_forgotten(cleaning: Cleaning, batch: Batch) -> bool:
    """Whether an emptied batch stays: the last of a live producer, or one that ends where the log must not shrink.

    From 4.0 to 4.3 that is the end of what is cleaned, since 4.4 the high watermark. So since 4.4 it stays only if
    nothing has been written behind it.
    """
    producer = cleaning.log.producer(batch.producer_id)
    if producer is not None and producer.last_data_offset is not None:
        is_last = batch.last_offset == producer.last_data_offset
    else:  # a marker raised the producer's epoch, and only the marker holds the epoch
        is_last = producer is not None and batch.marker is not None and batch.producer_epoch == producer.epoch
    by_watermark = cleaning.settings.has("4.4")
    end = cleaning.log.high_watermark if by_watermark else cleaning.cleanable.first_uncleanable_offset
    return is_last or (batch.last_offset + 1 == end and cleaning.settings.has("4.0"))


def _rewritten(cleaning: Cleaning, batch: Batch, kept: tuple[Record, ...], may_go: bool) -> Batch:
    """The batch with the records that stay; the same one if nothing about it changes."""
    has_tombstone = batch.marker is None and any(record.value is None for record in kept)
    needs_horizon = has_tombstone or (batch.marker is not None and may_go)
    sets_horizon = needs_horizon and cleaning.legacy_horizon_ms is None and batch.delete_horizon_ms is None
    if kept == batch.records and not sets_horizon:
        return batch
    horizon_ms = cleaning.now_ms + cleaning.settings.delete_retention_ms if sets_horizon else batch.delete_horizon_ms
    base_ms = kept[0].timestamp_ms if horizon_ms is None else horizon_ms
    return replace(
        batch,
        records=kept,
        size_bytes=_size_bytes(batch, kept, base_ms),
        max_timestamp_ms=max(record.timestamp_ms for record in kept),
        delete_horizon_ms=horizon_ms,
    )


def _size_bytes(batch: Batch, kept: tuple[Record, ...], base_ms: int) -> int:
    if batch.marker is not None:
        return MARKER_BYTES - varint_bytes(0) + varint_bytes(kept[0].timestamp_ms - base_ms)
    needed = size_of(batch.base_offset, base_ms, kept)
    if batch.codec == "none":
        return needed + batch.padding_bytes
    return BATCH_HEADER_BYTES + _in_proportion(batch, needed - BATCH_HEADER_BYTES)


def _in_proportion(batch: Batch, kept_bytes: int) -> int:
    """Bytes of records compressed as well as the whole batch was, rounded up.

    An estimate: only the codec knows what less data takes.
    """
    base_ms = batch.records[0].timestamp_ms if batch.delete_horizon_ms is None else batch.delete_horizon_ms
    all_bytes = size_of(batch.base_offset, base_ms, batch.records) - BATCH_HEADER_BYTES
    return -(-kept_bytes * (batch.size_bytes - BATCH_HEADER_BYTES) // all_bytes)
