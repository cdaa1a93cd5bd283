"""Whatever happens to the Python that has started a cluster, nothing of it is left running, and no file."""

from __future__ import annotations

import base64
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live import Kafka, nodes
from kafkalearn.live.errors import KafkaNotStarted, NoAnswer
from kafkalearn.live.processes import Processes
from tools.environment import ROOT

# Python programs that start a real Kafka and end in some way, for the tests that look for what is left.
TIMEOUT_S = 60

PROGRAM = """
import json, signal, sys, time
from kafkalearn.live import Kafka

# A shell has those that it starts in the background ignore it, and these tests with them.
signal.signal(signal.SIGINT, signal.default_int_handler)

with Kafka({brokers}, {release!r}) as kafka:
    left = {{"pids": [kafka.process_id(each) for each in kafka.broker_ids], "folder": str(kafka.disk(1).folder)}}
    {before}
    print(json.dumps(left), flush=True)
    {then}
"""


class Program:
    """A running program, and what it has started."""

    def __init__(self, release: str, then: str, before: str = "pass", brokers: int = 1) -> None:
        code = PROGRAM.format(brokers=brokers, release=release, then=then, before=before)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        first = self.process.stdout.readline()
        assert first, self.process.stderr.read()
        started = json.loads(first)
        self.pids: list[int] = started["pids"]
        self.folder = Path(started["folder"])

    def wait(self) -> tuple[int, str]:
        """Its exit code, and what it has printed as an error."""
        _, errors = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, errors

    def leftovers(self) -> list:
        """The processes and files that are still there after as long as they may take to end."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline and any([*map(is_alive, self.pids), self.folder.exists()]):
            time.sleep(0.02)
        return [pid for pid in self.pids if is_alive(pid)] + [self.folder] * self.folder.exists()


def is_alive(pid: int) -> bool:
    """Whether there is a process of this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


pytestmark = pytest.mark.live


def test_after_an_exception_nothing_is_left(release):
    program = Program(release, "raise ValueError('of the user')")

    code, errors = program.wait()

    assert (code, "ValueError: of the user" in errors) == (1, True)
    assert program.leftovers() == []


def test_after_an_interrupt_nothing_is_left(release):
    program = Program(release, "time.sleep(60)")
    program.process.send_signal(signal.SIGINT)

    _, errors = program.wait()

    assert "KeyboardInterrupt" in errors
    assert program.leftovers() == []


def test_after_a_kill_of_the_python_nothing_is_left_frozen_brokers_included(release):
    program = Program(release, "time.sleep(60)", before="kafka.freeze(2)", brokers=2)
    program.process.kill()

    assert program.wait()[0] == -signal.SIGKILL
    assert program.leftovers() == []


def test_a_kill_while_a_forked_child_holds_the_pipe_leaves_nothing_either(release):
    fork = "child = __import__('os').fork()\n    if child == 0: time.sleep(90); __import__('os')._exit(0)"
    program = Program(release, "time.sleep(60)", before=fork)
    program.process.kill()

    assert program.leftovers() == []


def test_a_cluster_that_nobody_closed_ends_with_its_python(release):
    program = Program(release, "kafka.__class__.__exit__ = lambda *_: None")

    assert program.wait()[0] == 0
    assert program.leftovers() == []


def test_a_cluster_that_nobody_refers_to_any_more_ends(release):
    kafka = Kafka(release=release).start()
    kafka.create_topic("orders")
    pid, folder = kafka.process_id(1), kafka.disk(1).folder
    del kafka
    gc.collect()

    assert not is_alive(pid)
    assert not folder.exists()


