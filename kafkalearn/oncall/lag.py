"""Why is the lag of a group what it is: for each partition, whether it falls, stands or grows, and the cause."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafkalearn.base.checks import iterable, number, text
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.oncall.answer import Answer, Outcome, lasting, moment, text_of, text_width, wrapped
from kafkalearn.oncall.catch_up import MOST_S, CatchUp, catch_ups, seconds_of
from kafkalearn.oncall.lag_looks import Look, Seen, cluster_look, described_look, files_look
from kafkalearn.oncall.options import add_bootstrap, cluster_of, file_argument

if TYPE_CHECKING:
    from kafkalearn.live.cluster import Cluster
    from kafkalearn.oncall.shapes import LagData, LagRow

APART_S = 10.0  # between the two looks at a cluster
LEAST_APART_S, MOST_APART_S = 0.001, 1e9  # between two texts: so that every rate is a number


def lag(
    describe: str | Sequence[str] = (),
    *,
    paths: str | Path | Iterable[str | Path] | None = None,
    cluster: Cluster | None = None,
    group: str | None = None,
    apart_s: float | None = None,
    to_catch_up_s: float | None = None,
) -> Lag:
    """For each partition of a group why its lag is what it is; one source, looked at once or twice.

    Parameters
    ----------
    describe : str or sequence of str
        What ``kafka-consumer-groups --describe`` (or ``kafka-share-groups --describe``) prints, of any release; two
        texts: the same at two times, the older one first. Of share groups what ``--members`` and ``--state`` print
        may stand in the same text: it says who has the partitions.
    paths : str, Path, or several of them
        In its place: segment files of a broker, its part of ``__consumer_offsets`` among them.
    cluster : Cluster or None
        In its place: a running cluster, `kafkalearn.live.connect`. It is looked at twice.
    group : str or None
        Only this one; None: all.
    apart_s : float or None
        Seconds between two texts, for rates, 0.001 to a thousand million; of a cluster how long to wait between two
        looks, 10 without it, 0: one.
    to_catch_up_s : float or None
        In how many seconds nothing is to wait any more: also how many members that takes, see
        `kafkalearn.oncall.catch_up`. It takes two looks, and the seconds between them.

    Raises
    ------
    KafkaLearnError
        If not one source is given, it has no such group, or members are asked for without two looks.

    Examples
    --------
    >>> header = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    >>> then = f"{header}\\nbilling orders 0 30 90 60 c1-3f /10.0.0.7 c1"
    >>> now = f"{header}\\nbilling orders 0 60 90 30 c1-3f /10.0.0.7 c1"
    >>> print(lag([then, now], apart_s=10))
    billing
      orders-0, lag 30: it falls by 3.0 records a second, and is gone in 10 s if
        that goes on
    >>> lag(f"{header}\\nbilling orders 0 40 5 -35 - - -").causes[0].name
    'beyond the end'

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``ConsumerGroupCommand``; KIP-98 for markers and the last stable offset; KIP-545 for what
    MirrorMaker 2 commits; 4.2 to 4.4, ``ShareGroupCommand``, KIP-932 and KIP-1226 for share groups.
    """
    if apart_s is not None and apart_s != 0:
        number("apart_s", apart_s, LEAST_APART_S, MOST_APART_S)
    if to_catch_up_s is not None and number("to_catch_up_s", to_catch_up_s, at_most=MOST_S) <= 0:
        raise KafkaLearnError(f"to_catch_up_s is a number of seconds above 0, at most 30 days; got {to_catch_up_s!r}")
    if group is not None:
        text("group", group)
    given = [describe] if isinstance(describe, str) else iterable("describe", describe, of="one or two texts")
    texts = [text("describe", each) for each in given]
    if sum([bool(texts), paths is not None, cluster is not None]) != 1:
        raise KafkaLearnError("give one of describe, paths and cluster: one source says what the lag is")
    if len(texts) > 2:
        raise KafkaLearnError(f"give what --describe prints once, or at two times; got {len(texts)} texts")
    looks = [described_look(each, group) for each in texts]
    if paths is not None:
        looks = [files_look(paths, group)]
    if cluster is not None:
        began = time.monotonic()
        looks = [cluster_look(cluster, group)]
        apart_s = APART_S if apart_s is None else apart_s
        if apart_s:
            time.sleep(apart_s)
            apart_s = round(time.monotonic() - began, 1)  # a look at a large cluster takes its time, too
            looks.append(cluster_look(cluster, group))
    now, before = looks[-1], looks[0] if len(looks) > 1 else None
    plans = tuple[CatchUp, ...]()
    if to_catch_up_s is not None:
        if before is None or not apart_s:
            raise KafkaLearnError(
                "rates take two looks and the seconds between them: give --describe twice with --apart, or --bootstrap"
            )
        plans = catch_ups(before, now, apart_s, to_catch_up_s)
    old = {} if before is None else {(each.group, each.at): each for each in before.partitions}
    causes = tuple(cause_of(each, old.get((each.group, each.at)), now, apart_s) for each in now.partitions)
    gone = () if before is None else tuple(sorted({each[0] for each in old} - {each.group for each in causes}))
    return Lag(now.source, len(looks), apart_s if before is not None else None, causes, now.rebalancing, gone, plans)


# The causes, in the order in which they are looked for: what makes the number wrong comes before what it does.

CAUGHT_UP, FALLS, KEEPS_UP, GROWS = "caught up", "falls", "keeps its distance", "grows"
MARKERS, OPEN, STANDS, NOT_COMMITTING = "markers", "open transaction", "stands", "not committing"
UNOWNED, NEVER, EXPIRED, EMPTY = "nobody owns it", "never committed", "offset removed", "empty"
BEFORE, BEYOND, GONE = "before the start", "beyond the end", "no such partition"
SHARE, ONE_LOOK, HOLES = "share group", "one look", "holes"
NOT_BEGUN = "not begun"

OUTCOMES: MappingProxyType[str, Outcome] = MappingProxyType(
    {
        **dict.fromkeys((CAUGHT_UP, FALLS, KEEPS_UP, MARKERS, EMPTY), Outcome.FINE),
        **dict.fromkeys((GROWS, OPEN, NOT_COMMITTING, UNOWNED, EXPIRED, BEFORE, BEYOND), Outcome.FOUND),
        **dict.fromkeys((STANDS, ONE_LOOK, NEVER, GONE, SHARE, NOT_BEGUN, HOLES), Outcome.CANNOT_TELL),
    }
)
"""Every cause, and whether it needs somebody: an unread partition does, a marker that counts for ever does not."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the lag of one partition is what it is."""

    group: str
    at: TopicPartition
    name: str  # in `OUTCOMES`
    lag: int | None
    words: str
    rate: float | None = None  # by how many records a second the lag changes
    gone_in_s: float | None = None  # when it is gone, if that goes on


