"""What stands in the nodes, where they are, and the order in which Scala writes its maps."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper.layout import (
    Registration,
    broker_content,
    consumer_id,
    consumer_of_thread,
    ids_path,
    immutable_order,
    mutable_order,
    owner_path,
    read_registration,
    read_topic,
    thread_id,
    topic_content,
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
        again = Registration(sorted(given) if static and len(given) > 4 else given, read["pattern"])
        if static:
            assert again.json().replace('"0"', f'"{read["timestamp"]}"') == content
        assert read_registration(content).subscription == given


def test_a_topic_of_few_and_of_many_partitions_is_written_as_a_real_one():
    written = {
        path: content for path, content in nodes(RECORDED["scripts"]).items() if path.startswith("/brokers/topics")
    }
    assert {len(read_topic(content)) for content in written.values()} == {2, 3, 4, 12}
    for path, content in written.items():
        count = len(read_topic(content))
        assert topic_content(path.rpartition("/")[2], [[0]] * count) == content


def test_a_broker_is_written_as_a_real_one():
    content = nodes(RECORDED["scripts"])["/brokers/ids/0"]
    read = json.loads(content)
    assert broker_content(read["host"], read["port"], int(read["timestamp"])) == content


def test_an_id_that_a_consumer_gave_itself_has_the_real_form():
    script = next(each for each in RECORDED["scripts"] if each["name"].startswith("an id"))
    real = next(iter(script["steps"][-1]["ids"]))
    group, _, rest = real.partition("_")
    host, started, digits = rest.rsplit("-", 2)
    assert consumer_id(group, host, int(started), int(digits, 16) << 32) == real
    assert thread_id(real, 0) in json.dumps(script["steps"][-1]["owners"])


def test_a_uuid_that_begins_with_zeros_gives_other_digits_than_its_text():
    assert consumer_id("g", "h", 1, 0x00ABCDEF12345678) == "g_h-1-abcdef12"


@given(st.lists(st.text("abcdefgh.-_", min_size=1), unique=True, max_size=40))
def test_both_orders_keep_every_key_once(keys):
    assert sorted(immutable_order(keys)) == sorted(mutable_order(keys)) == sorted(keys)


@given(st.text(min_size=1).filter(lambda name: "/" not in name and max(name) < "\ud800"), st.integers(0, 99))
def test_the_consumer_of_a_thread_is_found_again(name, number):
    assert consumer_of_thread(thread_id(name, number)) == name


def test_a_name_with_a_stroke_in_it_is_refused():
    for wrong in (lambda: ids_path("a/b"), lambda: owner_path("g", "", 0), lambda: owner_path("g", "t", -1)):
        with pytest.raises(KafkaLearnError):
            wrong()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"subscription":{"a":"x"},"pattern":"static"}', "{"])
def test_what_is_no_registration_is_refused(content):
    with pytest.raises(KafkaLearnError, match="no registration"):
        read_registration(content)


def test_what_is_no_topic_is_refused():
    with pytest.raises(KafkaLearnError, match="no node of a topic"):
        read_topic('{"partitions":7}')
