"""What remedies save of a day of logs: the query against the simulator, which plays each absence again."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.remedies import ABSENCES, REMEDIES, Remedy, play_absence
from kafkalearn.spark.data.groups import group_logs
from kafkalearn.spark.group_logs import EVENT_SCHEMA, log_rows, rebalances
from kafkalearn.spark.remedies import by_remedy, with_absences, with_avoided

pytestmark = pytest.mark.spark

AS_IT_WAS = Remedy("as it was")
TRIED = (*REMEDIES, Remedy("static, session 2 min", is_static=True, session_timeout_ms=120_000))
AWAY_MS = (2_000, 20_000, 41_000, 46_000, 71_000, 100_000, 290_000, 310_000)


@pytest.fixture(scope="module")
def day(spark):
    return group_logs(spark, 20_000).transform(rebalances).transform(with_absences).cache()


@pytest.mark.equal("remedies.with_absences")
def test_what_is_avoided_in_a_played_log_is_gone_when_it_is_played_with_the_remedy(spark):
    played = {(cause, ms): play_absence(cause, ms, AS_IT_WAS) for cause in ABSENCES for ms in AWAY_MS}
    logs = [row for (cause, ms), run in played.items() for row in log_rows(run, f"{cause}/{ms}")]
    found = spark.createDataFrame(logs, EVENT_SCHEMA).transform(rebalances).transform(with_absences)
    by_group = {}
    for row in found.transform(with_avoided, TRIED).where("away_ms IS NOT NULL").collect():
        by_group.setdefault(row.group_id, []).append(row)
    assert len(by_group) == len(played)
    for (cause, ms), run in played.items():
        went, back = sorted(by_group[f"{cause}/{ms}"], key=lambda row: row.started)
        assert (went.cause, back.cause, went.trouble, back.trouble) == (cause, "member joined", cause, cause)
        assert went.away_ms == back.away_ms == run.rebalances[2]["from_ms"] - run.rebalances[1]["from_ms"]
        gone = [each.name for each in TRIED if play_absence(cause, ms, each).rebalance_count == 1]
        assert went.avoided_by == back.avoided_by == gone, (cause, ms)


@pytest.mark.equal("remedies.by_remedy")
def test_the_sums_are_those_of_the_rows(day):
    rows = day.transform(with_avoided, TRIED).where("ended IS NOT NULL").collect()
    all_ms = sum(row.duration_ms for row in rows)
    sums = {row.remedy: row for row in day.transform(by_remedy, TRIED).collect()}
    assert [*sums] == [each.name for each in TRIED]
    for name, found in sums.items():
        avoided = [row.duration_ms for row in rows if name in row.avoided_by]
        saved_ms = all_ms if name == "group.protocol consumer" else sum(avoided)
        assert (found.avoided_count, found.saved_ms) == (len(avoided), saved_ms)
        assert found.avoided_share == pytest.approx(len(avoided) / len(rows), abs=0.0006)
        assert found.saved_share == pytest.approx(saved_ms / all_ms, abs=0.0006)
    assert len({found.avoided_count for found in sums.values()}) == len(TRIED)


def test_who_does_not_come_back_and_who_only_comes_was_not_away(spark):
    at = "timestamp_seconds({}) AS started, timestamp_seconds({} + 1) AS ended, 1000L AS duration_ms"
    causes = ("member joined", "heartbeats lost", "topics changed", "member left")
    lines = [f"SELECT 'c' AS cluster, 'g' AS group_id, '{c}' AS cause, '{c}' AS trouble, {at.format(t, t)}"
             for t, c in enumerate(causes)]  # fmt: skip
    rows = spark.sql(" UNION ALL ".join(lines)).transform(with_absences).transform(with_avoided).collect()
    assert [(row.away_ms, row.avoided_by) for row in rows] == [(None, [])] * 4


def test_a_day_without_rebalances_has_no_shares(day):
    rows = day.where("false").transform(by_remedy).collect()
    assert [(row.avoided_count, row.avoided_share, row.saved_share) for row in rows] == [(0, None, None)] * 4


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda day: day.transform(by_remedy, []), "at least one"),
        (lambda day: day.transform(with_avoided, [AS_IT_WAS, AS_IT_WAS]), "a name of its own"),
    ],
)
def test_what_cannot_be_judged_is_refused(day, ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask(day)
