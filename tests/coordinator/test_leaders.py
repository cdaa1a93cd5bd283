"""Who leads the partitions of the offsets topic: as named, as dealt out, as kafka-topics --describe prints it."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import find_coordinator, round_robin_leaders
from kafkalearn.coordinator.leaders import leaders_of
from tests.recorded import recorded

TEXT = recorded("topic-descriptions")["cases"][-2]["text"]
FIRST_LINES = "".join(TEXT.splitlines(keepends=True)[:4])


def test_brokers_are_not_taken_for_the_leaders_of_as_many_partitions():
    with pytest.raises(KafkaLearnError) as error:
        find_coordinator("billing", [1, 2, 3])

    for remedy in ("brokers=[1, 2, 3]", "partition_count=3", "describe="):
        assert remedy in str(error.value)
    answer = find_coordinator("billing", brokers=[1, 2, 3])
    assert (answer.partition, answer.broker_id) == (9, 1)


def test_a_topic_of_another_size_says_so():
    assert find_coordinator("billing", [1, 2, 3], 3).partition == 1
    assert find_coordinator("billing", [1] * 50, partition_count=50).partition == 9
    assert find_coordinator("billing", brokers=[1, 2, 3], partition_count=3).broker_id == 2


@pytest.mark.parametrize("case", recorded("topic-descriptions")["cases"], ids=lambda case: str(case["killed"]))
def test_what_the_tool_of_each_release_prints_names_the_leaders_that_the_brokers_had(case):
    if case["leaders"] is None:  # 0.8.2.2 was not asked: its leaders are those of the text, by another way
        printed = re.findall(r"Leader: (-?\d+)", case["text"])
        expected = [None if broker_id == "-1" else int(broker_id) for broker_id in printed]
    else:
        expected = case["leaders"]
    found = leaders_of(describe=case["text"])

    assert len(found) == 50
    if case["kafka"] == "1.1.1" and case["killed"]:  # with ZooKeeper the tool still prints leaders that are gone
        found = tuple(None if leader in case["killed"] else leader for leader in found)
    assert list(found) == expected


def test_a_real_broker_names_the_coordinator_that_the_pasted_text_gives():
    asked = 0
    for case in recorded("topic-descriptions")["cases"]:
        for group_id, broker_id in case["coordinators"].items():
            assert find_coordinator(group_id, describe=case["text"]).broker_id == broker_id
            asked += 1
    assert asked == 22


@pytest.mark.parametrize("case", recorded("groups-replicas")["tool"], ids=lambda case: str(case["brokers"]))
def test_leaders_are_dealt_out_as_the_tool_of_clusters_with_zookeeper_places_them(case):
    start = case["start_index_and_shift"]
    brokers = case["brokers"][start:] + case["brokers"][:start]

    assert list(round_robin_leaders(brokers, case["partitions"])) == [replicas[0] for replicas in case["replicas"]]


@pytest.mark.parametrize("leaders", [recorded("coordinator")["leaders"], leaders_of(describe=TEXT)])
def test_a_real_controller_gives_every_broker_as_many_leaders_in_each_round_as_the_dealing_does(leaders):
    for first in range(0, 48, 3):
        assert sorted(leaders[first : first + 3]) == [1, 2, 3]
    assert sorted(Counter(leaders).values()) == sorted(Counter(round_robin_leaders(3)).values())


def test_a_number_of_brokers_stands_for_the_brokers_from_1_on():
    assert round_robin_leaders(5) == round_robin_leaders([1, 2, 3, 4, 5])
    assert find_coordinator("billing", brokers=5) == find_coordinator("billing", round_robin_leaders(5))


@given(st.lists(st.integers(0, 99), min_size=1, max_size=7, unique=True), st.integers(1, 200))
def test_no_broker_leads_more_than_one_partition_more_than_another(brokers, partition_count):
    led = Counter(dict.fromkeys(brokers, 0)) + Counter(round_robin_leaders(brokers, partition_count))
    counts = [led[broker_id] for broker_id in brokers]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == partition_count


def test_tabs_that_became_blanks_other_topics_and_the_command_itself_do_no_harm():
    pasted = f"$ bin/kafka-topics.sh --describe\nTopic: orders\tPartition: 0\tLeader: 9\n{TEXT.expandtabs(4)}\n\n"
    assert leaders_of(describe=pasted) == leaders_of(describe=TEXT)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "Give one of leaders .* brokers .* and describe .* got none"),
        ({"leaders": [1] * 50, "brokers": [1]}, "got leaders and brokers"),
        ({"leaders": ()}, "leaders is empty"),
        ({"leaders": [1, None]}, r"leads partition p\. If the topic has 2 partitions, give partition_count=2"),
        ({"leaders": "123"}, "leaders must be a list or tuple of broker ids, one for each partition, got str '123'"),
        ({"leaders": 7}, "got int 7"),
        ({"leaders": {1: 2}}, "got dict"),
        ({"leaders": [True] * 50}, r"leaders\[0\] must be a whole number of at least 0, got bool True"),
        ({"leaders": [1] * 49 + [-1]}, r"leaders\[49\] is -1; a partition without a leader has None here"),
        ({"leaders": [1], "partition_count": 10**5000}, "partition_count must be at most"),
        ({"brokers": []}, "broker_ids is empty"),
        ({"brokers": [1, 2, 1]}, r"broker_ids names a broker twice: \(1, 2, 1\)"),
        ({"brokers": "123"}, "broker_ids must be a list or tuple of broker ids, or a number of brokers, got str"),
        ({"brokers": 0}, "the number of brokers must be at least 1, got 0"),
        ({"brokers": True}, "broker_ids must be a list or tuple"),
        ({"brokers": 10**9}, "the number of brokers must be at most 100,000"),
        ({"brokers": 3, "partition_count": 10**9}, "partition_count must be at most 1,000,000"),
        ({"describe": "orders"}, "describe has no partition of __consumer_offsets: paste what kafka-topics.sh"),
        ({"describe": "Topic: orders Partition: 0 Leader: 1 Replicas: 1"}, r"it has those of \['orders'\]"),
        ({"describe": FIRST_LINES}, "names 3 partitions of __consumer_offsets, which has 50; .* missing is 3"),
        ({"describe": TEXT + TEXT}, "names partition 0 twice"),
        ({"describe": TEXT, "partition_count": 20}, "describe says PartitionCount 50, and partition_count is 20"),
        ({"describe": TEXT.replace("Leader: 2", "Leader: x")}, "a leader that is not a number, 'x', in"),
        (
            {"describe": TEXT.replace("Partition: 7\t", f"Partition: {'7' * 5000}\t")},
            "a partition that is not a number",
        ),
        ({"describe": TEXT.encode()}, "describe must be a str, got bytes"),
    ],
)
def test_what_does_not_say_who_leads_is_refused_with_what_to_do(known, said):
    with pytest.raises(KafkaLearnError, match=said):
        find_coordinator("billing", **known)


def test_a_text_without_its_first_line_is_taken_for_a_topic_of_50():
    assert leaders_of(describe=TEXT.partition("\n")[2]) == leaders_of(describe=TEXT)
    of_three = FIRST_LINES.partition("\n")[2]
    assert len(leaders_of(describe=of_three, partition_count=3)) == 3
