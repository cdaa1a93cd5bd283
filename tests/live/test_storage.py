"""The ids that a cluster's nodes are given."""

from __future__ import annotations

import base64
import uuid

from kafkalearn.live import nodes


def test_an_id_is_22_characters_and_none_that_a_command_takes_for_an_option(monkeypatch):
    drawn = [uuid.UUID(bytes=bytes([0xF8, *range(15)])), uuid.UUID(bytes=bytes(range(16)))]
    monkeypatch.setattr(nodes.uuid, "uuid4", lambda: drawn.pop(0))

    found = nodes.new_uuid()

    assert found == "AAECAwQFBgcICQoLDA0ODw"
    assert base64.urlsafe_b64decode(found + "==") == bytes(range(16))
    assert drawn == []
