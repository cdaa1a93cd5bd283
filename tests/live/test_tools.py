"""Kafka's command-line tools on a real cluster, and what `make live` prints."""

import re
import subprocess
import sys

import pytest
from confluent_kafka import TopicPartition

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming.lag import ListedGroup, list_groups, log_end_lines
from kafkalearn.live import Kafka
from kafkalearn.live.errors import KafkaNotStarted
from kafkalearn.live.used_cluster import CLASSES, class_of
from kafkalearn.oncall import quorum
from tests.live.checked import holds
from tools.environment import ROOT

pytestmark = pytest.mark.live


@holds("record batches", "segment files of a broker's disk")
def test_dump_log_reads_the_batches_that_our_reader_reads(kafka, new_name):
    topic = new_name("t")
    kafka.create_topic(topic)
    kafka.send(topic, ["a", "b"])
    kafka.send_records(topic, [(b"k", None, 1000)])
    path = kafka.disk(1).folder / f"{topic}-0" / f"{0:020}.log"

    printed = kafka.tool("dump-log", "--files", str(path), "--print-data-log")

    batches = kafka.disk(1).batches(topic, 0)
    found = re.findall(r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) .*?position: (\d+) .*?size: (\d+) ", printed)
    assert [tuple(map(int, each)) for each in found] == [
        (each.base_offset, each.last_offset, len(each.records), each.position, each.size_bytes) for each in batches
    ]
    assert re.findall(r"payload: (\S+)", printed) == ["a", "b"]


@holds("what kafka-consumer-groups --list prints", "the lines of GetOffsetShell")
def test_groups_and_log_ends_are_printed_as_the_tools_print_them(kafka, new_name):
    topic, release = new_name("t"), kafka.release.version
    kafka.create_topic(topic, 12)
    kafka.send(topic, ["a", "b"], partition=10)
    for group_id in (new_name("simple"), new_name("a-group-with-a-long-name")):
        consumer = kafka.consumer(group_id)
        consumer.commit(offsets=[TopicPartition(topic, 10, 1)], asynchronous=False)
        consumer.close()

    answer = kafka.ask(1, "ListGroups", {"statesFilter": [], "typesFilter": []}, 5)["groups"]
    groups = [ListedGroup(each["groupId"], each["groupType"], each["groupState"], each["protocolType"])
              for each in answer]  # fmt: skip
    assert kafka.tool("consumer-groups", "--list") == list_groups(groups, release)
    for options, given in ((["--state"], {"has_state": True}), (["--type"], {"has_type": True})):
        assert kafka.tool("consumer-groups", "--list", *options) == list_groups(groups, release, **given)
    ends = [2 if partition == 10 else 0 for partition in range(12)]
    assert kafka.tool("get-offsets", "--topic", topic) == log_end_lines(topic, ends, release)


def test_the_quorum_of_controllers_is_read_as_the_tool_prints_it(kafka):
    for form in (["--status"], ["--replication"], ["--replication", "--human-readable"]):
        said = quorum(kafka.tool("metadata-quorum", "describe", *form))
        assert [each.id for each in said.voters] == [said.described.leader]
        assert said.may_fail == 0
        assert any("1 voter can lose none" in each for each in said.findings)


def test_the_address_of_the_cluster_is_added_and_a_failure_has_the_tools_words(kafka):
    with pytest.raises(KafkaNotStarted, match="Topic 'no-such-topic' does not exist"):
        kafka.tool("topics", "--describe", "--topic", "no-such-topic")
    with pytest.raises(KafkaLearnError, match="unknown tool 'topic'; did you mean 'topics'"):
        kafka.tool("topic", "--list")
    with pytest.raises(KafkaLearnError, match="a tool takes words, as in a shell"):
        kafka.tool("topics", "--partitions", 3)


@pytest.mark.parametrize("name", CLASSES)
def test_every_tool_has_its_class_in_the_release(kafka, name):
    assert class_of(kafka.release, name) in CLASSES[name]


def test_make_live_says_what_is_here_and_refuses_what_is_not_known(release):
    command = [sys.executable, "-m", "kafkalearn.live"]
    here = subprocess.run([*command, release], cwd=ROOT, capture_output=True, text=True)
    unknown = subprocess.run([*command, "5.0"], cwd=ROOT, capture_output=True, text=True)

    assert (here.returncode, here.stdout) == (0, f"Kafka {Kafka(release=release).release.version} is here: "
                                              f"with Kafka(release={release!r}) as kafka: ...\n")  # fmt: skip
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("kafkalearn: unknown release '5.0'")


def test_a_cluster_that_was_not_started_or_not_asked_for_logs_says_so(release):
    kafka = Kafka(release=release)
    with pytest.raises(KafkaNotStarted, match=r"not started: with Kafka\(\) as kafka"):
        kafka.topics()
    kafka.close()


def test_server_logs_have_kafkas_own_form_where_they_are_asked_for(release, kafka):
    with pytest.raises(KafkaLearnError, match=r"start it with Kafka\(has_logs=True\)"):
        kafka.server_log(1)
    with Kafka(release=release, has_logs=True) as logged:
        lines = logged.server_log(1)
    form = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (INFO|WARN|ERROR) .* \([\w.$]+\)"
    assert sum(bool(re.fullmatch(form, line)) for line in lines) > 50
