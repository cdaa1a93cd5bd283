"""A connection to one broker: requests sent as they are, answers as their fields, every wait bounded."""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from threading import Lock

from kafkalearn.live.errors import NoAnswer
from kafkalearn.live.requests.apis import Api, find_api
from kafkalearn.live.requests.messages import LENGTH, answer_of, request_bytes
from kafkalearn.live.requests.security import PLAINTEXT, Security

CLIENT_ID = "kafkalearn"
TIMEOUT_S = 10.0
LONGEST_ANSWER = 100 * 2**20  # what clients of Java take at most, too

SENT: Counter[str] = Counter()
"""How many requests of each kind this process has sent so far, over all its connections."""

_COUNTING = Lock()


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that was sent, and whose answer has not been read."""

    api: Api
    version: int
    correlation_id: int


class Connection:
    """A connection to one broker; to be closed, or used in a ``with`` block.

    Parameters
    ----------
    host, port : str, int
        Where the broker listens.
    security : Security
        How to encrypt and who to be; without one, plain text.
    timeout_s : float
        How long to wait for the connection, and for each answer that no other time is given for.
    client_id : str
        As it stands in the broker's logs and in the ids of a group's members.

    Raises
    ------
    NoAnswer
        If nobody listens there, or it is no broker.
    """

    def __init__(
        self,
        host: str,
        port: int,
        security: Security = PLAINTEXT,
        timeout_s: float = TIMEOUT_S,
        client_id: str = CLIENT_ID,
    ) -> None:
        """Connect, ask for the versions that the broker knows, and say who we are."""
        self.address = f"{host}:{port}"
        self.timeout_s = timeout_s
        self.client_id = client_id
        self._numbers = count(1)
        self._versions: dict[int, tuple[int, int]] = {}
        try:
            plain = socket.create_connection((host, port), timeout_s)
        except OSError as error:
            raise NoAnswer(f"nobody answers at {self.address} ({error}); is this a broker's address?") from None
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = security.encrypt(plain, host)
            self._versions = self._ask_versions()
            security.authenticate(self.call, self.address)
        except BaseException:
            plain.close()
            raise

    def call(
        self, name: str, values: Mapping[str, object], version: int | None = None, timeout_s: float | None = None
    ) -> dict[str, object]:
        """The answer to a request, by the names of its fields.

        Parameters
        ----------
        name : str
            A name in `kafkalearn.live.requests.apis.APIS`.
        values : mapping
            The request's fields as Kafka names them; what is not given takes its default.
        version : int or None
            None: the newest that the broker and we know.
        timeout_s : float or None
            None: the connection's.

        Raises
        ------
        NoAnswer
            If it does not come in time.
        KafkaLearnError
            If the request cannot be written in this version, or the broker does not know it.
        """
        return self.receive(self.send(name, values, version), timeout_s)

    def send(self, name: str, values: Mapping[str, object], version: int | None = None) -> Pending:
        """Send a request without waiting for its answer; `receive` does that."""
        api = find_api(name)
        chosen = self.version_of(api, version)
        pending = Pending(api, chosen, next(self._numbers))
        message = request_bytes(api, chosen, pending.correlation_id, self.client_id, values)
        try:
            self._socket.sendall(message)
        except OSError as error:
            raise self._lost(api, error) from None
        with _COUNTING:
            SENT[name] += 1
        return pending

    def receive(self, pending: Pending, timeout_s: float | None = None) -> dict[str, object]:
        """The answer to a request that was sent; answers come in the order of the requests."""
        deadline = time.monotonic() + (self.timeout_s if timeout_s is None else timeout_s)
        try:
            (length,) = LENGTH.unpack(self._take(LENGTH.size, deadline))
            if not 4 <= length <= LONGEST_ANSWER:
                raise NoAnswer(f"{self.address} does not speak Kafka's protocol: it announces {length} bytes")
            data = self._take(length, deadline)
        except OSError as error:
            raise self._lost(pending.api, error) from None
        number, fields = answer_of(pending.api, pending.version, data)
        if number != pending.correlation_id:
            raise NoAnswer(f"{self.address} answers request {number}, {pending.correlation_id} was waited for")
        return fields

    def is_answered(self) -> bool:
        """Whether something has come that was not read yet: an answer, or the end of the connection."""
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        readable, _, _ = select.select([self._socket], [], [], 0)
        return bool(readable)

    def version_of(self, api: Api, wanted: int | None = None) -> int:
        """The version in which a request is sent to this broker."""
        return api.version_for(*self._versions.get(api.number, (0, -1)), wanted)

    def knows(self, name: str) -> bool:
        """Whether the broker knows a request in a version that we know."""
        api = find_api(name)
        low, high = self._versions.get(api.number, (0, -1))
        return max(low, api.oldest) <= min(high, api.newest)

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        self._socket.close()

    def __enter__(self) -> Connection:
        """The connection itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _ask_versions(self) -> dict[int, tuple[int, int]]:
        self._versions = {find_api("ApiVersions").number: (0, 0)}  # the version that every broker knows
        answer = self.call("ApiVersions", {})
        return {each["apiKey"]: (each["minVersion"], each["maxVersion"]) for each in answer["apiKeys"]}

    def _take(self, size: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while size:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            part = self._socket.recv(min(size, 2**20))
            if not part:
                raise ConnectionError("the broker has closed the connection")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _lost(self, api: Api, error: OSError) -> NoAnswer:
        reason = "no answer in time" if isinstance(error, TimeoutError) else str(error)
        return NoAnswer(
            f"{api.name} to {self.address}: {reason}; is the broker alive, and is the listener the right one?"
        )
