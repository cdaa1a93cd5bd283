"""Kafka's settings as other tools have them: whose each line is, and Kafka's name for it, by that tool's own rule.

Only what a tool's documentation says exactly is read. Each other line comes back as not read, with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType

from kafkalearn.base.errors import shown
from kafkalearn.oncall.settings import OF_WORKERS, Line, ToolDefault, Unread, parse_properties
from kafkalearn.releases.settings import settings_named

CLIENTS = ("producer", "consumer", "admin")
ALL_CLIENTS = ""  # in place of a side: for each client of the file


@dataclass(frozen=True)
class Found:
    """What one tool's rule makes of a document."""

    tool: str  # "Spring Boot"
    settings: tuple[tuple[str, str, Line], ...]  # (part, side, line by Kafka's name); later ones go before
    unread: tuple[Unread, ...]
    defaults: Mapping[str, tuple[ToolDefault, ...]] = field(default_factory=dict)  # by side
    is_librdkafka: bool = False
    programs: frozenset[tuple[str, str]] = frozenset()  # parts and sides that are there without a line of Kafka's

    @property
    def parts(self) -> list[str]:
        """The parts that have a program of their own: channels, services; one without a name if there are none."""
        named = [*(part for part, _, _ in self.settings), *(part for part, _ in sorted(self.programs))]
        return [*dict.fromkeys(part for part in named if part != EVERY_PART)] or [""]


EVERY_PART = "*"
ELSEWHERE = "not where this tool has Kafka's settings"


def knows(side: str, name: str) -> bool:
    """Whether any release has such a setting on that side."""
    return any(each.side == side for each in settings_named(name))


# Spring Boot: only what its KafkaProperties has is bound, all else under spring.kafka is dropped without a word.

SPRING = "spring.kafka."
_SPRING_LINE = re.compile(r"spring\.kafka\.(?:(?P<side>producer|consumer|admin)\.)?(?P<rest>.+)")
_SPRING_OWN = re.compile(r"(?:listener|template|jaas|retry|streams)\b")
_EACH_CLIENT = {
    "clientid": "client.id", "security.protocol": "security.protocol", "ssl.keypassword": "ssl.key.password",
    "ssl.keystorecertificatechain": "ssl.keystore.certificate.chain", "ssl.keystorekey": "ssl.keystore.key",
    "ssl.keystorelocation": "ssl.keystore.location", "ssl.keystorepassword": "ssl.keystore.password",
    "ssl.keystoretype": "ssl.keystore.type", "ssl.truststorecertificates": "ssl.truststore.certificates",
    "ssl.truststorelocation": "ssl.truststore.location", "ssl.truststorepassword": "ssl.truststore.password",
    "ssl.truststoretype": "ssl.truststore.type", "ssl.protocol": "ssl.protocol",
}  # fmt: skip
_SERVERS = {"bootstrapservers": "bootstrap.servers"}
OF_SPRING: MappingProxyType[str, Mapping[str, str]] = MappingProxyType(
    {
        ALL_CLIENTS: {**_EACH_CLIENT, **_SERVERS},
        "producer": {
            **_EACH_CLIENT, **_SERVERS, "acks": "acks", "batchsize": "batch.size", "buffermemory": "buffer.memory",
            "compressiontype": "compression.type", "keyserializer": "key.serializer", "retries": "retries",
            "transactionidprefix": "transactional.id", "valueserializer": "value.serializer",
        },
        "consumer": {
            **_EACH_CLIENT, **_SERVERS, "autocommitinterval": "auto.commit.interval.ms",
            "autooffsetreset": "auto.offset.reset", "enableautocommit": "enable.auto.commit",
            "fetchmaxwait": "fetch.max.wait.ms", "fetchminsize": "fetch.min.bytes", "groupid": "group.id",
            "heartbeatinterval": "heartbeat.interval.ms", "isolationlevel": "isolation.level",
            "keydeserializer": "key.deserializer", "maxpollinterval": "max.poll.interval.ms",
            "maxpollrecords": "max.poll.records", "valuedeserializer": "value.deserializer",
        },
        "admin": {**_EACH_CLIENT, **_SERVERS},
    }
)  # fmt: skip
"""The properties of ``KafkaProperties`` by side, as they are compared (no hyphens, no case), and Kafka's names."""

