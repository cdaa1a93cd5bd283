"""Whether a record can be lost: from which settings, by which failures, with which remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, listed, shown
from kafkalearn.base.trace import Trace
from kafkalearn.delivery.matrix_search import can_be, witnesses_of
from kafkalearn.delivery.model import ConnectionLost, GaveUp, ProducerSettings, Settings, TopicSettings
from kafkalearn.delivery.picture import describe_delivery
from kafkalearn.delivery.search import FAILURES, GIVEN_UP, OFFLINE, Failure
from kafkalearn.delivery.simulator import DOUBLED, LOST, OUT_OF_ORDER, REJECTED
from kafkalearn.oncall.settings import PropertiesFile
from kafkalearn.releases.defaults import default
from kafkalearn.releases.lines import at_least
from kafkalearn.replication.events import BrokerCrashed, BrokerStarted, BrokerStopped, PowerLost, SessionExpired

# What goes wrong, for as many replicas as a topic has: what `kafkalearn.oncall.safe` lets happen at any moment.

MOST_SEARCHED = 3  # replicas; of more, three are searched: each further one makes a search several times as long
ALL_LOSE_POWER = "both in sync lose their power"  # of what is not flushed nothing is left: no setting here helps
_BOTH = ("the connection breaks", "the time for a batch is over", "the leader dies", "the leader stands still")
_POWER_GOES = (PowerLost, SessionExpired, BrokerStarted)


def failures_of(replica_count: int) -> dict[str, Failure]:
    """The failures by name: those of `kafkalearn.delivery.search.FAILURES`, for 1, 2 or 3 replicas.

    >>> [*failures_of(1)][-1], len(failures_of(2)), failures_of(3) == {**FAILURES}
    ('the only broker loses its power', 7, True)
    """
    if replica_count >= MOST_SEARCHED:
        return {**FAILURES}
    found = {name: FAILURES[name] for name in _BOTH}
    if replica_count == 1:
        lost = _limited("it loses what it had not flushed", _POWER_GOES, {PowerLost: 1})
        return {**found, "the only broker loses its power": lost}
    away = (BrokerCrashed(2), SessionExpired(2))
    return {
        **found,
        "the follower is away, the leader dies": _limited(
            "the other has left the ISR; it may come back, but not into the ISR before that",
            (BrokerCrashed, SessionExpired, BrokerStarted),
            {BrokerCrashed: 1},
            away,
        ),
        "the last in sync loses its power": _limited(
            "one broker stops cleanly; the other loses what it had not flushed",
            (BrokerStopped, *_POWER_GOES),
            {BrokerStopped: 1, PowerLost: 1},
        ),
        ALL_LOSE_POWER: _limited("they lose what they had not flushed", _POWER_GOES, {PowerLost: 2}),
    }


def _limited(description: str, kinds: tuple[type, ...], limits: dict[type, int], before: tuple = ()) -> Failure:
    return Failure(description, kinds, MappingProxyType(limits), before)


# The settings by which a record can be lost or not, gathered from flags, files, a tool's text and a cluster.

REPLICAS = "replication factor"
ACKS, IDEMPOTENCE, RETRIES = "acks", "enable.idempotence", "retries"
IN_FLIGHT = "max.in.flight.requests.per.connection"
MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
READ_FROM: MappingProxyType[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        REPLICAS: (("broker", "default.replication.factor"),),
        MIN_ISR: (("topic", MIN_ISR), ("broker", MIN_ISR)),
        UNCLEAN: (("topic", UNCLEAN), ("broker", UNCLEAN)),
        ACKS: (("producer", ACKS),),
        IDEMPOTENCE: (("producer", IDEMPOTENCE),),
        RETRIES: (("producer", RETRIES),),
        IN_FLIGHT: (("producer", IN_FLIGHT),),
    }
)
"""Each setting, and who may set it under which name; the first that does counts."""

NUMBERS = (REPLICAS, MIN_ISR, RETRIES, IN_FLIGHT)
FLAGS = (UNCLEAN, IDEMPOTENCE)


@dataclass(frozen=True, slots=True)
class Given:
    """A setting's value, and where it is from."""

    name: str
    value: Any  # of whatever type the setting has; None: the release decides
    origin: str


