"""What the tests compare with: recorded answers of real Kafka, and the golden files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def recorded(name: str) -> dict:
    """The whole content of ``NAME.json`` in a folder of tests/vectors, or in data where the chapters read it too."""
    paths = [*(ROOT / "tests" / "vectors").glob(f"*/{name}.json"), *(ROOT / "data").glob(f"{name}.json")]
    return json.loads(paths[0].read_text(encoding="utf-8"))


def expected(name: str, actual: str) -> str:
    """What the golden file says; it takes `actual` over first, if so asked.

    To accept what the code says now: KAFKALEARN_WRITE_GOLDEN=1 python -m pytest tests, then look at the diff.
    """
    golden = ROOT / "tests" / "golden"
    path = next(golden.glob(f"*/{name}"), golden / name)
    if os.environ.get("KAFKALEARN_WRITE_GOLDEN"):
        path.write_text(actual + "\n", encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8").removesuffix("\n")


def with_before(trace: Sequence) -> Iterable[tuple]:
    """Each frame of a run with the one before it, as pictures and words take them; before the first one is None."""
    return zip(trace, (None, *trace), strict=False)


def unhex(text: str | None) -> bytes | None:
    """The bytes that a recording writes in hex; None stands for itself."""
    return None if text is None else bytes.fromhex(text)