_SPRING_OF_ADMIN = ("failfast", "autocreate", "modifytopicconfigs", "closetimeout", "operationtimeout")
_NO_DEFAULT = re.compile(r"\$\{([^}:]{1,300}+)\}")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "b": 1, "kb": 1 << 10, "mb": 1 << 20}
_WITH_UNIT = re.compile(r"(\d+)(ms|s|m|h|d|b|kb|mb)", re.IGNORECASE)


def of_spring(lines: Iterable[Line]) -> Found | None:
    """Spring Boot's ``spring.kafka``; None: nothing of it is there.

    What is common to all clients (``spring.kafka.properties``) counts for each of them that has a line of its own, and
    a line of a client's own goes before it. Times and sizes with a unit are numbers, as Spring makes them.

    References
    ----------
    Spring Boot 3.5, ``KafkaProperties``; relaxed binding.
    """
    given = [*lines]
    if not any(line.name.startswith(SPRING) for line in given):
        return None
    common, own, unread = [], [], []
    for line in given:
        match = _SPRING_LINE.fullmatch(line.name)
        if match is None:
            unread.append(Unread(line.number, line.name, ELSEWHERE))
            continue
        side, rest = match["side"] or ALL_CLIENTS, match["rest"]
        name = _of_spring(side, rest)
        if name is None:
            unread.append(Unread(line.number, line.name, _why_not_spring(side, rest)))
            continue
        written = _NO_DEFAULT.sub(r"${\1:}", line.value)  # as settings of Kafka's have what something else puts in
        read = ("", side, Line(line.number, name, _spring_value(name, rest, written)))
        (own if side else common).append(read)
    return Found("Spring Boot", (*common, *own), tuple(unread))


def _of_spring(side: str, written: str) -> str | None:
    """Kafka's name of a setting, from what follows the side; None: Spring's classes have no such property."""
    if match := re.fullmatch(r"properties(?:\.|\[)(.+?)\]?", written):
        return match[1].strip("'\"")
    return OF_SPRING[side].get(re.sub("[-_]", "", written).lower())


def _why_not_spring(side: str, rest: str) -> str:
    plain = re.sub("[-_]", "", rest).lower()
    if (side == ALL_CLIENTS and _SPRING_OWN.match(rest)) or (side == "admin" and plain in _SPRING_OF_ADMIN):
        return "Spring's own, no setting of a client"
    meant = re.sub(r"(?<=[a-z])(?=[A-Z])", ".", rest).replace("-", ".").replace("_", ".").lower()
    place = f"{SPRING}{side}.properties" if side else f"{SPRING}properties"
    if side and any(knows(side, each) for each in (meant, f"{meant}.ms")):
        return f"Spring Boot drops it: it has no such property; as {place}.{meant} it would count"
    return f"Spring Boot drops it: it has no such property; what Kafka knows goes under {place}"


def _spring_value(name: str, written: str, value: str) -> str:
    if written.startswith("properties"):
        return value
    if match := _WITH_UNIT.fullmatch(value.strip()):
        return str(int(match[1]) * _UNITS[match[2].lower()])
    return value.lower().replace("-", "_") if name == "isolation.level" else value


# SmallRye's connector, as Quarkus has it, and others of MicroProfile Reactive Messaging.

