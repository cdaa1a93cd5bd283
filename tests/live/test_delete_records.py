"""A real broker deletes records at once, and answers when its followers have followed."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.live.checked import holds

pytestmark = pytest.mark.live

RULE = ("deleting records waits for the low watermark",)


def low_watermark(kafka, offset, timeout_s=30):
    """What the administrator is told: a low watermark, or the name of the error."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    asked = admin.delete_records(
        [TopicPartition("orders", 0, offset)], operation_timeout=timeout_s, request_timeout=timeout_s + 10
    )
    (answer,) = asked.values()
    try:
        return answer.result().low_watermark
    except KafkaException as error:
        return error.args[0].name()


@pytest.fixture
def kafka(cluster):
    running = cluster(2)
    running.create_topic("orders", assignment=[[1, 2]])
    running.send("orders", [f"m{number}" for number in range(5)])
    return running


@holds(*RULE)
def test_the_answer_comes_when_all_replicas_begin_there(kafka):
    assert low_watermark(kafka, 3) == 3
    assert kafka.log_start_offset("orders", 0) == 3


@holds(*RULE)
def test_a_frozen_follower_makes_it_time_out_though_the_records_are_gone(kafka):
    kafka.freeze(2)
    assert low_watermark(kafka, 3, timeout_s=2) == "REQUEST_TIMED_OUT"
    assert kafka.log_start_offset("orders", 0) == 3
    kafka.thaw(2)
