"""What the cleaner would do, which is what the real one did to the recorded topics, and why a log is not smaller."""

import shutil

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import offsets_partition
from kafkalearn.log import read_log
from kafkalearn.oncall import xray, xray_given, xray_logs
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.xray_given import given_logs
from kafkalearn.oncall.xray_logs import simulate_cleaning
from tests.formats.disk import FOLDER
from tests.formats.writing import MARKER_KEYS, MARKER_VALUE, batch
from tests.log.partitions import PASSES, clean_ms, logs_of, passes_of
from tests.log.partitions import write as write_pass
from tests.log.test_from_segments import CLEANED, CLEANED_MS, SETTINGS, facts_of
from tests.oncall.folders import DAY_MS, HOUR_MS, NOW_MS, kinds, one, only, write
from tests.oncall.test_xray import by_group, commit, group_record
from tests.recorded import recorded


def by_kafka_s_names(settings, topic_settings=("cleanup_policy", "segment_bytes", "delete_retention_ms")):
    return {name.replace("_", "."): getattr(settings, name) for name in topic_settings}


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    "case", recorded("cleaned-partitions")["cases"], ids=lambda case: case["settings"]["segment_bytes"]
)
def test_what_goes_is_what_the_real_cleaner_took(case, number, tmp_path):
    each = passes_of(case)[number]
    before, real = logs_of(each, tmp_path / "read")
    folder = write_pass(tmp_path / "given", each.before, each.cleaned_to_before)
    settings = by_kafka_s_names(each.settings) | {"min.cleanable.dirty.ratio": 0.0}
    now_ms = clean_ms(each, before, real)
    found = xray(folder, settings=settings, now_ms=now_ms, release=each.settings.release)
    (log,) = found.logs

    gone = {one.offset for one in before.records} - {one.offset for one in real.records}
    markers_gone = len([b for b in before.batches if b.marker and b.records]) - len(
        [b for b in real.batches if b.marker and b.records]
    )
    assert log.cleaning.removed_count == len(gone) + markers_gone
    if all(batch.codec == "none" for batch in before.batches):
        assert log.cleaning.freed_bytes == sum(s.size_bytes for s in before.segments) - sum(
            s.size_bytes for s in real.segments
        )
    (given,) = given_logs([folder])
    _, after = simulate_cleaning(given, log.beside, log.settings, now_ms, 1 << 26)
    assert facts_of(after) == facts_of(real)


@pytest.mark.parametrize(("before", "after"), [("before", "after-pass-1"), ("after-pass-1", "after-pass-2")])
@pytest.mark.parametrize("partition", [0, 1])
def test_of_the_recorded_offsets_topic_what_stays_is_what_the_real_cleaner_left(before, after, partition, tmp_path):
    name = f"__consumer_offsets-{partition}"
    shutil.copytree(CLEANED / before / name, tmp_path / name)
    shutil.copy(max((CLEANED / after / name).glob("*.log")), tmp_path / name)
    real = read_log(CLEANED, partition=partition, log_dir=after)
    now_ms = CLEANED_MS[after](partition)
    settings = by_kafka_s_names(SETTINGS) | {"min.cleanable.dirty.ratio": 0.0}
    (log,) = xray(tmp_path, settings=settings, now_ms=now_ms).logs
    closed = [record for segment in real.segments[:-1] for batch in segment.batches for record in batch.records]
    assert log.cleaning.kept_count == len(closed)
    assert log.cleaning.freed_bytes == log.census.size_bytes - sum(segment.size_bytes for segment in real.segments)


LARGE = b"x" * 1000


def segments(*starts, end, at_ms=NOW_MS - DAY_MS, key=b"k"):
    """Segments of records with one key, an hour apart."""
    return {
        start: b"".join(one(at, key, LARGE, at_ms + at * 1000) for at in range(start, stop))
        for start, stop in zip(starts, (*starts[1:], end), strict=True)
    }


