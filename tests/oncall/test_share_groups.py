"""Share groups before the command: their lag in every form that the tool has, where their state is, and its x-ray."""

import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.share_state_log import (
    ACKNOWLEDGED,
    ARCHIVED,
    AVAILABLE,
    SNAPSHOT,
    UPDATE,
    SharePartition,
    StateBatch,
    batch_fields,
    encode_key,
    encode_value,
)
from kafkalearn.offsets import records as offsets_records
from kafkalearn.oncall import lag, where, why, xray
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.lag_looks import described_look
from kafkalearn.oncall.logs import read
from kafkalearn.oncall.logs.rebalances import histories
from kafkalearn.oncall.share_groups import described_share
from tests.every import every_case
from tests.formats.writing import batch
from tests.oncall.examples import asked
from tests.oncall.folders import NOW_MS, write
from tests.recorded import recorded, unhex

CASES = recorded("share-tool")["cases"]
every_release = pytest.mark.parametrize("case", CASES, ids=lambda case: case["kafka"])


def forms(case, group, *more):
    """What the tool printed of a group, in its form for offsets and in others, as one text."""
    words = f"--describe --group {group}"
    return "\n".join(case["printed"][f"{words}{each}"] for each in ("", *more))


@every_release
@pytest.mark.parametrize("form", ["", " --verbose"])
def test_the_rows_of_the_tool_are_what_the_broker_answered(case, form):
    rows = described_look(case["printed"][f"--describe --group g1{form}"]).partitions
    answered = {place: (start, lags) for place, (start, _, lags) in case["offsets"]["g1"].items()}
    assert {
        str(each.at): (-1 if each.committed is None else each.committed, -1 if each.lag is None else each.lag)
        for each in rows
    } == answered
    assert all(each.is_share and each.group == "g1" for each in rows)


@every_case("case", recorded("share-tool")["cases"], ids=lambda case: case["kafka"])
def test_every_form_of_the_tool_says_what_the_broker_answered(case):
    members = case["groups"]["g1"][3]
    owned = {(member, place) for member, (_, _, places) in members.items() for place in places}
    for form in (" --members", " --members --verbose"):
        said = described_share(case["printed"][f"--describe --group g1{form}"])
        assert {(who, str(at)) for (_, at), each in said.members.items() for who in each} == owned
        assert said.groups == {"g1"}
    text = case["printed"]["--describe --group g1 --state"] + case["printed"]["--describe --group g2 --state"]
    assert described_share(text).states == {group: case["groups"][group][0] for group in ("g1", "g2")}


@every_release
def test_a_partition_without_a_lag_is_not_taken_for_one_that_is_read(case):
    found = {str(each.at): each for each in lag(forms(case, "g1", " --members")).causes}
    assert found["t-0"].name == "share group"
    assert "2 records are not acknowledged yet" in found["t-0"].words
    assert found["t-1"].name == found["u-0"].name == "not begun"
    assert "has acknowledged nothing here yet: no lag is known, and records may wait" in found["t-1"].words


@every_release
def test_a_group_that_is_empty_reads_nothing(case):
    (found,) = lag(forms(case, "g2", " --state")).causes
    assert (found.name, found.lag) == ("not begun", None)
    assert "no member has it" in found.words
    (alone,) = lag(forms(case, "g2")).causes
    assert "no member has it" not in alone.words, "the form with the offsets does not say who is there"


@every_release
def test_members_without_offsets_have_no_lag(case):
    words = r"has members or states of share groups \(g1\) and no offsets: put what kafka-share-groups --describe"
    for form in (" --members", " --state"):
        with pytest.raises(KafkaLearnError, match=words):
            lag(case["printed"][f"--describe --group g1{form}"])
    with pytest.raises(KafkaLearnError, match="describe has no row: paste"):
        lag(case["printed"]["--describe --group nobody"])


HEADER = "GROUP TOPIC PARTITION START-OFFSET LAG"


