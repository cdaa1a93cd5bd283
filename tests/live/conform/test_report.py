"""What a judge says, and its exit code."""

from __future__ import annotations

import json

import pytest

from conformance.judge.judging import AGREES, DIFFERS, NOT_ASKED, Report, Verdict, judge, main
from conformance.search import Difference
from kafkalearn.base.errors import KafkaLearnError

LAG = Verdict("sums", ("lag", "hash of a group id"), AGREES, 12, 1)
HASH = Verdict("hashes", ("hash of a group id",), DIFFERS, 3, 5, Difference([11], 10, 11))
DISK = Verdict("disks", ("segments",), NOT_ASKED, reasons=("it needs a disk",), is_for_any_cluster=False)
SILENT = Verdict("silent", ("segments",), NOT_ASKED, reasons=("no answer",))


def report_of(*verdicts, **words):
    return Report("localhost:9092", "4.3", "2026-11-22", "kafkalearn-judge-0", verdicts, **{"unreadable": {}, **words})


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (report_of(LAG), 0),
        (report_of(LAG, DISK), 0),  # nobody can ask that over the network
        (report_of(LAG, SILENT), 2),
        (report_of(DISK), 2),
        (report_of(LAG, HASH, SILENT), 1),
        (report_of(LAG, unreadable={"Metadata version 13": "1 more byte follows"}), 1),
    ],
)
def test_the_exit_code_says_agrees_differs_or_cannot_tell(report, code):
    assert report.exit_code == code


def test_a_rule_differs_if_any_question_about_it_does():
    assert report_of(LAG, HASH, DISK).by_rule() == {"hash of a group id": DIFFERS, "lag": AGREES, "segments": NOT_ASKED}


def test_the_report_has_the_shortest_case_the_reasons_and_what_was_left_behind():
    report = report_of(LAG, HASH, SILENT, left_behind=("3 topics: they do not go",))
    text = str(report)
    for part in ("| lag | agrees |", "[11]", "no answer", "3 topics: they do not go", "1 agrees, 1 differs, 1 cannot"):
        assert part in text
    assert "nothing of it is left" in str(report_of(LAG))
    assert json.loads(report.as_json())["verdicts"][1]["difference"] == [[11], 10, 11]


def test_it_does_not_write_unless_it_may(capsys):
    with pytest.raises(KafkaLearnError, match="--may-write"):
        judge("localhost:1")
    assert main(["localhost:1"]) == 2
    assert "--may-write" in capsys.readouterr().err


def test_nobody_there_is_said_at_once(capsys):
    assert main(["localhost:1", "--may-write"]) == 2
    assert "nobody answers" in capsys.readouterr().err
