"""Leader epochs as consumers ask with them (KIP-320): a real leader and follower answer what our broker answers."""

import pytest

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import extend
from kafkalearn.consuming.truncation.simulator import epoch_end, read_from_broker
from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import elect, error_name, reassign
from kafkalearn.replication import AlterPartitionReassignments, ElectLeaders, Produce, Settings, settle, simulate, step
from tests.live.checked import holds

pytestmark = pytest.mark.live

TOPIC = "kept-epochs"
PLACE = TopicPartition(TOPIC, 0)
ASKED = range(-1, 4)  # epochs: none, three that were, one that is still to come
LED = 2  # the epoch in which broker 1 leads at last


@pytest.fixture(scope="module")
def led_twice(release):
    """Two brokers; broker 1 led epoch 0, broker 2 epoch 1, broker 1 leads epoch 2. Two records of each."""
    with Kafka(2, release) as kafka:
        kafka.create_topic(TOPIC, assignment=[[1, 2]])
        for leader in (1, 2, 1):
            if leader != kafka.partition(TOPIC, 0).leader:
                other = 3 - leader
                kafka.ask(1, "AlterPartitionReassignments", reassign(PLACE, [leader, other]))
                kafka.ask(1, "ElectLeaders", elect(PLACE), timeout_s=60)
                wait_for(lambda leader=leader: {kafka.partition(TOPIC, 0, each).leader for each in (1, 2)}, {leader})
            kafka.send(TOPIC, ["a", "b"])
        wait_for(lambda: kafka.disk(2).log_end_offset(TOPIC, 0), 6)
        yield kafka


@pytest.fixture(scope="module")
def replicas(led_twice):
    """The same by our simulator."""
    settings = Settings(2, led_twice.release.version, fetch_wait_max_ms=100)
    trace = simulate(settings, [Produce(2)])
    for first in (2, 1):
        moves = [AlterPartitionReassignments((first, 3 - first)), ElectLeaders(), Produce(2)]
        trace = extend(step, settings, settle(settings, trace), moves)
    return settle(settings, trace)[-1].state.replicas


RULE = "a consumer's position, its leader epoch, and a log that is cut (KIP-320)"


@holds(RULE, "the leader epoch cache")
@pytest.mark.parametrize("broker_id", [1, 2])
@pytest.mark.parametrize("known", ASKED)
def test_where_an_epoch_ends_is_answered_alike(led_twice, replicas, broker_id, known):
    for asked in ASKED:
        partition = {"partition": 0, "currentLeaderEpoch": known, "leaderEpoch": asked}
        words = {"replicaId": -1, "topics": [{"topic": TOPIC, "partitions": [partition]}]}
        (found,) = led_twice.ask(broker_id, "OffsetForLeaderEpoch", words)["topics"][0]["partitions"]
        expected = epoch_end(replicas[broker_id - 1], None if known == -1 else known, asked)
        assert (error_name(found["errorCode"]), (found["leaderEpoch"], found["endOffset"])) == expected, asked


@holds(RULE)
@pytest.mark.parametrize(
    ("broker_id", "known"),
    # With the right epoch, or none, a follower answers consumers too since 2.4 (KIP-392): that is left out.
    [*((1, known) for known in ASKED), *((2, known) for known in ASKED if known not in (-1, LED))],
)
def test_a_fetch_with_an_epoch_is_answered_alike(led_twice, replicas, broker_id, known):
    for offset in (0, 5, 6, 7):
        partition = {"partition": 0, "currentLeaderEpoch": known, "fetchOffset": offset, "partitionMaxBytes": 1 << 20}
        words = {
            "replicaId": -1,
            "maxWaitMs": 0,
            "minBytes": 0,
            "sessionId": 0,
            "sessionEpoch": -1,
            "topics": [{"topic": TOPIC, "partitions": [partition]}],
            "forgottenTopicsData": [],
        }
        answer = led_twice.ask(broker_id, "Fetch", words, 12)
        (found,) = answer["responses"][0]["partitions"]
        error, _ = read_from_broker(replicas[broker_id - 1], None if known == -1 else known, offset)
        assert error_name(found["errorCode"]) == error, offset
