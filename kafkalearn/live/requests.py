"""Kafka's requests, sent as they are: authentication, the known requests, a connection.

A `Connection` takes requests as mappings of Kafka's field names to values, and gives answers as such.

References
----------
Apache Kafka 4.3, ``RequestHeader``, ``ResponseHeader``; flexible versions by KIP-482. Security: KIP-12, KIP-43, KIP-84,
KIP-152; RFC 4616, 5802 and 7628.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import select
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import count
from struct import Struct
from threading import Lock
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import (
    ALWAYS,
    INT32,
    Layout,
    Reader,
    decode_message,
    encode_message,
    recorded_layout,
    refuse_rest,
)
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.request_values import NONE, error_name

# How a client proves who it is and hides what it says, by the settings that librdkafka has for it.
#
# TLS is Python's own; of the SASL mechanisms PLAIN, SCRAM and OAUTHBEARER are spoken here. Kerberos (GSSAPI) is not: it
# needs libraries of the system.

Call: TypeAlias = Callable[[str, Mapping[str, Any], int | None], dict[str, Any]]
"""Sends a request by name, fields and version, and returns the fields of its answer."""

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SETTINGS = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.username",
    "sasl.password",
    "oauth_cb",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
)
"""What may be set; ``oauth_cb`` is a function that returns a token and when it ends, as confluent-kafka calls it."""


@dataclass(frozen=True, slots=True)
class Security:
    """How to encrypt a connection, and who to be on it."""

    protocol: str = "PLAINTEXT"
    mechanism: str = ""  # empty: none
    username: str = ""
    password: str = field(default="", repr=False)
    token: Callable[[str], tuple[str, float]] | None = field(default=None, repr=False)
    context: ssl.SSLContext | None = None  # None: not encrypted

    def encrypt(self, plain: socket.socket, host: str) -> socket.socket:
        """The socket itself, or the encrypted one over it.

        Raises
        ------
        NoAnswer
            If the broker speaks no TLS there, or its certificate is not trusted.
        """
        if self.context is None:
            return plain
        try:
            return self.context.wrap_socket(plain, server_hostname=host)
        except (ssl.SSLError, OSError) as error:
            raise NoAnswer(
                f"no encrypted connection to {host}: {error}; look at security.protocol, ssl.ca.location and the port"
            ) from None

    def authenticate(self, call: Call, address: str) -> None:
        """Say who we are, if that is asked for.

        Raises
        ------
        Refused
            If the broker does not know the mechanism, or not believe us.
        """
        if not self.mechanism:
            return
        answer = call("SaslHandshake", {"mechanism": self.mechanism}, 1)
        name = error_name(answer["errorCode"])
        if name != NONE:
            known = ", ".join(answer["mechanisms"])
            raise Refused(f"{address} refuses sasl.mechanism {self.mechanism}: {name}; it knows {known}", name)
        if self.mechanism.startswith("SCRAM"):
            self._scram(lambda words: _exchange(call, address, words))
        else:
            _exchange(call, address, self._plain_words())

    def _plain_words(self) -> bytes:
        if self.mechanism == "OAUTHBEARER":
            if self.token is None:
                raise KafkaLearnError("OAUTHBEARER needs a function that returns a token and when it ends")
            token, _ = self.token("")
            return f"n,,\x01auth=Bearer {token}\x01\x01".encode()
        return f"\0{self.username}\0{self.password}".encode()

    def _scram(self, exchange: Callable[[bytes], bytes]) -> None:
        """Both sides show that they know the password, and neither says it.

        References
        ----------
        RFC 5802; Apache Kafka, ``ScramSaslClient``.
        """
        kind = "sha256" if self.mechanism.endswith("256") else "sha512"
        nonce = secrets.token_urlsafe(24)
        name = self.username.replace("=", "=3D").replace(",", "=2C")
        first = f"n={name},r={nonce}"
        challenge = exchange(f"n,,{first}".encode()).decode()
        parts = dict(part.split("=", 1) for part in challenge.split(","))
        if not parts["r"].startswith(nonce):
            raise Refused("the broker's answer to SCRAM is not about this login", "SASL_AUTHENTICATION_FAILED")
        salted = hashlib.pbkdf2_hmac(kind, self.password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
        last = f"c=biws,r={parts['r']}"
        whole = f"{first},{challenge},{last}".encode()
        key = hmac.digest(salted, b"Client Key", kind)
        signature = hmac.digest(hashlib.new(kind, key).digest(), whole, kind)
        proof = base64.b64encode(bytes(one ^ other for one, other in zip(key, signature, strict=True))).decode()
        verdict = exchange(f"{last},p={proof}".encode()).decode()
        expected = hmac.digest(hmac.digest(salted, b"Server Key", kind), whole, kind)
        if base64.b64decode(verdict.removeprefix("v=")) != expected:
            raise Refused("the broker cannot show that it knows the password", "SASL_AUTHENTICATION_FAILED")


PLAINTEXT = Security()


def _exchange(call: Call, address: str, words: bytes) -> bytes:
    answer = call("SaslAuthenticate", {"authBytes": words}, None)
    name = error_name(answer["errorCode"])
    if name != NONE:
        raise Refused(f"{address} does not believe who we are: {name}, {answer['errorMessage']}", name)
    return answer["authBytes"]


def security_of(config: Mapping[str, Any]) -> Security:
    """What the security settings of a client's configuration ask for; other settings of it are not looked at.

    Raises
    ------
    KafkaLearnError
        If a setting has no meaning here; the message says which values there are.

    Examples
    --------
    >>> security_of({"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "anna",
    ...              "sasl.password": "secret"}).mechanism
    'PLAIN'
    """
    protocol = str(config.get("security.protocol", "PLAINTEXT")).upper()
    one_of("security.protocol", protocol, PROTOCOLS)
    mechanism = ""
    if protocol.startswith("SASL"):
        mechanism = str(config.get("sasl.mechanism") or config.get("sasl.mechanisms") or "GSSAPI").upper()
        one_of("sasl.mechanism", mechanism, MECHANISMS)
        if mechanism == "OAUTHBEARER" and not callable(config.get("oauth_cb")):
            raise KafkaLearnError("OAUTHBEARER needs oauth_cb: a function that returns a token and when it ends")
        if mechanism != "OAUTHBEARER" and not ("sasl.username" in config and "sasl.password" in config):
            raise KafkaLearnError(f"sasl.mechanism {mechanism} needs sasl.username and sasl.password")
    return Security(
        protocol,
        mechanism,
        str(config.get("sasl.username", "")),
        str(config.get("sasl.password", "")),
        config.get("oauth_cb"),
        _context(config) if protocol.endswith("SSL") else None,
    )


def _context(config: Mapping[str, Any]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=config.get("ssl.ca.location"))
        if "ssl.certificate.location" in config:
            context.load_cert_chain(
                config["ssl.certificate.location"], config.get("ssl.key.location"), config.get("ssl.key.password")
            )
    except (OSError, ssl.SSLError) as error:
        raise KafkaLearnError(f"ssl.ca.location or ssl.certificate.location cannot be read as PEM: {error}") from None
    if config.get("ssl.endpoint.identification.algorithm", "https") in ("", "none"):
        context.check_hostname = False
    return context


# The requests that can be sent: the number of each, its layouts, and the versions that a broker and we both know. What
# `layouts.json` says is what Kafka's own message definitions say; `tools.request_layouts` reads them from the jar of
# its clients. A layout is built when it is first asked for.

FILE = files("kafkalearn.live") / "layouts.json"

MESSAGES: Mapping[str, Mapping[str, Any]] = MappingProxyType(json.loads(FILE.read_text(encoding="utf-8"))["messages"])
"""What the file says of each message, by the name of Kafka's class: its request's number, its versions, its fields."""


@cache
def find_layout(name: str) -> Layout:
    """The layout of a message, by the name of Kafka's class.

    >>> find_layout("HeartbeatResponse")
    Layout(name='HeartbeatResponse', newest=4, flexible_since=4)
    >>> [field.name for field in find_layout("HeartbeatResponse").body.plain(version=0)]
    ['errorCode']
    """
    return recorded_layout(name, MESSAGES[one_of("message", name, MESSAGES)])


@dataclass(frozen=True, slots=True)
class Api:
    """One kind of request."""

    number: int
    name: str
    oldest: int
    newest: int  # versions up to this one are known to Kafka 4.3 and to us

    @property
    def request(self) -> Layout:
        """The layout of the request."""
        return find_layout(f"{self.name}Request")

    @property
    def response(self) -> Layout:
        """The layout of its answer."""
        return find_layout(f"{self.name}Response")

    @property
    def answers_with_a_plain_header(self) -> bool:
        """Whether the header of an answer never has tagged fields: who asks for versions cannot know them yet."""
        return self.name == "ApiVersions"

    def version_for(self, broker_oldest: int, broker_newest: int, wanted: int | None = None) -> int:
        """The version to send to a broker: the one that is wanted, else the newest that both know.

        Raises
        ------
        KafkaLearnError
            If there is none.
        """
        low, high = max(self.oldest, broker_oldest), min(self.newest, broker_newest)
        version = high if wanted is None else wanted
        if not low <= version <= high:
            asked = "" if wanted is None else f"version {wanted} is asked for; "
            raise KafkaLearnError(
                f"{self.name}: {asked}the broker knows versions {broker_oldest} to {broker_newest}, kafkalearn "
                f"{self.oldest} to {self.newest}"
            )
        return version


APIS: MappingProxyType[str, Api] = MappingProxyType(
    {
        (name := message_name.removesuffix("Request")): Api(each["number"], name, each["oldest"], each["newest"])
        for message_name, each in MESSAGES.items()
        if message_name.endswith("Request")
    }
)
"""Every request by Kafka's name for it."""

