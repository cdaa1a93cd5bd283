"""Recorded answers of real Kafka, read from tests/vectors and data."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def recorded(name: str) -> dict:
    """The whole content of ``NAME.json`` in a folder of tests/vectors, or in data where the chapters read it too."""
    paths = [*(ROOT / "tests" / "vectors").glob(f"*/{name}.json"), *(ROOT / "data").glob(f"{name}.json")]
    return json.loads(paths[0].read_text(encoding="utf-8"))
