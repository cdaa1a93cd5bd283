"""The command against a running cluster: what it says is what the cluster has, and it sends requests that only read."""

import importlib
import json
import time
from types import SimpleNamespace

import pytest

from kafkalearn.live import Kafka, connect
from kafkalearn.live.proxy import Proxy
from kafkalearn.oncall.command import main
from kafkalearn.oncall.lag_looks import cluster_look, described_look
from tests.live.groups import ConsumerGroup
from tests.live.lagging import SETTINGS, Lagging
from tests.live.test_connect import READING

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def proxied(release):
    with (
        Proxy() as proxy,
        Kafka(1, release, {**proxy.config, "auto.create.topics.enable": True}, has_logs=True) as kafka,
    ):
        proxy.forward_to(kafka)
        kafka.create_topic("orders", 6)
        yield proxy, kafka


@pytest.fixture
def asked(proxied, capsys):
    proxy, _ = proxied

    def ask(*words):
        proxy.reset()
        code = main([*words, "--bootstrap", f"127.0.0.1:{proxy.port}", "--json"])
        said = capsys.readouterr()
        assert set(proxy.counts) <= READING
        return code, json.loads(said.out) if said.out else said.err

    return ask


def test_where_a_key_is_produced_to_is_what_the_broker_has(proxied, asked):
    _, kafka = proxied
    keys = [f"user-{number}" for number in range(20)]
    kafka.send_records("orders", [(key.encode(), b"", None) for key in keys], partition=-1, partitioner="murmur2")
    with connect(kafka.bootstrap) as cluster:
        lying = {
            record.key.decode(): partition for partition in range(6) for record in cluster.records("orders", partition)
        }

    code, data = asked("where", "key", *keys, "--topic", "orders")

    assert code == 0
    assert {each["name"]: each["partition"] for each in data["places"]} == lying
    assert {each["broker"] for each in data["places"]} == {1}


def test_where_a_group_is_before_there_is_an_offsets_topic_is_a_sentence_and_creates_none(proxied, asked):
    _, kafka = proxied
    code, said = asked("where", "group", "billing")

    assert code == 2
    assert "this cluster has no __consumer_offsets yet" in said
    with connect(kafka.bootstrap) as cluster:
        assert "__consumer_offsets" not in cluster.topics()


def test_safe_reads_the_settings_of_the_topic(asked):
    code, data = asked("safe", "--topic-name", "orders", "--acks", "all")
    settings = {each["name"]: (each["value"], each["origin"]) for each in data["settings"]}

    assert code == 1
    assert settings["replication factor"] == (1, "the topic itself")
    assert settings["min.insync.replicas"] == (1, "the topic itself")
    assert settings["unclean.leader.election.enable"] == (False, "the topic itself")
    assert data["harms"]


def test_where_a_transactional_id_is_kept_is_where_its_record_lies(proxied, asked):
    _, kafka = proxied
    ids = [f"payments-{number}" for number in range(6)]
    for name in ids:
        kafka.producer(transactional_id=name).init_transactions(30)
    with connect(kafka.bootstrap) as cluster:
        kept = {
            record.key[4:].decode(): partition
            for partition in range(cluster.topics()["__transaction_state"])
            for record in cluster.records("__transaction_state", partition)
        }

    code, data = asked("where", "transactional-id", *ids)

    assert code == 0
    assert {each["name"]: each["partition"] for each in data["places"]} == kept


