"""What the playground answers: the same as the library's own functions, and each mistake in the reader's words."""

from __future__ import annotations

import base64
import json
from importlib import import_module

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.coordinator import find_coordinator
from kafkalearn.offsets import encode_key, encode_value
from kafkalearn.oncall import why
from kafkalearn.partitioning import PARTITIONERS, partition_for_key
from kafkalearn.replication import PROMISES, Settings, broken
from kafkalearn.replication import simulate as replicate
from kafkalearn.scenarios import find_change, simulate
from tools.page import answer
from tools.page.playground import ANSWERS, MOVES, REPLICAS

search_in = import_module("tools.page.playground")
NIGHT = "topic orders has 6 partitions\nat 0 s: c1, c2 and c3 join\nat 60 s: c2 pauses for 50 s"


def said(name, **fields):
    """As the page is answered: through JSON."""
    told = json.loads(answer(f"playground.{name}", json.dumps(fields)))
    assert "error" not in told, told
    return told["result"]


def refused(name, **fields):
    told = json.loads(answer(f"playground.{name}", json.dumps(fields)))
    assert "trace" not in told, told
    return told["error"]


@pytest.mark.parametrize("group", ["billing", "位移主题", "group-😀", "a b", "<b>&"])
def test_the_coordinator_is_that_of_the_rule(group):
    found = find_coordinator(group, brokers=5, partition_count=7)

    told = said("coordinator", group=group, brokers="5", partitions="7")

    assert told["text"] == (
        f"Partition {found.partition} of __consumer_offsets is led by broker {found.broker_id}: it coordinates {group}."
    )
    assert len(told["animation"]["frames"]) == told["start"] + 1


def test_a_pasted_description_without_a_leader():
    lines = "\n".join(
        f"\tTopic: __consumer_offsets\tPartition: {p}\tLeader: none\tReplicas: 1\tIsr: " for p in range(50)
    )

    assert "COORDINATOR_NOT_AVAILABLE" in said("coordinator", group="billing", describe=lines)["text"]


@pytest.mark.parametrize(("form", "key", "data"), [("text", "user-42", b"user-42"), ("bytes", "00 ff", b"\0\xff")])
def test_the_partition_is_that_of_each_client(form, key, data):
    told = said("partition", key=key, form=form, partitions="12")

    for name in ("murmur2", "crc32", "fnv1a", "spark"):
        assert f">{name}</td>" in told["html"]
        assert f">{partition_for_key(data, 12, name)}</td>" in told["html"]
    assert set(PARTITIONERS) == {name for name in PARTITIONERS if f">{name}</td>" in told["html"]}


def test_a_scenario_is_played_and_cured_as_by_the_library():
    settings = {"session.timeout.ms": 10_000}

    told = said("scenario", scenario=NIGHT, settings="session.timeout.ms = 10000", protocol="classic")
    cure = said("cure", scenario=NIGHT, settings="session.timeout.ms = 10000")

    assert told["text"] == str(simulate(NIGHT, settings=settings))
    assert told["html"].startswith("<svg")
    assert len(told["animation"]["frames"]) == len(simulate(NIGHT, settings=settings).trace)
    assert cure["text"] == str(find_change(NIGHT, settings=settings))


def test_a_line_of_moves_is_the_run_of_the_simulator_step_by_step():
    line = "Produce(acks=1) > Fetch(2) > BrokerCrashed(1) > SessionExpired(1)"
    settings = Settings(REPLICAS, fetch_wait_max_ms=0, is_unclean_election_enabled=False)
    trace = replicate(settings, [MOVES[words] for words in line.split(" > ")])

    told = said("moves", line=line.lower())

    assert told["line"] == line
    assert [each["broken"] for each in told["steps"]] == [
        list(broken(settings, frame.state, trace[max(at - 1, 0)].state if at else None))
        for at, frame in enumerate(trace)
    ]


@pytest.mark.parametrize("line", ["", "Produce(acks=1) > BrokerCrashed(1)", "BrokerFrozen(2) > TimePassed(30000)"])
def test_each_move_that_is_offered_can_come_and_no_other(line):
    offered = said("moves", line=line)["steps"][-1]["moves"]

    for words in MOVES:
        whole = f"{line} > {words}"
        if words in offered:
            assert said("moves", line=whole)["line"].endswith(words)
    assert 0 < len(offered) < len(MOVES)
    assert "BrokerStarted(3)" not in offered


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize(
    ("acks", "line"), [("1", ""), ("all", "Fetch(2)"), ("all", "BrokerCrashed(3) > SessionExpired(3)")]
)
def test_what_the_search_finds_breaks_the_promise_when_it_is_played(promise, acks, line, monkeypatch):
    monkeypatch.setattr(search_in, "BUDGET", 3000)
    found = said("search", line=line, acks=acks, promise=promise)

    if found["line"]:
        assert found["line"].startswith(line)
        played = said("moves", line=found["line"])
        assert promise in played["steps"][-1]["broken"]
        assert all(promise not in each["broken"] for each in played["steps"][:-1])
    else:
        assert "states" in found["text"] or "needs another leader" in found["text"]