def test_a_cleaner_that_does_not_come_is_found_where_its_checkpoint_is_there_and_only_there(tmp_path):
    files = segments(0, 5, 10, end=12)
    dead = xray(write(tmp_path / "dead", files, cleaner_offset=0), now_ms=NOW_MS)
    assert only(dead).kind == xray_given.NOT_CLEANED
    assert "100 % of it is dirty" in only(dead).words
    alone = xray(write(tmp_path / "alone", files), settings={"cleanup.policy": "compact"}, now_ms=NOW_MS)
    assert alone.findings == ()
    assert "is not beside these files" in alone.logs[0].why[0]
    early = xray(write(tmp_path / "early", files, cleaner_offset=0), now_ms=NOW_MS - DAY_MS + HOUR_MS)
    assert early.findings == ()
    came = xray(write(tmp_path / "came", files, cleaner_offset=10), now_ms=NOW_MS)
    assert came.findings == ()


def test_everything_in_the_active_segment_is_why(tmp_path):
    found = xray(write(tmp_path, segments(0, end=9), topic="__consumer_offsets", cleaner_offset=None), now_ms=NOW_MS)
    (why,) = found.logs[0].why
    assert "9.6 kB of 9.6 kB are in the active segment, which is never cleaned" in why
    assert "104.9 MB" in why


def test_a_dirty_ratio_that_is_too_small_is_why_with_the_bytes_that_are_missing(tmp_path):
    folder = write(tmp_path, segments(0, 10, 12, end=13), cleaner_offset=10)
    log = xray(folder, now_ms=NOW_MS).logs[0]
    (why,) = log.why
    assert why.startswith("17 % of the closed segments is dirty, more than 50 % is asked for; 8.6 kB more would do")
    assert log.cleaning.missing_bytes == log.cleaning.found.clean_bytes - log.cleaning.found.cleanable_bytes + 1
    low = xray(folder, settings={"min.cleanable.dirty.ratio": "0.1"}, now_ms=NOW_MS).logs[0]
    assert low.cleaning.found.is_eligible


def test_a_lag_protects_segments_and_a_record_from_the_future_does_so_for_longer(tmp_path):
    files = segments(0, 5, end=6, at_ms=NOW_MS - 60_000)
    settings = {"min.compaction.lag.ms": HOUR_MS}
    near = xray(write(tmp_path / "near", files, cleaner_offset=0), settings=settings, now_ms=NOW_MS).logs[0]
    assert any("min.compaction.lag.ms protects 2 segments" in each for each in near.why)
    assert near.cleaning.next_ms == NOW_MS - 60_000 + 4000 + HOUR_MS
    files[0] = one(0, at_ms=NOW_MS + 400 * DAY_MS)
    far = xray(write(tmp_path / "far", files, cleaner_offset=0), settings=settings, now_ms=NOW_MS)
    assert "some of them from the future" in " ".join(far.logs[0].why)
    assert far.logs[0].cleaning.next_ms == NOW_MS + 400 * DAY_MS + HOUR_MS


def test_an_open_transaction_holds_what_is_behind_it(tmp_path):
    files = segments(0, 5, 10, end=12)
    stamp = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    files[5] = one(5, at_ms=NOW_MS - DAY_MS, **stamp) + files[5][len(one(5, b"k", LARGE)) :]
    found = xray(write(tmp_path, files, cleaner_offset=0), now_ms=NOW_MS)
    assert [*sorted(kinds(found))] == sorted(
        [xray_given.NOT_CLEANED, xray_given.NOT_SHRINKING, xray_given.OPEN_TRANSACTION]
    )
    assert found.logs[0].cleaning.found.first_uncleanable_offset == 5
    assert "holds the last stable offset at 5" in next(
        each.words for each in found.findings if each.kind == xray_given.NOT_SHRINKING
    )


def test_damage_in_a_closed_segment_stops_the_cleaner(tmp_path):
    files = segments(0, 5, end=7)
    files[0] = files[0][:100] + b"\xff" + files[0][101:]
    for release, says in (("4.3", "leaves this partition out"), ("2.0", "ends with it, for all partitions")):
        found = xray(write(tmp_path, files, cleaner_offset=0), now_ms=NOW_MS - DAY_MS, release=release)
        assert xray_given.DAMAGE in kinds(found)
        assert says in next(each.words for each in found.findings if each.kind == xray_given.NOT_CLEANED)


