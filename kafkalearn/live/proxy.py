"""A proxy in front of one broker: it counts the requests by kind, and may lose the answer to some, or make it an error.

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
from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

from kafkalearn.base.checks import one_of
from kafkalearn.formats.wire import encode_message
from kafkalearn.live.nodes import HOST
from kafkalearn.live.request_values import ERROR_NAMES
from kafkalearn.live.requests import API_BY_NUMBER, HEADER, LENGTH, NO_TAGS, answer_of, find_api

if TYPE_CHECKING:
    from kafkalearn.live.kafka import Kafka

Asked: TypeAlias = dict[int, tuple[str, int]]  # by correlation id: the request's name and its version
Serving: TypeAlias = Callable[[socket.socket, socket.socket, Asked], None]
Note: TypeAlias = Callable[[str, int, bytes], None]
"""``note(name, version, message)``: called with each answer, or each request, without its length, as they came."""

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
        self._lock = threading.Lock()
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
        numbers = {error: number for number, error in ERROR_NAMES.items()}
        with self._lock:
            self._errors[find_api(name).name] = [numbers[one_of("error", error, numbers)] for error in errors]

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
            asked: Asked = {}
            for work in (self._requests, self._answers):
                threading.Thread(target=self._serve, args=(work, client, broker, asked), daemon=True).start()

    def _serve(self, work: Serving, client: socket.socket, broker: socket.socket, asked: Asked) -> None:
        with contextlib.suppress(OSError):
            work(client, broker, asked)
        for each in (client, broker):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _requests(self, client: socket.socket, broker: socket.socket, asked: Asked) -> None:
        while message := _message(client):
            number, version, correlation_id = HEADER.unpack_from(message, LENGTH.size)
            name = API_BY_NUMBER[number].name if number in API_BY_NUMBER else f"request {number}"
            with self._lock:
                asked[correlation_id] = name, version
                self.counts[name] += 1
                self.versions.setdefault(name, set()).add(version)
                if self._heard is not None:
                    self._heard(name, version, message[LENGTH.size :])
            broker.sendall(message)

    def _answers(self, client: socket.socket, broker: socket.socket, asked: Asked) -> None:
        while message := _message(broker):
            (correlation_id,) = _CORRELATION_ID.unpack_from(message, LENGTH.size)
            with self._lock:
                name, version = asked.pop(correlation_id, ("", 0))
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


def _with_error(name: str, version: int, message: bytes, number: int) -> bytes:
    """The same answer, but that it has failed: as a whole, and for each partition that it names."""
    api = find_api(name)
    correlation_id, fields = answer_of(api, version, message[LENGTH.size :])
    header = _CORRELATION_ID.pack(correlation_id) + (NO_TAGS if api.response.is_flexible(version) else b"")
    body = header + encode_message(api.response, version, _failed(fields, number))
    return LENGTH.pack(len(body)) + body


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
