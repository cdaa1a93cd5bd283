"""What happens to each classic setting, call and error with ``group.protocol=consumer`` (KIP-848).

The entries are data, in ``group_protocols.toml`` beside this file; `kafkalearn upgrade --group-protocol consumer` reads
somebody's own settings by them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from kafkalearn.base.checks import one_of

KINDS = ("consumer", "broker", "call", "error")
MEANINGS: MappingProxyType[str, str] = MappingProxyType(
    {
        "refused": "the consumer does not start with it",
        "moved": "the broker has another one for it",
        "other": "it means something else",
        "none": "it has no effect",
        "same": "as before",
        "new": "only the new protocol has it",
    }
)
"""What may happen to one, the most dangerous first."""


@dataclass(frozen=True, slots=True)
class Move:
    """What happens to one thing."""

    kind: str  # of `KINDS`: a setting of the consumer or of the broker, a call, an error
    name: str
    what: str  # a name in `MEANINGS`
    becomes: str
    source: str


@cache
def all_moves() -> tuple[Move, ...]:
    """All entries, in the order of the file."""
    content = files("kafkalearn.releases").joinpath("group_protocols.toml").read_text(encoding="utf-8")
    return tuple(Move(**entry) for entry in tomllib.loads(content)["move"])


def moves(what: str | None = None, *, kind: str | None = None) -> tuple[Move, ...]:
    """The entries, those first that can stop a consumer.

    Parameters
    ----------
    what : str or None
        A name in `MEANINGS`; None: all.
    kind : str or None
        One of `KINDS`; None: all.

    Examples
    --------
    >>> [move.name for move in moves("refused")]
    ['partition.assignment.strategy', 'session.timeout.ms', 'heartbeat.interval.ms']

    References
    ----------
    Apache Kafka 4.4, the classes that each entry names.
    """
    chosen = all_moves()
    if what is not None:
        one_of("what", what, MEANINGS)
        chosen = tuple(move for move in chosen if move.what == what)
    if kind is not None:
        one_of("kind", kind, KINDS)
        chosen = tuple(move for move in chosen if move.kind == kind)
    order = [*MEANINGS]
    return tuple(sorted(chosen, key=lambda move: order.index(move.what)))


def rows(chosen: Iterable[Move] | None = None) -> list[dict[str, str]]:
    """A row for each: its name, what happens to it, in words.

    >>> from kafkalearn.base.tables import text_table
    >>> print(text_table(rows(moves("none", kind="call"))))
    name              what  becomes
    enforceRebalance  none  only a line in the log
    """
    return [
        {"name": move.name, "what": move.what, "becomes": move.becomes}
        for move in (moves() if chosen is None else chosen)
    ]
