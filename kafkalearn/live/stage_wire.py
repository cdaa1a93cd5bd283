"""A stage of "Build your own coordinator" over the wire: its requests to a running server, what that answered to them.

What came has the form of `kafkalearn.exercises.build.playing`. Every request goes out in the version of its script,
and no other is sent: the server need not know ApiVersions or Metadata. A client whose request waits for its answer asks
on a further connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.exercises.build.playing import (
    BROKER_ID,
    BROKER_IDS,
    OFFSETS_PARTITIONS,
    Came,
    Names,
    Step,
    as_bytes,
    names_here,
)
from kafkalearn.live.requests import Connection, Pending

ANSWER_S = 10.0
"""How long an answer is waited for that Kafka gave there; much longer than a machine that is busy needs."""
SETTLE_S = 0.15
"""How long is looked whether an answer comes that Kafka did not give there."""
LOOK_S = 0.002


def group_of_ours(name: str) -> str:
    """A group id that nobody has used, and that the broker coordinates which is asked.

    >>> group_of_ours("billing").startswith("billing-")
    True
    """
    while True:
        group_id = f"{name}-{token_hex(4)}"
        if BROKER_IDS[offsets_partition(group_id, OFFSETS_PARTITIONS) % len(BROKER_IDS)] == BROKER_ID:
            return group_id


def reach(host: str, port: int) -> None:
    """Pass in silence if somebody listens there; else `NoAnswer`."""
    Connection(host, port, asks_versions=False).close()


class Wire:
    """The clients of one stage before one server; to be closed, or used in a ``with`` block.

    Parameters
    ----------
    host, port : str, int
        Where the server listens.
    wanted : callable
        ``wanted(number)``: how many answers are to come after a step, as far as one knows; None: as many as do.
    """

    def __init__(self, host: str, port: int, wanted: Callable[[int], int | None] = lambda number: None) -> None:
        """Nothing is sent yet."""
        self._address = host, port
        self._wanted = wanted
        self._names: Names = names_here(group_of_ours)
        self._connections: list[tuple[str, Connection]] = []
        self._waiting: list[tuple[int, Step, Connection, Pending]] = []

    def played(self, script: Sequence[Step], is_as_wanted: Callable[[int, list[Came]], bool]) -> list[list[Came]]:
        """What came after each step, up to the first for which ``is_as_wanted(number, came)`` says no.

        Raises
        ------
        KafkaLearnError
            If the connection is closed, or what is sent is no answer of Kafka's protocol.
        """
        came: list[list[Came]] = []
        for number, step in enumerate(script):
            try:
                came.append(self._play(number, step))
            except KafkaLearnError as error:
                raise KafkaLearnError(f"at request {number + 1}: {error}") from None
            if not is_as_wanted(number, came[-1]):
                break
        return came

    def names(self) -> Names:
        """What the names of the script stand for by now."""
        return self._names

    def close(self) -> None:
        """Close all connections."""
        for _, connection in self._connections:
            connection.close()

    def __enter__(self) -> Wire:
        """The clients themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self.close()

    def _play(self, number: int, step: Step) -> list[Came]:
        if "wait_ms" in step:
            time.sleep(step["wait_ms"] / 1000)
        else:
            fields = as_bytes(self._names.filled(step["fields"]))
            connection = self._free_connection(step["client"])
            pending = connection.send(step["request"], fields, step["version"])
            self._waiting.append((number, step, connection, pending))
        return self._come(self._wanted(number), 0 if "wait_ms" in step else SETTLE_S)

    def _come(self, wanted: int | None, settle_s: float) -> list[Came]:
        """What comes until as much has come as is wanted, or nothing more seems to."""
        found: list[Came] = []
        ends = time.monotonic() + (ANSWER_S if wanted else settle_s)
        while True:
            for each in [each for each in self._waiting if each[2].is_answered()]:
                self._waiting.remove(each)
                found.append(self._taken(*each))
            is_all = len(found) >= wanted if wanted else wanted is None and not self._waiting
            if is_all or time.monotonic() >= ends:
                return found
            time.sleep(LOOK_S)

    def _taken(self, number: int, step: Step, connection: Connection, pending: Pending) -> Came:
        answer: dict[str, Any] = connection.receive(pending)
        self._names.note(step["client"], step["request"], answer)
        return {"step": number, "answer": answer}

    def _free_connection(self, client: str) -> Connection:
        busy = {id(connection) for _, _, connection, _ in self._waiting}
        for name, connection in self._connections:
            if name == client and id(connection) not in busy:
                return connection
        connection = Connection(*self._address, client_id=client, asks_versions=False)
        self._connections.append((client, connection))
        return connection
