"""Runs chapters at the small size, as on a weak machine, and prints what they say: ``python -m tools.small 03``.

Nothing is written. Read it beside the prose: every sentence must hold at this size too, or say that it does not.
"""

from __future__ import annotations

import sys

from nbclient.exceptions import CellExecutionError

from tools.chapters import chapter_paths, execute


def main(words: list[str]) -> int:
    """Print source and text outputs of each chapter; 1 if one does not run through."""
    failed = []
    for path in chapter_paths(words):
        print(f"===== {path.stem}")
        try:
            notebook = execute(path, "small")
        except CellExecutionError as error:
            print(error, file=sys.stderr)
            failed.append(path.stem)
            continue
        for cell in notebook.cells:
            print(f"\n{cell.source}" if cell.cell_type == "markdown" else f"\n>>> {cell.source}")
            for output in cell.get("outputs", []):
                print(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
