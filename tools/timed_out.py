"""Records what a producer meets whose epoch was raised behind its back: tests/vectors/transactions/timed-out.json.

    python3 -m tools.timed_out                      every cluster and client below
    python3 -m tools.timed_out 4.4.0 3.9.2          only the clusters of these releases, the others as they are recorded

A Java producer (TimedOutProducer.java) begins a transaction and writes a record. Then the coordinator aborts it for its
time, or another producer starts with the same transactional id; then it makes the calls of a script. Kept are what came
of each call, and what each of its requests was answered, read by a proxy before the broker; requests that were answered
CONCURRENT_TRANSACTIONS, and asked again, are left out. Releases up to 3.9 are started on their ZooKeeper.

Nothing of it is computed by `kafkalearn`. It prints what has changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kafkalearn.live import Kafka, connect
from kafkalearn.live.clients import create_topic
from kafkalearn.live.errors import wait_for
from kafkalearn.live.jars import class_path, java_here, releases, start_source
from kafkalearn.live.nodes import HOST, free_ports
from kafkalearn.live.processes import OPTIONS
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.request_values import error_name
from kafkalearn.live.requests import answer_of, find_api
from tools.kafka_jars import HERE, broker_jars, jars_of
from tools.recordings import differences, text_of

RECORDED = HERE.parent / "tests" / "vectors" / "transactions" / "timed-out.json"
NOTED = ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "Produce", "TxnOffsetCommit")
OF_A_BROKER = 4
"""From this version on AddPartitionsToTxn is what a leader asks the coordinator; the client does not see it."""

TIMEOUT, RIVAL = "timeout", "rival"
QUICK = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 100,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "auto.create.topics.enable": False,
}
ABOUT = (
    "What a Java producer meets whose transaction (one record, in partition 0) was aborted by the coordinator for its "
    "time (cause timeout), or whose id another producer has taken (rival): broker and client, transaction.version, the "
    "calls, what came of each (done; thrown by the call, or by the future of send: the class of the error, and of its "
    "causes), each request that belonged to it with its version and answer, and the values that a read_committed "
    "consumer of partition 0 reads at the end (record 0 is the one of the lost transaction, n that of the n-th call). "
    "CONCURRENT_TRANSACTIONS, after which the client asks again, is left out. Written by python3 -m tools.timed_out."
)


class Asked(NamedTuple):
    """A broker at a transaction.version, and the client that is used against it."""

    broker: str
    transaction_version: int
    client: str


CLUSTERS = (
    *(Asked(each, version, each) for each in ("4.4.0", "4.0.2") for version in (0, 1, 2)),
    Asked("4.4.0", 2, "3.9.2"),
    Asked("3.9.2", 0, "3.9.2"),
    Asked("3.9.2", 0, "4.4.0"),
    Asked("2.8.2", 0, "2.8.2"),
    Asked("2.7.2", 0, "2.7.2"),
    Asked("2.6.3", 0, "2.6.3"),
)
"""2.7 is the first with KIP-588, 2.6 the last without; 3.9 the last before transaction.version could be raised."""

SCRIPTS = (
    "commit,abort,begin",
    "abort,begin,send,commit",
    "send,commit,abort,begin,send,commit",
    "send,abort,begin,send,commit",
    "other,abort,begin,send,commit",
    "offsets,commit,abort,begin,send,commit",
    "offsets,abort,begin,send,commit",
)


def main(words: list[str]) -> int:
    """Ask the clusters of the releases named, or all; write the file and print what has changed in it."""
    old = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"cases": []}
    wanted = [each for each in CLUSTERS if not words or each.broker in words]
    cases = {_key(each): each for each in old["cases"]}
    before = dict(cases)
    for broker, version in dict.fromkeys((each.broker, each.transaction_version) for each in wanted):
        clients = [each.client for each in wanted if (each.broker, each.transaction_version) == (broker, version)]
        for case in asked(broker, version, clients):
            cases[_key(case)] = case
            print(_key(case), flush=True)
        _write([cases[name] for name in _order() if name in cases])
    print("\n".join(differences(before, {name: cases[name] for name in _order() if name in cases})))
    return 0


def _write(cases: list[dict[str, Any]]) -> None:
    head = {"about": ABOUT, "source": "brokers and Java clients of the releases that each case names"}
    recorded = {**head, "obtained": time.strftime("%Y-%m-%d"), "cases": cases}
    RECORDED.write_text(text_of(recorded, "cases"), encoding="utf-8")


def _order() -> list[str]:
    return [_name(*each, cause, script) for each in CLUSTERS for cause in (TIMEOUT, RIVAL) for script in SCRIPTS]


def _name(broker: str, version: int, client: str, cause: str, script: str) -> str:
    return f"{broker} at {version}, client {client}, {cause}: {script}"


def _key(case: dict[str, Any]) -> str:
    script = ",".join(each["call"] for each in case["steps"])
    return _name(case["broker"], case["transaction.version"], case["client"], case["cause"], script)


def asked(broker: str, version: int, clients: list[str]) -> Iterator[dict[str, Any]]:
    """The cases of a broker of a release at a transaction.version, by each of these clients."""
    noted: list[list[Any]] = []

    def note(name: str, of_version: int, answer: bytes) -> None:
        if name in NOTED and not (name == "AddPartitionsToTxn" and of_version >= OF_A_BROKER):
            _, fields = answer_of(find_api(name), of_version, answer)
            noted.append([name, of_version, error_in(fields)])

    with Proxy(note) as proxy, started(broker, version, proxy) as create:
        number = 0
        for client in clients:
            for cause in (TIMEOUT, RIVAL):
                for script in SCRIPTS:
                    number += 1
                    create(f"t-{number}")
                    words = (f"{HOST}:{proxy.port}", f"t-{number}", f"id-{number}", cause, script)
                    steps, read = played(client, words, noted)
                    yield {
                        "broker": broker, "client": client, "transaction.version": version, "cause": cause,
                        "steps": steps, "read": read,
                    }  # fmt: skip


def error_in(fields: Any) -> str:
    """The first error in an answer that is one, NONE if none is.

    >>> error_in({"errorCode": 0, "topics": [{"partitions": [{"errorCode": 90}]}]})
    'PRODUCER_FENCED'
    """
    found = [error_name(each) for each in _codes(fields)]
    return next((each for each in found if each != "NONE"), "NONE")


def _codes(fields: Any) -> Iterator[int]:
    if isinstance(fields, dict):
        for name, value in fields.items():
            if name in ("errorCode", "partitionErrorCode"):
                yield value
            else:
                yield from _codes(value)
    elif isinstance(fields, list):
        for each in fields:
            yield from _codes(each)


def played(client: str, words: tuple[str, ...], noted: list[list[Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """A script, played by a client of a release: its steps, and what can be read at the end."""
    program = HERE / "TimedOutProducer.java"
    with tempfile.TemporaryFile("w+") as errors:
        process = start_source(program, jars_of(client), *words, options=OPTIONS, errors=errors)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            steps: list[dict[str, Any]] = []
            line = process.stdout.readline()
            while True:
                if not line:
                    errors.seek(0)
                    sys.exit(f"kafkalearn: the client of {client} ended: {errors.read()[-2000:]}")
                call, *parts = line.rstrip("\n").split("\t")
                time.sleep(0.1)  # what it sends on its own after a call
                if steps or call != "ready":
                    steps[-1:] = [step_of(call, parts, noted)] if call != "read" else []
                if call == "read":
                    return steps, parts
                noted.clear()
                steps.append({})
                process.stdin.write("\n")
                process.stdin.flush()
                line = process.stdout.readline()
        finally:
            process.kill()
            process.communicate()


def step_of(call: str, parts: list[str], noted: list[list[Any]]) -> dict[str, Any]:
    """A step as it is kept."""
    outcome, *error = parts
    requests = [each for each in noted if each[2] != "CONCURRENT_TRANSACTIONS"]
    kept: dict[str, Any] = {"call": call, "outcome": outcome}
    if error:
        kept |= {"error": error[0], "message": error[1]}
    return {**kept, "requests": requests}


@contextmanager
def started(broker: str, version: int, proxy: Proxy) -> Iterator[Callable[[str], None]]:
    """A broker behind the proxy; gives a function that creates a topic of two partitions."""
    known = {each.version: line for line, each in releases().items()}
    config = {**QUICK, **proxy.config}
    if broker in known:
        with Kafka(1, known[broker], config, transaction_version=version) as kafka:
            proxy.forward_to(kafka)
            yield lambda name: kafka.create_topic(name, 2)
        return
    with tempfile.TemporaryDirectory(prefix="kafkalearn-old-") as place, ExitStack() as running:
        zookeeper, port, inner = free_ports(3)
        jars = class_path(broker_jars(broker))
        proxy.forward_to(f"{HOST}:{port}")
        properties = {
            **config, "broker.id": 1, "zookeeper.connect": f"{HOST}:{zookeeper}", "log.dirs": f"{place}/log",
            "log.cleaner.dedupe.buffer.size": 4 * 2**20, "group.initial.rebalance.delay.ms": 0,
            "listeners": f"PLAINTEXT://{HOST}:{port},INNER://{HOST}:{inner}", "inter.broker.listener.name": "INNER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{proxy.port},INNER://{HOST}:{inner}",
        }  # fmt: skip
        file = Path(place) / "server.properties"
        file.write_text("".join(f"{name}={_text(value)}\n" for name, value in properties.items()), encoding="utf-8")
        mains = (
            ["org.apache.zookeeper.server.ZooKeeperServerMain", str(zookeeper), f"{place}/zookeeper"],
            ["kafka.Kafka", str(file)],
        )
        output = running.enter_context(open(f"{place}/output", "w"))
        for main_class in mains:
            java = [str(java_here().executable), *OPTIONS, "-Dzookeeper.admin.enableServer=false", "-cp", jars]
            process = subprocess.Popen([*java, *main_class], stdout=output, stderr=output)
            running.callback(process.wait)
            running.callback(process.kill)
        wait_for(lambda: list(connect(f"{HOST}:{port}").metadata().addresses), [1], f"{broker}:")
        yield lambda name: create_topic(f"{HOST}:{port}", name, 2, 1, None, {})


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
