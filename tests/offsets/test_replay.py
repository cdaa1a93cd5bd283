"""The groups of a real broker, from the raw files of its offsets topic."""

import base64
import json
import shutil
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.coordinator import offsets_partition
from kafkalearn.formats.disk import committed_records, parse_segment, read_disk, transaction_outcomes
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets import decode, encode_key, encode_value, read_groups, replay
from kafkalearn.offsets.formatter import formatter_lines
from tests.formats.disk import FOLDER, RUNS, admin, replayed, segments, told
from tests.offsets.generated import offset_records
from tests.recorded import recorded, unhex


@pytest.mark.parametrize("run", RUNS)
def test_one_call_goes_from_a_folder_to_its_groups(run):
    assert read_groups(FOLDER / run) == replayed(run)


@pytest.mark.parametrize("run", RUNS)
def test_segments_and_their_records_are_replayed_as_they_are(run):
    assert replay(segments(run)) == replayed(run)
    assert replay(committed_records(segments(run))) == replayed(run)
    assert replay(iter(segments(run))) == replayed(run)


def test_markers_among_records_are_passed_over():
    all_records = [record for each in segments("cleaned/before") for batch in each.batches for record in batch.records]
    assert replay(all_records) == replayed("cleaned/before")


def test_the_groups_of_several_brokers_are_not_put_together():
    with pytest.raises(KafkaLearnError, match=r"lies in 3 log dirs, .* log_dir='after-pass-1'"):
        read_groups(FOLDER / "cleaned")
    assert read_groups(FOLDER / "cleaned", log_dir="after-pass-2") == replayed("cleaned/after-pass-2")


def test_other_topics_of_the_folder_are_not_read(tmp_path):
    shutil.copytree(FOLDER / "cleaned/before", tmp_path, dirs_exist_ok=True)
    (tmp_path / "orders-0").mkdir()
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(b"no batch at all")

    assert read_groups(tmp_path) == replayed("cleaned/before")


def test_damage_is_left_out_when_asked_and_only_then(tmp_path):
    shutil.copytree(FOLDER / "cleaned/before", tmp_path, dirs_exist_ok=True)
    path = tmp_path / f"__consumer_offsets-0/{0:020}.log"
    whole = bytearray(path.read_bytes())
    whole[100] ^= 0xFF
    path.write_bytes(whole)

    with pytest.raises(
        KafkaLearnError, match=r"0\.log is damaged, .* crc at byte 17 .*behind it \d+ batches can be read"
    ):
        read_groups(tmp_path)
    assert len(read_groups(tmp_path, skip_damaged=True).groups) == len(replayed("cleaned/before").groups)
    assert read_groups(tmp_path, has_checksum=False).groups


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (None, "records must be a collection of"),
        ("groups", "records must be a collection of"),
        ([1], "records must be .key, value. in bytes, records or segments, got int 1"),
        ([("key", "value")], r"got tuple \('key', 'value'\)"),
        ([(b"key",)], "got tuple"),
        (lambda: read_disk(FOLDER / "cleaned"), "lies in 3 log dirs"),
    ],
)
def test_what_is_no_records_is_refused_in_one_sentence(records, message):
    with pytest.raises(KafkaLearnError, match=message):
        replay(records() if callable(records) else records)


WALK = data_directory("command-walk")
STEPS = {each["step"]: each for each in json.loads((WALK / "walk.json").read_text(encoding="utf-8"))["steps"]}
GROUP = "console-consumer-77682"
OFFSETS_TOPIC_DISK = data_directory("offsets-topic") / "disk"


def test_the_files_of_the_walk_are_printed_as_the_console_consumer_printed_their_partition():
    assert "".join(formatter_lines(WALK / "disk", 41)) == STEPS["print"]["printed"]
    assert STEPS["print"]["arguments"][2:4] == ["--partition", "41"]
    assert offsets_partition(GROUP) == 41


@pytest.mark.parametrize("cluster", recorded("printed-partitions")["clusters"], ids=lambda each: each["release"])
def test_commits_of_aborted_transactions_and_groups_are_printed_as_the_tool_printed_them(cluster):
    data = base64.b64decode(cluster["segment"])
    segments = [parse_segment(data, "__consumer_offsets", cluster["partition"])]

    for formatter, printed in cluster["printed"].items():
        lines = formatter_lines(segments, cluster["partition"], cluster["release"], formatter)
        assert "".join(lines) == printed
    assert any(batch.is_transactional for batch in segments[0].batches)


