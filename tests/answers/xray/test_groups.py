"""Groups and transactional ids of the recorded topics: what the broker said of them, who commits, who is kept."""

import pytest

from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.offsets import encode_key, encode_value, read_groups
from kafkalearn.oncall import xray
from kafkalearn.oncall import xray_given as kinds_of
from tests.answers.xray.folders import DAY_MS, HOUR_MS, NOW_MS, kinds, one, write
from tests.recorded import recorded
from tests.segments.disk import FOLDER, admin
from tests.segments.writing import MARKER_KEYS, MARKER_VALUE, batch
from tests.transaction_log.disk import case_id, rows_of, written

MINUTE_MS = 60_000


@pytest.mark.parametrize("is_fast", [True, False])
def test_the_groups_are_those_that_the_broker_listed(is_fast):
    found = xray(FOLDER / "disk", is_fast=is_fast).groups
    replayed = read_groups(FOLDER / "disk")
    by_id = {each.group_id: each for each in found.groups}
    assert found.problems == replayed.problems == ()
    assert {*by_id} == {each["group_id"] for each in admin("disk")["listed"]} if "listed" in admin("disk") else by_id
    for group in replayed.groups:
        each = by_id[group.group_id]
        assert (each.state, each.kind) == (group.state, group.kind)
        assert (each.member_count, each.offset_count) == (len(group.members), len(group.offsets))
        assert each.is_dead == (group.state == "Empty" and bool(group.offsets))


def test_both_ways_give_the_same_answer():
    for folder in ("disk", "cleaned", "expiry"):
        plain, fast = (xray(FOLDER / folder, is_fast=is_fast).as_data() for is_fast in (False, True))
        assert fast == plain


def test_commits_are_counted_as_they_lie_in_the_log():
    found = xray(FOLDER / "disk").groups
    segments = read_disk(FOLDER / "disk", "__consumer_offsets")
    commits = [one for one in committed_records(segments) if one.key[:2] == b"\x00\x01" and one.value is not None]
    assert sum(each.commit_count for each in found.groups) + found.gone_commit_count == len(commits)
    assert found.gone_commit_count > 0
    assert 0.9 < sum(each.share for each in found.groups) < 1


def commit(offset, group, at_ms, value=7, partition=0):
    key = encode_key("OFFSET_COMMIT", {"group": group, "topic": "orders", "partition": partition})
    fields = {"offset": value, "metadata": "", "commitTimestamp": at_ms}
    return one(offset, key, encode_value("OFFSET_COMMIT", 3, fields), at_ms)


def group_record(offset, group, at_ms, members=()):
    fields = {
        "protocolType": "consumer",
        "generation": 3,
        "protocol": None,
        "leader": None,
        "currentStateTimestamp": at_ms,
        "members": [*members],
    }
    return one(offset, encode_key("GROUP_METADATA", {"group": group}), encode_value("GROUP_METADATA", 3, fields), at_ms)


def topic_of(tmp_path, *batches, **checkpoints):
    return write(tmp_path, {0: b"".join(batches)}, topic="__consumer_offsets", partition=3, **checkpoints)


def by_group(found):
    return {each.group_id: each for each in found.groups.groups}


def test_how_often_a_group_commits_is_read_from_what_no_cleaner_has_seen(tmp_path):
    often = [commit(at, "often", NOW_MS - HOUR_MS + at * 5000) for at in range(721)]
    seldom = [commit(721 + at, "seldom", NOW_MS - HOUR_MS + at * 30 * MINUTE_MS) for at in range(3)]
    found = by_group(xray(topic_of(tmp_path, *often, *seldom), now_ms=NOW_MS))
    assert (found["often"].commits_an_hour, found["seldom"].commits_an_hour) == (720, 2)
    assert found["often"].commit_count == 721
    assert list(found) == ["often", "seldom"]  # the one with most bytes first
    write(tmp_path, {}, topic="__consumer_offsets", partition=3, cleaner_offset=361)
    assert by_group(xray(tmp_path, now_ms=NOW_MS))["often"].commits_an_hour == 720
    write(tmp_path, {}, topic="__consumer_offsets", partition=3)
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\n__consumer_offsets 3 721\n", encoding="utf-8")
    assert by_group(xray(tmp_path, now_ms=NOW_MS))["often"].commits_an_hour is None


