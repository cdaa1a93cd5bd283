"""Every claim names a chapter, and that chapter speaks of it outside the table of claims itself."""

from collections import defaultdict

import nbformat
import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.claims import all_claims, claims
from tests.every import every_case
from tools.chapters import chapter_paths

WORDS: dict[str, str] = defaultdict(str)  # a chapter in two halves is one
for path in chapter_paths():
    WORDS[path.stem[:2]] += "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells).lower()


@every_case("claim", all_claims(), ids=lambda claim: f"{claim.chapter} {claim.says[:40]}")
def test_the_chapter_speaks_of_the_subject(claim):
    assert claim.subject.lower() in WORDS[claim.chapter]


def test_no_claim_stands_twice():
    assert len({each.says for each in all_claims()}) == len(all_claims())


def test_a_chapters_own_claims_do_not_name_it_again():
    assert list(claims("09")[0]) == ["you may have read", "true today", "since"]
    assert list(claims()[0]) == ["you may have read", "true today", "since", "chapter"]
    assert sum(len(claims(chapter)) for chapter in {each.chapter for each in all_claims()}) == len(claims())


def test_an_unknown_chapter_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown chapter '99'"):
        claims("99")
