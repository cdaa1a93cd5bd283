"""docs/page-tests.md: what became of the core's tests in a page's Python, a row for each folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kafkalearn.base.tables import markdown_table
from tools.book.core_tests.folders import files_in
from tools.book.core_tests.running import FileResult
from tools.environment import ROOT
from tools.pages import write_part

PAGE = ROOT / "docs" / "page-tests.md"
COMMAND = "python -m tools.book.core_tests"
_HEAD = ("folder", "passed", "failed", "left out, needs", "seconds")


def row_of(folder: str, results: Iterable[FileResult]) -> dict[str, str]:
    """The row of a folder, or of all of them.

    >>> one = FileResult("tests/a/test_a.py", 1200, {}, {"test_x": "Spark", "test_y": "Spark"}, 1.5)
    >>> row_of("tests/a", [one])["left out, needs"]
    '2: 2 Spark'
    """
    results = list(results)
    needs = Counter(need for each in results for need in each.left_out.values())
    words = ", ".join(f"{count} {need}" for need, count in sorted(needs.items()))
    passed, failed = sum(each.passed for each in results), sum(len(each.failed) for each in results)
    seconds = sum(each.seconds for each in results)
    cells = (folder, f"{passed:,}", f"{failed:,}", f"{needs.total()}: {words}" if needs else "0", f"{seconds:,.0f}")
    return dict(zip(_HEAD, cells, strict=True))


def write_page(folders: Iterable[str], known: Mapping[str, FileResult]) -> None:
    """Write the table anew; the words around it stay. A folder stands in it once all its files were run."""
    whole = {folder: files for folder in folders if (files := files_in(folder)) and known.keys() >= set(files)}
    rows = [row_of(folder, map(known.__getitem__, files)) for folder, files in whole.items()]
    together = row_of("together", [known[file] for files in whole.values() for file in files])
    write_part(PAGE, COMMAND, markdown_table([*rows, together]))
