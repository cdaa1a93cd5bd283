"""What an x-ray finds: each kind provoked by files that have it, and none by files that have not."""

import json
from mmap import mmap

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats import batches
from kafkalearn.oncall import xray
from kafkalearn.oncall import xray_given as kinds_of
from kafkalearn.oncall.answer import Outcome
from tests.answers.xray.folders import DAY_MS, HOUR_MS, NOW_MS, kinds, one, only, write
from tests.segments.writing import MARKER_KEYS, MARKER_VALUE, batch

FIVE = [one(at) for at in range(5)]


def test_a_healthy_log_is_fine(tmp_path):
    folder = write(tmp_path, {0: b"".join(FIVE)}, replication_offset=5, log_start_offset=0)
    found = xray(folder, now_ms=NOW_MS)

    assert (found.outcome, found.findings) == (Outcome.FINE, ())
    assert "1 log in 1 file" in str(found)
    (log,) = found.as_data()["logs"]
    assert (log["record_count"], log["log_end_offset"], log["last_stable_offset"]) == (5, 5, 5)


def test_a_torn_tail_says_how_far_the_file_can_be_read(tmp_path):
    found = xray(write(tmp_path, {0: b"".join(FIVE)[:-3]}), now_ms=NOW_MS)
    assert found.outcome == Outcome.FOUND
    assert only(found).kind == kinds_of.TORN_TAIL
    assert f"can be read up to byte {4 * len(FIVE[0])} of" in only(found).words
    assert found.logs[0].census.files[0].readable_bytes == 4 * len(FIVE[0])


def test_damage_in_the_middle_is_named_and_what_is_behind_it_is_read(tmp_path):
    data = bytearray(b"".join(FIVE))
    data[2 * len(FIVE[0]) + 65] ^= 1
    found = xray(write(tmp_path, {0: bytes(data)}), now_ms=NOW_MS)
    assert kinds(found) == [kinds_of.DAMAGE]
    assert "crc" in only(found).words
    assert found.logs[0].census.record_count == 4
    assert xray(tmp_path, headers_only=True, now_ms=NOW_MS).findings == ()  # headers are believed


def test_the_unread_end_of_a_closed_file_is_damage(tmp_path):
    found = xray(write(tmp_path, {0: b"".join(FIVE[:3])[:-3], 3: b"".join(FIVE[3:])}), now_ms=NOW_MS)
    assert kinds(found) == [kinds_of.DAMAGE]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("replication_offset", "the high watermark was 9"),
        ("recovery_point_offset", "up to 9 the log was flushed"),
        ("log_start_offset", "the log should start at 9"),
        ("cleaner_offset", "the cleaner had come to 9"),
    ],
)
def test_a_checkpoint_ahead_of_the_log_is_found_and_one_at_its_end_is_not(name, says, tmp_path):
    ahead = xray(write(tmp_path / "ahead", {0: b"".join(FIVE)}, **{name: 9}), now_ms=NOW_MS)
    assert says in next(each.words for each in ahead.findings if each.kind == kinds_of.CHECKPOINT)
    assert xray(write(tmp_path / "equal", {0: b"".join(FIVE)}, **{name: 5}), now_ms=NOW_MS).findings == ()


@pytest.mark.parametrize("content", ["1\n0\n", "0\n2\norders 0 3\n", "0\n1\norders zero 3\n", "\x00" * 40])
def test_a_checkpoint_file_that_cannot_be_read_is_found(content, tmp_path):
    write(tmp_path, {0: b"".join(FIVE)})
    (tmp_path / "cleaner-offset-checkpoint").write_text(content, encoding="utf-8")
    assert only(xray(tmp_path, now_ms=NOW_MS)).kind == kinds_of.CHECKPOINT


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("0 0", None),
        ("", "the batch at offset 0 is of leader epoch 0, leader-epoch-checkpoint has none there"),
        ("0 0\n1 3", "the batch at offset 4 is of leader epoch 0, leader-epoch-checkpoint has epoch 1"),
        ("0 0\n4 9", "has epoch 4 from offset 9, the log ends at 5"),
        ("3 0\n2 4", "both must rise"),
    ],
)
def test_leader_epochs_that_the_batches_do_not_have_are_found(lines, says, tmp_path):
    write(tmp_path, {0: b"".join(FIVE)})
    content = f"0\n{len(lines.splitlines())}\n{lines}\n" if lines else "0\n0\n"
    (tmp_path / "orders-0" / "leader-epoch-checkpoint").write_text(content, encoding="utf-8")
    found = xray(tmp_path, now_ms=NOW_MS)
    if says is None:
        assert found.findings == ()
    else:
        assert says in only(found).words


