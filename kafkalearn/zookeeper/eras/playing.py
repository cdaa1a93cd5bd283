"""The same scenario in the ZooKeeper era, with the classic protocol and with that of KIP-848; what each came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypedDict

from kafkalearn.arguments import iterable, mapping, one_of, text
from kafkalearn.group.scenario.parse import scenario as parsed
from kafkalearn.group.scenario.simulator import simulate
from kafkalearn.group.world.clock import Clock
from kafkalearn.group.world.engine import Engine
from kafkalearn.group.world.events import Scenario, ScenarioEvent
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.group.world.recorder import Recorder
from kafkalearn.group.world.settings import Settings as WorldSettings
from kafkalearn.group.world.world import new_world
from kafkalearn.trace import Trace
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.eras.protocol import ZookeeperProtocol

ZOOKEEPER, CLASSIC, CONSUMER = "zookeeper", "classic", "consumer"
ERAS: Mapping[str, str] = MappingProxyType({ZOOKEEPER: "1.1", CLASSIC: "2.3", CONSUMER: "4.3"})
"""Each era with the release that stands for it; 2.3 is the last whose consumers give up everything by default."""


def simulate_zookeeper(
    scenario: Scenario | str | Sequence[ScenarioEvent],
    settings: Settings | None = None,
    latency_ms: int = 2,
) -> Outcome:
    """What comes of a scenario when its consumers are old ones, that agree through ZooKeeper.

    Parameters
    ----------
    scenario : Scenario, str, or sequence of events
        A story; `kafkalearn.group.scenario.parse` says how it is written. Settings of members, static members and
        poll intervals mean nothing here; nobody can subscribe a second time.
    settings : kafkalearn.zookeeper.connector.Settings, optional
        Of the consumers and of ZooKeeper; without it Kafka's defaults.
    latency_ms : int
        One way between a consumer and ZooKeeper: a thread sends its requests one after the other.

    Returns
    -------
    Outcome
        As from `kafkalearn.group.simulate`. The generation counts how often the group came to rest.

    Raises
    ------
    KafkaLearnError
        If a line of the scenario cannot be read, or asks for what old consumers cannot do.

    Examples
    --------
    >>> story = '''
    ... topic orders has 6 partitions
    ... at 0 s: c1, c2, c3 join
    ... at 60 s: c2 pauses for 50 s
    ... '''
    >>> [row["cause"] for row in simulate_zookeeper(story).rebalances]
    ['c1 starts; c2 starts; c3 starts', 'the session of c2 expires', 'c2 has a new session']
    """
    story = scenario if isinstance(scenario, Scenario) else parsed(scenario)
    return play_old_consumers(story, Settings() if settings is None else settings, latency_ms)[0]


def play_old_consumers(story: Scenario, settings: Settings, latency_ms: int) -> tuple[Outcome, ZookeeperProtocol]:
    """What comes of a scenario, and the group of old consumers at its end."""
    clock = Clock()
    shown = WorldSettings(ERAS[ZOOKEEPER], {"latency.ms": latency_ms})
    world = new_world(story, shown, clock, Recorder(clock))
    protocol = ZookeeperProtocol(world, settings)
    recorder = Engine(story, world, protocol).run()
    return Outcome(story, shown, ZOOKEEPER, Trace(recorder.trace), tuple(recorder.rebalances)), protocol


def play_eras(
    scenario: Scenario | str | Sequence[ScenarioEvent],
    zookeeper: Settings | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    eras: Sequence[str] = tuple(ERAS),
) -> dict[str, Outcome]:
    """The outcome of one scenario in each era.

    Parameters
    ----------
    scenario : Scenario, str, or sequence of events
        One that all eras can play.
    zookeeper : kafkalearn.zookeeper.connector.Settings, optional
        Of the old consumers.
    settings : mapping
        For ``"classic"`` and ``"consumer"`` each a mapping by Kafka's names, as for `kafkalearn.group.simulate`;
        ``release`` may be among them.
    eras : sequence of str
        Names in `ERAS`.

    Raises
    ------
    KafkaLearnError
        If there is no era of such a name, or the scenario cannot be played.

    Examples
    --------
    >>> outcomes = play_eras("at 0 s: c1, c2 join")
    >>> {era: outcome.rebalance_count for era, outcome in outcomes.items()}
    {'zookeeper': 1, 'classic': 1, 'consumer': 2}
    """
    story = scenario if isinstance(scenario, Scenario) else parsed(scenario)
    given: Mapping[str, Mapping[str, object]] = (
        {} if settings is None else mapping("settings", settings, of="era to settings")
    )
    for era in given:
        one_of("era", era, (CLASSIC, CONSUMER))
    outcomes: dict[str, Outcome] = {}
    for era in iterable("eras", eras, of="names"):
        if one_of("era", era, ERAS) == ZOOKEEPER:
            outcomes[era] = simulate_zookeeper(story, zookeeper)
        else:
            values: dict[str, Any] = dict(given.get(era, {}))  # `simulate` looks at what they are
            release = values.pop("release", ERAS[era])
            outcomes[era] = simulate(story, era, release=release, settings=values)
    return outcomes


class EraRow(TypedDict):
    """What a scenario came to in one era."""

    era: str
    release: str
    rebalances: int
    agreement_ms: int
    standstill_ms: int
    unread_partition_ms: int
    records_not_read: int
    records_read_twice: int


def era_rows(outcomes: Mapping[str, Outcome]) -> list[EraRow]:
    """What can be compared of the eras, a row for each.

    *agreement_ms* is how long the rebalances took together, *standstill_ms* how long nobody read anything,
    *unread_partition_ms* how long partitions were not read, summed over them.

    Raises
    ------
    KafkaLearnError
        If `outcomes` is no mapping, or a name of an era no text.

    Examples
    --------
    >>> [row["era"] for row in era_rows(play_eras("at 0 s: c1, c2 join"))]
    ['zookeeper', 'classic', 'consumer']
    """
    return [
        {
            "era": text("an era of outcomes", era),
            "release": outcome.settings.release,
            "rebalances": outcome.rebalance_count,
            "agreement_ms": sum(row["duration_ms"] for row in outcome.rebalances),
            "standstill_ms": outcome.group_standstill_ms,
            "unread_partition_ms": outcome.unread_partition_ms,
            "records_not_read": outcome.records_not_read,
            "records_read_twice": outcome.records_read_twice,
        }
        for era, outcome in mapping("outcomes", outcomes, of="era to its Outcome").items()
    ]