def test_a_topic_that_is_not_there_is_a_sentence(asked):
    for words in (["where", "key", "a", "--topic", "no-such-topic"], ["safe", "--topic-name", "no-such-topic"]):
        code, said = asked(*words)

        assert code == 2
        assert "no-such-topic" in said
        assert "Traceback" not in said


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_why_reads_the_log_of_the_coordinator_and_says_what_the_group_does_now(
    proxied, asked, capsys, tmp_path, protocol
):
    _, kafka = proxied
    name, log = f"why-{protocol}", tmp_path / "server.log"
    group = ConsumerGroup(kafka, name, {"orders": 6}, **{"group.protocol": protocol})
    try:
        for client_id in ("c1", "c2"):
            group.join(client_id)
        described = group.leave("c2")
        log.write_text("\n".join(kafka.server_log(1)))
        code = main(["why", str(log), "--group", name, "--no-advice", "--json", "--bootstrap", kafka.bootstrap])
        data = json.loads(capsys.readouterr().out)
    finally:
        group.close()

    (found,) = data["groups"]
    causes = [each["cause"] for each in found["rebalances"]]
    assert code == 1
    assert found["protocol"] == protocol
    assert causes[:2] == ["member joined", "member joined"]
    assert causes[-1] in ("member left", "member closed")
    assert data["now"] == {
        name: f"Stable, 1 member (c1), assignor {described.assignor}; its coordinator is broker 1",
    }

    code, data = asked("why", "--group", name)  # nobody is in it any more, and no logs are given

    assert code == 2
    assert data["now"][name].startswith("Empty, 0 members, assignor ")


def test_why_says_that_there_is_no_such_group(asked):
    code, data = asked("why", "--group", "no-such-group")

    assert code == 2
    assert "there is no group 'no-such-group'" in data["now"]["no-such-group"]


# The features of a cluster, as its brokers answer and as its tool prints; and what safe makes of them.


@pytest.mark.parametrize("is_on", [False, True])
def test_safe_reads_whether_eligible_leader_replicas_are_on(release, capsys, is_on):
    with Kafka(3, release, has_eligible_leader_replicas=is_on) as kafka:
        kafka.create_topic("orders", 1, 3, config={"min.insync.replicas": 2})
        printed = kafka.tool("features", "describe")
        with connect(kafka.bootstrap) as cluster:
            assert cluster.features().get("eligible.leader.replicas.version", 0) == int(is_on)
        code = main(["safe", "--topic-name", "orders", "--bootstrap", kafka.bootstrap, "--release", release, "--json"])
    (line,) = [each for each in printed.splitlines() if "eligible.leader.replicas.version" in each]

    assert f"FinalizedVersionLevel: {int(is_on)}" in line
    assert code == (0 if is_on else 1)
    assert bool(json.loads(capsys.readouterr().out)["harms"]) is not is_on


# Lag on a running cluster: each cause of one scene is named, and the cluster is only read.
CAUSES = {
    "marker": "markers", "open": "open transaction", "compacted": "not committing", "fresh": "empty",
    "before": "before the start", "beyond": "beyond the end", "unowned": "nobody owns it",
    "falling": "falls", "growing": "grows", "stuck": "not committing",
}  # fmt: skip


def test_a_cluster_is_looked_at_twice_and_each_cause_is_named(release, capsys, monkeypatch):
    with Proxy() as proxy, Kafka(1, release, {**proxy.config, **SETTINGS}) as kafka:
        proxy.forward_to(kafka)
        scene = Lagging(kafka)
        try:
            with connect(kafka.bootstrap) as cluster:
                seen = {each.at: (each.committed, each.end) for each in cluster_look(cluster).partitions}
            printed = {each.at: (each.committed, each.end) for each in described_look(scene.described()).partitions}
            assert seen == printed

            proxy.reset()
            with connect(f"127.0.0.1:{proxy.port}") as cluster:
                cluster_look(cluster)
            asked = set(proxy.counts)
            waits = SimpleNamespace(sleep=lambda _: scene.go_on(), monotonic=time.monotonic)
            monkeypatch.setattr(importlib.import_module("kafkalearn.oncall.lag"), "time", waits)
            code = main(["lag", "--bootstrap", kafka.bootstrap, "--apart", "5", "--json"])
            data = json.loads(capsys.readouterr().out)
        finally:
            scene.close()

    assert code == 1
    assert {each["topic"]: each["cause"] for each in data["partitions"]} == CAUSES
    (compacted,) = [each for each in data["partitions"] if each["topic"] == "compacted"]
    assert "hold records to read" in compacted["words"]
    assert asked <= READING | {"Heartbeat"}  # the scene's own consumer goes the same way
