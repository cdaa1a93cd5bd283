"""Recorded answers of real Kafka, read from tests/vectors and data."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def recorded(name: str) -> dict:
    """The whole content of ``NAME.json`` in tests/vectors, or in data where the chapters read it too."""
    paths = [ROOT / folder / f"{name}.json" for folder in ("tests/vectors", "data")]
    return json.loads(next(path for path in paths if path.exists()).read_text(encoding="utf-8"))
