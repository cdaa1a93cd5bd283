"""Decoded fields as the JSON text that Kafka's tools print, character for character.

Blobs are base64, topic ids their 22 characters, a tagged field is there only if it was written. Jackson, which
Kafka uses, leaves characters outside ASCII as they are and writes control characters with capital hex digits.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence

from kafkalearn.wire.decoder import UNKNOWN_TAGS

_LOWER_CASE_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([01][0-9a-f])")


def to_json(value: object) -> object:
    """Decoded fields as plain JSON values: no bytes, no unknown tags.

    >>> to_json({"assignment": b"\\x00\\x01", "members": [{"memberId": "m"}]})
    {'assignment': 'AAE=', 'members': [{'memberId': 'm'}]}
    """
    if isinstance(value, Mapping):
        return {name: to_json(each) for name, each in value.items() if name != UNKNOWN_TAGS}
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json(each) for each in value]
    return value


def json_text(value: object) -> str:
    r"""JSON values as Jackson writes them, without blanks.

    >>> print(json_text({"metadata": "größe\u001f\n"}))
    {"metadata":"größe\u001F\n"}
    """
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LOWER_CASE_ESCAPE.sub(lambda found: f"{found[1]}\\u00{found[2].upper()}", written)
