"""What a real broker writes into ``__consumer_offsets``, byte for byte, and what its tools say of it."""

import time

import pytest

from conformance.mechanisms.group_expiry import EXPIRY
from kafkalearn import offsets
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming import DescribedPartition, describe_group
from kafkalearn.formats.disk import committed_records
from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.reading import metadata_request
from kafkalearn.live.request_values import (
    COMMIT_WITH_RETENTION,
    NEWEST_COMMIT_WITH_NAMES,
    commit,
    delete_offsets,
    error_name,
)
from kafkalearn.offsets.store import Commit, DeleteGroup, DeleteOffset, Settings, Sweep, simulate
from kafkalearn.releases.lines import at_least
from tests.live.checked import holds
from tests.live.groups import ConsumerGroup, differences

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def sweeping(release):
    """A broker that looks for expired offsets all the time."""
    with Kafka(release=release, **EXPIRY.settings) as running:
        yield running


def records_of(kafka, group_id):
    """What the offsets topic holds about a group, as keys and values, in order."""
    records = kafka.disk(1).records(OFFSETS_TOPIC, 0)
    return [(each.key, each.value) for each in records if offsets.decode(each.key, each.value).group == group_id]


def send(kafka, group_id, name, values, version=None):
    answer = kafka.ask(kafka.coordinator(group_id), name, values, version)
    return error_name(answer["topics"][0]["partitions"][0]["errorCode"])


def commit_ms(record):
    key, value = record
    return offsets.decode(key, value).value["commitTimestamp"]


@holds(
    "records of the offsets topic, decoded and encoded", "keys of commits and groups",
    "the coordinator's store: commits, expiry, tombstones, loading", "bytes of a commit",
)  # fmt: skip
def test_commits_and_their_end_are_written_with_the_very_bytes_of_the_store(kafka, new_name):
    topic, group = new_name("t"), new_name("g")
    kafka.create_topic(topic, 2)
    # In 4.1 no request brings the topic's id, in 4.2 one of version 10 does; since 4.3 the broker looks it up.
    topic_id = kafka.metadata([topic]).topic_ids[topic] if at_least("4.3", kafka.release.version) else None
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    sent = [(first, 1), (second, 7), (first, 2)]
    for place, offset in sent:
        wait_for(
            lambda place=place, offset=offset: send(
                kafka, group, "OffsetCommit", commit(group, {place: offset}), NEWEST_COMMIT_WITH_NAMES
            ),
            "NONE",
        )
    assert send(kafka, group, "OffsetDelete", delete_offsets(group, [first])) == "NONE"
    assert kafka.ask(1, "DeleteGroups", {"groupsNames": [group]})["results"][0]["errorCode"] == 0

    real = wait_for(lambda: records_of(kafka, group), lambda found: len(found) == 6, "six records")
    events = [
        Commit(group, *place, offset, commit_ms(real[index]), leader_epoch=None, topic_id=topic_id)
        for index, (place, offset) in enumerate(sent)
    ]
    events += [DeleteOffset(group, *first), DeleteGroup(group)]
    store = simulate(Settings(kafka.release.version), events)[-1].state

    assert [(entry.key, entry.value) for entry in store.log] == real


@holds("when a committed offset expires", "the coordinator's store: commits, expiry, tombstones, loading")
def test_an_offset_that_brings_its_own_time_expires_then_and_the_group_with_it(sweeping, new_name):
    topic, group, retention_ms, kafka = new_name("t"), new_name("g"), 1000, sweeping
    kafka.create_topic(topic)
    place = TopicPartition(topic, 0)
    values = commit(group, {place: 5}, retention_ms=retention_ms)
    wait_for(lambda: send(kafka, group, "OffsetCommit", values, COMMIT_WITH_RETENTION), "NONE")

    real = wait_for(lambda: records_of(kafka, group), lambda found: len(found) == 3, "a commit and two tombstones")
    at_ms = commit_ms(real[0])
    event = Commit(
        group, topic, 0, 5, at_ms, topic_id=kafka.metadata([topic]).topic_ids[topic], retention_ms=retention_ms
    )
    trace = simulate(
        Settings(kafka.release.version), [event, Sweep(at_ms + retention_ms - 1), Sweep(at_ms + retention_ms)]
    )

    assert [(entry.key, entry.value) for entry in trace[2].state.log] == real[:1]
    assert [(entry.key, entry.value) for entry in trace[3].state.log] == real
    assert time.time() * 1000 >= at_ms + retention_ms


@holds(*EXPIRY.rules)
def test_random_commits_of_each_kind_of_group_expire_as_ours_do(sweeping, new_name):
    assert differences(EXPIRY, sweeping, new_name, seed=100, count=6) == []