def cause_of(now: Seen, before: Seen | None, look: Look, apart_s: float | None) -> Cause:
    """The cause for one partition, from one or two looks at it."""
    name, words, rate, gone_in_s = _cause(now, before, look, apart_s)
    if now.left_count is not None and now.lag and 0 < now.left_count < now.lag and name not in (BEFORE, BEYOND):
        words += (
            f"; of its {counted(now.lag, 'offset')} only {now.left_count:,} hold records to read: the others are "
            "markers, aborted, or gone by compaction"
        )
        name = HOLES if name == ONE_LOOK else name
    return Cause(now.group, now.at, name, now.lag, words, rate, gone_in_s)


def _cause(
    now: Seen, before: Seen | None, look: Look, apart_s: float | None
) -> tuple[str, str, float | None, float | None]:
    if now.is_share and before is not None and (moving := _share_moving(now, before, apart_s)) is not None:
        return moving
    plain = _without_movement(now, look)
    is_moving = before is not None and None not in (before.committed, now.committed, before.lag, now.lag)
    is_moving = is_moving and before.committed != now.committed
    if plain is not None and plain[0] == UNOWNED and not is_moving:
        return UNOWNED, f"{plain[1]}, {_unowned(now, before, look)}", None, None
    if plain is not None and not is_moving:
        return *plain, None, None
    if plain is not None and plain[0] != UNOWNED:
        return *plain, None, None
    if before is None or before.committed is None or now.committed is None or None in (before.lag, now.lag):
        if now.left_count == 0:
            return MARKERS, _of_markers(now), None, None
        waits = f"{counted(now.left_count, 'record')} wait; " if now.left_count else ""
        said = "one look shows no movement" + ("" if waits else f": {_what_it_can_be(now)}")
        return ONE_LOOK, f"{waits}{said}", None, None
    moved, change = now.committed - before.committed, (now.lag or 0) - (before.lag or 0)
    if moved:
        return _moving(now, moved, change, apart_s)
    if now.left_count == 0:
        return MARKERS, _of_markers(now), None, None
    rate = change / apart_s if apart_s else None
    whose = f"{now.member} owns it and" if now.member is not None else "somebody"
    if change > 0:
        so = f" and grows by {counted(change, 'record')}{_a_second(rate)}"
        words = f"{whose} commits nothing: the committed offset stands at {now.committed}, the lag{so[4:]}"
        return NOT_COMMITTING, words, rate, None
    if now.left_count is not None:
        words = f"{whose} commits nothing: the committed offset stands at {now.committed}, the log stands, too"
        return NOT_COMMITTING, words, rate, None
    return STANDS, f"it stands, as the log does: {_what_it_can_be(now)}", rate, None


