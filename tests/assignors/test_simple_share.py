"""The assignor of share groups: every target that brokers of three releases have written, and what holds of any."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.assignors import Member
from kafkalearn.assignors.simple_share import assign_shared
from kafkalearn.base.errors import KafkaLearnError
from tests.recorded import recorded

CASES = recorded("share-assignments")["cases"]


def test_the_recordings_hold_groups_of_every_kind():
    kinds = {"alike": 0, "not alike": 0, "shared": 0, "kept of a topic that nobody subscribes to": 0}
    for case in CASES:
        topics_of = [topics for _, topics, _ in case["members"]]
        kinds["alike" if len(set(map(frozenset, topics_of))) == 1 else "not alike"] += 1
        given_out = [place for has in case["target"].values() for place in has]
        kinds["shared"] += len(given_out) > len(set(given_out))
        subscribed = {topic for topics in topics_of for topic in topics}
        kinds["kept of a topic that nobody subscribes to"] += any(
            place.rpartition("-")[0] not in subscribed for place in given_out
        )
    assert {case["release"] for case in CASES} == {"4.2.1", "4.3.1", "4.4.0"}
    assert kinds == {
        "alike": 758, "not alike": 242, "shared": kinds["shared"], "kept of a topic that nobody subscribes to": 1,
    }  # fmt: skip
    assert kinds["shared"] > 100


NAMES = st.lists(st.text("abcABm0123456789", min_size=1, max_size=4), min_size=1, max_size=8, unique=True)
COUNTS = st.lists(st.integers(1, 5), min_size=1, max_size=3)


@given(NAMES, COUNTS, st.data())
def test_each_partition_is_with_somebody_and_nobody_has_more_than_his_share(names, counts, data):
    topics = {f"t{place}": range(count) for place, count in enumerate(counts)}
    had = assign_shared(topics, [Member(each, topics) for each in names])
    left = data.draw(st.lists(st.sampled_from(names), unique=True))
    members = [Member(each, topics, had[each]) for each in names if each not in left] + [Member("new", topics)]
    for group, target in ((names, had), (members, assign_shared(topics, members))):
        total, count = sum(counts), len(group)
        sharing = ceil(count / total)
        sharers = [sum(place in owned for owned in target.values()) for place in all_places(topics)]
        assert min(sharers) >= 1
        assert max(sharers) <= sharing
        sizes = [len(owned) for owned in target.values()]
        assert max(sizes) <= ceil(sharing * total / count)


def all_places(topics):
    return [(topic, number) for topic, numbers in topics.items() for number in numbers]


@given(NAMES, st.integers(1, 6))
def test_asked_again_nothing_moves(names, count):
    members = [Member(each, ["t"]) for each in names]
    first = assign_shared({"t": range(count)}, members)
    again = assign_shared({"t": range(count)}, [Member(each, ["t"], first[each]) for each in names])
    assert again == first


def test_more_members_than_partitions_share_them():
    target = assign_shared({"t": [0, 1]}, [Member(each, ["t"]) for each in ("m1", "m2", "m3")])
    assert sorted(target.counts().values()) == [1, 1, 2]
    assert {place for owned in target.values() for place in owned} == {("t", 0), ("t", 1)}


def test_only_what_is_initialised_is_assigned():
    assert assign_shared({"t": []}, [Member("m1", ["t"])])["m1"] == ()
    assert assign_shared({"t": [2]}, [Member("m1", ["t", "unknown"])])["m1"] == (("t", 2),)
    assert dict(assign_shared({"t": [2]}, [])) == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({"t": [0]}, [Member("m", ["t"]), Member("m", ["t"])]), "two members have the id 'm'"),
        (({"t": [-1]}, [Member("m", ["t"])]), "a partition of 't' must be at least 0, got -1"),
        (({"t": 3}, [Member("m", ["t"])]), "partitions of 't'"),
        ((["t"], [Member("m", ["t"])]), "partitions must"),
        (({"t": [0]}, ["m"]), "members must be Member objects"),
    ],
)
def test_what_cannot_be_assigned_is_refused(arguments, words):
    with pytest.raises(KafkaLearnError, match=words):
        assign_shared(*arguments)


def test_a_topic_without_an_id_is_refused():
    with pytest.raises(KafkaLearnError, match="topic_ids has no id of 'u'"):
        assign_shared({"t": [0], "u": [0]}, [Member("m", ["t", "u"])], topic_ids={"t": "A6AUkuaxQAm4bUDDQCKT_A"})