def test_an_interrupt_while_it_starts_leaves_nothing(release, monkeypatch):
    started = []

    def interrupted(self, *_):
        started.append(self.processes.process_id(self.nodes[0].name))
        started.append(self.processes.folder)
        raise KeyboardInterrupt

    monkeypatch.setattr("kafkalearn.live.nodes.Nodes.wait_alive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Kafka(release=release).start()

    pid, folder = started
    assert not is_alive(pid)
    assert not folder.exists()


def test_several_clusters_at_once_do_not_disturb_each_other(cluster):
    one, other = cluster(1), cluster(1)
    for each, values in ((one, ["a"]), (other, ["b", "c"])):
        each.create_topic("orders")
        each.send("orders", values)
    one.close()

    assert [record.value for record in other.records("orders", 0)] == [b"b", b"c"]
    with pytest.raises(KafkaNotStarted, match="the cluster was closed"):
        one.process_id(1)


def test_threads_may_ask_for_processes_at_the_same_time(tmp_path):
    processes = Processes()
    log = tmp_path / "log"
    threads = [
        threading.Thread(target=processes.start, args=(str(number), ["sleep", "60"], log)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    pids = [processes.process_id(str(number)) for number in range(8)]
    processes.close()

    assert len(set(pids)) == 8
    assert not any(map(is_alive, pids))


def test_a_port_that_is_taken_meanwhile_is_replaced_by_another(release, monkeypatch):
    with socket.socket() as taken:
        taken.bind((nodes.HOST, 0))
        taken.listen()
        ports = nodes.free_ports(2)
        first = [taken.getsockname()[1], ports[0]]
        monkeypatch.setattr(
            nodes, "free_ports", lambda count: [first.pop(0) if first else _free() for _ in range(count)]
        )
        with Kafka(release=release) as kafka:
            assert kafka.topics() == {}


def _free() -> int:
    with socket.socket() as one:
        one.bind((nodes.HOST, 0))
        return one.getsockname()[1]


def test_a_broker_that_does_not_start_says_why(release):
    with pytest.raises(KafkaNotStarted, match=r"(?s)node 1 of Kafka .* has ended with code 1.*num\.io\.threads"):
        Kafka(release=release, config={"num.io.threads": 0}).start()


def test_a_feature_that_the_release_does_not_know_is_refused_in_kafkas_words(release):
    kafka = Kafka(release=release, has_eligible_leader_replicas=True)
    kafka._nodes.features = {"no.such.feature": 1}
    with pytest.raises(KafkaNotStarted, match=r"cannot be formatted with .*no\.such\.feature"):
        kafka.start()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"brokers": 0}, "brokers must be at least 1, got 0"),
        ({"brokers": 50}, "brokers must be at most 9"),
        ({"release": "3.9"}, "unknown release '3.9'"),
        ({"config": {"log.dirs": "/tmp"}}, "log.dirs is decided by Kafka"),
    ],
)
def test_a_cluster_that_makes_no_sense_is_refused(release, settings, said):
    with pytest.raises(KafkaLearnError, match=said):
        Kafka(**{"release": release, **settings}).start()


def test_brokers_are_frozen_thawed_killed_and_restarted_only_where_it_makes_sense(cluster):
    kafka = cluster(2)
    kafka.freeze(2)
    with pytest.raises(KafkaLearnError, match="broker 2 is frozen; this is for one that is running"):
        kafka.freeze(2)
    with pytest.raises(NoAnswer, match="no answer in time"):
        kafka._brokers.ask(kafka._address_of(2), "Metadata", {"topics": []}, timeout_s=0.2)
    kafka.thaw(2)
    kafka.kill(2)
    assert [kafka.status(each) for each in kafka.broker_ids] == ["running", "down"]
    kafka.restart(2)
    kafka.stop(2)
    with pytest.raises(KafkaLearnError, match="broker 2 is down; this is for one that is running or frozen"):
        kafka.kill(2)
    with pytest.raises(KafkaLearnError, match="there is no broker 3; there are 1 and 2"):
        kafka.restart(3)


def test_where_processes_cannot_be_frozen_the_message_says_what_to_do(monkeypatch):
    monkeypatch.delattr(signal, "SIGSTOP")
    with pytest.raises(KafkaNotStarted, match=r"Linux and macOS only.*WSL.*connect\('localhost:9092'\)"):
        Kafka().start()


# The ids that a cluster's nodes are given.


def test_an_id_is_22_characters_and_none_that_a_command_takes_for_an_option(monkeypatch):
    drawn = [uuid.UUID(bytes=bytes([0xF8, *range(15)])), uuid.UUID(bytes=bytes(range(16)))]
    monkeypatch.setattr(nodes.uuid, "uuid4", lambda: drawn.pop(0))

    found = nodes.new_uuid()

    assert found == "AAECAwQFBgcICQoLDA0ODw"
    assert base64.urlsafe_b64decode(found + "==") == bytes(range(16))
    assert drawn == []