@pytest.mark.parametrize(
    ("then", "now", "name", "words"),
    [
        ("0 10", "0 4", "falls", "falls by 0.6 records a second"),
        ("0 4", "0 10", "grows", "grows by 6 records, 0.6 a second; the start offset stands at 0"),
        ("0 4", "3 10", "grows", "the start offset moved, too"),
        ("0 4", "3 4", "keeps its distance", "as many records came as were acknowledged"),
        ("3 4", "3 4", "stands", "it stands at 4 records, the start offset at 3"),
        ("3 4", "9 0", "caught up", "all that is in the log is acknowledged"),
        ("- -", "3 4", "share group", "4 records are not acknowledged yet"),
        ("3 4", "9 -5", "beyond the end", "start offset, 9, lies beyond the end of the log"),
    ],
)
def test_two_looks_tell_movement_from_standing_still(then, now, name, words):
    texts = [f"{HEADER}\nworkers jobs 0 {each}" for each in (then, now)]
    (found,) = lag(texts, apart_s=10).causes
    assert found.name == name
    assert words in found.words


def test_a_partition_that_nobody_has_needs_somebody():
    state = "GROUP COORDINATOR (ID) STATE #MEMBERS\nworkers kafka-1:9092 (1) Empty 0"
    found = lag(f"{HEADER}\nworkers jobs 0 0 3\n\n{state}")
    assert (found.causes[0].name, found.outcome) == ("nobody owns it", Outcome.FOUND)


# Where the state of a share-partition is.

KEY = "billing:A6AUkuaxQAm4bUDDQCKT_A:0"


def test_a_share_coordinator_is_named():
    found = where([KEY, "a:b:A6AUkuaxQAm4bUDDQCKT_A:1"], "share", brokers=3)
    assert (found.topic, found.places[0].partition, found.places[0].broker) == ("__share_group_state", 20, 3)
    assert "its share coordinator is broker 3" in str(where(KEY, "share", brokers=3))
    assert asked(["where", "share", KEY, "--partitions", "5"])[0] == Outcome.FINE


def test_what_find_coordinator_refuses_is_refused():
    for key, error in recorded("share-places")["keys"]:
        if error:
            with pytest.raises(KafkaLearnError, match="is no share-partition; that is group:topicId:partition"):
                where(key, "share")
        else:
            assert where(key, "share").places[0].partition is not None


def test_a_group_alone_needs_a_cluster_that_knows_the_topic_s_id():
    with pytest.raises(KafkaLearnError, match=r"or name the group, and give the topic \(--topic\) and a cluster"):
        where("billing", "share")
    with pytest.raises(KafkaLearnError, match="the id of a topic is known to a cluster alone"):
        where("billing", "share", topic="orders")


# The x-ray of its topic, and the lag from the files.

JOBS = SharePartition("workers", "A6AUkuaxQAm4bUDDQCKT_A", 0)
OTHER = SharePartition("workers", "A6AUkuaxQAm4bUDDQCKT_A", 1)
ACCEPTED, BACK, GONE = StateBatch(1, 2, ACKNOWLEDGED, 1), StateBatch(3, 3, AVAILABLE, 2), StateBatch(4, 4, ARCHIVED, 5)


def snapshot(whose, start):
    fields = {"snapshotEpoch": 0, "stateEpoch": 2, "leaderEpoch": 0, "startOffset": start, "createTimestamp": NOW_MS}
    return encode_key(SNAPSHOT, whose), encode_value(SNAPSHOT, fields | {"writeTimestamp": NOW_MS, "stateBatches": []})


def names():
    fields = {"initializingTopics": [], "deletingTopics": []}
    fields["initializedTopics"] = [{"topicId": JOBS.topic_id, "topicName": "jobs", "partitions": [0, 1]}]
    kind = offsets_records.record_type(15)
    return offsets_records.encode_key(kind, {"groupId": "workers"}), offsets_records.encode_value(kind, 0, fields)


@pytest.fixture
def folder(tmp_path):
    update = {"snapshotEpoch": 0, "leaderEpoch": 1, "startOffset": 0, "deliveryCompleteCount": 3}
    changed = encode_value(UPDATE, update | {"stateBatches": batch_fields([ACCEPTED, BACK, GONE])})
    states = [snapshot(JOBS, -1), snapshot(OTHER, -1), (encode_key(UPDATE, JOBS), changed)]
    write(tmp_path, {0: log(states)}, topic="__share_group_state")
    write(tmp_path, {0: log([names()])}, topic="__consumer_offsets")
    return write(tmp_path, {0: log([(b"k", b"v")] * 9)}, topic="jobs")