API_BY_NUMBER: MappingProxyType[int, Api] = MappingProxyType({api.number: api for api in APIS.values()})


def find_api(name: str) -> Api:
    """The request of a name.

    >>> find_api("JoinGroup").number, find_api("JoinGroup").newest
    (11, 9)
    """
    one_of("request", name, APIS)
    return APIS[name]


# A request as bytes with its header, and an answer as its fields.

LENGTH = Struct(">i")
HEADER = Struct(">hhi")  # api, version, correlation id
_TEXT_LENGTH = Struct(">h")
NO_TAGS = b"\0"


def request_bytes(api: Api, version: int, correlation_id: int, client_id: str, values: Mapping[str, Any]) -> bytes:
    """Serialize a request, its length in front.

    >>> request_bytes(find_api("ApiVersions"), 0, 7, "me", {}).hex(" ")
    '00 00 00 0c 00 12 00 00 00 00 00 07 00 02 6d 65'
    """
    name = client_id.encode()
    header = HEADER.pack(api.number, version, correlation_id) + _TEXT_LENGTH.pack(len(name)) + name
    if api.request.is_flexible(version):
        header += NO_TAGS
    body = encode_message(api.request, version, values)
    return LENGTH.pack(len(header) + len(body)) + header + body


def request_of(data: bytes) -> tuple[Api, int, str, dict[str, Any]]:
    """Parse a request: what it is, its version, the client id and its fields; `data` is what follows its length.

    Raises
    ------
    Undecodable
        If the bytes are not what the layout says.
    KafkaLearnError
        If no request of this number is known here.

    Examples
    --------
    >>> api, *rest = request_of(request_bytes(find_api("FindCoordinator"), 0, 7, "me", {"key": "g"})[LENGTH.size :])
    >>> api.name, rest
    ('FindCoordinator', [0, 'me', {'key': 'g'}])
    """
    number, version, _ = HEADER.unpack_from(data)
    if number not in API_BY_NUMBER:
        raise KafkaLearnError(f"request {number} has no layout here; there are {sorted(API_BY_NUMBER)}")
    api = API_BY_NUMBER[number]
    (length,) = _TEXT_LENGTH.unpack_from(data, HEADER.size)
    begin = HEADER.size + _TEXT_LENGTH.size
    client_id = data[begin : begin + max(length, 0)].decode()
    reader = Reader(data[begin + max(length, 0) :], f"{api.request.name} version {version}")
    if api.request.is_flexible(version):
        _pass_tags(reader)
    fields = decode_message(reader, api.request, version)
    refuse_rest(reader)
    return api, version, client_id, fields