_CHANNEL = re.compile(r'mp\.messaging\.(?P<way>outgoing|incoming|connector)\.(?P<channel>"[^"]+"|[^.]+)\.(?P<rest>.+)')
_WAYS = {"outgoing": "producer", "incoming": "consumer"}
SMALLRYE = "smallrye-kafka"
_CONNECTORS = (SMALLRYE, "helidon-kafka", "liberty-kafka")


def of_smallrye(lines: Iterable[Line]) -> Found | None:
    """Channels of MicroProfile Reactive Messaging, each with a client of its own; None: there is none.

    A channel's attributes that Kafka's client knows are handed to it; those of the connector, and ``kafka.`` of
    Quarkus, hold for all channels. SmallRye's connector sets acks=1 where nothing else is said.

    References
    ----------
    SmallRye Reactive Messaging 4, ``KafkaConnector``; Quarkus, Apache Kafka reference guide.
    """
    given = [*lines]
    channels = [(line, match) for line in given if (match := _CHANNEL.fullmatch(line.name))]
    if not channels:
        return None
    connectors = {m["channel"]: line.value for line, m in channels if m["rest"] == "connector"}
    every: list[tuple[str, str, Line]] = []
    own: list[tuple[str, str, Line]] = []
    unread = []
    for line in given:
        match = _CHANNEL.fullmatch(line.name)
        if match is None:
            if (name := line.name.removeprefix("kafka.")) != line.name and any(knows(side, name) for side in CLIENTS):
                every.insert(0, (EVERY_PART, ALL_CLIENTS, Line(line.number, name, line.value)))
            else:
                why = "for a profile" if line.name.startswith("%") else ELSEWHERE
                unread.append(Unread(line.number, line.name, why))
            continue
        channel, rest, side = match["channel"].strip('"'), match["rest"], _WAYS.get(match["way"], ALL_CLIENTS)
        through = channel if side == ALL_CLIENTS else connectors.get(match["channel"], SMALLRYE)
        name = rest.strip('"')
        if through not in _CONNECTORS:
            unread.append(Unread(line.number, line.name, f"the channel goes through {shown(through)}"))
        elif not any(knows(each, name) for each in ([side] if side else CLIENTS)):
            unread.append(Unread(line.number, line.name, "the connector's own, no setting of Kafka's client"))
        elif side == ALL_CLIENTS:
            every.append((EVERY_PART, side, Line(line.number, name, line.value)))
        else:
            own.append((channel, side, Line(line.number, name, line.value)))
    is_smallrye = {SMALLRYE} & {*connectors.values(), *([SMALLRYE] if not connectors else [])}
    whose = "SmallRye's default"
    defaults = {"producer": (ToolDefault("acks", "1", whose),)} if is_smallrye else {}
    there = frozenset(
        (match["channel"].strip('"'), _WAYS[match["way"]])
        for _, match in channels
        if match["way"] in _WAYS and connectors.get(match["channel"], SMALLRYE) in _CONNECTORS
    )
    return Found("SmallRye", (*every, *own), tuple(unread), defaults, programs=there)


# Micronaut: a map for each client, with one for all others.

_MICRONAUT = re.compile(r'kafka\.(?P<way>producers|consumers)\.(?P<part>"[^"]+"|[^.]+)\.(?P<rest>.+)')