@pytest.mark.parametrize(
    "line", ["Produce(acks=1) > BrokerCrashed(2)", "BrokerCrashed(2)", "Fetch(2) > BrokerCrashed(2)"]
)
def test_where_the_shortest_needs_another_order_the_search_finds_one_for_this_order(line):
    found = said("search", line=line, acks="1")

    assert "SessionExpired(1) > SessionExpired(2)" in found["text"]
    assert "acknowledged records survive" in said("moves", line=found["line"])["steps"][-1]["broken"]


def test_a_search_from_a_step_that_breaks_the_promise_says_so():
    found = said("search", line="Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)", acks="1")

    assert found["text"].startswith("The step on show breaks it already: acknowledged records survive.")
    assert found["line"] == ""


def test_an_assignment_before_and_after():
    group = {"topics": "orders 6\nclicks 3", "members": "C0\nC1\nC2: orders", "after": "C0\nC2: orders"}
    told = {name: said("assignment", assignor=name, **group) for name in ("range", "sticky", "uniform of the broker")}

    assert {each["text"].split(":")[0] for each in told.values()} == {"9 partitions on 2 members"}
    assert told["range"]["text"].startswith("9 partitions on 2 members: C0 6, C2 3. 6 kept their owner, 3 moved.")
    assert "cooperative-sticky" in told["sticky"]["html"]
    assert "animation" in told["range"]
    assert "animation" not in told["uniform of the broker"]
    assert "animation" not in said("assignment", topics="orders 6", members="C0\nC1")


def test_bytes_of_the_offsets_topic_in_hex_and_base64():
    key = encode_key("OFFSET_COMMIT", {"group": "billing", "topic": "orders", "partition": 3})
    value = encode_value("OFFSET_COMMIT", 3, {"offset": 7, "metadata": "<b>", "commitTimestamp": 1})
    told = said("record", key=key.hex(" "), value=base64.b64encode(value).decode())

    assert told["text"] == said("record", key=key.hex(), value=value.hex())["text"]
    assert "'offset': 7" in told["text"]
    assert told["animation"]["captions"][-1].startswith("Value, byte")
    assert "tombstone" in said("record", key=key.hex(), value="null")["text"]


def test_a_segment_of_a_real_broker():
    path = max((data_directory("offsets-topic") / "disk").rglob("*.log"), key=lambda each: each.stat().st_size)
    told = said("segment", file=path.name, data=base64.b64encode(path.read_bytes()).decode())

    assert "batch" in told["text"]
    assert "offset commit" in told["html"]
    assert "<table" in told["html"]


LOG = """[2026-11-22 15:46:20,000] INFO Preparing to rebalance group billing in state PreparingRebalance with old \
generation 7 (reason: removing member c2-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11 on heartbeat expiration.). (a.B)
[2026-11-22 15:46:21,500] INFO Assignment received from leader c1-1 for group billing for generation 8. The group has \
1 members, 0 of which are static. (a.B)"""


def test_log_lines_are_explained_as_the_command_explains_them():
    told = said("explain", lines=LOG, zone="+08:00")

    assert told["text"] == str(why(LOG.splitlines(), zone="+08:00"))
    assert "removing member c2-0b9f8b9e" in told["html"]
    assert "say nothing about group 'other'" in said("explain", lines=LOG, group="other")["text"]
    assert "no lines" in refused("explain", lines=" ")


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("coordinator", {"group": "billing", "brokers": "three"}, "brokers must be a whole number, got 'three'"),
        ("partition", {"key": "k", "partitions": "0"}, "at least 1"),
        ("partition", {"key": "xyz", "form": "bytes"}, "key must be bytes in hex"),
        ("scenario", {"scenario": "at 0 s: c1 dances"}, "line 1"),
        ("scenario", {"scenario": NIGHT, "settings": "x"}, "must be: name = value"),
        ("scenario", {"scenario": NIGHT, "protocol": "new"}, "unknown protocol 'new'"),
        ("moves", {"line": "Produce > Jump"}, "move 2, 'Jump', is none"),
        ("moves", {"line": "BrokerStarted(1)"}, "move 1, BrokerStarted(1), cannot come there"),
        ("moves", {"line": " > ".join(["Produce"] * 51)}, "a line may have 50 moves, got 51"),
        ("moves", {"line": "", "min_isr": "0"}, "min_insync_replicas"),
        ("assignment", {"topics": "orders six", "members": "C0"}, "line 1 of topics"),
        ("assignment", {"topics": "orders 6", "members": "C0: clicks"}, "there is no topic 'clicks'"),
        ("record", {"key": ""}, "key is empty"),
        ("record", {"key": "00 09 00"}, "byte"),
        ("segment", {"file": "x.log", "data": "%"}, "did not come through whole"),
    ],
)
def test_what_the_reader_can_mend_is_said(name, fields, words):
    assert words in refused(name, **fields)


def test_no_part_takes_a_whole_library():
    with pytest.raises(KafkaLearnError, match="may have 200,000 characters"):
        ANSWERS["scenario"]({"scenario": "x" * 200_001})