def log(pairs):
    return batch(0, [(offset, NOW_MS, key, value) for offset, (key, value) in enumerate(pairs)])


def test_an_x_ray_says_of_each_share_partition_how_far_it_is(folder):
    found = xray(folder, now_ms=NOW_MS)
    one, other = found.shares
    assert (one.group, str(one.at), one.start_offset, one.complete_count, one.lag) == ("workers", "jobs-0", 0, 3, 6)
    assert (one.offsets_in(ACKNOWLEDGED), one.offsets_in(AVAILABLE), one.offsets_in(ARCHIVED)) == (2, 1, 1)
    assert (str(other.at), other.start_offset, other.complete_count, other.lag) == ("jobs-1", None, None, None)
    said = str(found)
    assert "2 share-partitions of 1 share group:" in said
    assert "1 offset from the starts on is ARCHIVED" in said
    assert "retention.ms deletes" not in "\n".join(line for line in said.splitlines() if "__share" in line)


def test_an_x_ray_shows_its_records_decoded(folder):
    found = xray(folder, topic="__share_group_state", records=9, now_ms=NOW_MS)
    kinds = [each.decoded["record"] for each in found.records]
    assert kinds == ["SHARE_SNAPSHOT", "SHARE_SNAPSHOT", "SHARE_UPDATE"]
    assert found.records[2].decoded["value"]["stateBatches"][0]["lastOffset"] == 2
    assert found.shares[0].at == TopicPartition(JOBS.topic_id, 0), "the offsets topic was not read, which has the name"
    assert xray(folder, headers_only=True, now_ms=NOW_MS).shares is None


def test_the_data_of_an_x_ray_have_the_states(folder):
    code, out, _ = asked(["xray", str(folder), "--json", "--now", str(NOW_MS)])
    (one, _) = json.loads(out)["share_partitions"]
    assert code in (Outcome.FINE, Outcome.FOUND)
    assert (one["topic"], one["partition"], one["lag"]) == ("jobs", 0, 6)
    assert one["batches"] == [[1, 2, "ACKNOWLEDGED", 1], [3, 3, "AVAILABLE", 2], [4, 4, "ARCHIVED", 5]]


def test_files_give_the_lag_of_a_share_group(folder):
    found = {str(each.at): each for each in lag(paths=folder).causes}
    assert (found["jobs-0"].name, found["jobs-0"].lag) == ("share group", 6)
    assert found["jobs-1"].name == "not begun"
    assert [each.lag for each in lag(paths=folder, group="workers").causes] == [6, None]


def test_records_of_real_brokers_are_x_rayed(tmp_path):
    pairs = [(unhex(key), unhex(value)) for release, key, value, *_ in recorded("share-state-log")["states"]
             if release == "4.4.0"]  # fmt: skip
    found = xray(write(tmp_path, {0: log(pairs)}, topic="__share_group_state"), now_ms=NOW_MS)
    assert len(found.shares) > 10
    assert sum(len(each.batches) for each in found.shares) > 5


# What a broker's log says of a share group.

LOGS = recorded("share-lines")["cases"]
DONE = [
    ("member joined", "joined first"), ("partitions initialised", None), ("member joined", "joined second"),
    ("member left", "joined first"), ("member joined", "joined third"), ("heartbeats lost", "joined third"),
    ("member left", "joined second"), ("member joined", "joined fourth"),
]  # fmt: skip
"""What was done, in this order: of each member, when it had joined."""


@pytest.mark.parametrize("case", LOGS, ids=lambda case: case["kafka"])
def test_why_a_share_group_gave_its_partitions_out_anew_is_what_was_done(case):
    (history,) = histories(read(case["lines"]).events)
    joined = [each.member for each in history.rebalances if each.cause == "member joined"]
    members = dict(zip(joined, ("joined first", "joined second", "joined third", "joined fourth"), strict=True))
    assert history.is_share
    found = [(each.cause, members.get(each.member)) for each in history.rebalances]
    assert found == DONE
    assert [each.generation for each in history.rebalances] == sorted({each.generation for each in history.rebalances})


def test_the_words_of_a_share_group_name_no_member_where_none_was_behind_it():
    said = str(why(LOGS[1]["lines"]))
    assert "(a share group: several members may have a partition, nobody waits): 8" in said
    assert ": new share-partitions were initialised, and could be given out" in " ".join(said.split())
