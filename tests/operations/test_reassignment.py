"""Plans for kafka-reassign-partitions: what Kafka refuses and what its tool prints, as the released tools did."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.operations.placement import Broker, place_rotated, place_shifted
from kafkalearn.operations.reassignment import (
    Cluster,
    Move,
    Target,
    cancel_text,
    execute_text,
    generate,
    generate_text,
    list_text,
    plan_of,
    read_plan,
    refusal,
    verify_text,
    write_plan,
)
from tests.every import every_case
from tests.recorded import recorded

BEFORE = {
    "orders": ((1, 2), (2, 3), (3, 1), (1, 2)),
    "payments": ((1, 2, 3), (2, 3, 1)),
    "big": ((1, 2),),
    "lonely": ((4,),),
}
AFTER = BEFORE | {"orders": ((2, 1), (3, 4), (3, 1), (1, 2)), "payments": ((4, 2, 3), (2, 3, 1))}
MOVING = AFTER | {"big": ((3, 4, 1, 2),)}
BIG = TopicPartition("big", 0)
UNREADABLE = {  # what cannot be read is refused by read_plan, in our own words
    "version 2": "version is 2",
    "log dirs of another length": "2 replicas and 1 log_dirs",
    "not JSON": "invalid JSON",
    "a list": "must be an object in braces",
    "empty file": "invalid JSON",
    "without replicas": "has no replicas",
    "without topic": "has no topic",
    "partition as text": "partition must be a whole number",
    "replicas as text": "replicas must be a list",
    "version as text": "version must be a whole number",
}


def cluster_of(case, topics=BEFORE, moves=None):
    brokers = [Broker(number, f"r{number % 2}") for number in (1, 2, 3, 4)]
    folders = {int(number): folder for number, folder in case.get("folders", {}).items()}
    return Cluster(brokers, topics, moves or {}, folders)


def of_kind(cases, *names):
    """The recorded runs of the tool whose names begin so."""
    found = [each for each in cases if each["name"].startswith(names)]
    return every_case("case", found, ids=lambda case: f"{case['release']} {case['name']}")


@of_kind(recorded("reassignment-tool")["cases"], "refused: ")
def test_a_plan_is_refused_as_the_tool_refuses_it(case):
    name = case["name"].removeprefix("refused: ")
    if name in UNREADABLE:
        with pytest.raises(KafkaLearnError, match=UNREADABLE[name]):
            read_plan(case["file"])
        assert case["stdout"].startswith("Error: ")
        return
    cluster = cluster_of(case, MOVING, {BIG: Move((3, 4), (1, 2))}) if name == "running" else cluster_of(case)
    plan = read_plan(case["file"])
    first = case["stdout"].split("\n")[0]

    assert refusal(plan, cluster) == first.removeprefix("Error: ")
    assert execute_text(plan, cluster, case["release"]) == f"{first}\n"


@of_kind(recorded("reassignment-tool")["cases"], "execute")
def test_what_execute_prints(case):
    throttle = 1000 if "throttle" in case["name"] else None
    topics = BEFORE if case["name"] == "execute" else AFTER
    assert (
        execute_text(read_plan(case["file"]), cluster_of(case, topics), case["release"], throttle=throttle)
        == (case["stdout"])
    )


@of_kind(recorded("reassignment-tool")["cases"], "verify")
def test_what_verify_prints(case):
    is_running = "running" in case["name"]
    cluster = cluster_of(case, *((MOVING, {BIG: Move((3, 4), (1, 2))}) if is_running else (AFTER,)))
    keeps = "--preserve-throttles" in case["arguments"]
    printed = verify_text(read_plan(case["file"]), cluster, case["release"], keeps_throttles=keeps)
    assert printed == case["stdout"]


CANCELLED = "cancel", "cancel and keep the throttles"  # with which a reassignment is ended


@of_kind(recorded("reassignment-tool")["cases"], "cancel")
def test_what_cancel_prints(case):
    cluster = cluster_of(case, AFTER)
    if case["name"] in CANCELLED:
        cluster = cluster_of(case, MOVING, {BIG: Move((3, 4), (1, 2))})
    keeps = "--preserve-throttles" in case["arguments"]
    assert cancel_text(read_plan(case["file"]), cluster, case["release"], keeps_throttles=keeps) == case["stdout"]


def test_log_directories_are_printed_since_4_2_and_plans_placed_as_by_a_kraft_controller_since_4_1():
    """StripedReplicaPlacer stands in the tool's class of 4.1.2, AdminUtils in that of 4.0.2."""
    cluster = Cluster([1, 2], {"t": [(1,)]}, log_dirs={1: "/kafka"})
    shown = [execute_text([Target("t", 0, (2,))], cluster, release) for release in ("4.1", "4.2")]
    assert ["/kafka" in each for each in shown] == [False, True]
    wide = Cluster(range(1, 6), {"t": [(1, 2)] * 20})
    plans = [generate(["t"], range(1, 6), wide, release, seed=1) for release in ("3.9", "4.0", "4.1", "4.3")]
    assert plans[0] == plans[1] != plans[2] == plans[3]


