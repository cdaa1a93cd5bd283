"""The groups of a real broker, from the raw files of its offsets topic."""

import pytest

from kafkalearn.offsets import replay
from kafkalearn.segments import committed_records
from kafkalearn.segments.transactions import transaction_outcomes
from tests.segments.disk import RUNS, admin, replayed, segments, told


def unhex(text):
    return None if text is None else bytes.fromhex(text)


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
    state = replay([*good, (b"\x00\x18\x00\x01a", b"\x00\x00"), (b"\x00\x01", b"\x00\x00")])

    assert state.groups == replayed("cleaned/before").groups
    assert [problem.partition(" at byte")[0] for problem in state.problems] == [
        "key: record type 24",
        "OffsetCommitKey: group: length",
    ]
