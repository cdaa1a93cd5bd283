"""Which rebalances a change of settings avoids, judged by a coordinator's log: why a member went, and for how long.

A member that goes and comes back brings two rebalances. A setting avoids both if it gives the member longer than it was
away: its `patience_ms`. `is_avoided` is on the safe side: the member's last heartbeat, which no log has, may have been
sent up to ``heartbeat.interval.ms`` before it went, and so much is taken off.

`play_absence` plays an absence of the same length with the remedy, as the simulator's own answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.base.checks import one_of, text, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases import default
from kafkalearn.scenarios.outcome import Outcome
from kafkalearn.scenarios.playing import simulate


def _default_ms(setting: str) -> int:
    return whole_number(setting, default(setting, side="consumer"), at_least=1)


SESSION_MS = _default_ms("session.timeout.ms")
POLL_MS = _default_ms("max.poll.interval.ms")
HEARTBEAT_MS = _default_ms("heartbeat.interval.ms")

LEFT, POLL_EXCEEDED, SILENT = "member left", "poll interval exceeded", "heartbeats lost"
ABSENCES: Mapping[str, str] = MappingProxyType(
    {
        LEFT: "at 60 s: c2 restarts after {away_ms} ms",
        POLL_EXCEEDED: "at 60 s: c2 works {late_ms} ms on one poll",
        SILENT: "at 59010 ms: c2 pauses for {silent_ms} ms",
    }
)
"""How a member can go and come back, by the names of `kafkalearn.spark.group_logs`, and a line that plays it.

At 59,010 ms a heartbeat of c2 has just been answered: so long as it pauses it is silent.
"""

_FROM_MS, _AFTER_MS = 60_000, 30_000
_START = "topic orders has 6 partitions\nat 0 s: c1, c2 and c3 join\n"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of a group's settings; without any it is the group as it was, by the defaults.

    Attributes
    ----------
    name : str
        What to call it.
    is_static : bool
        Whether each member has a ``group.instance.id``.
    session_timeout_ms, max_poll_interval_ms : int
        At least the default: what is made shorter avoids nothing.
    protocol : str
        ``"classic"``, or ``"consumer"`` (KIP-848): as many rebalances, but nobody waits for the others.
    """

    name: str
    is_static: bool = False
    session_timeout_ms: int = SESSION_MS
    max_poll_interval_ms: int = POLL_MS
    protocol: str = "classic"

    def __post_init__(self) -> None:
        """Refuse what is no remedy."""
        if not text("name", self.name):
            raise KafkaLearnError("a remedy's name is empty; say what is changed")
        one_of("protocol", self.protocol, ("classic", "consumer"))
        whole_number("session_timeout_ms", self.session_timeout_ms, at_least=SESSION_MS)
        whole_number("max_poll_interval_ms", self.max_poll_interval_ms, at_least=POLL_MS)
        if self.protocol == "consumer" and (self.is_static or self.session_timeout_ms > SESSION_MS):
            raise KafkaLearnError(
                "a remedy of protocol 'consumer' is judged without group.instance.id and session.timeout.ms, "
                "which the broker sets there; give one remedy for each"
            )


REMEDIES = (
    Remedy("session.timeout.ms 10 min", session_timeout_ms=600_000),
    Remedy("group.instance.id", is_static=True),
    Remedy("max.poll.interval.ms 10 min", max_poll_interval_ms=600_000),
    Remedy("group.protocol consumer", protocol="consumer"),
)
"""What teams change: the advice of an article, static members, a longer poll interval, KIP-848."""


def patience_ms(remedy: Remedy, cause: str) -> int:
    """How long a member may be away, from the line of the log on, without any rebalance.

    Parameters
    ----------
    remedy : Remedy
        What has been changed.
    cause : str
        A name in `ABSENCES`: why the log says it went.

    Returns
    -------
    int
        In ms; 0: there are rebalances however quick it is.

    Notes
    -----
    A log cannot tell a process that paused from one that died and was started anew. Who is silent is taken for one that
    pauses: with a longer session alone a new process joins as a new member, and the group waits for the dead one.
    Whoever pauses is not in ``poll()`` either, so a session longer than ``max.poll.interval.ms`` gives no more time.

    Examples
    --------
    >>> session, static, poll, kip_848 = REMEDIES
    >>> [patience_ms(each, "member left") for each in (session, static, poll)]
    [0, 42000, 0]

    References
    ----------
    Apache Kafka 2.3 to 4.4, ``AbstractCoordinator.maybeLeaveGroup`` (static members send no LeaveGroup, KIP-345),
    ``GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat``.
    """
    one_of("cause", cause, ABSENCES)
    if cause == SILENT:
        longest_ms = min(remedy.session_timeout_ms, remedy.max_poll_interval_ms - HEARTBEAT_MS)
        return max(longest_ms - SESSION_MS, 0)
    kept_ms = remedy.session_timeout_ms - HEARTBEAT_MS if remedy.is_static else 0
    return kept_ms + (remedy.max_poll_interval_ms - POLL_MS if cause == POLL_EXCEEDED else 0)


def is_avoided(remedy: Remedy, cause: str, away_ms: int | None) -> bool:
    """Whether the two rebalances of a member that went and came back are surely avoided.

    Parameters
    ----------
    remedy, cause
        As in `patience_ms`.
    away_ms : int or None
        From the beginning of the rebalance in which it went to that of the one in which it came back; None: it never
        came back, and somebody has to take over.

    Examples
    --------
    >>> is_avoided(REMEDIES[1], "member left", 10_000), is_avoided(REMEDIES[1], "member left", 60_000)
    (True, False)
    """
    limit_ms = patience_ms(remedy, cause)
    return away_ms is not None and whole_number("away_ms", away_ms, at_least=0) < limit_ms


def play_absence(cause: str, away_ms: int, remedy: Remedy) -> Outcome:
    """A group of three, in which one member goes and comes back, played with a remedy; by the defaults it is two
    rebalances after the first.

    Examples
    --------
    >>> as_it_was, static = Remedy("as it was"), REMEDIES[1]
    >>> [play_absence("member left", 10_000, each).rebalance_count for each in (as_it_was, static)]
    [3, 1]
    """
    line = ABSENCES[one_of("cause", cause, ABSENCES)]
    whole_number("away_ms", away_ms, at_least=0, at_most=24 * 3_600_000)
    story = line.format(away_ms=max(away_ms, 1), silent_ms=SESSION_MS + away_ms - 10, late_ms=POLL_MS + away_ms)
    before_ms = {LEFT: 0, POLL_EXCEEDED: POLL_MS, SILENT: SESSION_MS}[cause]
    end_ms = _FROM_MS + before_ms + away_ms + _AFTER_MS
    story = f"{_START}{story}\nthe end is at {end_ms} ms"
    if remedy.protocol == "consumer":
        return simulate(story, protocol="consumer")
    return simulate(
        story,
        session_timeout_ms=remedy.session_timeout_ms,
        max_poll_interval_ms=remedy.max_poll_interval_ms,
        group_instance_id=remedy.is_static,
    )
