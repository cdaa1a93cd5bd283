"""Questions that people asked in public, each by its facts."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import offsets_partition
from kafkalearn.oncall import xray
from kafkalearn.oncall import xray_given as kinds_of
from kafkalearn.oncall.answer import Outcome
from tests.answers.xray.folders import DAY_MS, HOUR_MS, NOW_MS, kinds, one, write
from tests.answers.xray.test_groups import by_group, commit, group_record
from tests.segments.writing import MARKER_KEYS, MARKER_VALUE, batch


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
    assert kinds(found) == [kinds_of.NOT_CLEANED]
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
