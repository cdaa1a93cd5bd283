"""How a producer is configured, and the topic it writes to: defaults by release, contradictions refused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, Checked, Count, FilledIn, Index, check_fields
from kafkalearn.phrases import shown
from kafkalearn.replication.events import RequestMillis, refuse_unknown_acks
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.versions import default
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

FOR_EVER = 2_147_483_647  # retries of 2.1 and later: as long as delivery.timeout.ms allows
MOST_IN_FLIGHT = 5  # batches that a broker remembers of a producer: of more in flight it could not recognise the oldest


@dataclass(frozen=True, slots=True)
class ProducerSettings(Checked):
    """A producer, as its configuration says; what is not given is the release's default.

    Parameters
    ----------
    acks : 0, 1, "all" or None
        ``acks``: when the broker answers. None: 1 up to 2.8, all since 3.0.
    is_idempotent : bool or None
        ``enable.idempotence``. None: on since 3.0, if the other settings allow it, else silently off. (In 3.0.0 and
        3.1.0 a fault left it off, KAFKA-13598; here "3.0" and "3.1" stand for the patch releases that have it on.)
    retries : int or None
        ``retries``. None: 0 up to 2.0, then without end.
    max_in_flight : int or None
        ``max.in.flight.requests.per.connection``.
    delivery_timeout_ms : int or None
        ``delivery.timeout.ms``: after so long the producer gives a batch up. None before 2.1: no limit.
    request_timeout_ms : int or None
        ``request.timeout.ms``: how long to wait for one answer; acks=all waits no longer at the broker either.
    puts_failures_aside : bool
        No setting of Kafka's, but what the application's callback does with an error: it stores the record, to send it
        again later (`kafkalearn.delivery.SendAgain`). False: it takes note of the error, and no more.
    release : str
        Of the producer; without one, Kafka 4.3.

    Raises
    ------
    KafkaLearnError
        If a producer would refuse to start so.

    Examples
    --------
    >>> ProducerSettings().acks, ProducerSettings().is_idempotent
    ('all', True)
    >>> ProducerSettings(release="2.8").acks, ProducerSettings(release="2.8").is_idempotent
    (1, False)
    >>> ProducerSettings(acks=1).is_idempotent  # the default gives way without a word
    False
    >>> ProducerSettings(is_idempotent=True, release="2.8").acks  # who asks for it gets the rest as well
    'all'
    >>> ProducerSettings(acks=1, is_idempotent=True)
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: an idempotent producer needs acks='all', got acks=1; leave one of them away

    References
    ----------
    Apache Kafka 4.3, ``ProducerConfig.postProcessAndValidateIdempotenceConfigs``; KIP-98, KIP-679.
    """

    acks: FilledIn[int | str] = NOT_GIVEN
    is_idempotent: FilledIn[bool] = NOT_GIVEN
    retries: FilledIn[Index] = NOT_GIVEN
    max_in_flight: FilledIn[Count] = NOT_GIVEN
    delivery_timeout_ms: RequestMillis | None = None
    request_timeout_ms: FilledIn[RequestMillis] = NOT_GIVEN
    puts_failures_aside: bool = False
    release: ReleaseName = DEFAULT_RELEASE

    def __post_init__(self) -> None:
        """Fill in the release's defaults, and refuse what contradicts itself."""
        check_fields(self)
        if self.is_idempotent and at_least("0.11.0", self.release):
            self._give_way()
        fill_in(
            self,
            acks=_acks_of(self.release),
            retries=default("retries", self.release, "producer"),
            max_in_flight=default("max.in.flight.requests.per.connection", self.release, "producer"),
            request_timeout_ms=30_000,  # up to 0.8.2 it was called timeout.ms
        )
        if at_least("2.1", self.release):
            fill_in(self, delivery_timeout_ms=default("delivery.timeout.ms", self.release, "producer"))
        refuse_unknown_acks(self.acks)
        self._settle_idempotence()

    def _give_way(self) -> None:
        """Who asks for idempotence gets what it needs in place of the release's defaults; what is given stays."""
        fill_in(self, acks="all", retries=FOR_EVER)
        if not at_least("1.0", self.release):
            fill_in(self, max_in_flight=1)

    def _settle_idempotence(self) -> None:
        conflict = self._conflict()
        if self.is_idempotent and conflict:
            raise KafkaLearnError(f"an idempotent producer needs {conflict}; leave one of them away")
        is_default = at_least("0.11.0", self.release) and default("enable.idempotence", self.release, "producer")
        fill_in(self, is_idempotent=bool(is_default) and not conflict)

    def _conflict(self) -> str:
        """What stands in the way of idempotence; empty: nothing."""
        if not at_least("0.11.0", self.release):
            return f"Kafka 0.11 or later, got release {self.release!r}"
        if self.acks != "all":
            return f"acks='all', got acks={self.acks!r}"
        if self.retries == 0:
            return "retries above 0, got retries=0"
        most = MOST_IN_FLIGHT if at_least("1.0", self.release) else 1
        if self.max_in_flight > most:
            return f"at most {most} requests in flight, got max_in_flight={self.max_in_flight}"
        return ""


def _acks_of(release: str) -> int | str:
    acks = default("acks", release, "producer")
    return "all" if acks in ("all", "-1") else int(str(acks))


@dataclass(frozen=True, slots=True)
class Settings:
    """A producer and the partition it writes to.

    Parameters
    ----------
    topic : TopicSettings
        The partition and its brokers: ``kafkalearn.replication.Settings``.
    producer : ProducerSettings
        The one producer.

    Examples
    --------
    >>> settings = Settings(TopicSettings(replica_count=2, min_insync_replicas=2), ProducerSettings(acks=1))
    >>> settings.topic.min_insync_replicas, settings.producer.acks
    (2, 1)
    """

    topic: TopicSettings = field(default_factory=TopicSettings)
    producer: ProducerSettings = field(default_factory=ProducerSettings)

    def __post_init__(self) -> None:
        """Refuse what is no pair of settings."""
        if not isinstance(self.topic, TopicSettings):
            raise KafkaLearnError(f"topic must be TopicSettings, got {shown(self.topic)}")
        if not isinstance(self.producer, ProducerSettings):
            raise KafkaLearnError(f"producer must be ProducerSettings, got {shown(self.producer)}")

    def unordered(self) -> Settings:
        """The same, but the controller prefers no broker: what a search runs with."""
        return replace(self, topic=replace(self.topic, assignment=()))