def of_micronaut(lines: Iterable[Line]) -> Found | None:
    """Micronaut's ``kafka.producers.NAME`` and ``kafka.consumers.NAME``; None: there is none.

    What is under ``kafka`` alone holds for all clients, what is under ``default`` for each producer or consumer.

    References
    ----------
    Micronaut Kafka 5, configuration reference: ``KafkaProducerConfiguration``, ``KafkaConsumerConfiguration``.
    """
    given = [*lines]
    clients = [(line, match) for line in given if (match := _MICRONAUT.fullmatch(line.name))]
    if not clients:
        return None
    named = {(match["way"], match["part"]) for _, match in clients if match["part"] != "default"}
    every: list[tuple[str, str, Line]] = []
    own: list[tuple[str, str, Line]] = []
    unread = []
    for line in given:
        match = _MICRONAUT.fullmatch(line.name)
        name = match["rest"].strip('"') if match else line.name.removeprefix("kafka.")
        side = match["way"].removesuffix("s") if match else ALL_CLIENTS
        if not any(knows(each, name) for each in ([side] if side else CLIENTS)) or name == line.name:
            unread.append(Unread(line.number, line.name, f"no setting of the {side}" if side else ELSEWHERE))
        elif match is None:
            every.insert(0, (EVERY_PART, side, Line(line.number, name, line.value)))
        elif match["part"] == "default":
            part = EVERY_PART if any(way == match["way"] for way, _ in named) else ""
            every.append((part, side, Line(line.number, name, line.value)))
        else:
            own.append((match["part"].strip('"'), side, Line(line.number, name, line.value)))
    return Found("Micronaut", (*every, *own), tuple(unread))


# Kafka Connect and Kafka Streams: a prefix says which of their clients a line is for.

_OF_CONNECT = "Connect's default for source connectors"


def of_connect(lines: Iterable[Line]) -> Found | None:
    """A worker's ``producer.``, ``consumer.``, ``admin.``, or a connector's ``producer.override.``; None: neither.

    References
    ----------
    Apache Kafka 4.4, ``Worker.baseProducerConfigs``; KIP-458 for ``override``; KIP-618 for exactly once.
    """
    given = [Line(each.number, each.name.removeprefix("config:"), each.value) for each in lines]
    names = {line.name for line in given}
    is_connector = "connector.class" in names
    if not is_connector and not names & {*OF_WORKERS}:
        return None
    form = rf"(producer|consumer|admin)\.{'override[.]' if is_connector else ''}(.+)"
    settings, unread = _prefixed(given, form, "the connector's own" if is_connector else "the worker's own")
    unread = tuple(each for each in unread if each.line)  # what Strimzi implies is in no line
    is_exact = any(each.name == "exactly.once.source.support" and each.value == "enabled" for each in given)
    defaults = (
        ToolDefault("acks", "all", _OF_CONNECT),
        ToolDefault("max.in.flight.requests.per.connection", "1", _OF_CONNECT),
        ToolDefault("enable.idempotence", "true" if is_exact else "false", _OF_CONNECT),
    )
    return Found("Kafka Connect", settings, unread, {"producer": defaults})


_STREAMS = r"(producer|consumer|main\.consumer|admin)\.(.+)"


def of_streams(lines: Iterable[Line]) -> Found | None:
    """A program of Kafka Streams, by its ``application.id``: plain names of a client's, then those with its prefix.

    References
    ----------
    Apache Kafka 4.4, ``StreamsConfig.getProducerConfigs``, ``getMainConsumerConfigs``.
    """
    given = [*lines]
    if not any(line.name == "application.id" for line in given):
        return None
    settings, unread = _prefixed(given, _STREAMS, "Kafka Streams' own")
    plain = [
        ("", side, line) for line in given for side in CLIENTS if knows(side, line.name) and line.name != "group.id"
    ]
    read = {line.number for _, _, line in plain}
    exact = any(each.name == "processing.guarantee" and each.value.startswith("exactly_once") for each in given)
    whose = "Kafka Streams' default"
    defaults = {"producer": (ToolDefault("enable.idempotence", "true", f"{whose} with exactly_once"),)} if exact else {}
    return Found("Kafka Streams", (*plain, *settings), tuple(e for e in unread if e.line not in read), defaults)


def _prefixed(
    lines: Iterable[Line], form: str, whose: str
) -> tuple[tuple[tuple[str, str, Line], ...], tuple[Unread, ...]]:
    """Lines with a client's prefix, by their names without it; all others as not read."""
    settings, unread = [], []
    for line in lines:
        match = re.fullmatch(form, line.name)
        side = match[1].rpartition(".")[2] if match else ""
        if match and knows(side, match[2]):
            settings.append(("", side, Line(line.number, match[2], line.value)))
        else:
            why = f"no setting of the {side}" if match else whose
            unread.append(Unread(line.number, line.name, why))
    return tuple(settings), tuple(unread)