def answer_of(api: Api, version: int, data: bytes) -> tuple[int, dict[str, Any]]:
    """Parse a response: its correlation id and fields; `data` is what follows its length.

    Raises
    ------
    Undecodable
        If the bytes are not what the layout says.
    """
    reader = Reader(data, f"{api.response.name} version {version}")
    correlation_id = reader.number(INT32, "correlationId")
    if api.response.is_flexible(version) and not api.answers_with_a_plain_header:
        _pass_tags(reader)
    fields = decode_message(reader, api.response, version)
    refuse_rest(reader)
    return correlation_id, fields


def _pass_tags(reader: Reader) -> None:
    """The tagged fields of a header: nobody has any."""
    for _ in range(reader.varint("header", "count")):
        reader.varint("header", "tag")
        reader.raw(reader.varint("header", "size"), "header")


# A connection to one broker: requests sent as they are, answers as their fields, every wait bounded.

CLIENT_ID = "kafkalearn"
TIMEOUT_S = 10.0
LONGEST_ANSWER = 100 * 2**20  # what clients of Java take at most, too

SENT: Counter[str] = Counter()
"""How many requests of each kind this process has sent so far, over all its connections."""

_COUNTING = Lock()
_ALL = {api.number: (0, ALWAYS) for api in APIS.values()}


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
    asks_versions : bool
        Whether it asks for the versions that the broker knows. Otherwise each request needs its version, and goes out
        as it is: to a server that may know that one request only.

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
        asks_versions: bool = True,
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
            self._versions = self._ask_versions() if asks_versions else _ALL
            security.authenticate(self.call, self.address)
        except BaseException:
            plain.close()
            raise

    def call(
        self, name: str, values: Mapping[str, Any], version: int | None = None, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """The answer to a request, by the names of its fields.

        Parameters
        ----------
        name : str
            A name in `kafkalearn.live.requests.APIS`.
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

    def send(self, name: str, values: Mapping[str, Any], version: int | None = None) -> Pending:
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

    def receive(self, pending: Pending, timeout_s: float | None = None) -> dict[str, Any]:
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
