"""The layouts of requests and their answers, in every version that Kafka 4.3 speaks: ``layouts.json``, as objects.

The file says what Kafka's own message definitions say; `tools.request_layouts` reads them from the jar of its clients.
A layout is built when it is first asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import one_of
from kafkalearn.formats.wire import Layout, recorded_layout

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
    message = MESSAGES[one_of("message", name, MESSAGES)]
    return recorded_layout(name, message)