def gather(
    given: Mapping[str, object],
    files: Iterable[tuple[str, str, PropertiesFile]],
    described: Mapping[str, object],
    release: str,
) -> dict[str, Given]:
    """Each setting of `READ_FROM` by name: what was given, else of a topic described, else of a file, else the default.

    Parameters
    ----------
    given : mapping of str to object
        Values as arguments; None is none.
    files : iterable of (side, name, PropertiesFile)
        The reader's own.
    described : mapping of str to object
        What a tool or a cluster says of the topic.
    release : str
        Whose defaults they are.

    Raises
    ------
    KafkaLearnError
        If a value is none, or nothing says how many replicas there are.
    """
    by_side = [*files]
    found = {name: _one(name, given, by_side, described, release) for name in READ_FROM}
    if found[REPLICAS].value is None:
        raise KafkaLearnError(
            "how many replicas has the topic? Give its replication_factor (--replicas), what kafka-topics --describe "
            "prints (--describe), or a broker's file with default.replication.factor (--broker)"
        )
    return found


def _one(
    name: str,
    given: Mapping[str, object],
    files: list[tuple[str, str, PropertiesFile]],
    described: Mapping[str, object],
    release: str,
) -> Given:
    if given.get(name) is not None:
        return Given(name, given[name], "given")
    if described.get(name) is not None:
        return Given(name, _converted(name, described[name], "the topic"), "the topic itself")
    for side, own in READ_FROM[name]:
        for whose, file_name, file in files:
            if whose == side and own in file.last:
                line = file.last[own]
                origin = f"{file_name}, line {line.number}"
                return Given(name, _converted(name, line.value.strip(), origin), origin)
        for whose, file_name, file in files:
            for each in file.defaults:
                if whose == side and each.name == own:
                    return Given(name, _converted(name, each.value, file_name), f"{each.whose}, {file_name}")
    if name in (REPLICAS, ACKS, IDEMPOTENCE, RETRIES, IN_FLIGHT):  # the producer's depend on each other: it decides
        return Given(name, None, f"default of {release}")
    return Given(name, default(name, release, side="broker"), f"default of {release}")


def _converted(name: str, value: object, origin: str) -> object:
    """A value as the simulators take it.

    >>> _converted(ACKS, "-1", "x"), _converted(MIN_ISR, "2", "x"), _converted(UNCLEAN, "TRUE", "x")
    ('all', 2, True)
    """
    written = str(value).strip()
    if name == ACKS:
        one_of(f"acks in {origin}", written, ("all", "-1", "0", "1"))
        return "all" if written in ("all", "-1") else int(written)
    if name in FLAGS:
        return one_of(f"{name} in {origin}", written.lower(), ("true", "false")) == "true"
    if not re.fullmatch(r"[0-9]{1,10}", written):
        raise KafkaLearnError(f"{name} in {origin} must be a whole number, got {shown(written)}")
    return int(written)


def topic_facts(describe: str, topic: str) -> dict[str, object]:
    """What ``kafka-topics --describe`` says of a topic's settings: its replicas, and the settings of its own.

    >>> topic_facts("Topic: t\\tPartitionCount: 1\\tReplicationFactor: 3\\tConfigs: min.insync.replicas=2,a=b", "t")
    {'replication factor': 3, 'min.insync.replicas': '2'}
    """
    for line in describe.splitlines():
        words = line.replace(":", ": ", 4).split()
        if words[:2] != ["Topic:", topic] or "ReplicationFactor:" not in words[:-1]:
            continue
        factor = words[words.index("ReplicationFactor:") + 1]
        facts: dict[str, object] = {REPLICAS: _converted(REPLICAS, factor, "describe")}
        pairs = (each.partition("=") for each in line.partition("Configs:")[2].strip().split(","))
        own = {name: value for name, _, value in pairs}
        return {**facts, **{name: own[name] for name in (MIN_ISR, UNCLEAN) if name in own}}
    raise KafkaLearnError(
        f"describe has no line with the ReplicationFactor of {topic}: paste what kafka-topics --describe prints, whole"
    )