def test_a_whole_disk_is_printed_partition_by_partition():
    segments = read_disk(OFFSETS_TOPIC_DISK)
    one_by_one = [line for each in sorted(segments, key=lambda each: each.partition)
                  for line in formatter_lines([each], each.partition)]  # fmt: skip

    assert list(formatter_lines(OFFSETS_TOPIC_DISK)) == one_by_one
    assert len(one_by_one) > 400


def test_the_lines_end_where_the_tool_of_an_old_release_stops():
    lines = formatter_lines(WALK / "disk", 41, "2.0")  # it knows value versions 0 and 1; here is version 4
    with pytest.raises(Undecodable, match=r"version 4 at byte 0 is unknown to Kafka 2\.0"):
        next(lines)


def test_up_to_3_8_each_record_has_a_line_of_its_own():
    assert "\n" not in STEPS["print"]["printed"]
    assert list(islice(formatter_lines(WALK / "disk", 41, "3.8"), 1)) == [
        f"[{GROUP},tp_test_01,0]::OffsetAndMetadata(offset=0, leaderEpoch=Optional.empty, metadata=, "
        "commitTimestamp=1795336892047, expireTimestamp=None)"
    ]


def test_a_partition_that_is_not_there_names_those_that_are():
    with pytest.raises(KafkaLearnError, match="there is no partition 40 of __consumer_offsets; those here: 41"):
        formatter_lines(WALK / "disk", 40)
    with pytest.raises(KafkaLearnError, match="there is no partition 41 of __consumer_offsets; those here: none"):
        formatter_lines([], 41)


@pytest.mark.parametrize("run", RUNS)
def test_the_replayed_groups_are_those_the_broker_listed(run):
    state = replayed(run)

    assert state.problems == ()
    assert [
        {
            "group": group.group_id,
            "type": group.kind.capitalize(),
            "protocol": group.protocol_type or "",
            "state": group.state,
            "simple": group.is_simple,
        }
        for group in state.groups
    ] == sorted(admin(run)["list_groups"], key=lambda each: each["group"])


@pytest.mark.parametrize("run", RUNS)
def test_the_replayed_groups_have_the_members_and_epochs_that_the_broker_described(run):
    described = {each["group"]: each for each in admin(run)["describe"]}
    for group in replayed(run).groups:
        said = described[group.group_id]
        epoch = None if group.kind == "classic" else group.epoch
        assert (group.protocol or "", epoch, group.target_epoch) == (
            said["assignor"],
            said["group_epoch"],
            said["target_assignment_epoch"],
        )
        assert [
            {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "host": member.client_host,
                "instance": member.instance_id,
                "member_epoch": member.epoch,
                "assignment": sorted(map(list, member.assigned)),
                "target": None if member.target is None else sorted(map(list, member.target)),
            }
            for member in group.members
        ] == said["members"]


@pytest.mark.parametrize("run", RUNS)
def test_the_replayed_offsets_are_those_the_broker_gave(run):
    said = {each["group"]: sorted(each["offsets"]) for each in admin(run)["offsets"]}
    assert {
        group.group_id: [
            [each.topic, each.partition, each.offset, each.metadata, each.leader_epoch] for each in group.offsets
        ]
        for group in replayed(run).groups
    } == said


def test_the_cleaner_changed_the_log_and_not_what_it_says():
    before, first, second = (replayed(run) for run in RUNS[1:])
    rolled = {"roll-0", "roll-1"}  # one commit each, to close the segments

    assert {group for group in first.groups if group.group_id not in rolled} == set(before.groups)
    assert {group for group in second.groups if group.group_id not in rolled} == set(before.groups)


def test_offsets_of_an_aborted_transaction_do_not_count():
    batches = next(segment for segment in segments("disk") if segment.partition == 9).batches
    aborted = [batch for batch, how in zip(batches, transaction_outcomes(batches), strict=True) if how == "ABORT"]
    everything = replay(
        (record.key, record.value) for batch in batches for record in batch.records if not record.control
    )
    offsets = [each.offset for each in replayed("disk").group("txn-offsets").offsets]

    assert [batch.is_control for batch in aborted] == [False, True]
    assert offsets == [100, 101, 102]
    assert [each.offset for each in everything.group("txn-offsets").offsets] != offsets


