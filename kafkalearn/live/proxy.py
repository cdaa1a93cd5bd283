"""A proxy in front of one broker: it counts the requests by kind, may lose the answers to some, or refuse them itself.

It stands where a network stands: what passes it is not changed unless it is told to. Give it to a cluster of one broker
that is not started yet, so that clients are sent through it::

    with Proxy() as proxy, Kafka(config=proxy.config) as kafka:
        proxy.forward_to(kafka)
        proxy.swallow("Produce", count=1)
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from struct import Struct
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import encode_message
from kafkalearn.live.nodes import HOST
from kafkalearn.live.request_values import ERROR_NAMES
from kafkalearn.live.requests import (
    API_BY_NUMBER,
    HEADER,
    LENGTH,
    NO_TAGS,
    Api,
    answer_of,
    find_api,
    request_bytes,
    request_of,
)

if TYPE_CHECKING:
    from kafkalearn.live.kafka import Kafka


class _Asked(NamedTuple):
    """A request that waits for its answer."""

    name: str
    version: int
    refusal: bytes = b""  # what to answer in the broker's place; empty: what the broker says


Waiting: TypeAlias = dict[int, _Asked]  # by correlation id
Serving: TypeAlias = Callable[[socket.socket, socket.socket, Waiting], None]
Note: TypeAlias = Callable[[str, int, bytes], None]
"""``note(name, version, message)``: called with each answer, or each request, without its length, as they came."""

NEWEST_OF_CLIENTS = MappingProxyType({"AddPartitionsToTxn": 3})
"""Requests whose later versions are sent by brokers alone, to the coordinator: they are not refused."""

_CORRELATION_ID = Struct(">i")


class Proxy:
    """A proxy on a port of its own; to be closed, or used in a ``with`` block.

    Parameters
    ----------
    note : callable or None
        Called with each answer that passes, as `Note` says; `kafkalearn.live.requests.answer_of` decodes it.
    heard : callable or None
        Called with each request, before the broker has it; `kafkalearn.live.requests.request_of` decodes it.
    """

    def __init__(self, note: Note | None = None, heard: Note | None = None) -> None:
        """Listen; nothing is forwarded yet."""
        self._note = note
        self._heard = heard
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        self.counts: Counter[str] = Counter()  # requests by Kafka's name
        self.versions: dict[str, set[int]] = {}  # in which versions they came
        self.broken: Counter[str] = Counter()  # answers that were lost, or got an error, by request
        self._target: int | None = None
        self._swallow: Counter[str] = Counter()
        self._errors: dict[str, list[int]] = {}  # by the request's name: what the next answers are to say
        self._refusals: dict[str, list[int]] = {}  # by the request's name: what the next ones are refused with
        self._held: frozenset[str] = frozenset()  # requests whose answers are kept back
        self._lock = threading.Lock()
        self._let_go = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def config(self) -> dict[str, object]:
        """What a cluster of one broker needs to send its clients here."""
        return {"advertised.listeners": f"PLAINTEXT://{HOST}:{self.port}"}

    def forward_to(self, kafka: Kafka | str) -> None:
        """Pass everything on to the first broker of a cluster, or of a list of addresses on this machine."""
        addresses = kafka if isinstance(kafka, str) else kafka.bootstrap
        self._target = int(addresses.split(",")[0].rpartition(":")[2])

    def swallow(self, name: str, count: int = 1) -> None:
        """Lose the next answers to a request, and cut the connection each time, as a broken network does."""
        with self._lock:
            self._swallow[find_api(name).name] = count

    def answer_with(self, name: str, *errors: str) -> None:
        """Put these errors into the next answers to a request, by Kafka's names; the broker has done what was asked."""
        with self._lock:
            self._errors[find_api(name).name] = _numbers_of(errors)

    def refuse(self, name: str, *errors: str) -> None:
        """Answer the next requests with these errors, by Kafka's names, in the place of the broker, which has none."""
        if name not in REFUSED:
            raise KafkaLearnError(f"requests of the kind {name!r} cannot be refused; expected one of {list(REFUSED)}")
        with self._lock:
            self._refusals[name] = _numbers_of(errors)

    def hold(self, *names: str) -> None:
        """Keep back the answers to these requests, and what comes after them on their connections; no names: let go."""
        with self._let_go:
            self._held = frozenset(find_api(each).name for each in names)
            self._let_go.notify_all()

    def reset(self) -> None:
        """Count from nothing."""
        with self._lock:
            self.counts.clear()
            self.versions.clear()

    def close(self) -> None:
        """Listen no more."""
        self._listener.close()

    def __enter__(self) -> Proxy:
        """The proxy itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                broker = socket.create_connection((HOST, self._target or 0))
            except OSError:
                if self._listener.fileno() < 0:
                    return
                continue
            asked: Waiting = {}
            for work in (self._requests, self._answers):
                threading.Thread(target=self._serve, args=(work, client, broker, asked), daemon=True).start()

    def _serve(self, work: Serving, client: socket.socket, broker: socket.socket, asked: Waiting) -> None:
        with contextlib.suppress(OSError):
            work(client, broker, asked)
        for each in (client, broker):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _requests(self, client: socket.socket, broker: socket.socket, asked: Waiting) -> None:
        while message := _message(client):
            number, version, correlation_id = HEADER.unpack_from(message, LENGTH.size)
            name = API_BY_NUMBER[number].name if number in API_BY_NUMBER else f"request {number}"
            with self._lock:
                self.counts[name] += 1
                self.versions.setdefault(name, set()).add(version)
                if self._heard is not None:
                    self._heard(name, version, message[LENGTH.size :])
                refusal = b""
                if self._refusals.get(name) and version <= NEWEST_OF_CLIENTS.get(name, version):
                    self.broken[name] += 1
                    refusal = _refusal(message, self._refusals[name].pop(0))
                    # The broker is asked something harmless in its place: when that is answered, this answer is due.
                    message = request_bytes(find_api("ApiVersions"), 0, correlation_id, "", {})
                asked[correlation_id] = _Asked(name, version, refusal)
            broker.sendall(message)

    def _answers(self, client: socket.socket, broker: socket.socket, asked: Waiting) -> None:
        while message := _message(broker):
            (correlation_id,) = _CORRELATION_ID.unpack_from(message, LENGTH.size)
            name, version, refusal = asked.pop(correlation_id, _Asked("", 0))
            message = refusal or message
            with self._let_go:
                while name in self._held:
                    self._let_go.wait()
            with self._lock:
                if self._swallow[name] > 0:
                    self._swallow[name] -= 1
                    self.broken[name] += 1
                    return
                if self._errors.get(name):
                    self.broken[name] += 1
                    message = _with_error(name, version, message, self._errors[name].pop(0))
                if self._note is not None:
                    self._note(name, version, message[LENGTH.size :])
            client.sendall(message)


def _numbers_of(errors: Iterable[str]) -> list[int]:
    numbers = {error: number for number, error in ERROR_NAMES.items()}
    return [numbers[one_of("error", error, numbers)] for error in errors]


def _with_error(name: str, version: int, message: bytes, number: int) -> bytes:
    """The same answer, but that it has failed: as a whole, and for each partition that it names."""
    api = find_api(name)
    correlation_id, fields = answer_of(api, version, message[LENGTH.size :])
    return _answer(api, version, correlation_id, _failed(fields, number))


def _answer(api: Api, version: int, correlation_id: int, fields: dict[str, Any]) -> bytes:
    header = _CORRELATION_ID.pack(correlation_id) + (NO_TAGS if api.response.is_flexible(version) else b"")
    body = header + encode_message(api.response, version, fields)
    return LENGTH.pack(len(body)) + body


def _refusal(message: bytes, number: int) -> bytes:
    """The answer to a request of which nothing was done: the error, for each partition that it names."""
    *_, correlation_id = HEADER.unpack_from(message, LENGTH.size)
    api, version, _, fields = request_of(message[LENGTH.size :])
    return _answer(api, version, correlation_id, {"throttleTimeMs": 0, **REFUSED[api.name](fields, number)})


def _refused(fields: dict[str, Any], number: int) -> dict[str, Any]:
    return {"errorCode": number}


def _refused_init(fields: dict[str, Any], number: int) -> dict[str, Any]:
    return {"errorCode": number, "producerId": -1, "producerEpoch": -1}


def _refused_commit(fields: dict[str, Any], number: int) -> dict[str, Any]:
    def refused(topic: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"partitionIndex": each["partitionIndex"], "errorCode": number} for each in topic["partitions"]]

    return {"topics": [{**each, "partitions": refused(each)} for each in fields["topics"]]}


def _refused_produce(fields: dict[str, Any], number: int) -> dict[str, Any]:
    def refused(topic: dict[str, Any]) -> list[dict[str, Any]]:
        error = {"errorCode": number, "baseOffset": -1, "logStartOffset": 0, "recordErrors": []}
        return [{"index": each["index"], **error} for each in topic.pop("partitionData")]

    return {"responses": [{"partitionResponses": refused(each), **each} for each in fields["topicData"]]}


def _refused_partitions(fields: dict[str, Any], number: int) -> dict[str, Any]:
    def refused(topic: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"partitionIndex": each, "partitionErrorCode": number} for each in topic["partitions"]]

    refusals = [{"name": each["name"], "resultsByPartition": refused(each)} for each in fields["v3AndBelowTopics"]]
    return {"resultsByTopicV3AndBelow": refusals}


REFUSED: MappingProxyType[str, Callable[[dict[str, Any], int], dict[str, Any]]] = MappingProxyType(
    {
        "AddOffsetsToTxn": _refused,
        "AddPartitionsToTxn": _refused_partitions,
        "EndTxn": _refused,
        "InitProducerId": _refused_init,
        "OffsetCommit": _refused_commit,
        "Produce": _refused_produce,
        "TxnOffsetCommit": _refused_commit,
    }
)
"""The requests that can be refused, and the fields of the answer to one of which nothing was done."""


def _failed(fields: Any, number: int) -> Any:
    if isinstance(fields, list):
        return [_failed(each, number) for each in fields]
    if isinstance(fields, dict):
        return {name: number if name == "errorCode" else _failed(each, number) for name, each in fields.items()}
    return fields


def _message(source: socket.socket) -> bytes:
    """The next message with its length in front; empty at the end."""
    length = _take(source, LENGTH.size)
    if len(length) < LENGTH.size:
        return b""
    return length + _take(source, *LENGTH.unpack(length))


def _take(source: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = source.recv(size - len(data))
        if not part:
            return b""
        data += part
    return bytes(data)