# How the partitions stand while this is asked: the search begins with all in sync.

_PARTITION_LINE = re.compile(
    r"Topic:\s{0,9}+(?P<topic>\S{1,249}+)\s{1,9}+Partition:\s{0,9}+(?P<partition>\d{1,10}+)\s{1,9}+"
    r"Leader:\s{0,9}+(?P<leader>none|-?\d{1,10}+)\s{1,9}+Replicas:\s{0,9}+(?P<replicas>[\d,]*+)\s{1,9}+"
    r"Isr:[ \t]*+(?P<isr>[\d,]*+)"
)


@dataclass(frozen=True, slots=True)
class PartitionNow:
    """One partition as a tool or a cluster has it."""

    partition: int
    leader: int | None  # None: it has none
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


def partitions_now(describe: str, topic: str) -> tuple[PartitionNow, ...]:
    """The partitions of a topic, from the lines of ``kafka-topics --describe`` of any release.

    >>> partitions_now("\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 2", "t")
    (PartitionNow(partition=0, leader=None, replicas=(1, 2), isr=(2,)),)
    """
    return tuple(
        PartitionNow(
            int(each["partition"]),
            None if each["leader"] in ("none", "-1") else int(each["leader"]),
            _ids(each["replicas"]),
            _ids(each["isr"]),
        )
        for each in _PARTITION_LINE.finditer(describe)
        if each["topic"] == topic
    )


def _ids(written: str) -> tuple[int, ...]:
    return tuple(int(each) for each in written.split(",") if each)


def troubles(
    partitions: Iterable[PartitionNow], min_isr: int, is_all: bool, is_unclean: bool
) -> dict[str, tuple[int, ...]]:
    """What is wrong with partitions now, in sentences, each with those that it is about.

    Parameters
    ----------
    partitions : iterable of PartitionNow
        As they stand.
    min_isr : int
        min.insync.replicas.
    is_all : bool
        Whether acks=all.
    is_unclean : bool
        Whether unclean.leader.election.enable.
    """
    found: dict[str, list[int]] = {}
    for each in partitions:
        if (words := _trouble(each, min_isr, is_all, is_unclean)) is not None:
            found.setdefault(words, []).append(each.partition)
    return {words: tuple(numbers) for words, numbers in found.items()}


def _trouble(each: PartitionNow, min_isr: int, is_all: bool, is_unclean: bool) -> str | None:
    last = listed(each.isr, last="or")
    if each.leader is None:
        waits = f"until broker {last} is back" if each.isr else "and no replica in sync is known"
        risk = " or another replica is elected, which loses what it has not got" if is_unclean else ""
        return f"no leader: nobody can write there or read, {waits}{risk}"
    few = len(each.isr) < min(min_isr, len(each.replicas))
    if len(each.isr) == 1 and len(each.replicas) > 1:
        begins = f"only broker {last} of {len(each.replicas)} replicas is in sync"
        if few and is_all:
            return f"{begins}: writes are refused until another one is; what it alone has goes if it does not come back"
        return f"{begins}: what it acknowledges now nobody else has, and goes with it if it does not come back"
    if few and is_all:
        return (
            f"{len(each.isr)} of {len(each.replicas)} replicas are in sync: writes are refused, {min_isr} are asked for"
        )
    return None


# The search for harm: every failure under somebody's settings, the shortest runs, and the fewest changes that help.

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


