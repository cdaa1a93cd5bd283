"""What producers do about each error of each of their requests: tests/vectors/transactions/producer-errors.json."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from kafkalearn.delivery.produce_errors import produce_errors
from kafkalearn.formats.batches import read_header
from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.proxy import NEWEST_OF_CLIENTS, Proxy
from kafkalearn.live.request_values import ERROR_NAMES, NONE
from kafkalearn.live.requests import answer_of, find_api, request_of
from kafkalearn.transactions.client_errors import ERRORS
from tools.real.told import Clients, Threw, config_text
from tools.timed_out import error_in

FILE = "transactions/producer-errors.json"
ABOUT = (
    "A producer, and a proxy that refuses one of its requests with an error, in the broker's place: what came of the "
    "call whose request that was, and of those after it, by producer (Java, asked about every error; librdkafka, and "
    "Java about the same requests at transaction.version 0, about those that have a meaning to a producer; older ones "
    "of Java, about three), kind (the transaction.version of the broker; idempotent and plain: without transactions, "
    "acks all, and plain without idempotence), request and error. Steps: the call, what came of it (done; thrown by "
    "the call, or by the future of send, which is the delivery report of librdkafka: classes of the error and of its "
    "causes, or the name of the error and whether it is fatal, retriable, or asks for an abort), the requests that it "
    "sent and what each was answered, of Produce with epoch and sequence. With transactions: where a call fails the "
    "application aborts and begins anew; where send fails, it commits before, where init fails, it calls that again "
    "before. CONCURRENT_TRANSACTIONS, after which a producer asks again, is left out, or given once where it is the "
    "error. Written by python3 -m tools.real producers."
)
PLAIN, IDEMPOTENT = "plain", "idempotent"
INIT, BEGIN, SEND, OFFSETS, COMMIT, ABORT = "init", "begin", "send", "offsets", "commit", "abort"
AGAIN = (BEGIN, SEND, COMMIT)
AFTER = {INIT: (INIT, *AGAIN), SEND: (COMMIT, ABORT, *AGAIN)}
ABORTING = "EndTxn (abort)"
SCRIPTS: dict[str, tuple[Sequence[str], int]] = {
    "InitProducerId": ((INIT, *AGAIN), 0),
    "AddPartitionsToTxn": ((INIT, BEGIN, SEND, COMMIT), 2),
    "Produce": ((INIT, BEGIN, SEND, COMMIT), 2),
    "AddOffsetsToTxn": ((INIT, BEGIN, SEND, OFFSETS, COMMIT), 3),
    "TxnOffsetCommit": ((INIT, BEGIN, SEND, OFFSETS, COMMIT), 3),
    "EndTxn": ((INIT, BEGIN, SEND, COMMIT), 3),
    ABORTING: ((INIT, BEGIN, SEND, ABORT, *AGAIN), 3),
}
"""For each request of a transaction the calls, and which of them it is that sends it."""
OF_TRANSACTIONS_2 = tuple(each for each in SCRIPTS if not each.startswith("Add"))
WITHOUT: dict[str, tuple[Sequence[str], int]] = {"InitProducerId": ((SEND,) * 2, 0), "Produce": ((SEND,) * 3, 1)}
REQUESTS = frozenset(each.removesuffix(" (abort)") for each in SCRIPTS)
AGAIN_LATER = "CONCURRENT_TRANSACTIONS"
BROKER = {
    "transaction.state.log.num.partitions": 1,
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
}
TIMES = {"linger.ms": 0, "retry.backoff.ms": 20, "retry.backoff.max.ms": 100, "delivery.timeout.ms": 20_000}
JAVA_TIMES = {**TIMES, "request.timeout.ms": 10_000, "max.block.ms": 20_000}
PATIENCE_S, A_WHILE_S, SETTLED_S = 20.0, 0.03, 0.15
DONE = "done"
TOPIC = "t"


class Asked(NamedTuple):
    """A kind of producer, and the requests that are refused."""

    producer: str
    kind: str | int  # PLAIN, IDEMPOTENT, or a transaction.version
    requests: Sequence[str]
    errors: Sequence[str]

    @property
    def level(self) -> int:
        """The transaction.version of its broker."""
        return self.kind if isinstance(self.kind, int) else 2


JAVA, LIBRDKAFKA = "Java", "librdkafka"
EVERY = tuple(sorted(set(ERROR_NAMES.values()) - {NONE}))
WITH_A_MEANING = tuple(
    sorted({*(each.name for each in ERRORS), *(each.name for each in produce_errors())} & set(EVERY))
)
ASKED: Sequence[Asked] = (
    Asked(JAVA, 2, OF_TRANSACTIONS_2, EVERY),
    Asked(JAVA, IDEMPOTENT, tuple(WITHOUT), EVERY),
    Asked(JAVA, PLAIN, ("Produce",), EVERY),
    Asked(LIBRDKAFKA, IDEMPOTENT, tuple(WITHOUT), WITH_A_MEANING),
    Asked(LIBRDKAFKA, PLAIN, ("Produce",), WITH_A_MEANING),
    Asked(LIBRDKAFKA, 2, tuple(SCRIPTS), WITH_A_MEANING),
    Asked(JAVA, 0, ("AddPartitionsToTxn", "AddOffsetsToTxn"), EVERY),
    Asked(JAVA, 0, OF_TRANSACTIONS_2, WITH_A_MEANING),
)
"""librdkafka speaks as before transaction.version 2, whatever the broker has."""

OLDER = ("4.0.2", "3.9.2")
BEYOND_ABORT = ("INVALID_PRODUCER_ID_MAPPING", "TRANSACTION_ABORTABLE", "UNKNOWN_PRODUCER_ID")
"""Errors after which a producer may abort, unless they answer what begins a transaction, or ends it so."""


class Ear:
    """The requests of a producer with their answers."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.kept: list[list[Any]] = []
        self._stamps: deque[list[int]] = deque()  # of the Produce requests without an answer

    def hear(self, name: str, _: int, message: bytes) -> None:
        """Keep epoch and sequence of what is produced."""
        if name == "Produce":
            *_, fields = request_of(message)
            header = read_header(fields["topicData"][0]["partitionData"][0]["records"])
            self._stamps.append([header.producer_epoch, header.base_sequence])

    def note(self, name: str, version: int, message: bytes) -> None:
        """Keep an answer."""
        if name in REQUESTS and version <= NEWEST_OF_CLIENTS.get(name, version):
            _, fields = answer_of(find_api(name), version, message)
            stamp = self._stamps.popleft() if name == "Produce" else []
            self.kept.append([name, *stamp, error_in(fields)])

    def reset(self) -> None:
        """Forget everything."""
        self.kept.clear()
        self._stamps.clear()

    def take(self, error: str) -> list[list[Any]]:
        """What was kept since the last time."""
        taken, self.kept = self.kept, []
        found: list[list[Any]] = []
        for each in taken:
            is_again = each[-1] == AGAIN_LATER
            if not (is_again and (error != AGAIN_LATER or found[-1:] == [each])):
                found.append(each)
        return found


