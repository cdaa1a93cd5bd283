"""Who leads in a cluster, in words: a sentence or two about a frame, and the whole of it as text."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kafkalearn.operations.leadership import Cluster, Settings
from kafkalearn.operations.leadership.effects import Effect, ElectionAnswered, ImbalanceFound, LeaderChanged
from kafkalearn.operations.leadership.events import (
    BrokerBack,
    BrokerLost,
    ElectLeaders,
    Event,
    LeaderImbalanceChecked,
    TimePassed,
)
from kafkalearn.phrases import capitalised, counted, listed
from kafkalearn.replication.effects import NONE
from kafkalearn.trace import Frame


class Share(NamedTuple):
    """What one broker leads, and what it would lead if all preferred leaders did."""

    broker_id: int
    led: int
    led_as_preferred: int
    preferred: int
    is_alive: bool


def shares(settings: Settings, cluster: Cluster) -> tuple[Share, ...]:
    """The share of every broker, in the order of the settings.

    >>> from kafkalearn.operations.leadership import start
    >>> shares(Settings((1, 2)), start(Settings((1, 2))))[1]
    Share(broker_id=2, led=1, led_as_preferred=1, preferred=1, is_alive=True)
    """
    led = Counter(each.leader for each in cluster.partitions)
    own = Counter(each.leader for each in cluster.partitions if each.leader == each.preferred)
    preferred = Counter(each.preferred for each in cluster.partitions)
    return tuple(
        Share(each, led[each], own[each], preferred[each], each not in cluster.fenced) for each in settings.broker_ids
    )


def describe_leadership(
    settings: Settings,
    frame: Frame[Cluster, Event],
    before: Frame[Cluster, Event] | None = None,
) -> str:
    """What happened, how many leaders changed, and what each broker leads.

    >>> from kafkalearn.operations.leadership import simulate
    >>> settings = Settings((1, 2, 3))
    >>> trace = simulate(settings, [BrokerLost(2), BrokerBack(2), TimePassed(300_000)])
    >>> describe_leadership(settings, trace[3], trace[2])
    '300 s pass. Broker 2 does not lead 1 of 1 that it is preferred for. Another broker leads 1 partition. Broker 1 \
leads 1, broker 2 1 and broker 3 1.'
    """
    said = [event_words(frame.event)]
    if frame.event is not None:
        said += [each for each in map(_effect_words, frame.state.effects) if each]
        changes = [each for each in frame.state.effects if isinstance(each, LeaderChanged)]
        moved = sum(each.leader is not None for each in changes)
        if moved:
            said.append(f"another broker leads {counted(moved, 'partition')}")
        if lost := len(changes) - moved:
            said.append(f"nobody leads {counted(lost, 'partition')} any more")
    led = [(each.broker_id, each.led) for each in shares(settings, frame.state)]
    said.append(listed(f"broker {broker_id} {'leads ' * (not at)}{count}" for at, (broker_id, count) in enumerate(led)))
    return " ".join(f"{capitalised(each)}." for each in said)


def leadership_text(
    settings: Settings,
    frame: Frame[Cluster, Event],
    before: Frame[Cluster, Event] | None = None,
) -> str:
    """A frame as plain text: what happened, and a line for each broker.

    >>> from kafkalearn.operations.leadership import simulate
    >>> settings = Settings((1, 2, 3))
    >>> print(leadership_text(settings, simulate(settings, [BrokerLost(2)])[1]).splitlines()[2])
    broker 2 (fenced): leads 0, 0 of them as preferred; preferred for 1
    """
    lines = [
        f"broker {each.broker_id}{'' if each.is_alive else ' (fenced)'}: leads {each.led}, {each.led_as_preferred} of "
        f"them as preferred; preferred for {each.preferred}"
        for each in shares(settings, frame.state)
    ]
    return "\n".join([describe_leadership(settings, frame, before), *lines, clock(frame.state.now_ms)])


def event_words(event: Event | None) -> str:
    """The event, without its end.

    >>> event_words(ElectLeaders("orders", 3))
    'an administrator has the preferred leader of orders-3 elected'
    """
    match event:
        case None:
            return "the start"
        case BrokerLost(broker_id):
            return f"broker {broker_id} is lost"
        case BrokerBack(broker_id):
            return f"broker {broker_id} is back and in sync"
        case TimePassed(ms):
            return f"{clock(ms)} pass"
        case LeaderImbalanceChecked():
            return "the controller looks at its leaders"
        case ElectLeaders(topic, partition):
            of_what = "leaders" if topic is None else f"leader of {topic}-{partition}"
            return f"an administrator has the preferred {of_what} elected"
    return f"{event!r}"


def clock(ms: int) -> str:
    """Time in seconds, or, where that is no whole number, in milliseconds.

    >>> clock(299_000), clock(1_500)
    ('299 s', '1,500 ms')
    """
    return f"{ms:,} ms" if ms % 1000 else f"{ms // 1000:,} s"


def _effect_words(effect: Effect) -> str:
    match effect:
        case ImbalanceFound(broker_id, preferred, not_led, is_over) if not_led:
            stays = "" if is_over else ", too few to give them back"
            return f"broker {broker_id} does not lead {not_led} of {preferred} that it is preferred for{stays}"
        case ElectionAnswered(topic, partition, error) if error != NONE:
            return f"{topic}-{partition}: {error}"
    return ""
