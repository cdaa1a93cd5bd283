"""The brokers of a cluster, and a connection to each that was asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from threading import RLock

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.requests.connection import CLIENT_ID, TIMEOUT_S, Connection
from kafkalearn.live.requests.error_codes import NONE, error_name
from kafkalearn.live.requests.security import PLAINTEXT, Security
from kafkalearn.phrases import shown

Address = tuple[str, int]

OLDEST_METADATA = 4  # the first version in which a client can say: create no topic that I ask about


class Brokers:
    """Connections to the brokers of one cluster, made when they are needed.

    Parameters
    ----------
    addresses : iterable of (str, int)
        Where to begin: any brokers of the cluster.
    security : Security
        As each connection uses it.
    timeout_s : float
        How long to wait for an answer that no other time is given for.
    """

    def __init__(
        self, addresses: Iterable[Address], security: Security = PLAINTEXT, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Remember the addresses; nothing is asked yet."""
        self.first_addresses = tuple(addresses)
        self.security = security
        self.timeout_s = timeout_s
        self._connections: dict[Address, Connection] = {}
        self._locks: defaultdict[Address, RLock] = defaultdict(RLock)

    def ask(
        self,
        address: Address,
        name: str,
        values: Mapping[str, object],
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, object]:
        """The answer of the broker at an address; a connection that was lost meanwhile is made again, once.

        Raises
        ------
        NoAnswer
            If there is none in time.
        """
        with self._locks[address]:  # one question at a time on one connection, whichever thread asks
            is_old = address in self._connections
            try:
                return self.connection(address).call(name, values, version, timeout_s)
            except NoAnswer as error:
                self.forget(address)
                if not is_old or "no answer in time" in str(error):
                    raise
            try:
                return self.connection(address).call(name, values, version, timeout_s)
            except NoAnswer:
                self.forget(address)
                raise

    def ask_any(
        self, addresses: Iterable[Address], name: str, values: Mapping[str, object], version: int | None = None
    ) -> dict[str, object]:
        """The answer of the first of these brokers that gives one.

        Raises
        ------
        NoAnswer
            If none does; the message has what each of them said.
        """
        failures = []
        for address in addresses:
            try:
                return self.ask(address, name, values, version)
            except NoAnswer as error:
                failures.append(str(error))
        raise NoAnswer("; ".join(failures) or "there is no broker to ask: all are stopped, killed or frozen")

    def connection(self, address: Address) -> Connection:
        """The connection to an address, made if there is none."""
        with self._locks[address]:
            if address not in self._connections:
                self._connections[address] = Connection(*address, self.security, self.timeout_s, CLIENT_ID)
            return self._connections[address]

    def knows(self, address: Address, name: str) -> bool:
        """Whether the broker at an address knows a request in a version that we know."""
        return self.connection(address).knows(name)

    def forget(self, address: Address) -> None:
        """Close the connection to an address, if there is one."""
        connection = self._connections.pop(address, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Close all connections; the next question makes new ones."""
        for address in list(self._connections):
            self.forget(address)


def metadata_request(topics: Iterable[str] | None) -> dict[str, object]:
    """The fields of a Metadata request that creates nothing: some topics, or with None all of them."""
    return {
        "topics": None if topics is None else [{"name": topic} for topic in topics],
        "allowAutoTopicCreation": False,
    }


def refuse_error(answer: Mapping[str, object], what: str, field: str = "errorCode") -> None:
    """Pass in silence if an answer carries no error, else raise it.

    Raises
    ------
    Refused
        Names what was asked and Kafka's name of the error.
    """
    name = error_name(answer[field])
    if name != NONE:
        said = answer.get("errorMessage")
        raise Refused(f"{what}: {name}{f' ({said})' if said else ''}", name)


def parse_addresses(text: str) -> tuple[Address, ...]:
    """Addresses as ``bootstrap.servers`` has them.

    Raises
    ------
    KafkaLearnError
        If it is not host:port, or several of them with commas between.

    Examples
    --------
    >>> parse_addresses("localhost:9092, [::1]:9093")
    (('localhost', 9092), ('::1', 9093))
    """
    parts = [part.strip() for part in text.split(",")] if isinstance(text, str) else []
    addresses = []
    for part in parts:
        host, _, port = part.removeprefix("PLAINTEXT://").rpartition(":")
        if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536:
            raise KafkaLearnError(
                f"an address is host:port, several have commas between: 'localhost:9092,localhost:9093'; "
                f"got {shown(text)}"
            )
        addresses.append((host.strip("[]"), int(port)))
    if not addresses:
        raise KafkaLearnError(f"the addresses of brokers must be a str such as 'localhost:9092', got {shown(text)}")
    return tuple(addresses)
