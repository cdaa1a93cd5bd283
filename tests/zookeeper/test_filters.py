"""Topic filters as regular expressions of Java, and subscriptions as others read them."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper.subscriptions import (
    Filtered,
    InvalidFilter,
    Streams,
    TopicFilter,
    read_subscription,
    stream_counts,
)
from tests.recorded import recorded

RECORDED = recorded("old-consumer-groups")
TOPICS = ("test-a", "test-b", "test", "test--", "mail", "__consumer_offsets", "testa")


@pytest.mark.parametrize(
    ("pattern", "regex", "passed"),
    [
        ("white_list", "test-.*", ("test-a", "test-b", "test--")),
        ("white_list", "test-*", ("test", "test--")),
        ("white_list", " test-a, mail ", ("test-a", "mail")),
        ("white_list", "'mail'", ("mail",)),
        ("white_list", "test", ("test",)),
        ("white_list", "nothing.*", ()),
        ("white_list", "", ()),
        ("black_list", "test.*", ("mail",)),
        ("black_list", ".*", ()),
        ("white_list", "__.*", ()),
        ("white_list", r"test\-\w", ("test-a", "test-b")),
    ],
)
def test_a_filter_is_no_glob(pattern, regex, passed):
    assert TopicFilter(pattern, regex).among(TOPICS) == passed


def test_internal_topics_pass_only_if_they_are_not_excluded():
    assert TopicFilter("white_list", "__.*").among(TOPICS, excludes_internal=False) == ("__consumer_offsets",)


def test_what_java_cannot_read_is_refused_in_its_words():
    for regex in ("*-bad", "(", "[a"):
        with pytest.raises(InvalidFilter, match="is an invalid regex"):
            TopicFilter("white_list", regex)


@pytest.mark.parametrize("regex", [r"\p{Alpha}+", r"\Qa.b\E", "[a-z&&[^b]]", "(?i)test", "a++", "(a+)+", "x" * 300])
def test_what_java_reads_in_another_way_or_takes_for_ever_is_refused(regex):
    with pytest.raises(KafkaLearnError, match=r"filter"):
        TopicFilter("white_list", regex)


def test_a_backslash_is_read_by_others_as_two():
    meant = Filtered(TopicFilter("white_list", r"a\.b"))
    read = read_subscription(meant.registration().json())
    assert meant.filter.covers("a.b")
    assert not read.filter.covers("a.b")


def test_a_topic_without_threads_fails_as_in_kafka():
    assert stream_counts(Filtered(TopicFilter("white_list", "x"), 0), lambda: TOPICS) == {}
    for wrong in (Streams({"a": 0}), Streams({"a": 1, "b": -1}), Filtered(TopicFilter("white_list", "mail"), 0)):
        with pytest.raises(AssertionError, match="assertion failed"):
            stream_counts(wrong, lambda: TOPICS)


@pytest.mark.parametrize("wrong", [{"a": "1"}, {"a/b": 1}, {"": 1}, 7, [("a",)], {1: 1}])
def test_what_are_no_streams_is_refused(wrong):
    with pytest.raises(KafkaLearnError):
        Streams(wrong)


def test_a_filter_has_to_be_one():
    with pytest.raises(KafkaLearnError, match="must be a TopicFilter"):
        Filtered("test-.*")


def test_consumers_with_a_filter_owned_topics_that_it_lets_through():
    owned_by_filter = 0
    for script in RECORDED["scripts"]:
        for done in script["steps"]:
            filters = {name: (regex, kind) for name, (given, kind) in done["ids"].items() for regex in given}
            for topic, parts in done["owners"].items():
                for thread in parts.values():
                    regex, kind = filters.get(thread.rpartition("-")[0], ("", "static"))
                    if kind != "static":
                        owned_by_filter += 1
                        assert TopicFilter(kind, regex).covers(topic)
    assert owned_by_filter > 20
