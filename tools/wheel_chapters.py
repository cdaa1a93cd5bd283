"""The chapters as the wheel carries them: without results, which make them fifteen times as large.

Who installs the wheel gets copies without results in any case (`kafkalearn.lab.working_copies`); with results they
stand in the book and in the repository. hatchling runs this when it builds a wheel; an editable installation reads the
checkout.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Chapters(BuildHookInterface):
    """Puts the chapters into a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write each chapter without results, and say where in the wheel it is to be."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from kafkalearn.lab.working_copies import without_results

        self._folder = tempfile.TemporaryDirectory(prefix="kafkalearn-chapters-")
        for path in sorted(Path(self.root, "notebooks").glob("*.ipynb")):
            bare = without_results(json.loads(path.read_text(encoding="utf-8")))
            to = Path(self._folder.name, path.name)
            to.write_text(json.dumps(bare, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
            build_data["force_include"][str(to)] = f"kafkalearn/notebooks/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        if version != "editable":
            self._folder.cleanup()
