"""kafka-topics --describe, held to what the released tools printed of a cluster with two of four brokers dead."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.faults import KINDS, Finding, cluster_logs, find_faults, judge, plant
from kafkalearn.operations.incident import BACK, CLEANED, DEAD_AGAIN, FULL, GROWING, HEALTHY, STAGES, Incident, play
from kafkalearn.operations.topic_description import OPTIONS, PartitionInfo, TopicInfo, describe_topics
from tests.recorded import recorded

CASES = recorded("topic-tool")["cases"]
LIVE = (1, 2)
NONE_LEFT = {"none": None, "-1": None}


def facts_of(line):
    return {name: value.strip() for name, _, value in (cell.partition(":") for cell in line.strip("\n").split("\t"))}


def ids(text):
    return tuple(int(each) for each in text.split(",") if each)


def topics_in(text):
    """The topics that a description names; the description is all that is known of them."""
    found = []
    for line in text.splitlines():
        facts = facts_of(line.removeprefix("\t"))
        if not line.startswith("\t"):
            config = dict(each.split("=", 1) for each in _settings(facts["Configs"]))
            found.append((facts["Topic"], facts.get("TopicId"), config, []))
            continue
        leader = NONE_LEFT[facts["Leader"]] if facts["Leader"] in NONE_LEFT else int(facts["Leader"])
        moving = ids(facts.get("Adding Replicas", "")), ids(facts.get("Removing Replicas", ""))
        elr = [None if facts.get(name, "N/A") == "N/A" else ids(facts[name]) for name in ("Elr", "LastKnownElr")]
        found[-1][3].append(PartitionInfo(ids(facts["Replicas"]), ids(facts["Isr"]), leader, *moving, *elr))
    return [TopicInfo(name, partitions, config, topic_id) for name, topic_id, config, partitions in found]


def _settings(text):
    """Settings are joined by commas, and so are the members of a list that is a setting."""
    settings = []
    for word in text.split(",") if text else []:
        if "=" in word:
            settings.append(word)
        else:
            settings[-1] += f",{word}"
    return settings


WHOLE = ("describe all", "describe moving")


@pytest.mark.parametrize("case", [each for each in recorded("topic-tool")["cases"] if each["name"] in WHOLE])
def test_what_is_printed_of_all_says_what_each_option_chooses(case):
    topics = topics_in(case["stdout"])
    assert describe_topics(topics, LIVE, case["release"]) == case["stdout"]
    if case["name"] == "describe all":
        of_it = [each for each in CASES if each["release"] == case["release"] and each["brokers"] == case["brokers"]]
        for each in of_it:
            option = each["name"].removeprefix("describe --")
            if option in OPTIONS:
                assert describe_topics(topics, LIVE, case["release"], only=option) == each["stdout"], option


@pytest.mark.parametrize(
    "case", recorded("topic-descriptions")["cases"], ids=lambda each: f"{each['kafka']} without {each['killed']}"
)
def test_older_tools_leave_out_blanks_and_ids(case):
    assert describe_topics(topics_in(case["text"]), LIVE, case["kafka"]).strip() == case["text"].strip()


def test_a_partition_that_is_moving_is_not_under_replicated_for_that():
    moving = PartitionInfo((3, 4, 1, 2), (1, 2), 1, adding=(3, 4), removing=(1, 2))
    assert not moving.is_under_replicated
    assert PartitionInfo((1, 2), (1,), 1).is_under_replicated


def test_of_two_dead_leaders_without_elr_only_the_one_with_other_replicas_is_listed_as_under_replicated():
    """As the claim of chapter 13 says; both are unavailable."""
    topic = TopicInfo("orders", [PartitionInfo((1, 2, 3), (1,), None), PartitionInfo((1,), (1,), None)])

    listed = {
        option: [facts_of(line)["Partition"] for line in describe_topics([topic], [2, 3], only=option).splitlines()]
        for option in ("under-replicated-partitions", "unavailable-partitions")
    }

    assert listed == {"under-replicated-partitions": ["0"], "unavailable-partitions": ["0", "1"]}


def test_what_a_release_did_not_know_is_refused():
    topic = TopicInfo("t", [PartitionInfo((1,), (1,), 1)])
    with pytest.raises(KafkaLearnError, match=r"--at-min-isr-partitions is known since 2\.4"):
        describe_topics([topic], [1], "2.3", only="at-min-isr-partitions")
    with pytest.raises(KafkaLearnError, match="unknown option 'under-replicated'"):
        describe_topics([topic], [1], only="under-replicated")
    with pytest.raises(KafkaLearnError, match=r"isr names \[2\]"):
        PartitionInfo((1,), (2,), 1)


@pytest.fixture(scope="module", params=["2.0", "4.3"])
def stages(request):
    return request.param, {stage.name: stage for stage in play(Incident(release=request.param))}


def test_the_partition_grows_when_its_cleaner_has_stopped_and_shrinks_when_it_runs_again(stages):
    release, seen = stages
    assert list(seen) == list(STAGES)
    assert seen[GROWING].cleaner == ("dead" if release == "2.0" else "uncleanable")
    assert seen[GROWING].size_bytes > 2 * seen[HEALTHY].size_bytes
    assert seen[BACK].size_bytes == seen[GROWING].size_bytes  # a restart alone cleans nothing
    assert seen[CLEANED].size_bytes < seen[GROWING].size_bytes / 2
    assert seen[CLEANED].cleaner == "running"


def test_groups_are_lost_with_one_replica_and_not_with_three(stages):
    _, seen = stages
    assert {name for name, stage in seen.items() if stage.lost_groups} == {FULL}
    assert 60 < seen[FULL].lost_groups < 140
    assert (seen[FULL].replica_count, seen[DEAD_AGAIN].replica_count) == (1, 3)


def test_sizes_that_are_none_are_refused():
    with pytest.raises(KafkaLearnError, match="group_count must be at least 1"):
        Incident(group_count=0)


SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_planted_is_found_and_nothing_else(seed):
    planted = plant(seed, fault_count=len(KINDS))
    verdict = judge(find_faults(cluster_logs(seed, planted)), planted)

    assert {each.kind for each in planted} == {*KINDS}
    assert verdict.is_perfect, [str(each) for each in (*verdict.missed, *verdict.wrong)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_without_faults_gives_no_finding(seed):
    assert find_faults(cluster_logs(seed, faults=[])) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_alone_is_found_alone(kind):
    planted = plant(77, kinds=[kind])
    assert [each.kind for each in find_faults(cluster_logs(77, planted))] == [kind]


def test_seeds_give_other_faults_places_and_times():
    drawn = [plant(seed) for seed in SEEDS]
    assert all(len({each.kind for each in of_seed}) == 6 for of_seed in drawn)
    assert len({tuple(each.kind for each in of_seed) for of_seed in drawn}) > 4
    assert len({each.broker for of_seed in drawn for each in of_seed}) == 7  # six brokers, and faults without one
    assert plant(3) == plant(3)


def test_the_same_history_with_more_records():
    planted = plant(5)
    small, large = cluster_logs(5, planted), cluster_logs(5, planted, records_per_batch=400)
    assert judge(find_faults(large), planted).is_perfect
    assert len(large.batches) == len(small.batches)
    ratio = sum(row.record_count for row in large.batches) / sum(row.record_count for row in small.batches)
    assert 9.8 < ratio < 10.2


def test_the_judge_wants_kind_place_and_time():
    truth = Finding("frozen follower", 1_000_000, 3, "orders", 7)
    right = Finding("frozen follower", 1_300_000, 3, "orders", 7)
    elsewhere = Finding("frozen follower", 1_000_000, 3, "orders", 8)
    late = Finding("frozen follower", 9_000_000, 3, "orders", 7)

    assert judge([right], [truth]).is_perfect
    for wrong in (elsewhere, late):
        assert str(judge([wrong], [truth])) == "0 faults found, 1 missed, 1 wrong"
    assert str(judge([right, right], [truth])) == "1 fault found, 0 missed, 1 wrong"  # once is enough


def test_bad_input_is_refused():
    with pytest.raises(
        KafkaLearnError, match="a frozen follower is named by broker, topic and partition; partition is"
    ):
        Finding("frozen follower", 0, 3, "orders")
    with pytest.raises(KafkaLearnError, match="unknown kind 'dead cleaners'; did you mean 'dead cleaner'"):
        plant(1, kinds=["dead cleaners"])
    with pytest.raises(KafkaLearnError, match="find_faults looks at ClusterLogs"):
        find_faults([])
    with pytest.raises(KafkaLearnError, match=r"faults must be Finding"):
        cluster_logs(1, faults=["dead cleaner"])
