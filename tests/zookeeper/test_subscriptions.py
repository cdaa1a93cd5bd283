"""What stands in the nodes, where they are, and the order in which Scala writes its maps."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper import layout
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


def nodes(scripts, above=""):
    """Path -> content of all nodes that were kept to the byte, below a path."""
    steps = [step for script in scripts for step in script["steps"]]
    kept = [each for step in steps for each in step.get("nodes", {}).items()]
    return {path: content for path, content in kept if path.startswith(above)}


def test_a_registration_is_written_as_a_real_one():
    written = {
        path: content
        for path, content in nodes(RECORDED["scripts"]).items()
        if "/ids/" in path and path.startswith("/consumers")
    }
    assert len(written) >= 8
    for content in written.values():
        read = json.loads(content)
        given = tuple(read["subscription"].items())
        static = read["pattern"] == "static"
        again = layout.Registration(sorted(given) if static and len(given) > 4 else given, read["pattern"])
        if static:
            assert again.json().replace('"0"', f'"{read["timestamp"]}"') == content
        assert layout.read_registration(content).subscription == given


def test_a_topic_of_few_and_of_many_partitions_is_written_as_a_real_one():
    written = {
        path: content for path, content in nodes(RECORDED["scripts"]).items() if path.startswith("/brokers/topics")
    }
    assert {len(layout.read_topic(content)) for content in written.values()} == {2, 3, 4, 12}
    for path, content in written.items():
        count = len(layout.read_topic(content))
        assert layout.topic_content(path.rpartition("/")[2], [[0]] * count) == content


def test_a_broker_is_written_as_a_real_one():
    content = nodes(RECORDED["scripts"])["/brokers/ids/0"]
    read = json.loads(content)
    assert layout.broker_content(read["host"], read["port"], int(read["timestamp"])) == content


def test_an_id_that_a_consumer_gave_itself_has_the_real_form():
    script = next(each for each in RECORDED["scripts"] if each["name"].startswith("an id"))
    real = next(iter(script["steps"][-1]["ids"]))
    group, _, rest = real.partition("_")
    host, started, digits = rest.rsplit("-", 2)
    assert layout.consumer_id(group, host, int(started), int(digits, 16) << 32) == real
    assert layout.thread_id(real, 0) in json.dumps(script["steps"][-1]["owners"])


def test_a_uuid_that_begins_with_zeros_gives_other_digits_than_its_text():
    assert layout.consumer_id("g", "h", 1, 0x00ABCDEF12345678) == "g_h-1-abcdef12"


@given(st.lists(st.text("abcdefgh.-_", min_size=1), unique=True, max_size=40))
def test_both_orders_keep_every_key_once(keys):
    assert sorted(layout.immutable_order(keys)) == sorted(layout.mutable_order(keys)) == sorted(keys)


@given(st.text(min_size=1).filter(lambda name: "/" not in name and max(name) < "\ud800"), st.integers(0, 99))
def test_the_consumer_of_a_thread_is_found_again(name, number):
    assert layout.consumer_of_thread(layout.thread_id(name, number)) == name


def test_a_name_with_a_stroke_in_it_is_refused():
    for wrong in (
        lambda: layout.ids_path("a/b"),
        lambda: layout.owner_path("g", "", 0),
        lambda: layout.owner_path("g", "t", -1),
    ):
        with pytest.raises(KafkaLearnError):
            wrong()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"subscription":{"a":"x"},"pattern":"static"}', "{"])
def test_what_is_no_registration_is_refused(content):
    with pytest.raises(KafkaLearnError, match="no registration"):
        layout.read_registration(content)


def test_what_is_no_topic_is_refused():
    with pytest.raises(KafkaLearnError, match="no node of a topic"):
        layout.read_topic('{"partitions":7}')


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
