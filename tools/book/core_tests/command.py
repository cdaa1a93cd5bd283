"""The command: which files are run, what is kept of them, what is printed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

import tools.book.core_tests as words_for_help
from kafkalearn.base.files import data_folder
from tools.book.core_tests.folders import files_in, folders
from tools.book.core_tests.page import row_of, write_page
from tools.book.core_tests.running import FileResult, run_files

KEPT = data_folder() / "page-tests.json"


def main(words: Sequence[str]) -> int:
    """Run, keep and print; 1 if a test of those that were asked for has failed."""
    wanted = _parsed(words)
    whole = not wanted.folders and not wanted.page
    known = {} if whole and not wanted.go_on else _kept()
    chosen = wanted.folders or folders()
    files = [file for folder in chosen for file in files_in(folder)]
    is_done = {file for file, each in known.items() if wanted.go_on and not each.failed}
    for result in () if wanted.page else run_files([file for file in files if file not in is_done]):
        known[result.file] = result
        KEPT.write_text(json.dumps([asdict(each) for each in known.values()]), encoding="utf-8")
        print(_sentence(result.file, [result]), flush=True)
        for name, said in result.failed.items():
            print(f"--- {name}\n{said}", flush=True)
    write_page(folders(), known)
    ran = [known[file] for file in files if file in known]
    print(_sentence("together", ran))
    return 1 if any(each.failed for each in ran) else 0


def _kept() -> dict[str, FileResult]:
    if not KEPT.exists():
        return {}
    return {each["file"]: FileResult(**each) for each in json.loads(KEPT.read_text(encoding="utf-8"))}


def _sentence(name: str, results: list[FileResult]) -> str:
    row = row_of(name, results)
    left_out = row["left out, needs"]
    return f"{name}: {row['passed']} passed, {row['failed']} failed, {left_out} left out; {row['seconds']} s"


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.book.core_tests",
        description=words_for_help.__doc__.partition("\n")[0],
    )
    parser.add_argument("folders", nargs="*", help="tests/base, or a file; all, if none is named")
    parser.add_argument("--go-on", action="store_true", help="only the files that were not run yet, or failed")
    parser.add_argument("--page", action="store_true", help="run nothing, write docs/page-tests.md anew")
    return parser.parse_args(words)
