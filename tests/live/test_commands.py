"""What our texts say of groups, plans and topics is what the tools of the release print of a real cluster."""

import subprocess

import pytest
from confluent_kafka import KafkaException
from confluent_kafka import TopicPartition as Place

from kafkalearn.live.errors import wait_for
from kafkalearn.live.jars import java_here
from kafkalearn.live.processes import OPTIONS, node_class_path
from kafkalearn.offsets.replay import Committed, Group
from kafkalearn.offsets.store import Settings
from kafkalearn.offsets.store.model import Store
from kafkalearn.operations.groups import PartitionLog, delete_offsets, reset_offsets
from kafkalearn.operations.offsets_topic import create_offsets_topic
from kafkalearn.operations.placement import Broker
from kafkalearn.operations.reassignment import Cluster, execute_text, list_text, plan_of, verify_text, write_plan
from tests.live.checked import holds

pytestmark = pytest.mark.live

GROUP_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


def _committed(consumer, offsets):
    """Whether a commit was accepted; a coordinator that has just begun is still loading."""
    try:
        consumer.commit(offsets=offsets, asynchronous=False)
    except KafkaException:
        return False
    return True


@holds("what --reset-offsets plans and prints", "what --delete-offsets does and prints")
def test_a_reset_and_a_deletion_print_what_the_tool_prints(kafka, new_name):
    topic, group_id, release = new_name("t"), new_name("g"), kafka.release.version
    kafka.create_topic(topic, 3)
    kafka.send(topic, ["a", "b", "c"], partition=1)
    consumer = kafka.consumer(group_id)
    offsets = [Place(topic, number, 0) for number in range(2)]
    wait_for(lambda: _committed(consumer, offsets), True, "the coordinator has loaded its partition:")
    consumer.close()
    logs = {topic: [PartitionLog(0), PartitionLog(3), PartitionLog(0)]}
    group = Group(group_id, offsets=(Committed(topic, 0, 0), Committed(topic, 1, 0)))

    for words, scenario, value in (
        (["--to-latest"], "to-latest", None),
        (["--shift-by", "2"], "shift-by", 2),
        (["--to-offset", "1"], "to-offset", 1),
    ):
        planned = reset_offsets(group, logs, scenario, value, scope=[f"{topic}:0,1"], release=release)
        command = ["--group", group_id, "--reset-offsets", "--topic", f"{topic}:0,1", "--dry-run", *words]
        assert kafka.tool("consumer-groups", *command) == planned.printed
    _, printed = delete_offsets(Settings(), Store(groups=(group,)), group_id, [topic], logs, release)
    assert kafka.tool("consumer-groups", "--delete-offsets", "--group", group_id, "--topic", topic) == printed


def warned_of(kafka, *words):
    """What the tool's logger warns of on standard error."""
    options = [*OPTIONS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    command = [*options, "-cp", node_class_path(kafka.release, has_logs=False), GROUP_COMMAND, *words]
    done = subprocess.run(
        [str(java_here().executable), *command, "--bootstrap-server", kafka.bootstrap],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [line.partition(" - ")[2] for line in done.stderr.splitlines() if "ffset (" in line]


def test_a_reset_warns_on_standard_error_of_an_offset_that_it_moves(kafka, new_name):
    topic, group_id, release = new_name("t"), new_name("g"), kafka.release.version
    kafka.create_topic(topic, 1)
    kafka.send(topic, ["a", "b", "c"])
    consumer = kafka.consumer(group_id)
    wait_for(lambda: _committed(consumer, [Place(topic, 0, 1)]), True, "the coordinator has loaded its partition:")
    consumer.close()
    group, logs = Group(group_id, offsets=(Committed(topic, 0, 1),)), {topic: [PartitionLog(3)]}

    for scenario, value in (("shift-by", 1000), ("shift-by", -2), ("to-offset", 4), ("to-offset", 3)):
        planned = reset_offsets(group, logs, scenario, value, scope=[topic], release=release)
        words = ["--group", group_id, "--reset-offsets", "--topic", topic, "--dry-run", f"--{scenario}", str(value)]
        assert warned_of(kafka, *words) == [*planned.warned]


@holds("what --execute prints", "what --verify prints")
def test_a_plan_prints_what_the_tool_prints(kafka, new_name, tmp_path):
    topic, release = new_name("t"), kafka.release.version
    kafka.create_topic(topic, 2)
    plan, file = plan_of(topic, [(1,), (1,)]), tmp_path / "plan.json"
    file.write_text(write_plan(plan), encoding="utf-8")
    folders = {1: str(kafka.disk(1).folder)}
    cluster = Cluster([Broker(1)], {topic: [(1,), (1,)]}, log_dirs=folders)

    words = ["--reassignment-json-file", str(file)]
    assert kafka.tool("reassign-partitions", "--execute", *words) == execute_text(plan, cluster, release)
    assert kafka.tool("reassign-partitions", "--verify", *words) == verify_text(plan, cluster, release)
    assert kafka.tool("reassign-partitions", "--list") == list_text(cluster)


@holds("creation of the offsets topic")
def test_a_broker_that_is_down_gets_its_replica_of_the_offsets_topic(cluster):
    kafka = cluster(3)
    kafka.kill(3)
    kafka.coordinator("billing")
    described = kafka.tool("topics", "--describe", "--topic", "__consumer_offsets")

    expected = create_offsets_topic([1, 2], 3, kafka.release.version, fenced_brokers=[3])
    assert f"ReplicationFactor: {expected.replica_count}" in described
