"""Words that made readers stumble stand nowhere in names, docstrings, messages and texts; the list grows with readers.

The chapters' own prose is not looked at here.
"""

import re

import pytest

from tests.project.modules import MODULES, ROOT

INSTEAD = {
    "become of": "happen to",
    "becomes of": "happens to",
    "befall(s|en)?": "happen to",
    "befell": "happened to",
    "fares?": "what happens to it",
    "gone ahead": "say what happened",
    "hitherto": "until now",
    "mend(s|ed|ing)?": "fix, repair; of settings: a remedy",
    "of late": "recently, or the interval",
    "puts? out": "removes from the group",
    "telling": "say what it shows",
    "tells? of": "names, has",
    "tells? (the events |them |files |all six )?apart": "distinguishes",
    "told": "call it: a callback, a report, known, given",
    "tolls?": "cost",
    "whence": "from where",
}
"""Each word, as a pattern, and what to write instead."""


def texts():
    here = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    whole = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in [*MODULES.values(), *here]}
    return {name: text.partition("\n## Old names")[0] for name, text in whole.items()}  # those are no longer in use


TEXTS = texts()


@pytest.mark.parametrize("words", INSTEAD)
def test_a_puzzling_word_stands_nowhere(words):
    pattern = re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE)  # the parts of a name, too: mended_by
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in TEXTS.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]

    assert not found, f"write {INSTEAD[words]!r} instead:\n" + "\n".join(found)