# librdkafka and the clients on it: names of their own, some of which mean one of Kafka's; .NET writes them joined.


def _of_every_client() -> dict[str, str]:
    text = resources.files("kafkalearn.oncall").joinpath("librdkafka_settings.json").read_text(encoding="utf-8")
    listed: dict[str, list[str]] = json.loads(text)
    sides = {"producer": "producer", "consumer": "consumer", "every client": ALL_CLIENTS}
    return {name: side for group, side in sides.items() for name in listed[group]}


OF_LIBRDKAFKA: MappingProxyType[str, str] = MappingProxyType(_of_every_client())
"""librdkafka's settings, and which of its clients has them."""

_SAME_IN_KAFKA = {
    "request.required.acks": "acks", "message.send.max.retries": "retries", "queue.buffering.max.ms": "linger.ms",
    "max.in.flight": "max.in.flight.requests.per.connection", "message.timeout.ms": "delivery.timeout.ms",
    "metadata.broker.list": "bootstrap.servers", "compression.codec": "compression.type",
    "auto.commit.enable": "enable.auto.commit", "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "sasl.mechanisms": "sasl.mechanism",
}  # fmt: skip
_JOINED = {re.sub("[._]", "", name): name for name in OF_LIBRDKAFKA}
_ACKS_OF_NET = {"all": "all", "leader": "1", "none": "0"}


def is_only_librdkafkas(name: str) -> bool:
    """Whether librdkafka has a setting that no Java client, broker or topic has."""
    return "." in name and name in OF_LIBRDKAFKA and all(e.side.startswith("old-") for e in settings_named(name))


def of_librdkafka(lines: Iterable[Line]) -> Found | None:
    """A file by librdkafka's names; None: it has no name that is librdkafka's alone, or one that it cannot have.

    References
    ----------
    librdkafka 2, ``CONFIGURATION.md``.
    """
    given = [*lines]
    others = [each for each in given if each.name not in OF_LIBRDKAFKA and _is_of_another(each.name)]
    if others or not any(is_only_librdkafkas(line.name) for line in given):
        return None
    return _of_librdkafka("librdkafka", [(line, OF_LIBRDKAFKA.get(line.name), line.name) for line in given])


def _is_of_another(name: str) -> bool:
    """Whether only brokers, topics or the Scala clients have such a setting."""
    found = settings_named(name)
    return bool(found) and not any(each.side in CLIENTS for each in found)


def of_dotnet(lines: Iterable[Line]) -> Found | None:
    """Settings of .NET's client in sections of JSON, or as variables: ``Kafka:Acks``, ``Kafka__EnableIdempotence``.

    References
    ----------
    confluent-kafka-dotnet 2, ``ProducerConfig``, whose properties are librdkafka's names without their dots.
    """
    read: list[tuple[Line, str | None, str]] = []
    is_net = False
    for line in lines:
        *sections, last = re.split(":|__", line.name)
        name = last if last in OF_LIBRDKAFKA else _JOINED.get(last.lower())
        is_net |= name is not None and bool(re.match(r"[A-Z][a-z]+", last))
        named = next((each for each in CLIENTS if any(each in section.lower() for section in sections)), ALL_CLIENTS)
        side = None if name is None else OF_LIBRDKAFKA[name] or named
        if name and named and OF_LIBRDKAFKA[name] not in (ALL_CLIENTS, named):
            side = None
        read.append((line, side, name or ""))
    return _of_librdkafka(".NET", read) if is_net else None


