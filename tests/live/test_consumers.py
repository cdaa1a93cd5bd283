"""Real consumers: what a crash costs, whose a committed offset is, and what the client of a scenario does as well."""

import pytest

from conformance.mechanisms.commits import CRASHES
from conformance.mechanisms.consumer_groups import ConsumerPlayer
from conformance.search import compare
from kafkalearn import consuming
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.handovers import handovers
from kafkalearn.live.request_values import NEWEST_COMMIT_WITH_NAMES
from kafkalearn.scenarios import simulate
from tests.live.checked import holds
from tests.live.java import run_java_class

pytestmark = pytest.mark.live

POLLED = ["poll", 3]


@holds("position, commits, crashes", "where a consumer begins")
@pytest.mark.parametrize(
    ("is_auto", "actions", "twice", "never"),
    [
        (False, [POLLED, ["process", 3], ["crash"]], [0, 1, 2], []),
        (False, [POLLED, ["commit", None], ["process", 1], ["crash"], ["append", 1]], [], [1, 2]),
        (True, [POLLED, ["process", 2], ["close"]], [], [2]),
    ],
    ids=["processed-first", "committed-first", "closed-with-auto-commit"],
)
def test_what_a_crash_costs(kafka, new_name, is_auto, actions, twice, never):
    case = {"records": 5, "is_auto": is_auto, "is_standalone": False, "actions": actions}
    answer = CRASHES.ask(kafka, case, new_name)
    assert (answer["twice"], answer["never"]) == (twice, never)
    assert compare(CRASHES, kafka.release.line, case, answer) is None


# Whose a committed offset is: a real broker keeps it for the group, whoever owns the partition next.
TOPIC = "whose-offsets"
RECORD_COUNT = 4


@holds("what a rebalance loses, by whose the offsets are")
def test_the_next_owner_finds_what_another_member_has_committed(kafka, new_name):
    group_id = new_name("whose")
    group = ConsumerPlayer(kafka, group_id, {TOPIC: TOPIC})
    group.create({TOPIC: 1})
    joining = {"op": "join", "topics": [TOPIC], "rebalance_ms": 60_000}

    assert group.play(joining | {"m": "a"})["answer"]["assignment"] == {TOPIC: [0]}
    commit = {"op": "commit", "m": "a", "partitions": [[TOPIC, 0]], "version": NEWEST_COMMIT_WITH_NAMES}
    assert group.play(commit)["answer"] == {"errors": [[TOPIC, 0, "NONE"]]}
    group.play({"op": "leave", "m": "a"})
    assert group.play(joining | {"m": "b"})["answer"]["assignment"] == {TOPIC: [0]}
    found = kafka.committed(group_id)[TopicPartition(TOPIC, 0)].offset

    events = [
        consuming.Join("g", "a"),
        *[consuming.Produce()] * RECORD_COUNT,
        consuming.Poll("g", "a"),
        consuming.Leave("g", "a"),
        consuming.Join("g", "b"),
    ]
    ours = consuming.simulate(consuming.Settings(1), events)
    (handover,) = handovers(ours)
    assert found == handover.committed == ours[-1].state.group("g").positions[0] == 1
    assert handover.own is None  # the broker knows nothing of the kind


# Real clients of a KIP-848 group, and what the client of a scenario does in the same story.


def test_what_a_member_at_work_has_not_taken_up_goes_back_without_its_poll(kafka, new_name):
    topic = new_name("orders")
    kafka.create_topic(topic, 2)
    said = run_java_class(kafka.release, "TakenBack", kafka.bootstrap, topic, new_name("group"))
    assert said.splitlines() == ["shared 1 1", "while A works 1", "shared 1 1"]

    story = """topic orders has 2 partitions
    at 0 s: c1 and c2 join
    at 60 s: c1 works 100 s on one poll
    at 70 s: c2 restarts after 10 s"""
    while_at_work = simulate(story, protocol="consumer").at(155_000).state
    assert [len(while_at_work.member(name).owned) for name in ("c1", "c2")] == [1, 1]