def test_a_topic_id_without_a_name_stands_for_itself():
    names = {line["decoded"]["key"]["data"]["groupId"] for line in told("disk") if has_targets(line)}
    records = [(bytes.fromhex(line["key"]), unhex(line["value"])) for line in told("disk") if has_targets(line)]
    groups = replay(records + [group_record(name) for name in names]).groups
    assert {group.kind for group in groups} == {"consumer"}


def test_a_group_of_4_3_whose_members_subscribe_to_nothing_has_no_record_of_its_own():
    """What broker 4.3.1 wrote when the member ``a`` joined without topics, and said of the group."""
    key = {"groupId": "idle", "memberId": "a"}
    client = {"instanceId": None, "rackId": None, "clientId": "c", "clientHost": "/127.0.0.1"}
    subscription = {"subscribedTopicNames": [], "subscribedTopicRegex": "", "rebalanceTimeoutMs": 3_000_000}
    owned = {"assignedPartitions": [], "partitionsPendingRevocation": []}
    member = client | subscription | {"serverAssignor": None, "classicMemberMetadata": None}
    current = {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 0} | owned
    records = [
        (encode_key(number, key), encode_value(number, 0, value)) for number, value in ((5, member), (8, current))
    ]
    (group,) = replay(records).groups

    assert (group.kind, group.state, group.epoch, group.target_epoch) == ("consumer", "Stable", 1, 1)
    assert [(each.member_id, each.epoch) for each in group.members] == [("a", 1)]


def has_targets(line):
    return bool(line["decoded"]) and line["decoded"].get("key", {}).get("type") == 7


def group_record(group_id):
    line = next(
        line
        for line in told("disk")
        if line["value"] and line["decoded"] and line["decoded"].get("key", {}).get("type") == 3
        if line["decoded"]["key"]["data"]["groupId"] == group_id
    )
    return bytes.fromhex(line["key"]), bytes.fromhex(line["value"])


def test_records_that_cannot_be_read_are_named_and_the_others_count():
    good = [(record.key, record.value) for record in committed_records(segments("cleaned/before"))]
    state = replay([*good, (b"\x00\x18\x00\x01a", b"\x00\x00"), (b"\x00\x01", b"\x00\x00"), (None, b"")])

    assert state.groups == replayed("cleaned/before").groups
    assert [problem.partition(" at byte")[0] for problem in state.problems] == [
        "key: it is null; every record of the offsets topic has one",
        "key: record type 24",
        "OffsetCommitKey: group: length",
    ]


def of_type(number, offset=None, partition=0):
    """A commit of one of the two types; without an offset its tombstone."""
    key = encode_key(number, {"group": "billing", "topic": "orders", "partition": partition})
    commit = {"offset": offset, "metadata": "", "commitTimestamp": 1000}
    return key, None if offset is None else encode_value(number, 3 * number, commit)


def offsets_of(records):
    return {(group.group_id, *each.at): each.offset for group in replay(records).groups for each in group.offsets}


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (0, 0), (1, 1)])
def test_types_0_and_1_are_one_offset_and_the_last_record_counts(first, second):
    at = ("billing", "orders", 0)
    assert offsets_of([of_type(first, 3), of_type(second, 7)]) == {at: 7}
    assert offsets_of([of_type(first, 3), of_type(second)]) == {}
    assert offsets_of([of_type(first), of_type(second, 7)]) == {at: 7}
    assert offsets_of([of_type(first, 3), of_type(second, 7, partition=1)]) == {at: 3, ("billing", "orders", 1): 7}


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_a_record_that_cannot_be_read_leaves_what_came_before_it(count):
    key, value = of_type(1, 7)
    damaged = [(key, value[:-1])] * count
    state = replay([of_type(0, 3), (key, value), *damaged])

    assert offsets_of([of_type(0, 3), (key, value), *damaged]) == {("billing", "orders", 0): 7}
    assert len(state.problems) == count
    assert offsets_of([(key, value), *damaged, (key, None), *damaged]) == {}


@given(st.lists(offset_records, max_size=150))
def test_the_replayed_offsets_are_those_that_a_coordinator_has_after_each_record_in_turn(records):
    offsets, unread = {}, 0
    for key, value in records:
        try:
            record = decode(key, value)
        except Undecodable:
            unread += 1
            continue
        at = (record.group, record.key["topic"], record.key["partition"])
        if record.is_tombstone:
            offsets.pop(at, None)
        else:
            offsets[at] = record.value["offset"]
    assert offsets_of(records) == offsets
    assert len(replay(records).problems) <= unread
