"""``python -m tools.book.core_tests``: the core's own tests, run by the pages' Python, in Node.

    python -m tools.book.core_tests                          all folders, from the beginning
    python -m tools.book.core_tests --go-on                  what the last call did not come to, or what failed
    python -m tools.book.core_tests tests/base               a folder, or a file, and again
    python -m tools.book.core_tests --page                   runs nothing, writes docs/page-tests.md anew

One Python runs file after file. What became of a file is kept in data/generated/page-tests.json as soon as it is known,
and docs/page-tests.md has a row for each folder. 0: nothing failed, 1: something did.
"""

from tools.book.core_tests.running import FileResult, run_files

__all__ = ["FileResult", "run_files"]
