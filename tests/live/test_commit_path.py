"""Commits and fetches while a follower of the offsets topic stands still, and when the coordinator is killed."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live.cluster import NEWEST_OFFSET_FETCH_WITH_NAMES
from kafkalearn.live.errors import NoAnswer, wait_for
from kafkalearn.live.request_values import NEWEST_COMMIT_WITH_NAMES, commit, error_name
from tests.live.checked import holds
from tests.recorded import recorded

pytestmark = pytest.mark.live

GROUP, PLACE = "billing", TopicPartition("orders", 0)
CONFIG = {
    "offsets.topic.num.partitions": 1,
    "offsets.commit.timeout.ms": 8000,  # far longer than a busy machine needs between two steps
    "broker.session.timeout.ms": 18_000,  # else the follower that stands still is taken out of the ISR
    "replica.lag.time.max.ms": 60_000,
}
RECORDED = recorded("commit-path")
PATIENCE_S = 60.0


def put(offset):
    """A commit, as a request."""
    return "OffsetCommit", commit(GROUP, {PLACE: offset}), NEWEST_COMMIT_WITH_NAMES


def get(is_stable):
    """A fetch of the offset, as a request."""
    topics = [{"name": PLACE.topic, "partitionIndexes": [PLACE.partition]}]
    group = {"groupId": GROUP, "memberId": None, "memberEpoch": -1, "topics": topics}
    return "OffsetFetch", {"groups": [group], "requireStable": is_stable}, NEWEST_OFFSET_FETCH_WITH_NAMES


def told_by(answer):
    """The error's name, and of a fetch the offset."""
    if "groups" not in answer:
        return error_name(answer["topics"][0]["partitions"][0]["errorCode"]), None
    (told,) = answer["groups"]
    if told["errorCode"]:
        return error_name(told["errorCode"]), None
    (partition,) = told["topics"][0]["partitions"]
    return error_name(partition["errorCode"]), partition["committedOffset"]


class Played:
    """A script played on a cluster; each request has a connection of its own."""

    def __init__(self, kafka, pool):
        self.kafka, self.pool = kafka, pool
        self.coordinator = kafka.coordinator(GROUP)
        self.follower, self.other = (each for each in kafka.broker_ids if each != self.coordinator)
        self.waiting: list[Future] = []
        self.is_frozen = False

    def play(self, name, *values):
        """The answers that a step has brought, as (request, error, offset)."""
        if name in ("freeze", "thaw"):
            getattr(self.kafka, name)(self.follower)
            self.is_frozen = name == "freeze"
        if name == "kill":
            self.kafka.kill(self.coordinator)
        if name in ("thaw", "time out", "kill"):
            return self.collected()
        if name == "tool":
            return [self.asked(name, self.coordinator)]
        if name == "tool of another broker":
            return [self.asked(name, self.other)]
        if name in ("commit", "consumer"):
            before = self._log_end()
            connection = self.kafka.connection(self.coordinator)
            sent = connection.send(*(put(*values) if name == "commit" else get(True)))
            self.waiting.append(self.pool.submit(self.answered, name, connection, sent))
            if not self.is_frozen:
                return self.collected()
            if name == "commit":
                wait_for(self._log_end, lambda now: now > before, "the commit in its log:")
        return []

    def _log_end(self):
        return self.kafka.disk(self.coordinator).log_end_offset("__consumer_offsets", 0)

    def asked(self, name, broker_id):
        connection = self.kafka.connection(broker_id)
        return self.answered(name, connection, connection.send(*get(False)))

    def answered(self, name, connection, sent):
        try:
            return (name, *told_by(connection.receive(sent, PATIENCE_S)))
        except NoAnswer:
            return name, None, None

    def collected(self):
        """The answers to all that was waiting, in the order in which it was asked."""
        waiting, self.waiting = self.waiting, []
        return [future.result() for future in waiting]


def answers_to(kafka, pool, script):
    """All that a script of the recording is answered; each begins with a commit, so what was before does not count."""
    if PLACE.topic not in kafka.topics():
        kafka.create_topic(PLACE.topic)
    played, told = Played(kafka, pool), []
    for step in script["steps"]:
        told += played.play(*step)
        if step == ["thaw"]:
            newest = script["answers"][-1][2]
            wait_for(lambda newest=newest: played.asked("tool", played.coordinator)[2], newest)
    return [list(each) for each in told]


@holds("a commit's path over the brokers, and the life of its coordinator")
def test_a_cluster_answers_as_it_did(cluster):
    kafka = cluster(3, config=CONFIG)
    with ThreadPoolExecutor(4) as pool:
        for script in RECORDED["scripts"]:
            if "killed" not in script["name"]:
                assert answers_to(kafka, pool, script) == script["answers"], script["name"]


@holds("a commit's path over the brokers, and the life of its coordinator")
def test_a_commit_in_flight_has_no_answer_when_its_coordinator_is_killed_and_the_next_one_loads_the_log(cluster):
    kafka = cluster(3, config={**CONFIG, "broker.session.timeout.ms": 6000})
    kafka.create_topic("orders")
    with ThreadPoolExecutor(4) as pool:
        played = Played(kafka, pool)
        for step in (["commit", 9], ["freeze"], ["commit", 10]):
            played.play(*step)
        assert played.play("kill") == [("commit", None, None)]
        kafka.thaw(played.follower)
        assert played.play("tool of another broker") == [("tool of another broker", "NOT_COORDINATOR", None)]
        next_one = wait_for(lambda: kafka.coordinator(GROUP), lambda found: found != played.coordinator, "another one")
        other = kafka.connection(next_one)
        _, offset = wait_for(lambda: told_by(other.call(*get(True))), lambda told: told[0] == "NONE", "it has loaded")

    assert offset in (9, 10)
