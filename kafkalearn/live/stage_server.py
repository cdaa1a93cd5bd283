"""A class of "Build your own coordinator" as a server: it answers over the wire what its methods reply, in real time.

The class is the one that `kafkalearn.exercises.build.check` takes::

    from kafkalearn.live.stage_server import serve

    serve(MyCoordinator, port=9092)  # until it is interrupted; kafkalearn build localhost:9092 asks it

Everything is done by one thread, a request or a timer after the other: a coordinator needs no locks.
"""

from __future__ import annotations

import selectors
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from struct import Struct
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.build.comparing import ERRORS
from kafkalearn.exercises.build.playing import METHODS, Broker
from kafkalearn.formats.wire import (
    BOOLEAN,
    BYTES,
    REQUIRED,
    STRING,
    UUID,
    ZERO_UUID,
    Array,
    Field,
    Reader,
    Structure,
    decode_message,
    encode_message,
)
from kafkalearn.live.nodes import HOST
from kafkalearn.live.requests import APIS, HEADER, LENGTH, Api

_CODES = {name: number for number, name in ERRORS.items()}
_KINDS = {api.number: api for name, api in APIS.items() if name in METHODS}
LOOK_S = 0.05
"""How often is looked whether it is to end, if nothing comes."""
MOST_BYTES = 2**20


class Server:
    """A coordinator that listens; to be closed, or used in a ``with`` block.

    Parameters
    ----------
    kind : class
        ``kind(broker)`` is the coordinator.
    port : int
        Where to listen on this machine; 0: on a port that is free.

    Raises
    ------
    OSError
        If the port is taken.
    """

    def __init__(self, kind: Callable[[Broker], Any], port: int = 0) -> None:
        """Listen; nothing is answered before `run`."""
        self._began = time.monotonic()
        self._broker = Broker()
        self._coordinator = kind(self._broker)
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server((HOST, port))
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._partly: dict[socket.socket, bytearray] = {}
        self.port: int = self._listener.getsockname()[1]
        self.is_ended = False

    def run(self) -> None:
        """Answer until `is_ended` is set, in whatever thread."""
        while not self.is_ended:
            for key, _ in self._selector.select(LOOK_S):
                self._let_time_pass()
                if key.fileobj is self._listener:
                    connection, _ = self._listener.accept()
                    self._partly[connection] = bytearray()
                    self._selector.register(connection, selectors.EVENT_READ)
                else:
                    self._read(key.fileobj)
            self._let_time_pass()

    def close(self) -> None:
        """Listen no more."""
        self.is_ended = True
        for each in (*self._partly, self._listener):
            each.close()
        self._partly.clear()
        self._selector.close()

    def __enter__(self) -> Server:
        """The server itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _let_time_pass(self) -> None:
        self._broker.advance(round((time.monotonic() - self._began) * 1000) - self._broker.now_ms)

    def _read(self, connection: Any) -> None:
        """Take what has come, and answer each request that is whole."""
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        come = self._partly[connection]
        come += data
        while len(come) >= LENGTH.size:
            (size,) = LENGTH.unpack_from(come)
            if not HEADER.size <= size <= MOST_BYTES:
                data = b""
                break
            if len(come) < LENGTH.size + size:
                break
            message = bytes(come[LENGTH.size : LENGTH.size + size])
            del come[: LENGTH.size + size]
            try:
                self._answer(connection, message)
            except Exception:  # of the reader's class: this client hears of it, the others go on
                traceback.print_exc()
                data = b""
                break
        if not data:
            self._selector.unregister(connection)
            del self._partly[connection]
            connection.close()

    def _answer(self, connection: socket.socket, message: bytes) -> None:
        number, version, correlation_id = HEADER.unpack_from(message)
        api = _KINDS.get(number)
        method = None if api is None else getattr(self._coordinator, METHODS[api.name], None)
        if api is None or method is None:
            known = "" if api is None else f", {METHODS[api.name]}"
            raise KafkaLearnError(f"request {number} came, and there is no method for it{known}")
        fields = _fields_of(api, version, message)

        def reply(answer: Mapping[str, Any]) -> None:
            head = CORRELATION_ID.pack(correlation_id) + (b"\0" if api.response.is_flexible(version) else b"")
            data = head + encode_message(api.response, version, _whole(api.response.body, version, answer))
            with suppress(OSError):  # whoever asked may be gone
                connection.sendall(LENGTH.pack(len(data)) + data)

        method(fields, reply)


CORRELATION_ID = Struct(">i")


def _fields_of(api: Api, version: int, message: bytes) -> dict[str, object]:
    """The fields of a request, behind its header."""
    reader = Reader(message, f"{api.name}Request version {version}")
    reader.raw(HEADER.size, "header")
    length = reader.number("int16", "clientId")
    reader.raw(max(0, int(length)), "clientId")
    if api.request.is_flexible(version):
        for _ in range(reader.varint("header", "count")):
            reader.varint("header", "tag")
            reader.raw(reader.varint("header", "size"), "header")
    return decode_message(reader, api.request, version)


def _whole(structure: Structure, version: int, answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with all fields of its version, those that it lacks empty, and errors as numbers."""
    whole = dict(answer)
    for field in structure.plain(version):
        given = whole.get(field.name)
        if field.name == "errorCode" and isinstance(given, str):
            given = _CODES.get(given, given)
        whole[field.name] = _whole_field(field, version, given)
    return whole


def _whole_field(field: Field, version: int, given: Any) -> Any:
    inner = field.kind.of if isinstance(field.kind, Array) else field.kind
    if given is None:
        return _empty(field)
    if isinstance(inner, Structure):
        parts = [_whole(inner, version, each) for each in (given if isinstance(field.kind, Array) else [given])]
        return parts if isinstance(field.kind, Array) else parts[0]
    return given


def _empty(field: Field) -> object:
    """What stands for a field that is not given: null where it may, else nothing of its kind; a node or epoch -1."""
    if field.default is not REQUIRED:
        return field.default
    if field.is_nullable:
        return None
    if isinstance(field.kind, Array):
        return []
    return {STRING: "", BYTES: b"", BOOLEAN: False, UUID: ZERO_UUID}.get(str(field.kind), 0)


def serve(kind: Callable[[Broker], Any], port: int = 9092) -> None:
    """Answer on a port of this machine until it is interrupted."""
    with Server(kind, port) as server:
        print(f"listening on {HOST}:{server.port}; ask it with: kafkalearn build {HOST}:{server.port}")
        with suppress(KeyboardInterrupt):
            server.run()