def _of_share(now: Seen) -> tuple[str, str]:
    """What one look shows of a share group, which acknowledges records one by one and commits no offset."""
    if now.committed is None:
        waits = "" if not now.has_records else f" (the log has {counted((now.end or 0) - (now.start or 0), 'offset')})"
        nobody = "; no member has it" if now.member is None and now.is_owner_known else ""
        return NOT_BEGUN, (
            f"a share group that has acknowledged nothing here yet: no lag is known, and records may wait{waits}. Its "
            f"first fetch begins where share.auto.offset.reset says{nobody}"
        )
    if now.lag is not None and now.lag < 0:
        return BEYOND, (
            f"a share group whose start offset, {now.committed}, lies beyond the end of the log: it was altered to "
            "there, or the topic was made anew. It gets nothing until the log is as long"
        )
    if now.lag == 0:
        return CAUGHT_UP, "a share group, and all that is in the log is acknowledged"
    known = (
        "ask kafka-share-groups --describe for what is not acknowledged yet"
        if now.lag is None
        else f"of what lies behind its start offset, {now.committed}, {counted(now.lag, 'record')} are not "
        "acknowledged yet, and those that are need not be the first"
    )
    if now.member is None and now.is_owner_known:
        return UNOWNED, f"no member of the share group has it: {known}"
    whose = "" if now.member is None else f"; {now.member} {'have' if ' and ' in now.member else 'has'} it"
    return SHARE, f"a share group acknowledges records one by one and commits no offset: {known}{whose}"


def _share_moving(now: Seen, before: Seen, apart_s: float | None) -> tuple[str, str, float | None, float | None] | None:
    """What two looks at a share group show; None: no more than one."""
    if None in (before.lag, now.lag) or not now.lag or now.lag < 0:
        return None
    change = now.lag - (before.lag or 0)
    rate = change / apart_s if apart_s else None
    moved = (now.committed or 0) - (before.committed or 0)
    if change < 0:
        _, words, rate, gone_in_s = _moving(now, 1, change, apart_s)
        return FALLS, words, rate, gone_in_s
    if change > 0:
        did = "the start offset moved, too" if moved > 0 else f"the start offset stands at {now.committed}"
        return GROWS, f"it grows by {counted(change, 'record')}{_a_second(rate)}; {did}", rate, None
    if moved > 0:
        return KEEPS_UP, "it keeps its distance: as many records came as were acknowledged", rate, None
    return (
        STANDS,
        (
            f"it stands at {counted(now.lag, 'record')}, the start offset at {now.committed}: nobody fetches, members "
            "hold what they have for longer than lies between the looks, or one record is given out again and again. "
            "Behind a record that is not acknowledged group.share.partition.max.record.locks offsets are given out"
        ),
        rate,
        None,
    )


