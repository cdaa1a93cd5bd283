"""kafka-topics --describe, held to what the released tools printed of a cluster with two of four brokers dead."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
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


def test_what_a_release_did_not_know_is_refused():
    topic = TopicInfo("t", [PartitionInfo((1,), (1,), 1)])
    with pytest.raises(KafkaLearnError, match=r"--at-min-isr-partitions is known since 2\.4"):
        describe_topics([topic], [1], "2.3", only="at-min-isr-partitions")
    with pytest.raises(KafkaLearnError, match="unknown option 'under-replicated'"):
        describe_topics([topic], [1], only="under-replicated")
    with pytest.raises(KafkaLearnError, match=r"isr names \[2\]"):
        PartitionInfo((1,), (2,), 1)
