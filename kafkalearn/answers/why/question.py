"""Why a group rebalances: the question `why`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.answers.why.report import Why, standstill_ms
from kafkalearn.answers.why.words import MOST_GROUPS, MOST_NOTES
from kafkalearn.arguments import text as checked_text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import STANDARD_INPUT
from kafkalearn.phrases import counted, listed, shown
from kafkalearn.server_logs import Reading, read, read_files
from kafkalearn.server_logs.avoiding import advice
from kafkalearn.server_logs.rebalances import histories
from kafkalearn.versions.releases import DEFAULT_RELEASE, parse_release

if TYPE_CHECKING:
    from kafkalearn.live.reading.cluster import Cluster


_LIKE_A_PATH = re.compile(r"[^\s{}<>|]*(?:[/\\][^\s{}<>|]*|\.(?:log|gz|txt|out)(?:\.[\w-]+)*)")
"""A text without blanks that has a slash or ends as a log file does: the name of a file, there or not."""

MOST_ADVISED = 3  # groups for which a change is looked for, those that stood still longest


def why(
    logs: str | os.PathLike | Iterable[str | os.PathLike],
    *,
    group: str | None = None,
    zone: str | Mapping[str, str] = "UTC",
    settings: Mapping[str, object] | None = None,
    release: str = DEFAULT_RELEASE,
    cluster: Cluster | None = None,
    has_advice: bool = True,
    shows_unknown: bool = False,
) -> Why:
    """Each rebalance in the logs of brokers and clients: when, how long, why, who, and what would have avoided it.

    Parameters
    ----------
    logs : path, or an iterable of paths or lines
        Server logs of brokers (0.11 to 4.3) and logs of consumers (Java, librdkafka, Python), together or alone, in
        any order: files, gzipped and rotated ones, folders, ``-`` for the standard input. A list whose first text
        names nothing that exists, and does not look like a path, is taken as lines, and so is an open file. With a
        cluster and a group there may be none.
    group : str or None
        Only this one.
    zone : str, or mapping of file name to str
        Of times that say none: ``UTC``, ``+08:00``, ``Europe/Berlin``.
    settings : mapping, optional
        Of the consumers, for what would have avoided the rebalances; else what the logs show, else the defaults.
    release : str
        Whose defaults.
    cluster : Cluster or None
        A running cluster, `kafkalearn.live.connect`: what it says about the groups now. It is only read.
    has_advice : bool
        Whether to look for a change of settings, which takes a second or two for each cause.
    shows_unknown : bool
        Whether the words list the lines that were not understood.

    Raises
    ------
    KafkaLearnError
        If a file cannot be read or is no text, a zone, release or setting is unknown, or the logs have more events
        than `kafkalearn.server_logs.limits.MOST_EVENTS`.

    Examples
    --------
    >>> lines = '''[2026-11-22 15:46:20,000] INFO Preparing to rebalance group billing in state PreparingRebalance \\
    ... with old generation 7 (reason: removing member c2-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11 on heartbeat \\
    ... expiration.). (a.B)
    ... [2026-11-22 15:46:21,500] INFO Assignment received from leader c1-1 for group billing for generation 8. The \\
    ... group has 1 members, 0 of which are static. (a.B)'''
    >>> print(why(lines.splitlines()))
    billing: 1 rebalance, 1.5 s in all
      2026-11-22 15:46:20, 1.5 s: c2 was not heard of for its session timeout:
        dead, paused or cut off

    References
    ----------
    Apache Kafka 0.11 to 4.3; the classes are named in `kafkalearn.server_logs.patterns`.
    """
    parse_release(release)
    if group is not None:
        checked_text("group", group)
    reading = _read(logs, zone, is_empty_allowed=cluster is not None and group is not None)
    found = [each for each in histories(reading.events) if group in (None, each.group)]
    found.sort(key=lambda each: (-(standstill_ms(each) or 0), -len(each.rebalances), each.group))
    advised = {
        each.group: advice(each, reading.events, settings, release) for each in found[: MOST_ADVISED * has_advice]
    }
    names = [group] if group is not None else [each.group for each in found[:MOST_GROUPS]]
    now = {} if cluster is None else {name: _now(cluster, name) for name in names}
    return Why(reading, tuple(found), advised, now, group, release, shows_unknown)


def _read(logs: object, zone: str | Mapping[str, str], is_empty_allowed: bool) -> Reading:
    if isinstance(logs, str | os.PathLike):
        return read_files([logs], zone)
    if isinstance(logs, bytes) or not isinstance(logs, Iterable):
        raise KafkaLearnError(f"logs are paths or lines; got {shown(logs)}")
    each = iter(logs)
    first = next(each, None)
    if first is None and is_empty_allowed:
        return read([])
    if first is None:
        raise KafkaLearnError("no logs were given: name files, or hand over lines")
    if _is_path(first) and not hasattr(logs, "read"):
        return read_files(chain([first], each), zone)
    if not isinstance(zone, str):
        raise KafkaLearnError("zones by file name are for files; lines have one zone")
    return read(chain([first], each), zone)


def _is_path(thing: object) -> bool:
    if isinstance(thing, os.PathLike) or thing == STANDARD_INPUT:
        return True
    if not isinstance(thing, str) or not 0 < len(thing) < 4096 or "\0" in thing:
        return False
    if _LIKE_A_PATH.fullmatch(thing):
        return True
    try:
        return Path(thing).exists()
    except (OSError, ValueError):
        return False


def _now(cluster: Cluster, group: str) -> str:
    """What a running cluster says about a group."""
    try:
        broker_id, found = cluster.coordinator(group), cluster.group(group)
    except KafkaLearnError as error:
        return f"the cluster does not answer for it: {error}"
    clients = listed(sorted({each.client_id for each in found.members})[:MOST_NOTES])
    members = counted(len(found.members), "member") + (f" ({clients})" if found.members else "")
    return f"{found.state}, {members}, assignor {found.assignor or 'none'}; its coordinator is broker {broker_id}"