def test_tombstones_wait_for_their_horizon(tmp_path):
    horizon = NOW_MS + HOUR_MS
    files = {
        0: one(0, b"a", None, NOW_MS - 60_000, delete_horizon_ms=horizon, max_timestamp_ms=NOW_MS - 60_000),
        1: one(1, b"b", b"v", NOW_MS - 60_000),
    }
    folder = write(tmp_path, files, cleaner_offset=1)
    log = xray(folder, now_ms=NOW_MS).logs[0]
    assert "tombstones in 1 batch wait for their delete horizon, the last until 2026-11-20 13:00:00 UTC" in log.why[-1]
    later = xray(folder, now_ms=horizon + 1).logs[0]
    assert not any("horizon" in each for each in later.why)


def test_a_log_larger_than_the_limit_is_not_simulated_and_its_ratio_is_the_same(tmp_path, monkeypatch):
    folder = write(tmp_path, segments(0, 5, 10, end=12), cleaner_offset=0)
    small = xray(folder, now_ms=NOW_MS).logs[0].cleaning
    monkeypatch.setattr(xray_logs, "SIMULATED_BYTES", 100)
    large = xray(folder, now_ms=NOW_MS)
    assert small.is_simulated
    assert (large.logs[0].cleaning.found, large.logs[0].cleaning.removed_count) == (small.found, None)
    assert "too large to be cleaned here" in str(large)


def test_the_outline_has_the_ratio_of_the_whole_log(tmp_path):
    for number, each in enumerate(PASSES):
        before, _ = logs_of(each, tmp_path / f"read-{number}")
        folder = write_pass(tmp_path / f"given-{number}", each.before, each.cleaned_to_before)
        settings = by_kafka_s_names(each.settings)
        log = xray(folder, settings=settings, now_ms=each.seen_ms).logs[0]
        whole = xray_logs.cleanable(log.settings, before, each.seen_ms)
        assert log.cleaning.found == whole


def test_headers_alone_tell_when_but_not_what():
    found = xray(FOLDER / "cleaned" / "after-pass-1", headers_only=True)
    assert all(log.cleaning is not None and not log.cleaning.is_simulated for log in found.logs)
    assert found.groups is None


def filled(first, count, groups, at_ms, every_ms):
    return b"".join(
        commit(offset, groups[offset % len(groups)], at_ms + (offset - first) * every_ms)
        for offset in range(first, first + count)
    )


def test_strimzi_3487_the_offsets_topic_fills_the_disk_and_no_cleaner_comes(tmp_path):
    """Kafka 2.4.0, partitions of 70 MB on 2 GB: all of it is in active segments, which are of 100 MB."""
    for partition in (9, 22, 30, 5):
        data = filled(0, 300, [f"group-{partition}"], NOW_MS - 3 * DAY_MS, 600_000)
        write(tmp_path, {0: data}, "__consumer_offsets", partition, cleaner_offset=None)
    found = xray(tmp_path, release="2.4.0", now_ms=NOW_MS)
    for log in found.logs:
        assert log.cleaning.found.cleanable_bytes == 0
        assert "are in the active segment, which is never cleaned; it is closed when it has 104.9 MB" in log.why[0]
    assert found.outcome == Outcome.FINE  # nothing is broken: the segments are larger than the disk allows
    smaller = xray(tmp_path, settings={"segment.bytes": 1 << 20}, release="2.4.0", now_ms=NOW_MS)
    assert "it is closed when it has 1.0 MB" in smaller.logs[0].why[0]


