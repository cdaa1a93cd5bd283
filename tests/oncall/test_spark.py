"""The same lines through Spark: the events of the core, and the rebalances that both make of them."""

from datetime import UTC, datetime

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall.logs import read
from kafkalearn.oncall.logs.lines import BROKER
from kafkalearn.spark.group_logs import EVENT_SCHEMA, rebalances
from kafkalearn.spark.server_logs import KINDS, _wanted, log_events
from tests.oncall.pumping import LARGE, filled, pieces_of
from tests.oncall.runs import LEARNING, history_of, runs

CLASSIC = [run for run in runs(LEARNING) if run["protocol"] == "classic"]
BY_OUR_NAMES = {
    "member closed": "member left",
    "leader rejoined": "topics changed",
    "member rejoined": "subscription changed",
}
"""What `kafkalearn.spark.group_logs` calls these: it has no name for what a log does not decide."""


@pytest.fixture(scope="module")
def lines(spark):
    said = [line for run in CLASSIC for line in run["broker"]]
    empty = "Group billing with generation 7 is now empty"
    others = [
        "",
        "\tat java.lang.Thread.run(Thread.java:840)",
        "[2026-11-22 15:46:13,448] INFO a group of them (a.B)",
        f"[2026-13-22 15:46:13,448] INFO [GroupCoordinator 0]: {empty} (a.B)",  # no such month
        f"\x012026-11-22T15:46:13.448{empty}",  # as the query has it halfway
        empty,
    ]
    return spark.createDataFrame([(each,) for each in [*said, *others]], "value STRING")


@pytest.mark.equal("server_logs.log_events")
def test_the_events_are_those_of_the_core(lines):
    found = log_events(lines, "eu")
    wanted = lines.sparkSession.createDataFrame([], EVENT_SCHEMA).schema
    assert found.schema.simpleString() == wanted.simpleString()
    rows = {tuple(row) for row in found.collect()}
    said = [line for run in CLASSIC for line in run["broker"]]
    expected = {
        (
            "eu",
            each.group,
            datetime.fromtimestamp(each.time_ms / 1000, UTC).replace(tzinfo=None),
            each.kind,
            each.member,
            each.generation,
            each.reason,
        )
        for each in read(said).events
        if each.kind in KINDS and each.writer == BROKER
    }
    assert rows == expected
    assert len(rows) > 2000


def test_rebalances_of_both_are_equal_where_the_log_has_reasons(lines):
    found = {
        (row.group_id, row.generation_before): (row.duration_ms, row.cause)
        for row in log_events(lines, "eu").transform(rebalances).collect()
        if row.duration_ms is not None
    }
    compared = 0
    for run in CLASSIC:
        if run["release"] in ("1.1", "2.4", "2.8"):  # before the reasons that group_logs knows
            continue
        for one in history_of(run, has_clients=False).rebalances:
            if one.is_interrupted or one.duration_ms is None:
                continue
            duration_ms, cause = found[run["group"], one.generation]
            assert duration_ms == one.duration_ms
            assert cause == BY_OUR_NAMES.get(one.cause, one.cause)
            compared += 1
    assert compared > 300


def test_what_is_no_column_of_lines_is_refused(lines):
    for bad in ({"line": "text"}, {"zone": "Europe/Berlin"}, {"zone": 7}, {"cluster": 7}):
        with pytest.raises(KafkaLearnError):
            log_events(lines, **{"cluster": "eu", **bad})


def test_lines_that_say_the_words_of_a_form_again_and_again_are_read_to_their_end(spark):
    front = "[2026-11-22 15:46:13,448] INFO [GroupCoordinator 0]: "
    said = [
        front + form.first + filled(piece, LARGE) + "\u2028"
        for form in (each.template for each in _wanted())
        for piece in pieces_of(form.regex)
        if len(piece) > 2
    ]
    said += [front + filled(piece, LARGE) for piece in (" ", " (a.a", ".a", "x")]
    said += [f"{front} (a{filled('.a', LARGE)}", f"[2026-11-22 15:46:13,448]{filled(' ', LARGE)}\u2028"]

    found = log_events(spark.createDataFrame([(each,) for each in said], "value STRING"), "eu")

    assert len(said) > 50
    assert found.collect() == []
