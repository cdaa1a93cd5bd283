"""Writes the stages into docs/build.md: ``python3 -m tools.stages.page``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from kafkalearn.exercises.build import Stage, stages

PAGE = Path(__file__).parents[2] / "docs" / "build.md"
BEGIN, END = "<!-- written by python3 -m tools.stages.page -->", "<!-- end of what is written -->"
NOTEBOOKS = PAGE.parents[1] / "notebooks"


def written(text: str) -> str:
    """The page with the stages as they are now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_stages()}\n\n{END}{after}"


def _stages() -> str:
    return "\n\n".join(map(_stage, stages()))


def _stage(stage: Stage) -> str:
    kinds = dict.fromkeys(step["request"] for step in stage.steps if "request" in step)
    seconds = round(sum(step.get("wait_ms", 0) for step in stage.steps) / 1000)
    (path,) = NOTEBOOKS.glob(f"{stage.chapter}_*.ipynb")
    takes = f"; takes {seconds} s over the wire" if seconds > 4 else ""
    asked = f"{sum('request' in step for step in stage.steps)} requests: {', '.join(kinds)}{takes}."
    task = re.sub(r"\s*\n", "\n", stage.task)
    title = f"### {stage.number} {stage.title}"
    return f"{title}\n\n[Chapter {stage.chapter}](../notebooks/{path.name}). {asked}\n\n{task}"


def main() -> int:
    """Write the page; the exit code."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
