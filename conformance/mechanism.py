"""A kind of question that both a broker and a simulator can answer; what limits it; and topics for single cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies

from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live.cluster import CONSUMER_REPLICA, LATEST, NEWEST_WITHOUT_TIMEOUT, READ_UNCOMMITTED
from kafkalearn.live.errors import Refused, wait_for
from kafkalearn.live.reading import refuse_error
from kafkalearn.live.request_values import error_name
from kafkalearn.live.requests import APIS

Case = Mapping[str, Any]
"""One question, whole: a dict of what JSON can hold, so that it can be kept and asked again."""

Answer = Any
"""What came of a case, of what JSON can hold; two answers are the same if they are equal."""


@dataclass(frozen=True)
class Mechanism:
    """A kind of question, and how a broker and the simulator are asked.

    Parameters
    ----------
    name : str
        In words, as ``"classic groups"``.
    rules : tuple of str
        The rules of the ledger that it holds to a broker, by their names.
    cases : callable
        ``cases(release)``: a Hypothesis strategy of cases, for ``"4.3"`` and the like.
    ask : callable
        ``ask(kafka, case, new_name)``: the broker's answer. `new_name(kind)` names topics and groups that nobody has
        had before; `kafka` is a `kafkalearn.live.Kafka` with the `settings` below, or, where `only_requests`, any
        cluster that may be written to.
    say : callable
        ``say(release, case, seen)``: the simulator's answer, of the same form. It may read from the broker's answer
        what only the broker can know (ids and times that it drew), and nothing else.
    settings : mapping
        What `kafkalearn.live.Kafka` is started with: ``brokers``, ``config``, ``has_eligible_leader_replicas``. With
        ``brokers`` 0 none is started: then `ask` gets the `Release` alone, whose classes it runs.
    only_requests : bool
        Whether requests over the network are all it needs: then any broker can be asked, one's disk cannot.
    tries : int
        How often a case is asked before a difference counts: more than once where timers of the broker may interfere.
    fit : callable or None
        ``fit(cluster)``: the same questions with the limits and timers of a cluster that somebody else has set up, for
        a mechanism that wants `settings` of its own otherwise. It raises `CannotBeAsked` where there are none.
    """

    name: str
    rules: tuple[str, ...]
    cases: Callable[[str], Any]
    ask: Callable[[Any, Case, Callable[[str], str]], Answer]
    say: Callable[[str, Case, Answer], Answer]
    settings: Mapping[str, Any] = field(default_factory=dict)
    only_requests: bool = False
    tries: int = 1
    fit: Callable[[Any], Mechanism] | None = None

    @property
    def is_for_any_cluster(self) -> bool:
        """Whether a cluster that somebody else has set up can be asked."""
        return self.only_requests or self.fit is not None

    def fitted(self, cluster: Any) -> Mechanism:
        """As a cluster that somebody else has set up can be asked."""
        return self if self.fit is None else self.fit(cluster)


def line(kind: str, *words: Any) -> Any:
    """A strategy of lines of a script, each a list of its kind and these words."""
    return strategies.tuples(strategies.just(kind), *words).map(list)


class CannotBeAsked(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """This cluster cannot be asked such a question at all; the message says why."""


class TooSlow(KafkaLearnError):  # noqa: N818
    """The machine was too slow for a case to mean anything; it is passed over, and counted."""


@dataclass(frozen=True)
class Limits:
    """What of a cluster decides how its groups can be asked: the settings it tells, and the requests it takes.

    Parameters
    ----------
    settings : mapping of str to object
        The settings of its brokers by Kafka's names; what is not in it has its default.
    versions : mapping of str to int
        The newest version of each request that the cluster and we know; a request that is not in it is not taken.

    Examples
    --------
    >>> limits = Limits({"group.max.size": "3"}, {"JoinGroup": 6, "LeaveGroup": 2})
    >>> limits.numbers(["group.max.size", "group.min.session.timeout.ms"])
    {'group.max.size': 3}
    >>> limits.takes("JoinGroup", 9), limits.newest("JoinGroup", 9)
    (False, 6)
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=lambda: {name: api.newest for name, api in APIS.items()})

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Those of the settings that are known, as numbers."""
        return {name: int(str(self.settings[name])) for name in names if name in self.settings}

    def takes(self, request: str, version: int = 0) -> bool:
        """Whether a request is taken in this version."""
        return self.versions.get(request, -1) >= version

    def newest(self, request: str, at_most: int) -> int:
        """The newest version of a request, but not above one."""
        return min(self.versions.get(request, -1), at_most)

    def require(self, versions: Mapping[str, int]) -> None:
        """Pass in silence if all of these requests are taken, each in this version at least.

        Raises
        ------
        CannotBeAsked
            Names those that are not.
        """
        missing = [
            f"{name} from version {version} on" for name, version in versions.items() if not self.takes(name, version)
        ]
        if missing:
            raise CannotBeAsked(f"it does not take {listed(missing, last='or')}")


OWN = Limits()
"""Of a broker that knows every request that we know, and whose settings are given another way."""


def limits_of(cluster: Any) -> Limits:
    """The limits of a cluster; where its brokers tell no settings, the defaults of the release have to do."""
    broker = min(cluster.metadata().addresses)
    versions = {
        name: cluster.version(broker, name, api.newest) for name, api in APIS.items() if cluster.knows(broker, name)
    }
    try:
        return Limits(cluster.broker_settings(broker) if cluster.knows(broker, "DescribeConfigs") else {}, versions)
    except Refused:  # who may write to topics may not always see settings
        return Limits({}, versions)


TIMEOUT_MS = 15_000


def new_topic(
    kafka: Any, name: str, partitions: int = 1, config: Mapping[str, object] | None = None
) -> dict[TopicPartition, int]:
    """Make a topic; the leader of each of its partitions, once each of them answers as such.

    A broker is named as leader a moment before it is one; until then it answers NOT_LEADER_OR_FOLLOWER.
    """
    if is_made_by_request(kafka):
        create_by_request(kafka, name, partitions, config or {})
    else:
        kafka.create_topic(name, partitions, config=config)
    wait_for(lambda: len(leaders_of(kafka, name)) >= partitions, True, f"leaders of {name!r}:")
    leaders = leaders_of(kafka, name)
    wait_for(lambda: set(log_ends(kafka, leaders).values()), {0}, f"empty logs of {name!r}: their ends are")
    return leaders


def is_made_by_request(kafka: Any) -> bool:
    """Whether the cluster takes CreateTopics."""
    return kafka.knows(_any_broker(kafka), "CreateTopics")


def create_by_request(kafka: Any, name: str, partitions: int, config: Mapping[str, object], replicas: int = 1) -> None:
    """Make a topic; nothing is waited for.

    Raises
    ------
    Refused
        If the cluster refuses; the message is the broker's.
    """
    topic = {
        "name": name,
        "numPartitions": partitions,
        "replicationFactor": replicas,
        "assignments": [],
        "configs": [{"name": key, "value": str(value)} for key, value in config.items()],
    }
    values = {"topics": [topic], "timeoutMs": TIMEOUT_MS, "validateOnly": False}
    for each in kafka.ask(_any_broker(kafka), "CreateTopics", values)["topics"]:
        refuse_error(each, f"topic {name!r} is not created")


def _any_broker(kafka: Any) -> int:
    return min(kafka.metadata().addresses)


def leaders_of(kafka: Any, topic: str) -> dict[TopicPartition, int]:
    """The leader of each partition of a topic, by partition."""
    known = kafka.metadata([topic])
    places = [TopicPartition(topic, partition) for partition in range(known.partition_counts[topic])]
    return {place: known.leaders[place] for place in places if place in known.leaders}


def log_ends(kafka: Any, leaders: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """The high watermark of each partition; a request to each leader.

    Raises
    ------
    Refused
        If one of them gives none.
    """
    ends = {}
    for leader in sorted(set(leaders.values())):
        topics: dict[str, list[dict]] = {}
        for place, each in leaders.items():
            if each == leader:
                topics.setdefault(place.topic, []).append({"partitionIndex": place.partition, "timestamp": LATEST})
        values = {
            "replicaId": CONSUMER_REPLICA,
            "isolationLevel": READ_UNCOMMITTED,
            "topics": [{"name": topic, "partitions": asked} for topic, asked in topics.items()],
        }
        version = kafka.version(leader, "ListOffsets", NEWEST_WITHOUT_TIMEOUT)
        for topic in kafka.ask(leader, "ListOffsets", values, version)["topics"]:
            for found in topic["partitions"]:
                place = TopicPartition(topic["name"], found["partitionIndex"])
                refuse_error(found, f"the end of {place}")
                ends[place] = found["offset"]
    return ends


def produced(kafka: Any, leader: int, values: Mapping[str, Any], version: int) -> list[Any]:
    """What a produce request for one partition is answered: the error, and the offset of its first record."""
    (found,) = kafka.ask(leader, "Produce", values, version)["responses"][0]["partitionResponses"]
    return [error_name(found["errorCode"]), found["baseOffset"]]