def settings_of(given: Mapping[str, Given], release: str, has_elr: bool | None = None) -> Settings:
    """The settings as the simulators take them, of at most `MOST_SEARCHED` replicas.

    `has_elr` is whether the cluster has eligible leader replicas (KIP-966); None: as a new one of the release.
    """
    value = {name: each.value for name, each in given.items()}
    replicas = value[REPLICAS]
    TopicSettings(replicas, release)  # refuses what is not a number of replicas
    topic = TopicSettings(
        min(replicas, MOST_SEARCHED),
        release,
        min_insync_replicas=_searched(value[MIN_ISR], replicas),
        is_unclean_election_enabled=value[UNCLEAN],
        fetch_wait_max_ms=0,
        has_eligible_leader_replicas=has_elr,
    )
    producer = ProducerSettings(
        acks=value[ACKS],
        is_idempotent=value[IDEMPOTENCE],
        retries=value[RETRIES],
        max_in_flight=value[IN_FLIGHT],
        release=release,
    )
    return Settings(topic, producer)


def _searched(least: Any, replicas: int) -> Any:
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
    harmful, harmful_beyond = (
        tuple(_harm(settings, *each) for each in sorted(found, key=lambda one: (order.index(one[0]), len(one[2]))))
        for found in (harms, beyond)
    )
    return harmful, harmful_beyond, tuple(sorted(seen, key=lambda one: [*WITH_AN_ERROR].index(one[0])))


_BROKEN = re.compile(r" Promises? broken: ")


def _harm(settings: Settings, result: str, failure: str, run: Trace) -> Harm:
    pairs = zip(run[1:], run, strict=False)
    said = (describe_delivery(settings, frame, before) for frame, before in pairs)
    return Harm(result, failure, tuple(_BROKEN.split(words)[0] for words in said), run)


def find_remedy(
    given: Mapping[str, Given], release: str, harms: tuple[Harm, ...], has_elr: bool | None = None
) -> tuple[tuple[str, object], ...]:
    """The fewest of `REMEDIES` after which nothing harms, found by leaving away what is not needed."""
    kept = [(name, value) for name, value in REMEDIES if _helps(name, value, given[name].value, release)]
    harmful = frozenset(each.failure for each in harms)
    if not kept or not _is_safe_with(given, kept, release, harmful, has_elr):
        return ()
    for each in [*kept]:
        fewer = [one for one in kept if one is not each]
        if _is_safe_with(given, fewer, release, harmful, has_elr):
            kept = fewer
    return tuple(kept)


def _helps(name: str, value: Any, now: Any, release: str) -> bool:
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
    harmful: frozenset[str],
    has_elr: bool | None = None,
) -> bool:
    """Whether no failure harms with these changes.

    Most of what is tried fails where it harms now, and there by what takes most away: these are searched first.
    """
    changed = {**given, **{name: Given(name, value, "a remedy") for name, value in changes}}
    try:
        settings = settings_of(changed, release, has_elr)
    except KafkaLearnError:  # a producer would refuse to start so
        return False
    names = [name for name in failures_of(settings.topic.replica_count) if name != ALL_LOSE_POWER]
    tried = sorted(names, key=lambda name: (name not in harmful, -names.index(name)))
    return not any(_can_harm(settings, name) for name in tried)


def searched_failure(settings: Settings, name: str) -> Failure:
    """A failure by name, without the followers where they decide nothing.

    No broker falls there, and the producer waits for none of them: of all that is looked for in a run only the leader's
    log decides, and a follower's fetch leaves it as it is.

    >>> settings = Settings(TopicSettings(3), ProducerSettings(acks=1))
    >>> searched_failure(settings, "the connection breaks").absent, searched_failure(settings, "the leader dies").absent
    ((2, 3), ())
    """
    replica_count = settings.topic.replica_count
    failure = failures_of(replica_count)[name]
    if settings.producer.acks == "all" or failure.before or not {*failure.kinds} <= {ConnectionLost, GaveUp}:
        return failure
    return replace(failure, absent=tuple(range(2, replica_count + 1)))


@lru_cache(maxsize=256)
def _can_harm(settings: Settings, failure: str) -> bool:
    return can_be(settings, searched_failure(settings, failure), HARM)


@lru_cache(maxsize=256)
def _witnesses(settings: Settings, failure: str) -> tuple[tuple[str, Trace], ...]:
    return witnesses_of(settings, searched_failure(settings, failure))[0]
