"""A request as bytes with its header, and an answer as its fields.

References
----------
Apache Kafka 4.3, ``RequestHeader``, ``ResponseHeader``; flexible versions by KIP-482.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct

from kafkalearn.live.requests.apis import Api
from kafkalearn.wire.decoder import decode_message, refuse_rest
from kafkalearn.wire.encoder import encode_message
from kafkalearn.wire.fields import INT32
from kafkalearn.wire.reader import Reader

LENGTH = Struct(">i")
_HEADER = Struct(">hhi")  # api, version, correlation id
_TEXT_LENGTH = Struct(">h")
_NO_TAGS = b"\0"


def request_bytes(api: Api, version: int, correlation_id: int, client_id: str, values: Mapping[str, object]) -> bytes:
    """A request as it is sent, its length in front.

    >>> from kafkalearn.live.requests.apis import find_api
    >>> request_bytes(find_api("ApiVersions"), 0, 7, "me", {}).hex(" ")
    '00 00 00 0c 00 12 00 00 00 00 00 07 00 02 6d 65'
    """
    name = client_id.encode()
    header = _HEADER.pack(api.number, version, correlation_id) + _TEXT_LENGTH.pack(len(name)) + name
    if api.request.is_flexible(version):
        header += _NO_TAGS
    body = encode_message(api.request, version, values)
    return LENGTH.pack(len(header) + len(body)) + header + body


def answer_of(api: Api, version: int, data: bytes) -> tuple[int, dict[str, object]]:
    """The correlation id and the fields of an answer; `data` is what follows its length.

    Raises
    ------
    Undecodable
        If the bytes are not what the layout says.
    """
    reader = Reader(data, f"{api.response.name} version {version}")
    correlation_id = reader.number(INT32, "correlationId")
    if api.response.is_flexible(version) and not api.answers_with_a_plain_header:
        for _ in range(reader.varint("header", "count")):
            reader.varint("header", "tag")
            reader.raw(reader.varint("header", "size"), "header")
    fields = decode_message(reader, api.response, version)
    refuse_rest(reader)
    return correlation_id, fields