def test_a_dead_group_is_kept_until_its_retention_has_passed(tmp_path):
    empty_ms = NOW_MS - 2 * DAY_MS
    folder = topic_of(
        tmp_path, commit(0, "dead", empty_ms - DAY_MS), group_record(1, "dead", empty_ms), commit(2, "simple", NOW_MS)
    )
    found = by_group(xray(folder, now_ms=NOW_MS))
    assert (found["dead"].is_dead, found["dead"].kept_until_ms) == (True, empty_ms + 7 * DAY_MS)
    assert found["dead"].kept_because.startswith("offsets.retention.minutes, 7 d, counts from when it became Empty")
    assert found["simple"].kept_until_ms == NOW_MS + 7 * DAY_MS
    assert found["simple"].kept_because == "offsets.retention.minutes, 7 d, counts from each commit"
    short = by_group(xray(folder, settings={"offsets.retention.minutes": 60}, now_ms=NOW_MS))
    assert short["dead"].kept_because.startswith("its offsets are due since 2026-11-18 13:00:00 UTC")


def test_commits_of_an_aborted_transaction_do_not_count(tmp_path):
    stamp = {"producer_id": 9, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    first, second = commit(0, "g", NOW_MS, value=5), commit(1, "g", NOW_MS, value=99)
    key = encode_key("OFFSET_COMMIT", {"group": "g", "topic": "orders", "partition": 0})
    value = encode_value("OFFSET_COMMIT", 3, {"offset": 99, "metadata": "", "commitTimestamp": NOW_MS})
    second = one(1, key, value, NOW_MS, **stamp)
    for control, count in (("ABORT", 1), ("COMMIT", 2)):
        end = batch(
            2, [(2, NOW_MS, MARKER_KEYS[control], MARKER_VALUE)],
            producer_id=9, producer_epoch=0, is_transactional=True, is_control=True,
        )  # fmt: skip
        for is_fast in (True, False):
            folder = topic_of(tmp_path / control, first, second, end)
            assert by_group(xray(folder, now_ms=NOW_MS, is_fast=is_fast))["g"].commit_count == count


def test_records_that_cannot_be_decoded_are_one_finding(tmp_path):
    odd = [one(at, b"\x00\x63odd", b"") for at in range(3)]
    found = xray(topic_of(tmp_path, *odd, commit(3, "g", NOW_MS)), now_ms=NOW_MS)
    assert kinds(found) == [kinds_of.RECORDS]
    assert found.findings[0].words.endswith("; 2 more")
    assert [*by_group(found)] == ["g"]


@pytest.mark.parametrize("case", recorded("transaction-log")["cases"], ids=case_id)
def test_open_transactions_are_those_that_the_broker_s_tool_describes(case, tmp_path):
    folder = written(case, tmp_path)
    found = xray(folder)
    for log in found.logs:
        at = str(log.given.at)
        if at not in case["producers"] or at == "payments-0":  # there the broker ended it before the tool ran
            continue
        told = {int(row[0]): int(row[5]) for row in rows_of(case["producers"][at]) if row[5] != "None"}
        assert {each.producer_id: each.first_offset for each in log.census.open_transactions} == told
        ends = dict(each.rsplit(":", 1) for each in case["ends"])
        assert log.census.end_offset == int(ends[at.replace("-", ":")])
    later = xray(folder, now_ms=found.now_ms + HOUR_MS)
    words = [each.words for each in later.findings if each.kind == kinds_of.OPEN_TRANSACTION]
    assert sum("'still-open', which its coordinator has as Ongoing" in each for each in words) == 2
    assert {each.where for each in later.findings if each.kind == kinds_of.OVERDUE} == {"__transaction_state"}
    assert "still-open" in str(later)
