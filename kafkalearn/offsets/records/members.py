"""The members in a group's record byte by byte: what is inside their subscriptions and assignments, too.

To the coordinator the two are bytes that it only stores. Consumers put the *consumer protocol* into them, and here
these bytes are taken apart like the rest of the record.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from kafkalearn.offsets.records.codec import dissect
from kafkalearn.offsets.records.layouts.protocol import ASSIGNMENT, SUBSCRIPTION
from kafkalearn.offsets.records.record_types import GROUP_TYPE
from kafkalearn.wire.decoder import decode_message
from kafkalearn.wire.fields import BYTES, INT16, Layout
from kafkalearn.wire.reader import Dissector, Piece, Undecodable

CONSUMER_PROTOCOL = "consumer"  # the protocol type under which the bytes are what consumers write
_LAYOUTS = {"subscription": SUBSCRIPTION, "assignment": ASSIGNMENT}


def dissect_members(key: bytes, value: bytes | None) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """A record byte by byte, as `dissect`; in a group of consumers subscriptions and assignments are opened.

    Bytes that are no subscription or assignment stay one piece: a client may put anything there.

    Parameters
    ----------
    key : bytes
        As the topic has it; a record of any type.
    value : bytes or None
        None: a tombstone.

    Returns
    -------
    tuple of tuple of Piece
        The pieces of the key and those of the value, without gaps. A field inside another has both names:
        ``members[0].subscription.topics[0]``.

    Raises
    ------
    Undecodable
        If the record cannot be read, as `dissect`.

    Examples
    --------
    >>> from kafkalearn.offsets import encode_key, encode_value
    >>> member = {"memberId": "b-1", "clientId": "b", "clientHost": "/10.0.0.7", "sessionTimeout": 45000,
    ...     "subscription": bytes.fromhex("000000000001000474657374ffffffff"), "assignment": b""}
    >>> value = encode_value(2, 0, {"protocolType": "consumer", "generation": 1, "protocol": "range",
    ...     "leader": "b-1", "members": [member]})
    >>> _, pieces = dissect_members(encode_key(2, {"group": "billing"}), value)
    >>> [(each.field, each.role, each.value) for each in pieces][-6:-3]
    [('members[0].subscription.topics', 'count', 1), ('members[0].subscription.topics[0]', 'length', 4), \
('members[0].subscription.topics[0]', 'value', 'test')]

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataValue``, ``ConsumerProtocol``.
    """
    of_key, of_value = dissect(key, value)
    kinds = (each.value for each in of_value if each.field == "protocolType" and each.role == "value")
    if of_key[0].value != GROUP_TYPE or next(kinds, None) != CONSUMER_PROTOCOL:
        return of_key, of_value
    return of_key, tuple(chain.from_iterable(_opened(piece) for piece in of_value))


def _opened(piece: Piece) -> tuple[Piece, ...]:
    name = piece.field.rpartition(".")[2]
    if not isinstance(piece.value, bytes) or piece.role != "value" or name not in _LAYOUTS or not piece.value:
        return (piece,)
    try:
        inside = _dissect(piece.value, _LAYOUTS[name])
    except Undecodable:
        return (piece,)
    return tuple(
        replace(
            each,
            start=piece.start + each.start,
            stop=piece.start + each.stop,
            field=f"{piece.field}.{each.field}" if each.field else piece.field,
        )
        for each in inside
    )


def _dissect(data: bytes, layout: Layout) -> tuple[Piece, ...]:
    """The pieces of a subscription or an assignment; bytes that follow are one more."""
    reader = Dissector(data, layout.name)
    version = reader.number(INT16, role="version")
    if version < 0:
        raise Undecodable(f"{layout.name}: version {version} at byte 0 is negative", "version", 0)
    decode_message(reader, layout, min(version, layout.newest))
    rest = Piece(reader.position, len(data), "", "rest", BYTES, data[reader.position :])
    return (*reader.pieces, rest) if rest.value else tuple(reader.pieces)
