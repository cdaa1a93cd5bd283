"""What kafka-consumer-groups prints, by release, held to what the released tools printed."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming import DescribedPartition, describe_group
from kafkalearn.offsets.replay import CLASSIC, CONSUMER, Committed, Group, Member
from kafkalearn.offsets.store import Settings, simulate
from kafkalearn.offsets.store.model import Store
from kafkalearn.operations.groups import (
    Coordinator,
    PartitionLog,
    delete_groups,
    delete_offsets,
    describe_members,
    describe_offsets,
    describe_state,
    export_offsets,
    reset_offsets,
)
from kafkalearn.operations.groups.reset import SCENARIOS, duration_ms, read_csv
from tests.every import every_case
from tests.recorded import recorded

# The groups and topics of the recorded clusters, as our own nouns.


FIRST_MS, MINUTE_MS, LATER_MS = 1_700_000_000_000, 60_000, 1_800_000_000_000
PLAN = "payments,0,7\npayments,2,70\norders,1,1\n"


def topics_of(cluster):
    """The logs of its topics; only payments has records of times that somebody asks for."""
    ends = {topic: [of_it[str(number)] for number in range(len(of_it))] for topic, of_it in cluster["ends"].items()}
    logs = {topic: [PartitionLog(end) for end in of_it] for topic, of_it in ends.items()}
    times = [(offset, FIRST_MS + MINUTE_MS * offset) for offset in range(10)]
    return logs | {"payments": [PartitionLog(10, times=times)] * 3}


def group_of(cluster, group_id):
    """A group as its brokers described it; one that they did not know is Dead."""
    if group_id not in cluster["groups"]:
        return Group(group_id, state="Dead")
    found = cluster["groups"][group_id]
    is_new = found["type"] == "CONSUMER"
    epoch = 3 if cluster["brokers"].startswith("4.3") else 2  # of both members: see the verbose descriptions
    members = tuple(
        Member(
            each["member_id"],
            each["client_id"],
            each["host"],
            each["instance_id"],
            epoch if is_new else None,
            subscribed=tuple({topic for topic, _ in each["assigned"]}),
            assigned=places(each["assigned"]),
            target=places(each["target"]) if is_new else None,
        )
        for each in found["members"]
    )
    offsets = [Committed(topic, number, offset) for topic, number, offset, _ in sorted(found["offsets"])]
    return Group(
        group_id,
        CONSUMER if is_new else CLASSIC,
        found["state"].capitalize(),
        "consumer" if members else None,
        found["assignor"] or None,
        epoch,
        epoch if is_new else None,
        members=members,
        offsets=tuple(offsets),
    )


def fresh_group(group_id):
    """The group that each release reset and deleted."""
    orders = tuple(Committed("orders", number, number) for number in range(6))
    return Group(group_id, offsets=(*orders, Committed("payments", 1, 4)))


def coordinator_of(cluster, group_id):
    """Of a group that nobody knows it does not matter."""
    return Coordinator(*cluster["groups"][group_id]["coordinator"]) if group_id in cluster["groups"] else Coordinator(1)


def places(pairs):
    return tuple(TopicPartition(*each) for each in pairs)


def of_kind(clusters, *names):
    """The recorded runs of the tool whose names begin so, each with its cluster."""
    found = [(each, case) for each in clusters for case in each["cases"] if case["name"].startswith(names)]
    return every_case(
        ("cluster", "case"), found, ids=[f"{case['release']} {case['name']} {case['given']}" for _, case in found]
    )


def compare(case, printed):
    """To the character; but up to 3.8 what was a Scala map has an order of its own."""
    if case["release"] < "3.9":
        assert sorted(words_in(printed)) == sorted(words_in(case["stdout"]))
    else:
        assert printed == case["stdout"]


def words_after(case, option):
    arguments = case["arguments"]
    return [arguments[place + 1] for place, word in enumerate(arguments) if word == option]


def planned(cluster, case):
    group = fresh_group(case["given"]) if case["given"].startswith("reset-") else group_of(cluster, case["given"])
    scenario = next(word[2:] for word in case["arguments"] if word[2:] in SCENARIOS)
    values = {"to-offset": int, "shift-by": int, "by-duration": str, "to-datetime": str}
    value = values[scenario](words_after(case, f"--{scenario}")[0]) if scenario in values else None
    value = PLAN if scenario == "from-file" else value
    scope, topics = words_after(case, "--topic") or None, topics_of(cluster)
    return reset_offsets(group, topics, scenario, value, scope=scope, now_ms=LATER_MS, release=case["release"])


def store_of(cluster, case):
    """The groups that a deletion is asked for, and two more."""
    names = ["billing", "audit", *(name for name in words_after(case, "--group") if name.startswith("reset-"))]
    groups = [fresh_group(name) if name.startswith("reset-") else group_of(cluster, name) for name in names]
    return Store(groups=tuple(sorted(groups, key=lambda each: each.group_id)))


@of_kind(recorded("group-tools")["clusters"], "describe")
def test_each_release_describes_offsets_as_its_tool_did(cluster, case):
    group, is_verbose = group_of(cluster, case["given"]), "verbose" in case["name"]
    compare(case, describe_offsets(group, topics_of(cluster), case["release"], is_verbose=is_verbose))


@pytest.mark.parametrize("case", recorded("group-tool-order")["printed"], ids=lambda case: case["release"])
def test_partitions_stand_in_the_order_and_in_the_columns_of_the_release(case):
    logs = {"b-longer-topic-name": [PartitionLog(0)]}
    logs |= {"t": [PartitionLog(2 if number == 1 else 0) for number in range(12)]}
    committed = [TopicPartition(topic, number) for topic, of_it in logs.items() for number in range(len(of_it))]
    group = Group("g", offsets=tuple(Committed(*at, 0) for at in committed))
    lines = [DescribedPartition(*at, 0, logs[at.topic][at.partition].end) for at in committed]

    assert describe_offsets(group, logs, case["release"]) == case["describe"]
    assert describe_group("g", lines, "Empty", case["release"]).strip() == case["describe"].strip()
    assert reset_offsets(group, logs, "to-earliest", release=case["release"]).printed == case["reset"]


@of_kind(recorded("group-tools")["clusters"], "members")
def test_each_release_describes_members_as_its_tool_did(cluster, case):
    group, is_verbose = group_of(cluster, case["given"]), "verbose" in case["name"]
    compare(case, describe_members(group, case["release"], is_verbose=is_verbose))


@of_kind(recorded("group-tools")["clusters"], "state")
def test_each_release_describes_the_state_as_its_tool_did(cluster, case):
    group, is_verbose = group_of(cluster, case["given"]), "verbose" in case["name"]
    coordinator = coordinator_of(cluster, case["given"])
    compare(case, describe_state(group, coordinator, case["release"], is_verbose=is_verbose))


@of_kind(recorded("group-tools")["clusters"], "reset")
def test_each_release_resets_offsets_as_its_tool_did(cluster, case):
    reset = planned(cluster, case)
    compare(case, export_offsets(reset) if case["name"] == "reset export" else reset.printed)


@of_kind(recorded("group-tools")["clusters"], "delete some", "delete one", "delete two", "delete unknown")
def test_each_release_deletes_groups_as_its_tool_did(cluster, case):
    names = words_after(case, "--group")
    compare(case, delete_groups(Settings(), store_of(cluster, case), names, case["release"])[1])


@of_kind(recorded("group-tools")["clusters"], "delete-offsets")
def test_each_release_deletes_offsets_as_its_tool_did(cluster, case):
    group_id, scope = words_after(case, "--group")[0], words_after(case, "--topic")
    store, topics = store_of(cluster, case), topics_of(cluster)
    compare(case, delete_offsets(Settings(), store, group_id, scope, topics, case["release"])[1])


def words_in(text):
    """The lines, and of one line that names several groups these names."""
    return text.replace(", ", "\n").replace("(", "\n").replace(")", "\n").split("\n")


@of_kind(recorded("group-tools")["clusters"], "reset executed")
def test_an_executed_reset_leaves_the_offsets_that_the_broker_had_afterwards(cluster, case):
    group = fresh_group(case["given"])
    store = Store(groups=(group,))
    for commit in planned(cluster, case).commits(now_ms=1000):
        store = simulate(Settings(), [commit], store)[-1].state

    left = {(each.topic, each.partition): each.offset for each in store.group(case["given"]).offsets}
    assert left == {(topic, number): offset for topic, number, offset, _ in case["after"]}


ORDERS = TopicPartition("orders", 0)
LOGS = {"orders": [PartitionLog(7, start=2)] * 2}
BILLING = Group(
    "billing",
    state="Stable",
    members=(Member("c1-3f", "c1", "/10.0.0.7", assigned=(ORDERS, TopicPartition("orders", 1))),),
    offsets=(Committed("orders", 0, 5), Committed("payments", 3, 1)),
)


IDLE = replace(BILLING, members=(*BILLING.members, Member("c9-00", "c9", "/10.0.0.9")))


@pytest.mark.parametrize("release", ["0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.1", "4.3"])
def test_members_that_own_nothing_have_a_line_from_0_10_2_to_1_0(release):
    """collectConsumerAssignment at 0.10.2.2 and 1.0.2; `consumers.filter(_.assignment.nonEmpty)` since 1.1."""
    idle = [line.split() for line in describe_offsets(IDLE, LOGS, release).splitlines() if "c9-00" in line]
    is_shown = release in ("0.10.2", "0.11.0", "1.0")
    assert [cells[:6] for cells in idle] == [["-", "-", "-", "-", "-", "c9-00"]] * is_shown


@pytest.mark.parametrize("release", ["0.10.2", "1.0", "1.1", "2.0", "2.1", "4.3"])
def test_no_member_is_shown_before_the_first_commit_up_to_2_0(release):
    """`if (offsets.isEmpty) List()` at 0.10.2.2 to 2.0.1; the header stands alone up to 1.0, nothing at all since."""
    printed = describe_offsets(replace(BILLING, offsets=()), LOGS, release)
    lines = printed.split("\n")[1:-1]
    expected = {"0.10.2": 1, "1.0": 1, "1.1": 0, "2.0": 0}
    assert len(lines) == expected.get(release, 1 + sum(len(each.assigned) for each in BILLING.members))


def test_the_tools_of_0_9_and_0_10_name_owners_and_know_no_offsets_without_one():
    assert describe_offsets(BILLING, LOGS, "0.9.0") == (
        "GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\n"
        "billing, orders, 0, 5, 7, 2, c1_/10.0.0.7\n"
        "billing, orders, 1, unknown, 7, unknown, c1_/10.0.0.7\n"
    )
    form = "%-30s %-30s %-10s %-15s %-15s %-15s %s\n"
    assert describe_offsets(BILLING, LOGS, "0.10.1").startswith(
        form % ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")
        + form % ("billing", "orders", 0, 5, 7, 2, "c1_/10.0.0.7")
    )
    empty = Group("billing", offsets=BILLING.offsets)
    assert describe_offsets(empty, LOGS, "0.10.0") == "Consumer group `billing` does not exist or is rebalancing.\n"
    assert describe_offsets(empty, LOGS, "0.10.1") == "Consumer group `billing` is rebalancing.\n"


@pytest.mark.parametrize(
    ("scenario", "value", "said"),
    [
        ("shift-by", 1000, "New offset (1005) is higher than latest offset for topic partition orders-0. "
         "Value will be set to 7"),
        ("shift-by", -10, "New offset (-5) is lower than earliest offset for topic partition orders-0. "
         "Value will be set to 2"),
        ("to-offset", 8, "New offset (8) is higher than latest offset for topic partition orders-0. "
         "Value will be set to 7"),
        ("from-file", "orders,0,1", "New offset (1) is lower than earliest offset for topic partition orders-0. "
         "Value will be set to 2"),
    ],
)  # fmt: skip
def test_an_offset_that_is_moved_into_the_log_is_warned_of_on_standard_error(scenario, value, said):
    idle = replace(BILLING, state="Empty", members=())
    scope = None if scenario == "from-file" else ["orders:0"]
    reset = reset_offsets(idle, LOGS, scenario, value, scope=scope, release="4.3")
    assert reset.warned == (said,)
    assert said not in reset.printed
    assert reset_offsets(idle, LOGS, scenario, value, scope=scope, release="4.4").warned == (f"{said}.",)


@pytest.mark.parametrize(
    ("scenario", "value"), [("to-offset", 7), ("to-offset", 2), ("shift-by", 1), ("to-latest", None)]
)
def test_an_offset_in_the_log_is_not_warned_of(scenario, value):
    idle = replace(BILLING, state="Empty", members=())
    assert reset_offsets(idle, LOGS, scenario, value, scope=["orders:0"]).warned == ()


def test_a_reset_is_refused_while_the_group_has_members():
    refused = reset_offsets(BILLING, LOGS, "to-latest", scope=["orders"])
    assert refused.is_refused
    assert refused.commits(0) == ()


def test_bad_input_is_refused_in_a_sentence():
    empty = Group("billing", offsets=(Committed("orders", 0, 5),))
    with pytest.raises(KafkaLearnError, match="Cannot shift offset for partition orders-1 since there is no current"):
        reset_offsets(empty, LOGS, "shift-by", -1, scope=["orders"])
    with pytest.raises(KafkaLearnError, match="--to-offset needs a value"):
        reset_offsets(empty, LOGS, "to-offset")
    with pytest.raises(KafkaLearnError, match="unknown topic 'order'; did you mean 'orders'"):
        reset_offsets(empty, LOGS, "to-latest", scope=["order"])
    with pytest.raises(KafkaLearnError, match="there is no partition orders-9"):
        reset_offsets(empty, LOGS, "to-latest", scope=["orders:9"])
    for written in ("1h", "PT", "P1M", "P"):
        with pytest.raises(KafkaLearnError, match="the duration must be like"):
            duration_ms(written)
    with pytest.raises(KafkaLearnError, match=r"line 2 must be topic,partition,offset"):
        read_csv("orders,0,1\norders,0\n", ["billing"])
    with pytest.raises(KafkaLearnError, match=r"--members is known since 1\.1"):
        describe_members(BILLING, "1.0")
    with pytest.raises(KafkaLearnError, match=r"--delete-offsets is known since 2\.4"):
        delete_offsets(Settings(), Store(), "g", ["orders"], LOGS, "2.3")
    with pytest.raises(KafkaLearnError, match="cannot end at 1"):
        PartitionLog(1, start=2)


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ({10**5000: [PartitionLog(1)]}, "a name of topics must be a str, got int a whole number of about 5,001 digits"),
        ({"orders": [10**5000]}, r"topics\['orders'\]\[0\] must be PartitionLog\(end\), got a whole number of about"),
    ],
    ids=["a name", "a log"],
)
def test_what_is_no_topic_is_refused(topics, said):
    with pytest.raises(KafkaLearnError, match=said):
        describe_offsets(BILLING, topics)