def _without_movement(now: Seen, look: Look) -> tuple[str, str] | None:
    """Causes that one look shows."""
    if now.is_share:
        return _of_share(now)
    if now.committed is None:
        return _uncommitted(now)
    if now.end is None:
        where = "its log is not among these files" if look.source == "segments" else "the partition may be deleted"
        return GONE, f"{now.committed} is committed, and where the log ends is not known: {where}"
    if now.committed > now.end:
        mirrored = (
            "this cluster has MirrorMaker 2's topics, so that somebody may have copied the source's offset literally"
            if look.has_mirror_maker
            else "the topic was made anew, its log was cut by an unclean election, or another cluster's offset was "
            "copied literally, as MirrorMaker 2's sync does not (KIP-545)"
        )
        return BEYOND, (
            f"committed is {now.committed}, and the log ends at {now.end}: {mirrored}. A consumer that begins there "
            "goes where auto.offset.reset says"
        )
    if now.start is not None and now.committed < now.start:
        lost = counted(now.start - now.committed, "offset")
        left = "; nothing is left to read" if now.start == now.end else ""
        return BEFORE, (
            f"committed is {now.committed}, and the log begins at {now.start}: {lost} were deleted unread, and the "
            f"lag counts them{left}. A consumer that begins there goes where auto.offset.reset says"
        )
    if not now.lag:
        return CAUGHT_UP, "all that is in the log is committed"
    if now.stable is not None and now.end is not None and now.committed >= now.stable and now.stable < now.end:
        return OPEN, (
            f"an open transaction holds the last stable offset at {now.stable}, the high watermark is {now.end}: a "
            "consumer with read_committed has all that it may read. kafka-transactions find-hanging names it"
        )
    if now.member is None and now.is_owner_known and now.left_count != 0:
        return UNOWNED, "nobody owns it: no member of the group reads it"
    return None


def _unowned(now: Seen, before: Seen | None, look: Look) -> str:
    """What happens to a lag that no member works on."""
    if before is not None and before.lag is not None and now.lag is not None:
        change = now.lag - before.lag
        return "and its committed offset stands" + (f"; it grew by {counted(change, 'record')}" if change > 0 else "")
    words = "and it grows with every record"
    if look.source != "describe":
        return words
    return f"{words}; a consumer that has it by assign() is no member: whether that moves it, a second look shows"


def _uncommitted(now: Seen) -> tuple[str, str]:
    if now.removed_ms is not None:
        return EXPIRED, (
            f"its committed offset is gone, by a tombstone of {moment(now.removed_ms)}: it expired "
            "(offsets.retention.minutes) or was deleted. Who begins now goes where auto.offset.reset says"
        )
    if now.has_records is False or now.end == 0:
        return EMPTY, "nothing is committed, and the log is empty: nothing was ever to be read"
    behind = "" if now.end is None else f" of a log that ends at {now.end}"
    return NEVER, (
        f"no offset is committed{behind}: the group never committed here, or its offset expired; a lag cannot be "
        "counted. Who begins now goes where auto.offset.reset says"
    )


def _moving(now: Seen, moved: int, change: int, apart_s: float | None) -> tuple[str, str, float | None, float | None]:
    rate = change / apart_s if apart_s else None
    if moved < 0:
        return (
            GROWS,
            f"the committed offset went back by {-moved}: somebody reset it, or two commit in turn",
            rate,
            None,
        )
    if change > 0:
        read = counted(moved, "record")
        words = f"it grows by {counted(change, 'record')}{_a_second(rate)}: {read} were read meanwhile, more came"
        return GROWS, words, rate, None
    if change == 0:
        return KEEPS_UP, f"it keeps its distance: {counted(moved, 'record')} came and were read meanwhile", rate, None
    if rate is None:
        return (
            FALLS,
            f"it fell by {counted(-change, 'record')} between the looks; apart_s (--apart) gives a rate",
            None,
            None,
        )
    gone_in_s = (now.lag or 0) / -rate
    until = lasting(round(gone_in_s) * 1000)
    return FALLS, f"it falls by {-rate:,.1f} records a second, and is gone in {until} if that goes on", rate, gone_in_s


def _a_second(rate: float | None) -> str:
    return "" if rate is None else f", {rate:,.1f} a second"