def test_copies_that_have_diverged_are_found_and_lag_is_not_divergence(tmp_path):
    write(tmp_path / "broker-1", {0: b"".join(FIVE)})
    write(tmp_path / "broker-2", {0: b"".join(FIVE[:3])})
    assert xray(tmp_path, now_ms=NOW_MS).findings == ()

    write(tmp_path / "broker-2", {0: b"".join([*FIVE[:2], one(2, value=b"other")])})
    (finding,) = xray(tmp_path, now_ms=NOW_MS).findings
    assert (finding.kind, finding.where) == (kinds_of.COPIES, "orders-0 in broker-2")
    assert "the batch at offset 2 is" in finding.words
    several = xray([tmp_path / "broker-1", tmp_path / "broker-2"], now_ms=NOW_MS)
    assert kinds(several) == [kinds_of.COPIES]


def test_copies_of_which_one_was_cleaned_are_compared_from_where_no_cleaner_was(tmp_path):
    write(tmp_path / "broker-1", {0: b"".join(FIVE)}, cleaner_offset=None)
    write(tmp_path / "broker-2", {0: b"".join([one(1), *FIVE[3:]])}, cleaner_offset=3)
    assert kinds_of.COPIES not in kinds(xray(tmp_path, now_ms=NOW_MS))


def transaction(offset, at_ms, **given):
    return one(offset, at_ms=at_ms, producer_id=7, producer_epoch=2, base_sequence=0, is_transactional=True, **given)


def test_an_open_transaction_is_found_once_it_is_older_than_any_may_be(tmp_path):
    old = write(tmp_path / "old", {0: one(0, at_ms=NOW_MS) + transaction(1, NOW_MS - HOUR_MS) + one(2)})
    says = only(xray(old, now_ms=NOW_MS)).words
    assert "producer 7, epoch 2: open since 2026-11-20 11:00:00 UTC, 1 h, 1 batch" in says
    assert "read_committed stop at offset 1 of 3" in says
    assert xray(write(tmp_path / "new", {0: transaction(0, NOW_MS - 60_000)}), now_ms=NOW_MS).findings == ()
    marker = batch(
        1, [(1, NOW_MS, MARKER_KEYS["ABORT"], MARKER_VALUE)],
        producer_id=7, producer_epoch=2, is_transactional=True, is_control=True,
    )  # fmt: skip
    ended = write(tmp_path / "ended", {0: transaction(0, NOW_MS - HOUR_MS) + marker})
    assert xray(ended, now_ms=NOW_MS).findings == ()


