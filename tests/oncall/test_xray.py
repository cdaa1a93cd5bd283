"""`xray`: the command, what is found in files and beside them, groups and transactions of the internal topics."""

import base64
import gzip
import hashlib
import json
import os
import shutil
import struct
import sys
import threading
import zlib

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.formats import file_bytes
from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.formats.file_bytes import FileBytes
from kafkalearn.offsets import encode_key, encode_value, read_groups
from kafkalearn.oncall import xray, xray_given
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.command import main
from kafkalearn.oncall.xray import _Progress
from tests.formats.disk import FOLDER, admin, case_id, rows_of, written
from tests.formats.writing import MARKER_KEYS, MARKER_VALUE, batch
from tests.oncall.folders import DAY_MS, HOUR_MS, NOW_MS, kinds, one, only, write
from tests.recorded import recorded

FIVE_BATCHES = [one(at) for at in range(5)]
FIVE = b"".join(FIVE_BATCHES)


def asked(capsys, *words):
    code = main(["xray", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_healthy_folder_ends_with_0_and_a_torn_one_with_1(capsys, tmp_path):
    folder = write(tmp_path, {0: FIVE})
    assert asked(capsys, folder, "--now", NOW_MS)[0] == 0
    write(tmp_path, {0: FIVE[:-3]})
    code, out, _ = asked(capsys, folder, "--now", NOW_MS)
    assert (code, "torn tail, orders-0:" in out) == (1, True)


def test_json_has_the_same_for_a_program(capsys, tmp_path):
    code, out, _ = asked(capsys, write(tmp_path, {0: FIVE}), "--now", NOW_MS, "--json")
    data = json.loads(out)
    assert (code, data["question"], data["outcome"], data["logs"][0]["record_count"]) == (0, "xray", "fine", 5)


def test_settings_topic_and_partition_are_taken(capsys, tmp_path):
    write(tmp_path, {0: FIVE, 5: one(5)}, cleaner_offset=0)
    write(tmp_path, {0: FIVE}, partition=1)
    words = [tmp_path, "--now", NOW_MS + DAY_MS, "--topic", "orders", "--partition", 0, "--json"]
    data = json.loads(asked(capsys, *words, "--set", "min.cleanable.dirty.ratio=1")[1])
    (log,) = data["logs"]
    assert (log["partition"], log["cleaning"]["is_eligible"]) == (0, False)
    assert json.loads(asked(capsys, *words, "--release", "2.8")[1])["logs"][0]["cleaning"]["is_eligible"]
    assert json.loads(asked(capsys, *words, "--headers")[1])["logs"][0]["tombstone_count"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["/no/such"], "there is no file and no folder '/no/such'"),
        (["--set", "retention.ms"], "--set takes NAME=VALUE, got 'retention.ms'"),
        (["--release", "five"], "unknown release 'five'"),
    ],
)
def test_what_cannot_be_answered_ends_with_2_and_a_sentence(words, says, capsys, tmp_path):
    folder = write(tmp_path, {0: FIVE})
    code, out, err = asked(capsys, *([] if words[0].startswith("/") else [folder]), *words)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_progress_says_how_long_it_takes_once_it_takes_longer_than_a_moment(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(
        sys.modules["kafkalearn.oncall.xray"], "monotonic", lambda: clock[0]
    )  # no function of that name
    said = []
    show = _Progress(said.append)
    show(10, 100)
    assert said == []
    clock[0] = 10.0
    show(25, 100)
    assert said[0].startswith("\r25 % read, about 30 s left")
    show(26, 100)  # not again so soon
    assert len(said) == 1
    show.clear()
    assert said[-1].strip() == ""


def test_a_healthy_log_is_fine(tmp_path):
    folder = write(tmp_path, {0: FIVE}, replication_offset=5, log_start_offset=0)
    found = xray(folder, now_ms=NOW_MS)

    assert (found.outcome, found.findings) == (Outcome.FINE, ())
    assert "1 log in 1 file" in str(found)
    (log,) = found.as_data()["logs"]
    assert (log["record_count"], log["log_end_offset"], log["last_stable_offset"]) == (5, 5, 5)


def test_a_torn_tail_says_how_far_the_file_can_be_read(tmp_path):
    found = xray(write(tmp_path, {0: FIVE[:-3]}), now_ms=NOW_MS)
    assert found.outcome == Outcome.FOUND
    assert only(found).kind == xray_given.TORN_TAIL
    assert f"can be read up to byte {4 * len(FIVE_BATCHES[0])} of" in only(found).words
    assert found.logs[0].census.files[0].readable_bytes == 4 * len(FIVE_BATCHES[0])


def test_damage_in_the_middle_is_named_and_what_is_behind_it_is_read(tmp_path):
    data = bytearray(FIVE)
    data[2 * len(FIVE_BATCHES[0]) + 65] ^= 1
    found = xray(write(tmp_path, {0: bytes(data)}), now_ms=NOW_MS)
    assert kinds(found) == [xray_given.DAMAGE]
    assert "crc" in only(found).words
    assert found.logs[0].census.record_count == 4
    assert xray(tmp_path, headers_only=True, now_ms=NOW_MS).findings == ()  # headers are believed


def test_the_unread_end_of_a_closed_file_is_damage(tmp_path):
    found = xray(write(tmp_path, {0: b"".join(FIVE_BATCHES[:3])[:-3], 3: b"".join(FIVE_BATCHES[3:])}), now_ms=NOW_MS)
    assert kinds(found) == [xray_given.DAMAGE]


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
    ahead = xray(write(tmp_path / "ahead", {0: FIVE}, **{name: 9}), now_ms=NOW_MS)
    assert says in next(each.words for each in ahead.findings if each.kind == xray_given.CHECKPOINT)
    assert xray(write(tmp_path / "equal", {0: FIVE}, **{name: 5}), now_ms=NOW_MS).findings == ()


@pytest.mark.parametrize("content", ["1\n0\n", "0\n2\norders 0 3\n", "0\n1\norders zero 3\n", "\x00" * 40])
def test_a_checkpoint_file_that_cannot_be_read_is_found(content, tmp_path):
    write(tmp_path, {0: FIVE})
    (tmp_path / "cleaner-offset-checkpoint").write_text(content, encoding="utf-8")
    assert only(xray(tmp_path, now_ms=NOW_MS)).kind == xray_given.CHECKPOINT


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
    write(tmp_path, {0: FIVE})
    content = f"0\n{len(lines.splitlines())}\n{lines}\n" if lines else "0\n0\n"
    (tmp_path / "orders-0" / "leader-epoch-checkpoint").write_text(content, encoding="utf-8")
    found = xray(tmp_path, now_ms=NOW_MS)
    if says is None:
        assert found.findings == ()
    else:
        assert says in only(found).words


def test_copies_that_have_diverged_are_found_and_lag_is_not_divergence(tmp_path):
    write(tmp_path / "broker-1", {0: FIVE})
    write(tmp_path / "broker-2", {0: b"".join(FIVE_BATCHES[:3])})
    assert xray(tmp_path, now_ms=NOW_MS).findings == ()

    write(tmp_path / "broker-2", {0: b"".join([*FIVE_BATCHES[:2], one(2, value=b"other")])})
    (finding,) = xray(tmp_path, now_ms=NOW_MS).findings
    assert (finding.kind, finding.where) == (xray_given.COPIES, "orders-0 in broker-2")
    assert "the batch at offset 2 is" in finding.words
    several = xray([tmp_path / "broker-1", tmp_path / "broker-2"], now_ms=NOW_MS)
    assert kinds(several) == [xray_given.COPIES]


def test_copies_of_which_one_was_cleaned_are_compared_from_where_no_cleaner_was(tmp_path):
    write(tmp_path / "broker-1", {0: FIVE}, cleaner_offset=None)
    write(tmp_path / "broker-2", {0: b"".join([one(1), *FIVE_BATCHES[3:]])}, cleaner_offset=3)
    assert xray_given.COPIES not in kinds(xray(tmp_path, now_ms=NOW_MS))


def transaction(offset, at_ms, **given):
    return one(offset, at_ms=at_ms, producer_id=7, producer_epoch=2, base_sequence=0, is_transactional=True, **given)


def test_an_open_transaction_is_found_once_it_is_older_than_any_may_be(tmp_path):
    old = write(tmp_path / "old", {0: one(0, at_ms=NOW_MS) + transaction(1, NOW_MS - HOUR_MS) + one(2)})
    says = only(xray(old, now_ms=NOW_MS)).words
    assert "producer 7, epoch 2: open since 2026-11-20 11:00:00 UTC, 1 h, 1 batch" in says
    assert "read_committed stop at offset 1 of 3" in says
    assert says.endswith("abort --topic orders --partition 0 --start-offset 1")
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
    found = xray(write(tmp_path, {0: FIVE_BATCHES[0] + one(1, at_ms=at_ms)}), now_ms=NOW_MS)
    words = [each.words for each in found.findings if each.kind == xray_given.CENTURY]
    assert (words == []) if says is None else words[0].endswith(says)


def test_a_record_of_tomorrow_is_found_and_keeps_its_segment(tmp_path):
    files = {0: one(0, at_ms=NOW_MS - 20 * DAY_MS), 1: one(1, at_ms=NOW_MS + 300 * DAY_MS), 2: FIVE_BATCHES[2]}
    found = xray(write(tmp_path, files), now_ms=NOW_MS)
    assert kinds(found) == [xray_given.NOT_DELETED, xray_given.FUTURE]
    assert "2027-09-16" in found.findings[0].words
    assert (found.logs[0].retention.deleted_count, found.logs[0].retention.reasons) == (1, ("older than retention.ms",))


def test_a_file_that_cannot_be_opened_is_one_finding_and_the_others_are_read(tmp_path, monkeypatch):
    write(tmp_path, {0: FIVE})
    write(tmp_path, {0: b"".join(FIVE_BATCHES[:2])}, partition=1)

    class Failing(FileBytes):
        def _read(self, start, end):
            if self.size_bytes == 2 * len(FIVE_BATCHES[0]):
                raise KafkaLearnError("the disk does not answer")
            return super()._read(start, end)

    monkeypatch.setattr(file_bytes, "FileBytes", Failing)
    found = xray(tmp_path, now_ms=NOW_MS)
    assert only(found).kind == xray_given.UNREADABLE
    assert "the disk does not answer" in only(found).words
    assert [log.census.record_count for log in found.logs] == [5]
    with pytest.raises(KafkaLearnError, match=r"none of these files can be read: the disk does not answer"):
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
    folder = write(tmp_path, {0: FIVE})
    with pytest.raises(KafkaLearnError, match=says.replace("(", r"\(")):
        xray(**{"paths": folder, **given})


def test_a_file_alone_and_a_file_with_another_name(tmp_path):
    write(tmp_path, {0: FIVE})
    alone = tmp_path / f"{0:020}.log"
    alone.write_bytes(FIVE)
    assert xray(alone, now_ms=NOW_MS).logs[0].census.record_count == 5
    (tmp_path / "notes.txt").write_text("no segment")
    with pytest.raises(KafkaLearnError, match="is not a segment file"):
        xray(tmp_path / "notes.txt")


def test_the_answer_is_json_and_its_lines_are_short(tmp_path):
    write(tmp_path, {0: FIVE[:-3]}, topic="a-topic-with-a-name-that-is-longer-than-most-" * 2)
    write(tmp_path, {0: FIVE}, cleaner_offset=0)
    found = xray(tmp_path, now_ms=NOW_MS)
    again = json.loads(json.dumps(found.as_data()))
    assert [each["partition"] for each in again["logs"]] == [0, 0]
    assert max(map(len, str(found).splitlines())) <= 80 or "a-topic-with" in str(found)


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
    assert kinds(found) == [xray_given.UNREADABLE_RECORDS]
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
    words = [each.words for each in later.findings if each.kind == xray_given.OPEN_TRANSACTION]
    assert sum("'still-open', which its coordinator has as Ongoing" in each for each in words) == 2
    assert {each.where for each in later.findings if each.kind == xray_given.OVERDUE} == {"__transaction_state"}
    assert "still-open" in str(later)
    assert not any(" abort --topic" in each for each in words if "has as Ongoing" in each)
    overdue = [each.words for each in later.findings if each.kind == xray_given.OVERDUE]
    assert all("forceTerminateTransaction --transactionalId " in each for each in overdue)


def tree(folder):
    """Every path below a folder with its mode, size, time and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = stat.st_mode, stat.st_size, stat.st_mtime_ns, content
    return found


@pytest.mark.parametrize("options", [{}, {"headers_only": True}, {"is_fast": False}])
def test_a_folder_that_may_not_be_written_stays_as_it_was(options, tmp_path):
    shutil.copytree(FOLDER, tmp_path / "disk")
    paths = [tmp_path / "disk", *(tmp_path / "disk").rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = tree(tmp_path / "disk")
    try:
        found = xray(tmp_path / "disk", **options)
        assert len(found.logs) > 20
        assert tree(tmp_path / "disk") == before
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_file_that_grows_meanwhile_is_no_fault(tmp_path):
    place = tmp_path / "orders-0"
    place.mkdir()
    path = place / f"{0:020}.log"
    path.write_bytes(b"".join(one(at) for at in range(50)))
    stop = threading.Event()

    def write():
        offset = 50
        with path.open("ab") as file:
            while not stop.is_set() and offset < 20_000:
                file.write(one(offset))
                file.flush()
                offset += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = [xray(tmp_path, now_ms=NOW_MS + 10**9).logs[0].census for _ in range(8)]
    finally:
        stop.set()
        writer.join()
    assert [each.record_count for each in counts] == sorted(each.record_count for each in counts)
    assert all(each.files[0].unread == () or each.files[0].file.is_last for each in counts)
    assert counts[0].record_count >= 50


def test_retention_is_no_promise_where_nothing_says_the_topic_is_not_compacted():
    """A copy without the cleaner's checkpoint does not show its topic's cleanup.policy."""
    said = " ".join(str(xray(data_directory("lag") / "disk" / "falling-0")).split())

    assert "unless it is compacted, retention.ms deletes its oldest segment" in said


# A topic's own settings, as KRaft's metadata beside its logs have them.

METADATA = data_directory("cluster-metadata")
RECORDED_MS = 1_795_664_000_000  # a few minutes after its records were written; a clone's files are as old as the clone


def said_of(*words, folder=METADATA / "disk"):
    return " ".join(str(xray(folder / words[0], now_ms=RECORDED_MS)).split())


@pytest.mark.parametrize(
    ("log", "policy", "words"),
    [
        ("orders-0", "compact", "are in the active segment, which is never cleaned; it is closed when it has 2.1 MB"),
        ("clicks-0", "delete", "cleanup.policy is delete (its own, by __cluster_metadata): retention.ms deletes"),
        ("audit-0", "delete", "unless log.cleanup.policy of its broker, which no file here has, is compact, retention"),
    ],
)
def test_a_topic_s_cleanup_policy_is_read_in_the_metadata_beside_it(log, policy, words, tmp_path):
    (found,) = xray(METADATA / "disk" / log, now_ms=RECORDED_MS).as_data()["logs"]
    assert found["cleanup_policy"] == policy
    assert (found["cleaning"] is not None, found["retention"] is not None) == (policy == "compact", policy == "delete")
    assert words in said_of(log)
    shutil.copytree(METADATA / "disk" / log, tmp_path / log)
    assert xray(tmp_path / log).as_data()["logs"][0]["cleanup_policy_from"] is None


def test_a_clicks_retention_is_its_own_and_what_is_given_goes_before_it():
    log = METADATA / "disk" / "clicks-0"
    own = xray(log, now_ms=RECORDED_MS).logs[0].retention.next_ms
    assert (
        xray(log, now_ms=RECORDED_MS, settings={"retention.ms": 7_200_000}).logs[0].retention.next_ms == own + HOUR_MS
    )
    given = xray(log, settings={"cleanup.policy": "compact"}).as_data()["logs"][0]
    assert (given["cleanup_policy"], given["cleanup_policy_from"]) == ("compact", "given")


def test_the_metadata_are_shown_where_they_are_given_and_no_retention_is_promised_of_them():
    found = xray(METADATA / "disk")
    said = json.loads((METADATA / "described.json").read_text(encoding="utf-8"))
    (cluster,) = found.as_data()["clusters"]
    assert cluster["features"] == said["features"]
    assert {each["name"]: each["settings"] for each in cluster["topics"]} == said["topics"]
    metadata = next(each for each in found.logs if each.given.at.topic == "__cluster_metadata")
    assert (metadata.cleaning, metadata.retention) == (None, None)
    assert "5 topics, 1 broker (1 fenced)" in " ".join(str(found).split())


def test_metadata_that_are_damaged_are_a_finding_and_what_follows_is_read(tmp_path):
    shutil.copytree(METADATA / "disk", tmp_path / "disk")
    place = tmp_path / "disk" / "__cluster_metadata-0"
    for each in place.glob("*.checkpoint"):
        each.unlink()
    path = place / f"{0:020}.log"
    data = bytearray(path.read_bytes())
    data[3000] ^= 1
    path.write_bytes(data)
    found = xray(tmp_path / "disk" / "orders-0")
    assert xray_given.UNREADABLE_RECORDS in kinds(found)
    assert found.outcome == Outcome.FOUND
    assert found.logs[0].settings.cleanup_policy == "compact"


# Records on request.


def test_records_are_shown_from_an_offset_on_of_one_key_with_headers(capsys):
    log = METADATA / "disk" / "orders-0"
    code, out, _ = asked(capsys, log, "--records", 2, "--from", 4, "--key", "user-3", "--json")
    records = json.loads(out)["records"]
    assert (code, [each["offset"] for each in records]) == (0, [8, 13])
    assert records[0]["value"] == "order 8"
    assert records[0]["headers"] == [["trace", "t-8"]]
    assert "headers trace=t-8; key user-3; value order 8" in asked(capsys, log, "--records", 9, "--key", "user-3")[1]


def test_records_of_kafka_s_own_topics_are_decoded_and_secrets_are_not_shown():
    found = xray(METADATA / "disk" / "__cluster_metadata-0", records=200)
    shown = [each.decoded for each in found.records if each.control is None]
    assert [each["record"] for each in shown].count("TopicRecord") == 6
    (credential,) = (each for each in shown if each["record"] == "UserScramCredentialRecord")
    assert credential["name"] == "alice"
    assert {credential[name] for name in ("salt", "storedKey", "serverKey")} == {"(hidden)"}
    offsets = xray(FOLDER, group="billing", offsets_partition_count=50, records=5).records
    assert {each.decoded["record"] for each in offsets if each.decoded} <= {"GROUP_METADATA", "OFFSET_COMMIT"}


def test_all_records_are_shown_as_they_are_read(tmp_path):
    found = xray(write(tmp_path, {0: FIVE[: 3 * len(FIVE_BATCHES[0])], 3: b"".join(FIVE_BATCHES[3:])}), records=10)
    assert [(each.offset, each.key, each.value) for each in found.records] == [(at, "k", "v") for at in range(5)]
    by_key = xray(tmp_path, records=10, key=b"no such")
    assert by_key.records == ()
    with pytest.raises(KafkaLearnError, match="say how many"):
        xray(tmp_path, key="k")


# Transactions in files that were copied.


def test_an_open_transaction_of_quiet_files_is_named_with_the_time_after_which_it_hangs(tmp_path):
    folder = write(tmp_path, {0: one(0, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)})
    os.utime(folder / "orders-0" / f"{0:020}.log", (NOW_MS / 1000 + 60, NOW_MS / 1000 + 60))
    found = xray(folder)
    assert found.findings == ()
    (words,) = found.logs[0].waiting
    assert "if now is later than 2026-11-20 12:15:00 UTC, it hangs" in words
    assert "--start-offset 0" in words
    assert words in " ".join(str(found).split())
    assert xray(folder, now_ms=NOW_MS + 60_000).logs[0].waiting == ()
    late = xray(folder, now_ms=NOW_MS + HOUR_MS)
    assert (kinds(late), late.logs[0].waiting) == ([xray_given.OPEN_TRANSACTION], ())


@pytest.mark.parametrize("release", recorded("given-up")["runs"])
def test_a_transaction_whose_marker_was_given_up_is_named_at_once_with_what_ends_it(release, tmp_path):
    for name, segment in recorded("given-up")["runs"][release]["disk"].items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{0:020}.log").write_bytes(base64.b64decode(segment))
    found = xray(tmp_path)
    if release == "4.2.1":
        assert found.findings == ()
        return
    assert kinds(found) == [xray_given.OPEN_TRANSACTION]
    assert all(log.waiting == () for log in found.logs)
    assert "'billing-1', which its coordinator has as CompleteCommit" in found.findings[0].words
    assert "KAFKA-20734" in found.findings[0].words
    assert " abort --topic" not in found.findings[0].words  # it would take from readers what was committed


# Nothing read is no all-clear.


def old_message(offset, codec=0, key=b"k", value=b"v"):
    """A message of format 0."""
    body = struct.pack(">bbi", 0, codec, len(key)) + key + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize(
    ("data", "outcome", "count", "words"),
    [
        (b"".join(map(old_message, range(7))), Outcome.FOUND, 7, "7 messages of format 0, which releases before"),
        (old_message(0) + old_message(5, codec=1), Outcome.FOUND, 1, "1 of these are compressed"),
        (old_message(2, 1, value=gzip.compress(b"".join(map(old_message, range(3))))), Outcome.FOUND, 3, "of format 0"),
        (b"".join(map(old_message, range(4))) + old_message(4)[:20], Outcome.FOUND, 4, "is cut off here"),
        (old_message(5, codec=1), Outcome.CANNOT_TELL, 0, "hold others, which were not read"),
        (b"", Outcome.CANNOT_TELL, 0, "nothing was read"),
    ],
    ids=["format 0", "one of two unreadable", "compressed", "torn", "unreadable", "empty"],
)
def test_a_log_of_which_nothing_was_read_is_not_fine(data, outcome, count, words, tmp_path):
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(data)
    found = xray(tmp_path)
    assert (found.outcome, found.logs[0].census.record_count) == (outcome, count)
    assert words in " ".join(str(found).split())


def test_files_without_their_log_are_named(tmp_path):
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / f"{0:020}.index").write_bytes(bytes(8))
    with pytest.raises(KafkaLearnError, match=r"There are 1 \.index files without a \.log"):
        xray(tmp_path)


def test_directories_of_redpanda_are_named_as_what_they_are(tmp_path):
    folder = tmp_path / "kafka" / "orders" / "0_24"
    folder.mkdir(parents=True)
    for name in ("0-1-v1.log", "0-1-v1.base_index", "97-2-v1.log"):
        (folder / name).write_bytes(bytes(61))
    with pytest.raises(KafkaLearnError, match=r"There are 2 of Redpanda's \('kafka/orders/0_24/0-1-v1\.log'"):
        xray(tmp_path)
