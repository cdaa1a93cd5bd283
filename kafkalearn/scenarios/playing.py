"""Simulate a scenario with a protocol, a release and settings.

This `simulate` takes a scenario where that of a simulator takes events, and gives an `Outcome` where that gives a
trace: a scenario says only what happens to the consumers from outside (see `kafkalearn.scenarios.engine`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.trace import Trace
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.scenarios import text
from kafkalearn.scenarios.classic_client import ClassicProtocol
from kafkalearn.scenarios.consumer_client import ConsumerProtocol
from kafkalearn.scenarios.consumers import Clock, Protocol, Recorder
from kafkalearn.scenarios.engine import Engine, World, new_world
from kafkalearn.scenarios.events import Scenario, ScenarioEvent, Settings, by_kafka_name
from kafkalearn.scenarios.mixed_client import MixedProtocol
from kafkalearn.scenarios.outcome import Outcome

PROTOCOLS: Mapping[str, Callable[[World], Protocol]] = MappingProxyType(
    {"classic": ClassicProtocol, "consumer": ConsumerProtocol}
)
"""The group protocols by the names of ``group.protocol``."""


def settings_of(
    scenario: Scenario,
    release: str = DEFAULT_RELEASE,
    assignor: str | Sequence[str] | None = None,
    settings: Mapping[str, object] | None = None,
    protocol: str = "classic",
    **named: object,
) -> Settings:
    """The settings a scenario is played with; see `simulate` for the parameters."""
    if settings is not None and not isinstance(settings, Mapping):
        kind = type(settings).__name__
        raise KafkaLearnError(f"settings must map Kafka's names to values, got {kind} {shown(settings)}")
    values = {**(settings or {}), **by_kafka_name(named)}
    if assignor is not None:
        values["partition.assignment.strategy" if protocol == "classic" else "group.remote.assignor"] = assignor
    members: dict[str, dict[str, object]] = {name: {"group.instance.id": name} for name in scenario.static}
    for member, setting, value in scenario.member_settings:
        members.setdefault(member, {})[setting] = value
    if values.pop("group.instance.id", None):  # every consumer must have its own
        members |= {name: {"group.instance.id": name, **members.get(name, {})} for name in scenario.members}
    return Settings(release, values, members)


def simulate(
    scenario: Scenario | str | Sequence[ScenarioEvent],
    protocol: str = "classic",
    assignor: str | Sequence[str] | None = None,
    release: str = DEFAULT_RELEASE,
    settings: Mapping[str, object] | None = None,
    **named: object,
) -> Outcome:
    """Simulate a scenario and return its outcome.

    Parameters
    ----------
    scenario : Scenario, str, or sequence of events
        A story; `kafkalearn.scenarios.text` says how it is written.
    protocol : str
        A name in `PROTOCOLS`; in a scenario that says who speaks which, that of all others.
    assignor : str or sequence of str
        ``partition.assignment.strategy`` by the short names of `kafkalearn.assignors` (with the consumer protocol,
        ``group.remote.assignor``); None: the release's default.
    release : str
        Of brokers and clients; without one, the newest line.
    settings : mapping
        By Kafka's names. ``latency.ms`` and ``processing.ms`` are the model's own. A true ``group.instance.id``
        makes every member static, each with its name for an id.
    **named
        The same with underscores: ``session_timeout_ms=6000``. They go before `settings`.

    Returns
    -------
    Outcome
        The trace of moments for a player, tables as rows, and sums.

    Raises
    ------
    KafkaLearnError
        If a line of the scenario, a name or a value is wrong.

    Examples
    --------
    >>> story = '''
    ... topic orders has 6 partitions
    ... at 0 s: c1, c2, c3 join
    ... at 60 s: c2 pauses for 50 s
    ... '''
    >>> [row["cause"] for row in simulate(story).rebalances]
    ['a member is added (c1)', "a member's session expires (c2)", 'a member is added (c2)']
    >>> simulate(story, session_timeout_ms=60_000).rebalance_count
    1
    """
    one_of("protocol", protocol, PROTOCOLS)
    story = scenario if isinstance(scenario, Scenario) else text.scenario(scenario)
    return play(story, settings_of(story, release, assignor, settings, protocol, **named), protocol)


def play(story: Scenario, settings: Settings, protocol: str) -> Outcome:
    """Simulate a scenario with complete settings."""
    text.check_steps(story, settings, protocol)
    clock = Clock()
    world = new_world(story, settings, clock, Recorder(clock))
    spoken = MixedProtocol(world, protocol) if story.is_mixed else PROTOCOLS[protocol](world)
    recorder = Engine(story, world, spoken).run()
    return Outcome(story, settings, protocol, Trace(recorder.trace), tuple(recorder.rebalances))
