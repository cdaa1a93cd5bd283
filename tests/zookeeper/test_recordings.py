"""Groups of old consumers on a real Kafka 1.1.1, replayed operation by operation."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.zookeeper.connector import step
from tests.every import every_case
from tests.recorded import recorded
from tests.zookeeper.replaying import Player

RECORDED = recorded("old-consumer-groups")


def name_of(script):
    """For the list of tests."""
    return script["name"]


def own_id(script):
    """The id that a consumer made of host, time and a random number; None if all were given names."""
    ids = [name for done in script["steps"] for name in done["ids"] if re.search(r"-\d{13}-[0-9a-f]{1,8}$", name)]
    return ids[0] if ids else None


def played(script, choose=None):
    """The steps of a script with a player after each."""
    player = Player({**script, "own_id": own_id(script)}, step, choose)
    for done in script["steps"]:
        frozen = player.play(done)
        yield done, player, frozen


@every_case("script", RECORDED["scripts"], ids=name_of)
def test_every_operation_leaves_the_recorded_nodes(script):
    for done, player, frozen in played(script):
        assert (done["op"], player.ids) == (done["op"], done["ids"])
        assert (done["op"], player.owners) == (done["op"], done["owners"])
        assert player.offsets == done["offsets"]
        if frozen is not None:
            assert frozen == done["while_frozen"]


@every_case("script", RECORDED["scripts"], ids=name_of)
def test_every_consumer_reads_the_recorded_records(script):
    for done, player, _ in played(script):
        read = {name: sorted(records) for name, records in done["read"].items() if records}
        assert {name: sorted(records) for name, records in player.read.items()} == read


@every_case("script", RECORDED["scripts"], ids=name_of)
def test_every_application_is_thrown_the_recorded_words(script):
    for done, player, _ in played(script):
        for member in done["read"]:
            connector = player.group.connector(member)
            waits = player.settings.consumer_timeout_ms >= 0 and connector is not None and connector.has_streams
            if waits and connector.is_running:
                player.wait(member)
        errors = {name: [word[2:] for word in words] for name, words in done.get("errors", {}).items()}
        assert player.threw == errors


@every_case("script", RECORDED["scripts"], ids=name_of)
def test_every_rebalance_is_made_by_the_recorded_thread_in_the_recorded_number_of_tries(script):
    for done, player, _ in played(script):
        for member, rebalances in done.get("rebalances", {}).items():
            assert (done["op"], member, player.rebalances.get(member)) == (done["op"], member, rebalances)


@every_case("script", RECORDED["scripts"], ids=name_of)
def test_nodes_agree_to_the_byte(script):
    for done, player, _ in played(script):
        for path, content in done.get("nodes", {}).items():
            stamp = re.compile(r'"timestamp":"\d+"')
            ours = player.node(path)
            if path.startswith("/brokers/ids"):
                ours = ours.replace("9092", str(json.loads(content)["port"]))
            assert stamp.sub("", ours) == stamp.sub("", content)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(RECORDED["scripts"]), st.randoms(use_true_random=False))
def test_whoever_is_quicker_the_group_ends_as_recorded(script, random):
    for done, player, frozen in played(script, random.choice):
        assert player.ids == done["ids"]
        assert player.owners == done["owners"]
        if frozen is not None:
            assert frozen == done["while_frozen"]