class Told(Protocol):
    """A producer of one kind after the other, in one form."""

    def start(self, config: dict[str, object]) -> None:
        """A new producer."""

    def call(self, call: str) -> str:
        """What comes of a call."""

    def close(self) -> None:
        """Close it, at once."""


class Java:
    """Producers of Java."""

    def __init__(self, clients: Clients) -> None:
        """They run in this process."""
        self._clients = clients

    def start(self, config: dict[str, object]) -> None:
        """A new producer."""
        self._clients.ask("p", "producer", config_text({**config, **JAVA_TIMES}))

    def call(self, call: str) -> str:
        """What comes of a call."""
        words: tuple[object, ...] = {SEND: ("send", TOPIC, 0, "v"), OFFSETS: ("sendOffsets", f"{TOPIC}-0", 7)}.get(
            call, (f"{call}Transaction{'s' if call == INIT else ''}",)
        )
        try:
            self._clients.ask("p", *words)  # type: ignore[arg-type]
        except Threw as error:
            first, _, rest = error.classes.partition(" < ")
            return f"future {rest}" if first == "ExecutionException" else f"thrown {error.classes}"
        return DONE

    def close(self) -> None:
        """Close it, at once."""
        self._clients.ask("p", "close")


class Librdkafka:
    """Producers of librdkafka."""

    def __init__(self, bootstrap: str) -> None:
        """Before these brokers."""
        self._bootstrap = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._group = Consumer({**self._bootstrap, "group.id": "p"}).consumer_group_metadata()
        self._producer: Producer
        self._reported: list[KafkaError | None] = []

    def start(self, config: dict[str, object]) -> None:
        """A new producer."""
        self._producer = Producer({**self._bootstrap, **config, **TIMES})

    def call(self, call: str) -> str:
        """What comes of a call."""
        calls: dict[str, Callable[[], object]] = {
            INIT: lambda: self._producer.init_transactions(PATIENCE_S),
            BEGIN: self._producer.begin_transaction,
            SEND: self._send,
            OFFSETS: self._send_offsets,
            COMMIT: lambda: self._producer.commit_transaction(PATIENCE_S),
            ABORT: lambda: self._producer.abort_transaction(PATIENCE_S),
        }
        try:
            calls[call]()
        except KafkaException as raised:
            return f"thrown {_named(raised.args[0])}"
        failed = [each for each in self._reported if each is not None]
        self._reported.clear()
        return f"future {_named(failed[0])}" if failed else DONE

    def _send(self) -> None:
        self._producer.produce(TOPIC, b"v", partition=0, on_delivery=self._report)
        while len(self._producer):
            with contextlib.suppress(SystemError, KafkaException):  # a fatal error comes here, too, and to the report
                self._producer.flush(PATIENCE_S)

    def _report(self, error: KafkaError | None, _: Message) -> None:
        self._reported.append(error)

    def _send_offsets(self) -> None:
        self._producer.send_offsets_to_transaction([TopicPartition(TOPIC, 0, 7)], self._group, PATIENCE_S)

    def close(self) -> None:
        """Close it, at once."""
        self._producer.purge()
        del self._producer