def test_a_cleaner_that_died_on_kafka_2_0_and_partitions_of_thousands_of_segments(tmp_path):
    """Partitions of 500 GB, segments of months, no error in the broker's own log: the cleaner's thread had ended."""
    files = {at * 10: filled(at * 10, 10, ["busy"], NOW_MS - 90 * DAY_MS + at * DAY_MS, 60_000) for at in range(60)}
    found = xray(write(tmp_path, files, "__consumer_offsets", 7, cleaner_offset=20), release="2.0", now_ms=NOW_MS)
    assert kinds(found) == [xray_given.NOT_CLEANED]
    assert "look for 'uncleanable' and for errors in log-cleaner.log" in found.findings[0].words
    assert found.logs[0].cleaning.removed_count > 550
    assert by_group(found)["busy"].commits_an_hour is not None


def test_kafka_ui_3742_the_records_of_the_offsets_topic_as_values_not_bytes(tmp_path):
    """A reader without a deserializer sees bytes; here groups, their partitions, and when each offset expires."""
    folder = write(
        tmp_path, {0: commit(0, "mirror", NOW_MS) + group_record(1, "mirror", NOW_MS - HOUR_MS)}, "__consumer_offsets"
    )
    (group,) = xray(folder, now_ms=NOW_MS).as_data()["groups"]
    assert (group["group_id"], group["state"], group["offset_count"]) == ("mirror", "Empty", 1)
    assert group["kept_until_ms"] == NOW_MS - HOUR_MS + 7 * DAY_MS


def test_groups_that_stay_after_whoever_used_them_is_gone(tmp_path):
    """Triggers were deleted, their consumer groups stayed: who is dead but kept, until when, and by what rule."""
    batches = [
        each
        for at in range(20)
        for each in (
            commit(2 * at, f"trigger-{at}", NOW_MS - 5 * DAY_MS),
            group_record(2 * at + 1, f"trigger-{at}", NOW_MS - 4 * DAY_MS),
        )
    ]
    found = xray(write(tmp_path, {0: b"".join(batches)}, "__consumer_offsets"), now_ms=NOW_MS)
    assert all(each.is_dead for each in found.groups.groups)
    assert {each.kept_until_ms for each in found.groups.groups} == {NOW_MS + 3 * DAY_MS}
    assert "20 groups, 20 of them dead but kept" in str(found)
    assert "and 19 more: offsets.retention.minutes, 7 d" in " ".join(str(found).split())


def test_a_partition_that_lags_by_one_for_ever_ends_with_a_marker(tmp_path):
    """The lag of a consumer never becomes 0: the last offset is a commit marker, which no application reads."""
    stamp = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
    marker = batch(1, [(1, NOW_MS, MARKER_KEYS["COMMIT"], MARKER_VALUE)], **stamp, is_control=True)
    found = xray(write(tmp_path, {0: one(0, **stamp, base_sequence=0) + marker}), now_ms=NOW_MS)
    log = found.as_data()["logs"][0]
    assert (log["record_count"], log["control_records"], log["log_end_offset"]) == (1, {"COMMIT": 1}, 2)
    assert "1 COMMIT" in str(found)


def test_kafka_utils_81_for_one_group_only_its_partition_is_read(tmp_path):
    """Gigabytes of the offsets topic were read for the offsets of one group, which all lie in one partition of 50."""
    of_group = offsets_partition("billing")
    other = (of_group + 1) % 50
    write(
        tmp_path, {0: commit(0, "billing", NOW_MS, 7) + commit(1, "shipping", NOW_MS)}, "__consumer_offsets", of_group
    )
    write(tmp_path, {0: b"\xff" * 200}, "__consumer_offsets", other)
    found = xray(tmp_path, group="billing", now_ms=NOW_MS)
    assert [log.given.at.partition for log in found.logs] == [of_group]
    assert found.findings == ()
    (group,) = found.groups.groups
    ((offset,), until) = group.offsets, NOW_MS + 7 * DAY_MS
    assert (offset.topic, offset.partition, offset.offset, offset.expires_ms) == ("orders", 0, 7, until)
    assert "2026-11-27 12:00:00" in str(found)
    with pytest.raises(KafkaLearnError, match="unknown group in these files 'billin'"):
        found.groups.only("billin")
    with pytest.raises(KafkaLearnError, match="a group is in one partition"):
        xray(tmp_path, group="billing", headers_only=True)
