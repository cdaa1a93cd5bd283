"""Expected text kept in files: easier to read, and to see change, than in the middle of a test.

To accept what the code says now: KAFKALEARN_WRITE_GOLDEN=1 python -m pytest tests, then look at the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def expected(name: str, actual: str) -> str:
    """What the golden file says; it takes `actual` over first, if so asked."""
    path = next(FOLDER.glob(f"*/{name}"), FOLDER / name)
    if os.environ.get("KAFKALEARN_WRITE_GOLDEN"):
        path.write_text(actual + "\n", encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8").removesuffix("\n")
