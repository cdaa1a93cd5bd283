"""How many steps the heartbeats of a scenario take at least: with too many it is refused before it begins."""

from __future__ import annotations

from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.world.clock import most_calls
from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Disconnected,
    Joins,
    Leaves,
    Pauses,
    Restarts,
    Scenario,
)
from kafkalearn.group.world.settings import Settings

_SURE = 0.9  # of the heartbeats: timers of a group do not all begin at once


def check_steps(story: Scenario, settings: Settings, protocol: str) -> None:
    """Refuse a scenario whose heartbeats alone take more steps than may be played.

    Each heartbeat is a step when it is due; and one more when the request leaves, when it arrives and when it is
    answered, but no request leaves while the one before is on its way. Who waits in a rebalance sends none: after each
    event as much time is left out as its rebalances can take.

    Raises
    ------
    KafkaLearnError
        With the steps that it would take.

    Examples
    --------
    >>> from kafkalearn.group.scenario.parse import scenario
    >>> story = scenario("at 0 s: c1 joins\\nthe end is at 10 h")
    >>> check_steps(story, Settings(values={"heartbeat.interval.ms": 1}), "classic")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: the heartbeats of this scenario take 51,775,056 steps or more, and 2,000,000 \
are played at most: let it end earlier, make heartbeats rarer, or take fewer members
    """
    on_its_way_ms = 2 * settings["latency.ms"] + 1
    steps, waiting_ms = 0.0, rebalancing_ms(story, settings)
    for member in story.members:
        each_ms = _interval_ms(settings, protocol, member)
        steps += (
            _SURE * max(running_ms(story, member) - waiting_ms, 0) * (1 / each_ms + 3 / max(each_ms, on_its_way_ms))
        )
    most = most_calls(len(story.members))
    if steps > most:
        raise KafkaLearnError(
            f"the heartbeats of this scenario take {round(steps):,} steps or more, and {most:,} are played at most: "
            "let it end earlier, make heartbeats rarer, or take fewer members"
        )


def _interval_ms(settings: Settings, protocol: str, member: str) -> int:
    if protocol == "classic":
        return settings.of(member).heartbeat_interval_ms
    interval_ms = settings["group.consumer.heartbeat.interval.ms"]
    return interval_ms if isinstance(interval_ms, int) and interval_ms > 0 else 1000


def rebalancing_ms(story: Scenario, settings: Settings) -> int:
    """How long all events together can keep a group waiting: by work, silence or absence, and until it is noticed.

    >>> from kafkalearn.group.scenario.parse import scenario
    >>> rebalancing_ms(scenario("at 0 s: c1 and c2 join\\nat 5 s: c1 pauses for 2 s"), Settings())
    92200
    """
    own = settings.of(None)
    always_ms = settings["processing.ms"] + own.session_timeout_ms
    longest_ms: dict[int, int] = {}  # by the moment: what comes together is waited for together
    for event in story.events:
        for_ms = getattr(event, "for_ms", 0) + getattr(event, "after_ms", 0)
        longest_ms[event.at_ms] = max(longest_ms.get(event.at_ms, 0), for_ms)
    return sum(always_ms + each for each in longest_ms.values())


def running_ms(story: Scenario, member: str) -> int:
    """How long a consumer of a scenario runs, without the times in which it stands still or is cut off.

    >>> from kafkalearn.group.scenario.parse import scenario
    >>> running_ms(scenario("at 0 s: c1 joins\\nat 5 s: c1 restarts after 2 s\\nthe end is at 20 s"), "c1")
    18000
    """
    total_ms, since_ms = 0, None
    for event in sorted(story.events, key=lambda each: each.at_ms):
        if getattr(event, "member", None) != member:
            continue
        match event:
            case Joins():
                since_ms = event.at_ms
            case Leaves() | Crashes() if since_ms is not None:
                total_ms, since_ms = total_ms + max(event.at_ms - since_ms, 0), None
            case Restarts(after_ms=after_ms) | CrashesAndReturns(after_ms=after_ms) if since_ms is not None:
                total_ms, since_ms = total_ms + max(event.at_ms - since_ms, 0), event.at_ms + after_ms
            case Pauses(for_ms=for_ms) | Disconnected(for_ms=for_ms) if since_ms is not None:
                total_ms -= for_ms
    if since_ms is not None:
        total_ms += max(story.end_ms - since_ms, 0)
    return max(total_ms, 0)
