"""The search for harm: every failure under somebody's settings, the shortest runs, and the fewest changes that help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kafkalearn.answers.durability.failures import ALL_LOSE_POWER, MOST_SEARCHED, failures_of
from kafkalearn.answers.durability.given import (
    ACKS,
    IDEMPOTENCE,
    IN_FLIGHT,
    MIN_ISR,
    REPLICAS,
    RETRIES,
    UNCLEAN,
    Given,
)
from kafkalearn.delivery.record_results import DOUBLED, LOST, OUT_OF_ORDER, REJECTED
from kafkalearn.delivery.search.failures import GIVEN_UP, OFFLINE
from kafkalearn.delivery.search.matrix import witnesses_of
from kafkalearn.delivery.settings import ProducerSettings, Settings, TopicSettings
from kafkalearn.errors import KafkaLearnError
from kafkalearn.trace import Trace
from kafkalearn.versions.releases import at_least
from kafkalearn.views.delivery.words import describe_delivery

HARM = {
    LOST: "a record is acknowledged, and gone",
    DOUBLED: "a record is in the log twice",
    OUT_OF_ORDER: "a record stands behind one that was sent after it",
}
"""What must not happen, the worst first."""

WITH_AN_ERROR = {
    GIVEN_UP: "the producer gives a record up and says so to the application",
    REJECTED: "writes are refused (NOT_ENOUGH_REPLICAS) until a replica is back",
    OFFLINE: "nobody may lead until a certain broker is back",
}
"""What costs time and is seen, so that nothing is lost in silence."""

REMEDIES = ((ACKS, "all"), (IDEMPOTENCE, True), (UNCLEAN, False), (MIN_ISR, 2), (REPLICAS, 3))
"""What is tried against harm, each alone and together."""


@dataclass(frozen=True)
class Harm:
    """One way to harm, with a shortest run to it."""

    result: str  # a name in `HARM`
    failure: str
    steps: tuple[str, ...]  # the run, a sentence or a few for each event
    run: Trace = field(repr=False, compare=False)


def settings_of(given: Mapping[str, Given], release: str) -> Settings:
    """The settings as the simulators take them, of at most `MOST_SEARCHED` replicas."""
    value = {name: each.value for name, each in given.items()}
    replicas = value[REPLICAS]
    TopicSettings(replicas, release)  # refuses what is no number of replicas
    topic = TopicSettings(
        min(replicas, MOST_SEARCHED),
        release,
        min_insync_replicas=_searched(value[MIN_ISR], replicas),
        is_unclean_election_enabled=value[UNCLEAN],
        fetch_wait_max_ms=0,
    )
    producer = ProducerSettings(
        acks=value[ACKS],
        is_idempotent=value[IDEMPOTENCE],
        retries=value[RETRIES],
        max_in_flight=value[IN_FLIGHT],
        release=release,
    )
    return Settings(topic, producer)


def _searched(least: object, replicas: int) -> object:
    """The minimum ISR that is searched: of five replicas that need four, all of the three that stand for them."""
    is_possible = isinstance(least, int) and MOST_SEARCHED < least <= replicas
    return MOST_SEARCHED if is_possible else least


def search(settings: Settings) -> tuple[tuple[Harm, ...], tuple[Harm, ...], tuple[tuple[str, str], ...]]:
    """What harms, what harms beyond these settings, and what is seen."""
    harms, beyond, seen = [], [], []
    for name in failures_of(settings.topic.replica_count):
        for result, run in _witnesses(settings, name):
            if result in HARM:
                (beyond if name == ALL_LOSE_POWER else harms).append((result, name, run))
            elif result in WITH_AN_ERROR and name != ALL_LOSE_POWER:
                seen.append((result, name))
    order = [*HARM]
    made = [
        tuple(_harm(settings, *each) for each in sorted(found, key=lambda one: (order.index(one[0]), len(one[2]))))
        for found in (harms, beyond)
    ]
    return *made, tuple(sorted(seen, key=lambda one: [*WITH_AN_ERROR].index(one[0])))


def _harm(settings: Settings, result: str, failure: str, run: Trace) -> Harm:
    pairs = zip(run[1:], run, strict=False)
    said = (describe_delivery(settings, frame, before) for frame, before in pairs)
    return Harm(result, failure, tuple(words.partition(" Broken: ")[0] for words in said), run)


def find_remedy(given: Mapping[str, Given], release: str, harms: tuple[Harm, ...]) -> tuple[tuple[str, object], ...]:
    """The fewest of `REMEDIES` after which nothing harms, found by leaving away what is not needed."""
    kept = [(name, value) for name, value in REMEDIES if _helps(name, value, given[name].value, release)]
    if not kept or not _is_safe_with(given, kept, release):
        return ()
    harmful = frozenset(each.failure for each in harms)  # these first: most of what is tried fails there
    for each in [*kept]:
        fewer = [one for one in kept if one is not each]
        if _is_safe_with(given, fewer, release, harmful) and _is_safe_with(given, fewer, release):
            kept = fewer
    return tuple(kept)


def _helps(name: str, value: object, now: object, release: str) -> bool:
    """Whether a remedy is a change, no step back, and known to the release."""
    if name == IDEMPOTENCE and not at_least("0.11.0", release):
        return False
    if name in (MIN_ISR, REPLICAS):
        return now is None or now < value
    return now != value


def _is_safe_with(
    given: Mapping[str, Given],
    changes: Iterable[tuple[str, object]],
    release: str,
    among: frozenset[str] | None = None,
) -> bool:
    """Whether no failure harms with these changes; with `among` only these failures are tried."""
    changed = {**given, **{name: Given(name, value, "a remedy") for name, value in changes}}
    try:
        settings = settings_of(changed, release)
    except KafkaLearnError:  # a producer would refuse to start so
        return False
    names = [name for name in failures_of(settings.topic.replica_count) if name != ALL_LOSE_POWER]
    tried = names if among is None else [name for name in names if name in among]
    return not any(result in HARM for name in tried for result, _ in _witnesses(settings, name))


@lru_cache(maxsize=256)
def _witnesses(settings: Settings, failure: str) -> tuple[tuple[str, Trace], ...]:
    return witnesses_of(settings, failures_of(settings.topic.replica_count)[failure])[0]