def _of_markers(now: Seen) -> str:
    return (
        f"nothing is left to read: of {counted(now.lag or 0, 'offset')} each is a transaction's marker, of an aborted "
        "record, or gone by compaction, and counts for ever; a scaler that waits for a lag of 0 waits in vain"
    )


def _what_it_can_be(now: Seen) -> str:
    marker = (
        "a transaction's marker, which counts for ever, a client that commits the last offset in place of the next, "
        if now.lag == 1
        else "records that wait, markers, "
    )
    return (
        f"{marker}an open transaction, or a consumer that does not commit look alike here; the broker's segments "
        "(--segments) or --bootstrap show which it is"
    )


# The answer.


@dataclass(frozen=True)
class Lag(Answer):
    """The answer to `lag`: a cause for each partition of each group, in the order of the source."""

    source: str  # "describe", "segments" or "cluster"
    look_count: int
    apart_s: float | None
    causes: tuple[Cause, ...]
    rebalancing: tuple[str, ...]
    gone: tuple[str, ...]  # groups of the first look that the second one lacks
    plans: tuple[CatchUp, ...] = ()  # how many members each group needs, if that was asked

    @property
    def outcome(self) -> Outcome:
        """Found: a partition needs somebody; cannot tell: of one the source does not show enough."""
        outcomes = {OUTCOMES[each.name] for each in self.causes} | {each.outcome for each in self.plans}
        if Outcome.FOUND in outcomes or self.gone:
            return Outcome.FOUND
        return Outcome.CANNOT_TELL if Outcome.CANNOT_TELL in outcomes else Outcome.FINE

    def as_data(self) -> LagData:
        """As `Answer.as_data`."""
        rows: list[LagRow] = [
            {
                "group": each.group, "topic": each.at.topic, "partition": each.at.partition, "cause": each.name,
                "outcome": OUTCOMES[each.name].name.lower(), "lag": each.lag, "words": each.words,
                "rate": each.rate, "gone_in_s": each.gone_in_s,
            }
            for each in self.causes
        ]  # fmt: skip
        return {
            "source": self.source,
            "look_count": self.look_count,
            "apart_s": self.apart_s,
            "partitions": rows,
            "rebalancing": [*self.rebalancing],
            "gone": [*self.gone],
            "catch_up": [each.as_data() for each in self.plans] if self.plans else None,
        }

    def __str__(self) -> str:
        """How many members each group needs, if that was asked; then group by group a sentence for each partition."""
        said, width = [*map(str, self.plans)], text_width()
        by_group: dict[str, list[Cause]] = {}
        for each in self.causes:
            by_group.setdefault(each.group, []).append(each)
        for name, causes in by_group.items():
            said.append(
                wrapped(name if name not in self.rebalancing else f"{name}, which is rebalancing now", width=width)
            )
            for each in causes:
                number = "" if each.lag is None else f", lag {each.lag:,}"
                said.append(wrapped(f"{each.at}{number}: {each.words}", "  ", "    ", width))
        return "\n".join([*said, *(f"{name} is not there any more" for name in self.gone)])


# The command line.


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    file_argument(
        parser, "--describe", action="append", default=[],
        help="what kafka-consumer-groups --describe prints; twice: at two times, the older first; - is standard input",
    )  # fmt: skip
    file_argument(parser, "--segments", action="append", default=[], help="a broker's data directory, or folders of it")
    parser.add_argument("--group", metavar="NAME", help="only this group")
    parser.add_argument("--apart", type=float, metavar="SECONDS", help="between the two texts, or looks at a cluster")
    parser.add_argument(
        "--to-catch-up", metavar="TIME", help="how many members catch up in this time: 90s, 10m, 2h; takes two looks"
    )
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Lag:
    """Ask `kafkalearn.oncall.lag`."""
    texts = [text_of(each, "what kafka-consumer-groups --describe prints") for each in options.describe]
    with cluster_of(options) as cluster:
        return lag(
            texts, paths=options.segments or None, cluster=cluster, group=options.group, apart_s=options.apart,
            to_catch_up_s=None if options.to_catch_up is None else seconds_of(options.to_catch_up),
        )  # fmt: skip