@of_kind(recorded("reassignment-tool")["cases"], "list")
def test_what_list_prints(case):
    is_running = "running" in case["name"]
    cluster = cluster_of(case, *((MOVING, {BIG: Move((3, 4), (1, 2))}) if is_running else (AFTER,)))
    assert list_text(cluster) == case["stdout"]


@pytest.mark.parametrize("case", [x for x in recorded("reassignment-tool")["cases"] if x["name"] == "generate"])
def test_generate_prints_the_replicas_as_they_are_and_proposes_as_many(case):
    cluster = cluster_of(case)
    proposed = read_plan(case["stdout"].strip().split("\n")[-1])

    assert generate_text(["orders", "payments"], proposed, cluster, case["release"]) == case["stdout"]
    ours = generate(["orders", "payments"], [1, 2, 3, 4], cluster, case["release"], seed=3)
    assert [(each.at, len(each.replicas)) for each in ours] == [(each.at, len(each.replicas)) for each in proposed]
    racks = {number: number % 2 for number in (1, 2, 3, 4)}
    for each in (*ours, *proposed):  # two racks: with two replicas both, with three both as well
        assert {racks[broker] for broker in each.replicas} == {0, 1}


def test_generate_refuses_what_the_tool_refuses():
    cluster = Cluster([Broker(1, "a"), Broker(2, "b"), 3], {"orders": [(1, 2)]})
    with pytest.raises(KafkaLearnError, match=r"Broker list contains duplicate entries: \[2\]"):
        generate(["orders"], [1, 2, 2], cluster)
    with pytest.raises(KafkaLearnError, match=r"List of topics to reassign contains duplicate entries: \['orders'\]"):
        generate(["orders", "orders"], [1, 2], cluster)
    with pytest.raises(KafkaLearnError, match="Not all brokers have rack information"):
        generate(["orders"], [1, 2, 3], cluster)
    with pytest.raises(KafkaLearnError, match="replication_factor is 2, and there are 1 brokers"):
        generate(["orders"], [1], cluster)
    with pytest.raises(KafkaLearnError, match="unknown topic 'order'; did you mean 'orders'"):
        generate(["order"], [1, 2], cluster)
    assert [each.replicas for each in generate(["orders"], [1, 2, 3], cluster, is_rack_aware=False)] != []


plans = st.lists(
    st.builds(
        Target,
        st.sampled_from(["orders", "a.b_c-1"]),
        st.integers(0, 99),
        st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True).map(tuple),
    ),
    max_size=8,
    unique_by=lambda target: target.at,
)


@given(plans)
@settings(max_examples=60)
def test_what_is_written_is_read_again_and_is_valid_json(plan):
    written = write_plan(plan)
    assert [(each.at, each.replicas) for each in read_plan(written)] == sorted(
        (each.at, each.replicas) for each in plan
    )
    assert json.loads(written)["version"] == 1


def test_the_plan_of_the_article_raises_the_factor_of_the_offsets_topic():
    plan = plan_of("__consumer_offsets", place_rotated([1, 2, 3], 50, 3))
    cluster = Cluster([1, 2, 3], {"__consumer_offsets": place_shifted([1, 2, 3], 50, 1)})

    assert refusal(plan, cluster) is None
    assert execute_text(plan, cluster).endswith(",__consumer_offsets-48,__consumer_offsets-49\n")
    assert json.loads(write_plan(plan))["partitions"][49]["replicas"] == [2, 3, 1]


def test_a_running_plan_stands_in_the_way_of_another_unless_it_is_additional():
    moving = Cluster([1, 2, 3], {"t": [(1, 2, 3)]}, {TopicPartition("t", 0): Move((3,), (2,))})
    assert refusal([Target("t", 0, (1,))], moving).startswith("Cannot execute because there is an existing")
    assert refusal([Target("t", 0, (1,))], moving, is_additional=True) is None
    with pytest.raises(KafkaLearnError, match="moves names t-5, which is not a partition"):
        Cluster([1], {"t": [(1,)]}, {TopicPartition("t", 5): Move()})
    with pytest.raises(KafkaLearnError, match=r"modelled since 2\.6"):
        execute_text([Target("t", 0, (1,))], moving, "2.5")


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ({10**5000: [(1,)]}, "a name of topics must be a str, got int a whole number of about 5,001 digits"),
        ({1: [(1,)]}, "a name of topics must be a str, got int 1"),
        ({"orders": []}, r"topics\['orders'\] has no partition; a topic has at least one"),
    ],
    ids=["5,000 digits", "a number", "no partition"],
)
def test_what_is_no_topic_of_a_cluster_is_refused(topics, said):
    with pytest.raises(KafkaLearnError, match=said):
        Cluster([1, 2, 3], topics)