def _of_librdkafka(tool: str, read: Iterable[tuple[Line, str | None, str]]) -> Found:
    settings, unread = [], []
    for line, side, name in read:
        if side is None:
            unread.append(Unread(line.number, line.name, "no setting of librdkafka's"))
            continue
        value = line.value.strip()
        if name in ("acks", "request.required.acks"):
            value = _ACKS_OF_NET.get(value.lower(), value)
        settings.append(("", side, Line(line.number, _SAME_IN_KAFKA.get(name, name), value)))
    is_idempotent = any(each.name == "enable.idempotence" and each.value.lower() == "true" for _, _, each in settings)
    whose = "librdkafka's default"
    defaults = (
        ToolDefault("acks", "all", whose),
        ToolDefault("enable.idempotence", "false", whose),
        ToolDefault("retries", "2147483647", whose),
        ToolDefault("max.in.flight.requests.per.connection", "5" if is_idempotent else "1000000", whose),
    )
    return Found(tool, tuple(settings), tuple(unread), {"producer": defaults}, is_librdkafka=True)


# Variables of containers: each image says how a name becomes a setting; and the files that hold such variables.

_MARKS = re.compile(
    r"KAFKA_(CFG_)?(BROKER_ID|NODE_ID|PROCESS_ROLES|ZOOKEEPER_CONNECT|LISTENERS|ADVERTISED_LISTENERS|"
    r"CONTROLLER_QUORUM_VOTERS|INTER_BROKER_LISTENER_NAME)|KAFKA_CFG_.+"
)


def _dotted(variable: str) -> str:
    """``LOG4J__A_B`` -> ``log4j_a.b``: one underscore is a dot, two are one, three a hyphen."""
    marks = {"_": ".", "__": "_", "___": "-"}
    return re.sub("_{1,3}", lambda match: marks[match[0]], variable).lower()


def of_variables(lines: Iterable[Line], part: str = "", side: str | None = None) -> Found | None:
    """The variables of one container: a broker's, a Connect worker's, Spring Boot's, .NET's; None: of none of them.

    `side` is whose settings they are, if somebody has said it: without that, ``KAFKA_`` names are a broker's where
    one of them is a broker's alone, such as ``KAFKA_NODE_ID``.

    References
    ----------
    Docker images of Apache Kafka and Confluent (``KAFKA_``, ``CONNECT_``), Bitnami (``KAFKA_CFG_``); Spring Boot,
    binding from environment variables; .NET's configuration.
    """
    given = [*lines]
    if any(line.name.startswith("SPRING_KAFKA_") for line in given):
        return of_spring(_of_spring_variable(line) for line in given)
    if any("__" in line.name and line.name != line.name.upper() for line in given):
        return of_dotnet(given)
    workers = [line for line in given if line.name.startswith("CONNECT_")]
    if workers and side != "broker":
        rest = [line for line in given if line not in workers]
        found = of_connect(Line(line.number, _dotted(line.name[8:]), line.value) for line in workers)
        if found is not None:
            return _merged(found, (), _unknown(rest, "no variable of a Connect image"))
    if side not in (None, "broker") or not (side == "broker" or any(_MARKS.fullmatch(line.name) for line in given)):
        return None
    settings, unread = [], []
    for line in given:
        prefix = next((each for each in ("KAFKA_CFG_", "KAFKA_") if line.name.startswith(each)), "")
        name = _dotted(line.name[len(prefix) :])
        if prefix and (knows("broker", name) or name.startswith("listener.name.")):
            settings.append((part, "broker", Line(line.number, name, line.value)))
        else:
            why = "no setting of the broker; scripts of the image may read it" if prefix else "no variable of a broker"
            unread.append(Unread(line.number, line.name, why))
    return Found("a broker's image", tuple(settings), tuple(unread)) if settings else None


