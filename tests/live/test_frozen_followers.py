"""What a real cluster does while a follower stands still: the ISR shrinks, and deleted records are waited for."""

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from conformance.mechanisms.replication import LAGGARDS_LEAVE, Topic
from kafkalearn.live import Kafka
from tests.live.checked import holds
from tests.live.scripts import REPLICATION, check

pytestmark = pytest.mark.live

DELETION = ("deleting records waits for the low watermark", "moving the log start")


@pytest.fixture(scope="module")
def cluster(release):
    with Kafka(3, release, config=LAGGARDS_LEAVE, has_eligible_leader_replicas=True) as kafka:
        yield kafka


def a_follower_freezes(run):
    run.produce(3, "all")
    with run.in_a_hurry(1000):  # below replica.lag.time.max.ms
        run.freeze(3)
        run.produce(2, 1)
    run.wait(isr=[1, 2])
    run.produce(1, "all")
    run.produce(1, 1)
    run.thaw(3)
    run.wait(isr=[1, 2, 3])
    run.produce(1, "all")


@holds(*REPLICATION, "who leaves the ISR and who joins it, by release", "when a follower counts as caught up")
def test_a_frozen_follower_leaves_the_isr_and_the_high_watermark_goes_on_where_enough_are_left(cluster):
    topics = {f"min-{count}": Topic(count) for count in (1, 2, 3)}
    check(cluster, a_follower_freezes, topics, has_elr=True, config=LAGGARDS_LEAVE)


def low_watermark(kafka, offset, timeout_s=30):
    """What the administrator is told: a low watermark, or the name of the error."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    asked = admin.delete_records(
        [TopicPartition("deleted", 0, offset)], operation_timeout=timeout_s, request_timeout=timeout_s + 10
    )
    (answer,) = asked.values()
    try:
        return answer.result().low_watermark
    except KafkaException as error:
        return error.args[0].name()


@holds(*DELETION)
def test_records_are_deleted_at_once_and_the_answer_comes_when_all_replicas_begin_there(cluster):
    cluster.create_topic("deleted", assignment=[[1, 2]])
    cluster.send("deleted", [f"m{number}" for number in range(5)])
    assert low_watermark(cluster, 3) == 3
    assert cluster.log_start_offset("deleted", 0) == 3

    cluster.freeze(2)
    assert low_watermark(cluster, 4, timeout_s=1) == "REQUEST_TIMED_OUT"
    assert cluster.log_start_offset("deleted", 0) == 4
    cluster.thaw(2)
