"""What the logs of coordinators say about their groups: which of them stood still, how long, and why.

A log is a table with a row for each event: ``cluster``, ``group_id``, ``timestamp``, ``event``, ``member``,
``generation``, ``reason``. The events are those of a classic group, with the texts of Kafka 4.3:

=======================  ==============================================================================
event                    the line of the coordinator's log, and its ``reason``
=======================  ==============================================================================
``MemberJoined``         Dynamic member with unknown member id joins group ...; no reason
``MemberLeft``           Member ... has left group through explicit `LeaveGroup` request; the client's reason
``MemberFailed``         Member ... has failed, removing it from the group; no reason
``PreparingRebalance``   Preparing to rebalance group ... with old generation ...; the coordinator's reason
``CompletingRebalance``  Stabilized group ... generation ...: all have joined, the leader is to assign
``Stable``               Assignment received from leader ... for generation ...
``Empty``                Group ... with generation ... is now empty
=======================  ==============================================================================

A *rebalance* goes from ``PreparingRebalance`` to ``Stable`` or ``Empty``. With eager assignors nobody in the group
reads meanwhile: the group stands still. What a log does not show is the silence before: a member that is lost has
been silent for its session timeout when the coordinator notices.

`log_rows` has a simulated scenario as the rows of such a log, so that the queries over real logs can be held to it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.groups.classic import model
from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.scenarios.outcome import Outcome
from kafkalearn.spark.columns import MOMENTS, NUMBERS, TEXT, rule

__all__ = [
    "EVENT_SCHEMA",
    "log_rows",
    "rebalances",
    "standstill_by_cause",
    "standstill_by_group",
]

EVENT_SCHEMA = (
    "cluster STRING, group_id STRING, timestamp TIMESTAMP, event STRING, member STRING, generation INT, reason STRING"
)
"""The columns of a log."""

MEMBER_JOINED, MEMBER_LEFT, MEMBER_FAILED = "MemberJoined", "MemberLeft", "MemberFailed"

POLL_EXPIRED = "consumer poll timeout has expired."
CLOSED = "the consumer is being closed"

CAUSES: MappingProxyType[str, str] = MappingProxyType(
    {
        "poll interval exceeded": "a member did not call poll() in time and left by itself",
        "heartbeats lost": "a member was silent for its session timeout",
        "member left": "a member was closed, as in a deployment",
        "member joined": "a member came, or came back",
        "topics changed": "the leader joined again because topics or partitions changed",
        "second round": "cooperative members gave up partitions and joined again for them",
        "subscription changed": "a member joined again with other topics or assignors",
        "sync lost": "a member did not fetch its assignment in time",
        "other": "a reason that is not in this list",
    }
)
"""Why a group rebalances, as far as its log says; the first reason of a rebalance is its cause."""

_END, _LEFT, _BEGIN = 0, 1, 2  # in this order at one millisecond

LOSSES = ("poll interval exceeded", "heartbeats lost", "member left")
"""The causes that take a member away."""


def cause_of(reason: Column) -> Column:
    """The name in `CAUSES` for the reason of a ``PreparingRebalance``.

    Why a member left stands in the line before, in its own words; since 4.1 the coordinator does not repeat them.

    Parameters
    ----------
    reason : Column
        The coordinator's text.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.prepareRebalance`` and its callers; ``JoinGroupRequest.joinReason``
    (KIP-800).
    """
    return (
        sf.when(reason.contains("on heartbeat expiration"), "heartbeats lost")
        .when(reason.contains("LeaveGroup"), "member left")
        .when(reason.startswith("Adding new member"), "member joined")
        .when(reason.contains("client reason: need to revoke partitions"), "second round")
        .when(reason.contains("client reason: cached metadata has changed"), "topics changed")
        .when(reason.startswith("Leader "), "topics changed")
        .when(reason.startswith("Updating metadata"), "subscription changed")
        .when(reason.contains("pending sync"), "sync lost")
        .otherwise("other")
    )


@rule(
    dict.fromkeys(("cluster", "group_id", "event", "reason"), TEXT) | {"timestamp": MOMENTS, "generation": NUMBERS},
    remedy="a log has the columns of kafkalearn.spark.group_logs.EVENT_SCHEMA",
)
def rebalances(logs: DataFrame) -> DataFrame:
    """One row for each rebalance in the logs: when, how long, why, and through which generations.

    Parameters
    ----------
    logs : DataFrame
        With the columns of `EVENT_SCHEMA`; events other than these are left out. Rows may come in any
        order. Events of one group at one millisecond are put in the order in which a coordinator writes them.

    Returns
    -------
    DataFrame
        ``cluster``, ``group_id``, ``started``, ``ended``, ``duration_ms``, ``cause`` (a name in `CAUSES`), ``trouble``,
        ``generation_before``, ``generation_after``. The trouble is the cause, but for a member that joins after one was
        lost it is that of the loss: it comes back. A rebalance that the log cuts off has no end and no duration; one
        that had begun before the log did is left out. Nothing is kept whole: one worker has the events of a group in
        order, about 140 bytes each, on disk if need be.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from datetime import datetime
    >>> from kafkalearn.spark.session import get_spark
    >>> at = lambda second: datetime(2026, 3, 1, 3, 10, second)
    >>> logs = get_spark().createDataFrame(
    ...     [
    ...         ("eu", "billing", at(0), "MemberFailed", "m1", 41, None),
    ...         ("eu", "billing", at(0), "PreparingRebalance", None, 41, "removing member m1 on heartbeat expiration."),
    ...         ("eu", "billing", at(3), "CompletingRebalance", None, 42, None),
    ...         ("eu", "billing", at(4), "Stable", None, 42, None),
    ...     ],
    ...     EVENT_SCHEMA,
    ... )
    >>> logs.transform(rebalances).select("group_id", "duration_ms", "cause", "generation_after").show()
    +--------+-----------+---------------+----------------+
    |group_id|duration_ms|          cause|generation_after|
    +--------+-----------+---------------+----------------+
    | billing|       4000|heartbeats lost|              42|
    +--------+-----------+---------------+----------------+
    """
    # Long texts are read before the rows are sorted. At one millisecond what ended comes before what begins, and a
    # departure before the rebalance that it starts.
    event = sf.col("event")
    left_late = (event == MEMBER_LEFT) & sf.col("reason").startswith(POLL_EXPIRED.rstrip("."))
    relevant = logs.where(event.isin(PREPARING, STABLE, EMPTY) | left_late).select(
        "cluster",
        "group_id",
        "timestamp",
        "generation",
        sf.when(event == PREPARING, _BEGIN).when(event == MEMBER_LEFT, _LEFT).otherwise(_END).alias("kind"),
        sf.when(event == PREPARING, cause_of(sf.col("reason"))).alias("cause"),
    )
    in_order = Window.partitionBy("cluster", "group_id").orderBy("timestamp", "generation", "kind")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    phase = sf.when(sf.col("kind") != _LEFT, sf.col("kind"))
    turns = (
        relevant.withColumn("phase_before", sf.coalesce(sf.last(phase, ignorenulls=True).over(earlier), sf.lit(_END)))
        .withColumn("kind_before", sf.lag("kind").over(in_order))
        .where((sf.col("kind") != _LEFT) & (sf.col("kind") != sf.col("phase_before")))  # begin and end take turns now
        .withColumn("cause", _with_poll_expired(sf.col("cause"), sf.col("kind_before")))
    )
    lost = sf.lag(sf.when(sf.col("cause").isin(*LOSSES), sf.col("cause")), 2).over(in_order)
    trouble = sf.when(sf.col("cause") == "member joined", sf.coalesce("lost", "cause")).otherwise(sf.col("cause"))
    return (
        turns.withColumn("ended", sf.lead("timestamp").over(in_order))
        .withColumn("generation_after", sf.lead("generation").over(in_order))
        .withColumn("lost", lost)
        .where(sf.col("kind") == _BEGIN)
        .select(
            "cluster",
            "group_id",
            sf.col("timestamp").alias("started"),
            "ended",
            (sf.unix_millis("ended") - sf.unix_millis("timestamp")).alias("duration_ms"),
            "cause",
            trouble.alias("trouble"),
            sf.col("generation").alias("generation_before"),
            "generation_after",
        )
    )


def _with_poll_expired(cause: Column, kind_before: Column) -> Column:
    is_because = (cause == "member left") & (kind_before == _LEFT)
    return sf.when(sf.coalesce(is_because, sf.lit(False)), "poll interval exceeded").otherwise(cause)


_FOUND = {"cluster": TEXT, "group_id": TEXT, "trouble": TEXT, "ended": MOMENTS, "duration_ms": ("bigint",)}


@rule({**_FOUND, "cause": TEXT}, remedy="give what rebalances returns")
def standstill_by_cause(found: DataFrame, by: str = "cause") -> DataFrame:
    """For each cause: how many rebalances, in how many groups, and how long they stood still.

    Parameters
    ----------
    found : DataFrame
        From `rebalances`; those without an end are left out.
    by : str
        ``"cause"`` or ``"trouble"``: the second counts the return of a member under what took it away.

    Returns
    -------
    DataFrame
        ``cause`` or ``trouble``, ``rebalance_count``, ``group_count``, ``standstill_ms``, ``mean_ms``, ``longest_ms``,
        and ``share`` of all standstill; the largest first. What is kept whole is a row for each cause; a cause and a
        group take a row in one worker, on disk if need be.
    """
    if by not in ("cause", "trouble"):
        raise unknown_name("column to sum up by", by, ("cause", "trouble"))
    by_group = (
        found.where("ended is not null")
        .groupBy(by, "cluster", "group_id")
        .agg(
            sf.count("*").alias("rebalance_count"),
            sf.sum("duration_ms").alias("standstill_ms"),
            sf.max("duration_ms").alias("longest_ms"),
        )
    )
    by_cause = by_group.groupBy(by).agg(
        sf.sum("rebalance_count").alias("rebalance_count"),
        sf.count("*").alias("group_count"),
        sf.sum("standstill_ms").alias("standstill_ms"),
        sf.max("longest_ms").alias("longest_ms"),
    )
    share = sf.col("standstill_ms") / sf.sum("standstill_ms").over(Window.partitionBy())
    mean_ms = sf.round(sf.col("standstill_ms") / sf.col("rebalance_count")).cast("bigint")
    return (
        by_cause.withColumn("mean_ms", mean_ms)
        .withColumn("share", share)
        .orderBy(sf.desc("standstill_ms"), by)
        .select(by, "rebalance_count", "group_count", "standstill_ms", "mean_ms", "longest_ms", "share")
    )


@rule(_FOUND, remedy="give what rebalances returns")
def standstill_by_group(found: DataFrame) -> DataFrame:
    """For each group: how many rebalances, how long it stood still, and what stopped it longest.

    Parameters
    ----------
    found : DataFrame
        From `rebalances`; those without an end are left out.

    Returns
    -------
    DataFrame
        ``cluster``, ``group_id``, ``rebalance_count``, ``standstill_ms``, ``longest_ms``, ``main_trouble``; the group
        that stood still longest first. Nothing is kept whole: a group and trouble takes about 340 bytes in one worker,
        on disk if need be.
    """
    by_trouble = (
        found.where("ended is not null")
        .groupBy("cluster", "group_id", "trouble")
        .agg(
            sf.count("*").alias("count"),
            sf.sum("duration_ms").alias("sum_ms"),
            sf.max("duration_ms").alias("most_ms"),
        )
    )
    main = sf.max(sf.struct("sum_ms", "trouble"))
    return (
        by_trouble.groupBy("cluster", "group_id")
        .agg(
            sf.sum("count").alias("rebalance_count"),
            sf.sum("sum_ms").alias("standstill_ms"),
            sf.max("most_ms").alias("longest_ms"),
            main["trouble"].alias("main_trouble"),
        )
        .orderBy(sf.desc("standstill_ms"), "cluster", "group_id")
    )


Row = tuple[str, str, datetime, str, str | None, int, str | None]

_CHANGE = re.compile(rf"({'|'.join((PREPARING, COMPLETING, STABLE, EMPTY))}): (.*?)(?: \((.*)\))?")
_TOPIC_CHANGE = re.compile(r" (?:grows to \d+|is created with \d+ partitions?|is deleted)")
_REASONS = {
    model.MEMBER_ADDED: "Adding new member {who} with group instance id null; client reason: not provided",
    model.MEMBER_LEFT: "explicit `LeaveGroup` request for ({who}) members.",
    model.MEMBER_EXPIRED: "removing member {who} on heartbeat expiration.",
    model.METADATA_CHANGED: "Updating metadata for member {who} during Stable; client reason: {client}",
    model.LEADER_REJOINED: "Leader {who} re-joining group during Stable; client reason: {client}",
    model.SYNC_EXPIRED: "Removing [{who}] on pending sync request expiration",
}
_FIRST = {
    model.MEMBER_ADDED: MEMBER_JOINED,
    model.MEMBER_LEFT: MEMBER_LEFT,
    model.MEMBER_EXPIRED: MEMBER_FAILED,
}
START = datetime(2026, 3, 1, tzinfo=UTC)


def log_rows(outcome: Outcome, group_id: str, cluster: str = "shop", start: datetime = START) -> list[Row]:
    """What the coordinator of a simulated group writes into its log, with the texts of Kafka 4.3.

    Parameters
    ----------
    outcome : Outcome
        Of a scenario, played with the classic protocol.
    group_id, cluster : str
        Under which names.
    start : datetime
        The moment 0 of the scenario.

    Returns
    -------
    list of tuple
        In the order of the log, with the columns of `kafkalearn.spark.group_logs.EVENT_SCHEMA`.

    Raises
    ------
    KafkaLearnError
        If it was played with another protocol: its log has other lines.

    Examples
    --------
    >>> from kafkalearn.scenarios import simulate
    >>> for row in log_rows(simulate("at 0 s: c1 joins"), "billing"):
    ...     print(row[2].time(), *row[3:6])
    00:00:00.006000 MemberJoined c1 0
    00:00:00.006000 PreparingRebalance c1 0
    00:00:03.006000 CompletingRebalance None 1
    00:00:03.010000 Stable None 1
    """
    if outcome.protocol != "classic":
        raise KafkaLearnError(f"the outcome is of protocol {outcome.protocol!r}; this is the log of classic groups")
    rows: list[Row] = []
    generation, expired, has_new_topics, has_subscribed = 0, set(), False, False
    for frame in outcome.trace:
        timestamp = start + timedelta(milliseconds=frame.state.time_ms)
        for note in (frame.event or "").split("; "):
            if note.endswith(" exceeds max.poll.interval.ms"):
                expired.add(note.partition(" ")[0])
            has_new_topics = has_new_topics or _TOPIC_CHANGE.search(note) is not None
            has_subscribed = has_subscribed or " subscribes to " in note
            if (change := _CHANGE.fullmatch(note)) is None:
                continue
            state, cause, who = change.groups()
            generation += state in (COMPLETING, EMPTY)
            if state != PREPARING:
                rows.append((cluster, group_id, timestamp, state, None, generation, None))
                continue
            client = _client_reason(cause, has_new_topics, has_subscribed)
            reason = _REASONS.get(cause, cause).format(who=who, client=client)
            if cause in _FIRST:
                left = POLL_EXPIRED if who in expired else CLOSED
                why = left if cause == model.MEMBER_LEFT else None
                rows.append((cluster, group_id, timestamp, _FIRST[cause], who, generation, why))
                expired.discard(who)
            rows.append((cluster, group_id, timestamp, state, who, generation, reason))
            has_new_topics = has_subscribed = False
    return rows


def _client_reason(cause: str, has_new_topics: bool, has_subscribed: bool) -> str:
    """What a consumer says when it joins again; only a leader compares partition counts."""
    if has_subscribed:
        return "subscription has changed"
    if has_new_topics:
        return "cached metadata has changed" if cause == model.LEADER_REJOINED else "subscription has changed"
    return "need to revoke partitions and re-join"