def _of_spring_variable(line: Line) -> Line:
    match = re.fullmatch(r"SPRING_KAFKA_(?:(PRODUCER|CONSUMER|ADMIN)_)?(PROPERTIES_|SSL_|SECURITY_)?(.+)", line.name)
    if match is None:
        return line
    side = f"{match[1].lower()}." if match[1] else ""
    group = match[2].rstrip("_").lower() + "." if match[2] else ""
    rest = match[3].lower().replace("_", ".") if group == "properties." else match[3].lower().replace("_", "")
    return Line(line.number, f"{SPRING}{side}{group}{rest}", line.value)


def _unknown(lines: Iterable[Line], why: str) -> tuple[Unread, ...]:
    return tuple(Unread(line.number, line.name, why) for line in lines)


def _merged(found: Found, settings: tuple[tuple[str, str, Line], ...], unread: tuple[Unread, ...]) -> Found:
    return Found(
        found.tool, (*found.settings, *settings), (*found.unread, *unread), found.defaults, found.is_librdkafka
    )


_OF_SERVICE = re.compile(r"services\.(?P<place>.+)\.environment\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_ENV_ITEM = re.compile(r"(?P<place>.+)\.(?:env|initContainers\S{0,20}?env)\[(?P<number>\d+)\]\.(?P<what>name|value)")
_MAPS = ("data.", "stringData.")


def of_containers(lines: Iterable[Line], side: str | None = None) -> Iterator[Found]:
    """Services of a Compose file, containers and maps of a Kubernetes manifest, each by its variables."""
    given = [*lines]
    by_place: dict[str, list[Line]] = {}
    names: dict[tuple[str, str], Line] = {}
    rest = []
    for line in given:
        if match := _OF_SERVICE.fullmatch(line.name):
            by_place.setdefault(match["place"], []).append(Line(line.number, match["name"], line.value))
        elif match := _ENV_ITEM.fullmatch(line.name):
            key = (match["place"], match["number"])
            if match["what"] == "name":
                names[key] = line
            elif key in names:
                variable = Line(line.number, names[key].value, line.value)
                by_place.setdefault(match["place"].rpartition(".")[2], []).append(variable)
        elif line.name.startswith(_MAPS) and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", line.name.partition(".")[2]):
            by_place.setdefault("data", []).append(Line(line.number, line.name.partition(".")[2], line.value))
        else:
            rest.append(line)
    found = [(place, of_variables(own, place, side), own) for place, own in by_place.items()]
    if any(each is not None for _, each, _ in found):
        first = True
        for place, each, own in found:
            more = _unknown(rest, "no variable of a container") if first else ()
            first = False
            if each is not None:
                yield _merged(each, (), more)
            else:
                yield Found("", (), (*_unknown(own, f"a variable of {place}"), *more))


_STRIMZI = {"Kafka": ("spec.kafka.config.", "broker"), "KafkaTopic": ("spec.config.", "topic")}


def of_strimzi(lines: Iterable[Line]) -> Found | None:
    """A resource of Strimzi's: of a Kafka its brokers' settings, of a KafkaTopic the topic's, of Connect a worker's.

    References
    ----------
    Strimzi, ``Kafka.spec.kafka.config``, ``KafkaTopic.spec.config``, ``KafkaConnect.spec.config``.
    """
    given = [*lines]
    values = {line.name: line.value for line in given}
    kind = values.get("kind", "")
    if "strimzi.io/" not in values.get("apiVersion", ""):
        return None
    if kind in ("KafkaConnect", "KafkaConnector", "KafkaMirrorMaker2"):
        inner = [line for line in given if line.name.startswith("spec.config.")]
        lines_of = [Line(line.number, line.name.removeprefix("spec.config."), line.value) for line in inner]
        marked = [*lines_of, Line(0, "connector.class" if kind == "KafkaConnector" else OF_WORKERS[0], "")]
        found = of_connect(marked)
        return None if found is None else _merged(found, (), ())
    prefix, side = _STRIMZI.get(kind, ("", ""))
    if not prefix:
        return None
    settings, unread = [], []
    for line in given:
        name = line.name.removeprefix(prefix)
        if name != line.name and (knows(side, name) or name.startswith("listener.name.")):
            settings.append((values.get("metadata.name", ""), side, Line(line.number, name, line.value)))
        else:
            why = f"no setting of the {side}" if name != line.name else "Strimzi's own"
            unread.append(Unread(line.number, line.name, why))
    return Found("Strimzi", tuple(settings), tuple(unread))


# Whole files of Kafka's inside of others: values of Helm charts, and maps of Kubernetes.

_OF_CHART = re.compile(
    r"(?:(?P<part>[^.]+)\.)?(?:configurationOverrides|overrideConfiguration|extraConfigYaml)\.(?P<name>.+)"
)
_TEXT_OF_CHART = re.compile(r"(?:(?P<part>[^.]+)\.)?(?:extraConfig|overrideConfiguration|config)")
_FILE_IN_MAP = re.compile(r"(?:data|stringData)\.(?P<file>.+)\.properties")
_SIDES_OF_FILES = {"server": "broker", "broker": "broker", "producer": "producer", "consumer": "consumer"}


def of_charts(lines: Iterable[Line]) -> Found | None:
    """Brokers' settings in values of Helm charts, and files such as server.properties in a map; None: there are none.

    References
    ----------
    Bitnami's chart (``extraConfig``, ``overrideConfiguration``, ``extraConfigYaml``, before ``config``), Confluent's
    cp-helm-charts (``configurationOverrides``); Kubernetes, ``ConfigMap``.
    """
    settings: list[tuple[str, str, Line]] = []
    unread = []
    for line in lines:
        inside, side, part = [line], "broker", ""
        if match := _OF_CHART.fullmatch(line.name):
            inside, part = [Line(line.number, match["name"].strip('"'), line.value)], match["part"] or ""
        elif "=" in line.value and (match := _TEXT_OF_CHART.fullmatch(line.name)):
            inside, part = _lines_in(line), match["part"] or ""
        elif (match := _FILE_IN_MAP.fullmatch(line.name)) and match["file"] in _SIDES_OF_FILES:
            inside, side = _lines_in(line), _SIDES_OF_FILES[match["file"]]
        else:
            unread.append(Unread(line.number, line.name, ELSEWHERE))
            continue
        for each in inside:
            if knows(side, each.name) or each.name.startswith("listener.name."):
                settings.append((part, side, each))
            else:
                unread.append(Unread(each.number, each.name, f"no setting of the {side}"))
    has_parts = any(part for part, _, _ in settings)
    every = [(EVERY_PART if has_parts and not part else part, side, line) for part, side, line in settings]
    return Found("a chart", tuple(every), tuple(unread)) if settings else None


def _lines_in(line: Line) -> list[Line]:
    """The lines of a file that stands as a block of text in another; the block begins on the next line."""
    return [Line(line.number + each.number, each.name, each.value) for each in parse_properties(line.value).lines]


# A document -> what it is.

_RULES: tuple[Callable[[Iterable[Line]], Found | None], ...] = (
    of_spring, of_smallrye, of_micronaut, of_strimzi, of_connect, of_streams,
)  # fmt: skip


def dialects_in(form: str, lines: tuple[Line, ...], side: str | None) -> list[Found]:
    """What other tools' rules make of a document; empty: it has Kafka's own names, or nothing that is known."""
    for rule in _RULES:
        if (found := rule(lines)) is not None:
            return [found]
    if form == "environment":
        found = of_variables(lines, "", side)
        return [] if found is None else [found]
    if form == "yaml" and (containers := [*of_containers(lines, side)]):
        return containers
    if form == "yaml" and (chart := of_charts(lines)) is not None:
        return [chart]
    if form == "json" and (found := of_dotnet(lines)) is not None:
        return [found]
    found = of_librdkafka(lines)
    return [] if found is None else [found]
