"""Recorded answers of real Kafka, read from tests/vectors."""

import json
from pathlib import Path

VECTORS = Path(__file__).parent / "vectors"


def recorded(name: str) -> dict:
    """The whole content of ``tests/vectors/NAME.json``."""
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
