"""Share consumers of Java and of librdkafka, told what to do: they get what was recorded, which our programs replay."""

from time import monotonic

import pytest
from confluent_kafka import AcknowledgeType, IllegalStateException, Producer, ShareConsumer

from tests.live.java import run_java_class
from tests.recorded import recorded

pytestmark = [pytest.mark.live, pytest.mark.nightly]

CASES = recorded("share-members")["cases"]
PATIENCE_S = 60
DELIVERED = [case for case in CASES if not any("record_limit" in word for word, _ in case["steps"])]
"""What librdkafka can be told, too: it has no record_limit mode yet."""


@pytest.fixture
def shared(kafka, new_name):
    """A topic, and a group that reads it from its beginning."""
    topic, group = new_name("shared"), new_name("members")
    kafka.create_topic(topic, 1)
    says = ("--entity-type", "groups", "--entity-name", group, "--add-config", "share.auto.offset.reset=earliest")
    kafka.tool("configs", "--alter", *says)
    return topic, group


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_java_share_consumers_get_what_was_recorded(kafka, shared, case):
    words = [word for word, _ in case["steps"]]
    printed = run_java_class(kafka.release, "ShareMembers", kafka.bootstrap, *shared, *words)
    assert printed.rstrip("\n").split("\n") == [" ".join(filter(None, step)) for step in case["steps"]]


class Members:
    """The words of ShareMembers.java, done by librdkafka."""

    def __init__(self, kafka, topic, group):
        self.cluster, self.topic, self.group = {"bootstrap.servers": kafka.bootstrap}, topic, group
        self.running, self.polled = {}, {}

    def play(self, word):
        """What a step prints."""
        if word.startswith("send:"):
            self.send(int(word[5:]))
            return ""
        name, is_new, how = word.partition("=")
        if is_new:
            self.join(name, *how.split(","))
            return ""
        name, _, what = word.partition(".")
        try:
            return self.told(name, *what.split(":"))
        except IllegalStateException:
            return "IllegalStateException"

    def send(self, count):
        """Records as one batch."""
        producer = Producer({**self.cluster, "linger.ms": 60_000})
        for _ in range(count):
            producer.produce(self.topic, b"a", partition=0)
        assert producer.flush(PATIENCE_S) == 0

    def join(self, name, mode, most, _):
        config = {**self.cluster, "group.id": self.group, "client.id": name}
        self.running[name] = ShareConsumer(
            {**config, "share.acknowledgement.mode": mode, "max.poll.records": int(most)}
        )
        self.running[name].subscribe([self.topic])

    def told(self, name, what, offset=None):
        member = self.running[name]
        match what:
            case "poll" | "look":
                return self.poll(name, PATIENCE_S if what == "poll" else 0)
            case "commit":
                found = member.commit_sync().items()
                return " ".join(f"{at.partition}={'NONE' if error is None else error}" for at, error in found)
            case "close":
                self.running.pop(name).close()
            case _:
                member.acknowledge(self.polled[name, int(offset)], AcknowledgeType[what.upper()])
        return ""

    def poll(self, name, patience_s):
        end, found = monotonic() + patience_s, [*self.running[name].poll(1.0)]
        while not found and monotonic() < end:
            found = [*self.running[name].poll(1.0)]
        assert [each.error() for each in found] == [None] * len(found)
        self.polled.update({(name, each.offset()): each for each in found})
        return " ".join(f"{each.offset()}/{each.delivery_count()}" for each in found)

    def close(self):
        for each in self.running.values():
            each.close()


@pytest.mark.parametrize("case", DELIVERED, ids=lambda case: case["name"])
def test_librdkafka_s_share_consumers_get_what_java_s_got(kafka, shared, case):
    members = Members(kafka, *shared)
    try:
        assert [[word, members.play(word)] for word, _ in case["steps"]] == case["steps"]
    finally:
        members.close()
