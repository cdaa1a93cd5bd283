"""How a client proves who it is and hides what it says, by the settings that librdkafka has for it.

TLS is Python's own; of the SASL mechanisms PLAIN, SCRAM and OAUTHBEARER are spoken here. Kerberos (GSSAPI) is not: it
needs libraries of the system.

References
----------
KIP-12, KIP-43, KIP-84, KIP-152; RFC 4616, 5802 and 7628.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.requests.error_codes import NONE, error_name

Call: TypeAlias = Callable[[str, Mapping[str, object], int | None], dict[str, object]]
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
        if error_name(answer["errorCode"]) != NONE:
            known = ", ".join(answer["mechanisms"])
            name = error_name(answer["errorCode"])
            raise Refused(f"{address} refuses sasl.mechanism {self.mechanism}: {name}; it knows {known}", name)
        if self.mechanism.startswith("SCRAM"):
            self._scram(lambda words: _exchange(call, address, words))
        else:
            _exchange(call, address, self._plain_words())

    def _plain_words(self) -> bytes:
        if self.mechanism == "OAUTHBEARER":
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


def security_of(config: Mapping[str, object]) -> Security:
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


def _context(config: Mapping[str, object]) -> ssl.SSLContext:
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