@holds(
    "the groups in the records of a disk", "records of the offsets topic, decoded and encoded",
    "a record byte by byte", "record batches", "segment files of a broker's disk",
    "what the console formatters print", "what kafka-consumer-groups --describe prints", "lag",
)  # fmt: skip
def test_what_lies_on_the_disk_is_what_the_coordinator_and_kafkas_tools_say(kafka, new_name):
    topic, release = new_name("t"), kafka.release.version
    kafka.create_topic(topic, 3)
    kafka.send(topic, ["a", "b", "c"], partition=1)
    classic = ConsumerGroup(kafka, new_name("classic"), {topic: 3}, partition_assignment_strategy="range")
    consumer = ConsumerGroup(kafka, new_name("consumer"), {topic: 3}, group_protocol="consumer")
    for each in (classic, consumer):
        each.join("c1")
        each.join("c2")
    classic.commit("c1", offset=1)
    values = commit(new_name("simple"), {TopicPartition(topic, 1): 1})
    wait_for(lambda: send(kafka, values["groupId"], "OffsetCommit", values, NEWEST_COMMIT_WITH_NAMES), "NONE")

    segments = kafka.disk(1).segments(OFFSETS_TOPIC, 0)
    records = list(committed_records(segments))
    compare_groups(
        kafka, offsets.replay(segments, {kafka.metadata([topic]).topic_ids[topic]: topic}), [classic, consumer]
    )
    compare_bytes(records)
    compare_printed(kafka, records, release)
    compare_described(kafka, values["groupId"], topic, classic, release)
    for each in (classic, consumer):
        each.close()


def compare_groups(kafka, replayed, groups):
    """The disk says of each group what its coordinator says."""
    assert replayed.problems == ()
    for each in groups:
        on_disk, real = replayed.group(each.group_id), kafka.group(each.group_id)
        assert (on_disk.kind, on_disk.state, on_disk.epoch if on_disk.kind == "consumer" else None) == (
            real.type, real.state, real.group_epoch,
        )  # fmt: skip
        assert {member.member_id: (member.client_id, member.assigned) for member in on_disk.members} == {
            member.member_id: (member.client_id, member.assignment) for member in real.members
        }
        assert {place.at: place.offset for place in on_disk.offsets} == {
            place: each.offset for place, each in kafka.committed(each.group_id).items()
        }


def compare_bytes(records):
    """Every record is encoded again to its own bytes, and taken to pieces without a rest."""
    assert {offsets.decode(each.key, each.value).type.number for each in records} >= {1, 2, 3, 5, 6, 7, 8}
    for each in records:
        kind, key = offsets.decode_key(each.key)
        assert offsets.encode_key(kind, key) == each.key
        if each.value is not None:
            version, value = offsets.decode_value(kind, each.value)
            assert offsets.encode_value(kind, version, value) == each.value
        pieces = offsets.dissect(each.key, each.value)
        for data, found in ((each.key, pieces[0]), (each.value or b"", pieces[1])):
            assert [piece.stop for piece in found[:-1]] == [piece.start for piece in found[1:]]
            assert not data or (found[0].start, found[-1].stop) == (0, len(data))


def compare_printed(kafka, records, release):
    """Kafka's own formatter prints of the whole topic what ours prints of its records."""
    printed = kafka.tool(
        "console-consumer", "--topic", OFFSETS_TOPIC, "--from-beginning", "--timeout-ms", "60000",
        "--max-messages", str(len(records)),
        "--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter",
    )  # fmt: skip
    ours = [offsets.formatter_line(each.key, each.value, release) for each in records]
    assert printed == "".join(line for line in ours if line is not None)  # it ends no line


def compare_described(kafka, group, topic, classic, release):
    """The tool describes a group without members, and one with them, to the character."""
    simple = DescribedPartition(topic, 1, 1, 3)
    assert kafka.tool("consumer-groups", "--describe", "--group", group) == describe_group(
        group, [simple], "Empty", release
    )
    committed = kafka.committed(classic.group_id)
    rows = [
        DescribedPartition(
            topic,
            place.partition,
            committed[place].offset if place in committed else None,
            3 if place.partition == 1 else 0,
            member.member_id,
            "/127.0.0.1",
            member.client_id,
        )
        for member in kafka.group(classic.group_id).members
        for place in member.assignment
    ]
    printed = kafka.tool("consumer-groups", "--describe", "--group", classic.group_id)
    assert printed == describe_group(classic.group_id, rows, "Stable", release)


@pytest.mark.parametrize("broker_allows", [False, True])
def test_a_metadata_request_creates_the_topic_where_it_and_the_broker_allow_it(cluster, broker_allows):
    """Since 2.8; before, this topic was created whatever both said: see the tests of the old consumers."""
    kafka = cluster(1, config={"auto.create.topics.enable": broker_allows})

    def seen():
        return {each["name"] for each in kafka.ask(1, "Metadata", metadata_request(None))["topics"]}

    for request_allows in (False, True):
        kafka.ask(1, "Metadata", {"topics": [{"name": OFFSETS_TOPIC}], "allowAutoTopicCreation": request_allows})
        if broker_allows and request_allows:
            wait_for(lambda: OFFSETS_TOPIC in seen(), True, "the offsets topic is there:")
        else:
            kafka.create_topic(f"later-{request_allows}", 1)  # by the controller, which would have made it before
            assert OFFSETS_TOPIC not in seen()
