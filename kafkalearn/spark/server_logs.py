"""The lines of coordinators' logs as the table that `kafkalearn.spark.group_logs` wants: native expressions alone.

The forms of the lines are those of `kafkalearn.oncall.logs.patterns`, as regular expressions; `kafkalearn.oncall.logs`
finds the same in the same lines. This is for more of them than one machine reads: a year of a hundred brokers.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.base.checks import text
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.oncall.logs.lines import BROKER, MEMBER_FAILED, MEMBER_JOINED, MEMBER_LEFT
from kafkalearn.oncall.logs.patterns import Pattern, Template, patterns
from kafkalearn.spark.columns import TEXT, rule

KINDS = (MEMBER_JOINED, MEMBER_LEFT, MEMBER_FAILED, PREPARING, COMPLETING, STABLE, EMPTY)
"""The events that the table has; the others are left out."""

HEAD = (
    r"^\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[.,](\d{3})\d*+\]?\s++[A-Z]++\s++"
    r"(?:\[Group(?:Coordinator|CoordinatorService|MetadataManager) [^\]]*+\]:? )?"
    r"(.*?)\.?(?: \([\w$]++(?:\.[\w$]++)++(?::\d++)?\))?\r?$"
)
"""A line in Kafka's own layout: the day, the time, its milliseconds, the message without a last full stop.

What has been read is not given back (``++``): Java would try a long run in every way, one call inside the other.
"""

MATCHED = "\x01"  # begins what is made of a line in this layout; others stay as they are
MOMENT_LENGTH = len("2026-11-22T15:46:13.448")

_ZONE = re.compile(r"Z|[+-]\d\d:\d\d")
_COLUMNS = {"member": "string", "generation": "int", "reason": "string"}


@rule({"{line}": TEXT}, remedy="lines of logs are text, as spark.read.text gives them")
def log_events(lines: DataFrame, cluster: str, line: str = "value", zone: str = "Z") -> DataFrame:
    """The events of classic groups in the server logs of brokers.

    Parameters
    ----------
    lines : DataFrame
        A row for each line, as ``spark.read.text`` gives them; those that say nothing about groups may be there.
    cluster : str
        Whose logs they are.
    line : str
        The column of the lines.
    zone : str
        Of their times: ``Z``, or an offset such as ``+08:00``.

    Returns
    -------
    DataFrame
        With the columns of `kafkalearn.spark.group_logs.EVENT_SCHEMA`, for `kafkalearn.spark.group_logs.rebalances`.
        Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If the column is missing or no text, or the zone is none.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> said = "[2026-11-22 15:46:13,448] INFO [GroupCoordinator 0]: Group billing with generation 7 is now empty (a.B)"
    >>> lines = get_spark().createDataFrame([(said,), ("\\tat java.lang.Thread.run",)], "value STRING")
    >>> log_events(lines, "eu").select("cluster", "group_id", "event", "generation").show()
    +-------+--------+-----+----------+
    |cluster|group_id|event|generation|
    +-------+--------+-----+----------+
    |     eu| billing|Empty|         7|
    +-------+--------+-----+----------+

    References
    ----------
    Apache Kafka 2.1 to 4.3 for causes; 0.11 to 2.0 write no reason. ``GroupCoordinator``, ``GroupMetadataManager``.
    """
    text("cluster", cluster)
    if not (isinstance(zone, str) and _ZONE.fullmatch(zone)):
        raise KafkaLearnError(f"zone is Z or an offset such as +08:00; got {shown(zone)}")
    layout = sf.regexp_replace(line, HEAD, f"{MATCHED}$1T$2.$3$4")
    is_near = sf.col(line).contains("roup") & ~sf.col(line).startswith(MATCHED)
    found = lines.where(is_near).select(layout.alias("layout"))
    moment = sf.when(sf.col("layout").startswith(MATCHED), sf.substring("layout", 2, MOMENT_LENGTH))
    found = found.select(
        sf.try_to_timestamp(sf.concat(moment, sf.lit(zone))).alias("timestamp"),
        sf.substr("layout", sf.lit(2 + MOMENT_LENGTH)).alias("message"),
    )
    event = sf.when(sf.col("timestamp").isNotNull(), sf.coalesce(*map(_event, _wanted())))
    # A line that is an event gives a row, others none. Spark would move a filter up, and work everything out twice.
    found = found.select("timestamp", sf.explode(sf.array_compact(sf.array(event))).alias("found"))
    return found.select(
        sf.lit(cluster).alias("cluster"),
        "found.group_id",
        "timestamp",
        "found.event",
        "found.member",
        "found.generation",
        "found.reason",
    )


def _wanted() -> list[Pattern]:
    """The patterns of these events, the most exact ones first; those of KIP-848 have no rebalance of this kind."""
    wanted = [
        each
        for each in patterns()
        if each.writer == BROKER and each.event in KINDS and each.family != "consumer_protocol"
    ]
    return sorted(wanted, key=lambda each: -each.template.fixed_length)


def _event(pattern: Pattern) -> Column:
    """The event of a message that has this form, else null."""
    form = Template(pattern.template.text.removesuffix("."))
    fields = {name: sf.regexp_extract("message", form.regex, place) for place, name in enumerate(form.names, 1)}
    values = [fields["group"].alias("group_id"), sf.lit(pattern.event).alias("event")]
    for name, kind in _COLUMNS.items():
        value = fields.get(name, sf.lit(None))
        values.append((sf.nullif(value, sf.lit("")) if name in fields else value).cast(kind).alias(name))
    fits = sf.col("message").startswith(form.first) & sf.col("message").rlike(form.regex)  # the first is quick
    return sf.when(fits, sf.struct(*values))