def _named(error: KafkaError) -> str:
    says = {"fatal": error.fatal(), "retriable": error.retriable(), "abort": error.txn_requires_abort()}
    return " ".join([str(error.name()), *(word for word, is_so in says.items() if is_so)])


def recorded(version: str, line: str) -> Iterator[dict[str, Any]]:
    """Every case, by a broker of a release, Java's producers of the same, and librdkafka."""
    for level in dict.fromkeys(each.level for each in ASKED):
        ear = Ear()
        with (
            Proxy(ear.note, ear.hear) as proxy,
            Kafka(release=line, config={**BROKER, **proxy.config}, transaction_version=level) as kafka,
        ):
            proxy.forward_to(kafka)
            kafka.create_topic(TOPIC, 1)
            bootstrap = f"127.0.0.1:{proxy.port}"
            with Clients(bootstrap, version) as clients:
                _warm_up(Java(clients))
                by_name: dict[str, Told] = {JAVA: Java(clients), LIBRDKAFKA: Librdkafka(bootstrap)}
                for each in ASKED:
                    if each.level == level:
                        yield from _cases(proxy, ear, by_name[each.producer], each)
            for older in OLDER if level == 2 else ():
                with Clients(bootstrap, older) as clients:
                    asked = Asked(f"{JAVA} {older}", level, ("InitProducerId", ABORTING), BEYOND_ABORT)
                    yield from _cases(proxy, ear, Java(clients), asked)


def _warm_up(told: Told) -> None:
    """A transaction, after which all coordinators have loaded."""
    told.start({"transactional.id": "first"})
    for each in (INIT, BEGIN, SEND, OFFSETS, COMMIT):
        told.call(each)
    told.close()


def _cases(proxy: Proxy, ear: Ear, told: Told, asked: Asked) -> Iterator[dict[str, Any]]:
    is_transactional = isinstance(asked.kind, int)
    own = {"enable.idempotence": asked.kind != PLAIN}
    for request in asked.requests:
        print(asked.producer, asked.kind, request, flush=True)
        for error in asked.errors:
            name = f"{asked.producer} {asked.kind}, {request}: {error}"
            config = {**own, "transactional.id": name} if is_transactional else own
            steps = _played(proxy, ear, told, config, request, error)
            yield {
                "name": name, "producer": asked.producer, "kind": asked.kind, "request": request, "error": error,
                "steps": steps,
            }  # fmt: skip


def _played(proxy: Proxy, ear: Ear, told: Told, config: dict[str, object], request: str, error: str) -> list[list[Any]]:
    """The calls, from that one on whose request is refused."""
    is_transactional, plain = "transactional.id" in config, request.removesuffix(" (abort)")
    calls, which = (SCRIPTS if is_transactional else WITHOUT)[request]
    before = proxy.broken[plain]
    if which == 0:
        ear.reset()
        proxy.refuse(plain, error)
    told.start(config)
    if which == 0 and not is_transactional:  # it sends its first request as soon as it can
        wait_for(lambda: proxy.broken[plain], before + 1, f"{error} of {request}")
        time.sleep(SETTLED_S)
    for each in calls[:which]:
        outcome = told.call(each)
        if outcome != DONE:
            raise AssertionError(f"{request}, {error}: {each} came to {outcome} before anything was refused")
    if which > 0:
        ear.reset()
        proxy.refuse(plain, error)
    steps: list[list[Any]] = []
    waiting = deque(calls[which:])
    failures = 0
    while waiting:
        call = waiting.popleft()
        outcome = told.call(call)
        if outcome != DONE or call == ABORT:
            time.sleep(A_WHILE_S)  # what it sends on its own after that
        steps.append([call, outcome, ear.take(error)])
        if outcome != DONE and is_transactional:
            failures += 1
            if failures == 1 or (call == INIT and failures == 2):
                waiting = deque(AFTER.get(call, (ABORT, *AGAIN)) if failures == 1 else (ABORT, *AGAIN))
    proxy.refuse(plain)
    told.close()
    return steps