@pytest.mark.parametrize(
    ("at_ms", "says"),
    [
        (NOW_MS // 1000, "; as seconds it is 2026-11-20 12:00:00 UTC"),
        (NOW_MS * 1000, "; as microseconds it is 2026-11-20 12:00:00 UTC"),
        (NOW_MS * 1_000_000, "; as nanoseconds it is 2026-11-20 12:00:00 UTC"),
        (-1, None),
    ],
)
def test_a_timestamp_of_another_century_is_found_with_the_unit_it_may_have_been_meant_in(at_ms, says, tmp_path):
    found = xray(write(tmp_path, {0: FIVE[0] + one(1, at_ms=at_ms)}), now_ms=NOW_MS)
    words = [each.words for each in found.findings if each.kind == kinds_of.CENTURY]
    assert (words == []) if says is None else words[0].endswith(says)


def test_a_record_of_tomorrow_is_found_and_keeps_its_segment(tmp_path):
    files = {0: one(0, at_ms=NOW_MS - 20 * DAY_MS), 1: one(1, at_ms=NOW_MS + 300 * DAY_MS), 2: FIVE[2]}
    found = xray(write(tmp_path, files), now_ms=NOW_MS)
    assert kinds(found) == [kinds_of.NOT_DELETED, kinds_of.FUTURE]
    assert "2027-09-16" in found.findings[0].words
    assert (found.logs[0].retention.deleted_count, found.logs[0].retention.reasons) == (1, ("older than retention.ms",))


def test_a_file_that_cannot_be_opened_is_one_finding_and_the_others_are_read(tmp_path, monkeypatch):
    write(tmp_path, {0: b"".join(FIVE)})
    write(tmp_path, {0: b"".join(FIVE[:2])}, partition=1)

    def mapped(number, size, **given):
        if size == 2 * len(FIVE[0]):
            raise OSError("the disk does not answer")
        return mmap(number, size, **given)

    monkeypatch.setattr(batches, "mmap", mapped)
    found = xray(tmp_path, now_ms=NOW_MS)
    assert only(found).kind == kinds_of.UNREADABLE
    assert "the disk does not answer" in only(found).words
    assert [log.census.record_count for log in found.logs] == [5]
    with pytest.raises(KafkaLearnError, match=r"none of these files can be read: .* the disk does not answer"):
        xray(tmp_path, partition=1)


def test_nothing_but_rubbish_cannot_be_told(tmp_path):
    found = xray(write(tmp_path, {0: b"\xff" * 500}), now_ms=NOW_MS)
    assert found.outcome == Outcome.CANNOT_TELL


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"paths": "/no/such"}, "there is no file and no folder '/no/such'"),
        ({"paths": []}, "give a segment file"),
        ({"settings": {"segment.byte": 1}}, "did you mean 'segment.bytes'"),
        ({"settings": {"retention.ms": "a week"}}, "retention.ms must be a number, got 'a week'"),
        ({"settings": {"cleanup.policy": "compacted"}}, "unknown cleanup policy 'compacted'"),
        ({"settings": {"offsets.retention.minutes": 0}}, "must be at least 1"),
        ({"release": "0.10.2"}, "format 2 are read, which came with Kafka 0.11.0"),
        ({"topic": "order"}, "no segment of topic 'order'"),
        ({"now_ms": -1}, "now_ms must be at least 0"),
        ({"headers_only": 1}, "headers_only must be True or False"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(given, says, tmp_path):
    folder = write(tmp_path, {0: b"".join(FIVE)})
    with pytest.raises(KafkaLearnError, match=says.replace("(", r"\(")):
        xray(**{"paths": folder, **given})


def test_a_file_alone_and_a_file_with_another_name(tmp_path):
    write(tmp_path, {0: b"".join(FIVE)})
    alone = tmp_path / f"{0:020}.log"
    alone.write_bytes(b"".join(FIVE))
    assert xray(alone, now_ms=NOW_MS).logs[0].census.record_count == 5
    (tmp_path / "notes.txt").write_text("no segment")
    with pytest.raises(KafkaLearnError, match="is no segment file"):
        xray(tmp_path / "notes.txt")


def test_the_answer_is_json_and_its_lines_are_short(tmp_path):
    write(tmp_path, {0: b"".join(FIVE)[:-3]}, topic="a-topic-with-a-name-that-is-longer-than-most-" * 2)
    write(tmp_path, {0: b"".join(FIVE)}, cleaner_offset=0)
    found = xray(tmp_path, now_ms=NOW_MS)
    again = json.loads(json.dumps(found.as_data()))
    assert [each["partition"] for each in again["logs"]] == [0, 0]
    assert max(map(len, str(found).splitlines())) <= 80 or "a-topic-with" in str(found)
