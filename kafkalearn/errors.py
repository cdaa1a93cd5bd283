"""The errors kafkalearn raises, and how an unknown name is answered.

Every message says what came, what is allowed and what to do: a student reads it in class.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from kafkalearn.phrases import shown

LONGEST_NAME = 200  # of what a likeness is looked for: no name of Kafka's is half as long


class KafkaLearnError(ValueError):
    """Something was asked that has no answer; the message says what came and what to do.

    >>> raise KafkaLearnError("partition_count must be at least 1, got 0")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: partition_count must be at least 1, got 0
    """


class IllegalEvent(KafkaLearnError):  # noqa: N818  (named for what it is, as Kafka names its states)
    """An event that makes no sense in this state; nothing has changed, and the message says what is possible."""


def no_event(event: object, known: Iterable[type]) -> IllegalEvent:
    """The error for what is none of the events that a simulator knows.

    >>> print(no_event("Fetch", [KafkaLearnError]))
    'Fetch' is no event of this simulator; it knows KafkaLearnError
    """
    return IllegalEvent(
        f"{shown(event)} is no event of this simulator; it knows {', '.join(e.__name__ for e in known)}"
    )


def unknown_name(kind: str, name: object, known: Iterable[str]) -> KafkaLearnError:
    """The error for a misspelt name: it suggests the nearest known ones, or lists what is known if few.

    Parameters
    ----------
    kind : str
        What was being named: ``"setting"``, ``"release"``, ``"partitioner"``.
    name : object
        What came.
    known : iterable of str
        All names that are allowed, in the order they should be listed.

    Returns
    -------
    KafkaLearnError
        To be raised by the caller.

    Examples
    --------
    >>> print(unknown_name("partitioner", "murmur3", ["murmur2", "crc32", "fnv1a"]))
    unknown partitioner 'murmur3'; did you mean 'murmur2'? Known: 'murmur2', 'crc32', 'fnv1a'
    """
    names = list(known)
    asked = name[:LONGEST_NAME] if isinstance(name, str) else shown(name)
    near = get_close_matches(asked, names, n=3, cutoff=0.6)
    message = f"unknown {kind} {shown(name)}"
    if near:
        message += f"; did you mean {' or '.join(repr(each) for each in near)}?"
    if len(names) <= 12:
        message += f"{'' if near else ';'} Known: {', '.join(repr(each) for each in names)}"
    elif not near:
        message += f"; {len(names)} are known, none is spelt like it"
    return KafkaLearnError(message)
