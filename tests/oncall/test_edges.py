"""Lines that a screen has wrapped or shortened: what they say is what they said, or nothing."""

import json
import textwrap
from collections import Counter

import pytest

from kafkalearn.base.files import data_directory
from kafkalearn.oncall import why
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.logs.causes import CAUSES, UNKNOWN
from kafkalearn.oncall.logs.reader import Reader
from kafkalearn.oncall.logs.rebalances import histories
from tests.oncall.runs import LEARNING, read_run, runs

WIDTHS = (80, 100, 120, 160, 200)
MEMBER = "billing-1-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11"
FAILED = (
    "[2026-11-22 15:46:13,448] INFO [GroupCoordinator 1]: Preparing to rebalance group billing in state "
    "PreparingRebalance with old generation 12 (__consumer_offsets-9) (reason: removing member "
    f"{MEMBER} on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)"
)
STABLE = (
    "[2026-11-22 15:46:14,448] INFO [GroupCoordinator 1]: Assignment received from leader "
    "billing-2-1b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a12 for group billing for generation 13. The group has 1 members, 0 of "
    "which are static. (kafka.coordinator.group.GroupCoordinator)"
)


def at_a_column(line, width, indent=""):
    pieces, rest = [line[:width]], line[width:]
    while rest:
        pieces.append(indent + rest[: width - len(indent)])
        rest = rest[width - len(indent) :]
    return pieces


def between_words(line, width, indent=""):
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)


@pytest.mark.parametrize("indent", ["", "  ", "    "])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("wrap", [at_a_column, between_words])
def test_a_wrapped_record_is_one_again(wrap, width, indent):
    lines = [piece for line in (FAILED, STABLE) for piece in wrap(line, width, indent)]
    answer = why(lines, has_advice=False)
    (one,) = answer.rebalances
    assert (one.group, one.cause, one.client, one.duration_ms) == ("billing", "heartbeats lost", "billing-1", 1000)
    assert answer.reading.unknown_count == 0


def test_a_line_behind_a_whole_record_is_none_of_it():
    lines = [FAILED, "and the shop went on", "Caused by: java.io.IOException: closed", STABLE]
    (one,) = why(lines, has_advice=False).rebalances
    assert (one.cause, one.client, one.duration_ms) == ("heartbeats lost", "billing-1", 1000)


@pytest.mark.parametrize("dots", ["...", "…"])
def test_a_name_that_was_shortened_names_nothing(dots):
    left = f"2026-11-22 15:46:13,448 INFO kafka.coordinator: Successfully joined group bill{dots}"
    answer = why([left], has_advice=False)
    assert answer.outcome == Outcome.CANNOT_TELL
    assert not [each for each in answer.groups if each.group]


def test_a_reason_that_was_shortened_says_what_is_left_of_it():
    cut = f"{FAILED[: FAILED.index(' expiration')]}..."
    (one,) = why([cut], has_advice=False).rebalances
    assert (one.group, one.cause, one.client) == ("billing", "heartbeats lost", "billing-1")
    member = f"{FAILED[: FAILED.index('-8d3c')]}..."
    assert why([member], has_advice=False).outcome == Outcome.CANNOT_TELL


def forms():
    for width in WIDTHS:
        yield f"at column {width}", lambda line, width=width: at_a_column(line, width)
        yield f"at column {width}, indented", lambda line, width=width: at_a_column(line, width, "    ")
        yield f"words, {width}", lambda line, width=width: between_words(line, width)
        for dots in ("", "...", "…"):
            yield (
                f"cut at {width}{dots}",
                lambda line, width=width, dots=dots: [line if len(line) <= width else line[: width - len(dots)] + dots],
            )


FORMS = dict(forms())
CHOSEN = runs(LEARNING)[::60]
BESIDE = {
    ("static_twice", "static fenced"),
    *(("static_gone", each) for each in ("member closed", "member left")),
    *(("static_restart", each) for each in ("member closed", "member left", "coordinator lost")),
}
"""What clients went through beside that for which a script made its group rebalance."""


def of_run(run, form):
    reader = Reader()
    for name, lines in {"server": run["broker"], **run["clients"]}.items():
        for line in lines:
            for piece in form(line):
                reader.feed(piece, f"{name}.log")
    return [each for each in histories(reader.result().events) if each.group is not None]


@pytest.mark.parametrize("name", FORMS)
def test_recorded_runs_name_no_wrong_cause_and_no_other_group(name):
    found, wrong = Counter(), []
    for run in CHOSEN:
        whole = {each.cause for history in histories(read_run(run).events) for each in history.rebalances}
        true = whole | {each["cause"] for each in run["expected"]}
        for history in of_run(run, FORMS[name]):
            assert history.group == run["group"]
            for each in history.rebalances:
                found[each.cause != UNKNOWN] += 1
                if each.cause not in true | {UNKNOWN} and true.isdisjoint(CAUSES[each.cause].covers):
                    wrong.append((run["run"], run["script"], each.cause))
    assert [each for each in wrong if each[1:] not in BESIDE] == []
    assert "cut" in name or found[True] > len(CHOSEN)


def test_objects_that_the_console_of_node_prints():
    said = (data_directory("server-logs") / "other-clients" / "node-rdkafka-c2.log").read_text().split("\n")
    at = next(place for place, line in enumerate(said) if "MAXPOLL" in line)
    lines = said[at - 2 : at + 5]
    printed = " ".join(lines[: lines.index("}") + 1])
    for form in (lines, [printed], [f"2026-11-22 15:46:13,448 INFO {printed}"], [f"event.log {printed}"]):
        answer = why(form, has_advice=False)
        assert [each.cause for each in answer.rebalances] == ["poll interval exceeded"], form
    data = {"severity": 4, "fac": "MAXPOLL", "name": "c2#consumer-1"}
    data["message"] = (
        "[thrd:main]: Application maximum poll interval (7000ms) exceeded by 461ms (adjust max.poll.interval.ms for "
        "long-running message processing): leaving group"
    )
    (one,) = why([json.dumps(data)], has_advice=False).rebalances
    assert (one.cause, one.client) == ("poll interval exceeded", "c2")
