"""How long a million lines of server logs take, from text to causes, beside grep over the same file.

Of two kinds. Rebalances: the lines of the recorded runs, brokers' and clients', over and over, between lines that say
nothing about groups; one line in five is an event, more than in any real log. Brokers that start and stop: what three
brokers of 4.3 wrote most from their start to their stop, where coordinators and heartbeats are named in passing.
One core; each way in a process of its own, in turns.
Run it with ``python benchmarks/log_lines.py [rounds] [lines]``.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from kafkalearn.base.tables import text_table

RUNS = Path(__file__).parents[1] / "tests" / "vectors" / "server_logs" / "learning.jsonl.gz"
LINES, ROUNDS, ONE_IN = 1_000_000, 5, 5
OTHER = (
    "[2026-11-22 15:46:13,448] INFO [Partition orders-7 broker=1] Log loaded for partition orders-7 with initial high "
    "watermark 1207345 (kafka.cluster.Partition)",
    "[2026-11-22 15:46:13,449] INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker 2 for partitions "
    "HashMap(orders-3 -> InitialFetchState(Some(x),BrokerEndPoint(id=2, host=b:9092),7,880)) (kafka.server.X)",
    "[2026-11-22 15:46:13,450] INFO [UnifiedLog partition=orders-1, dir=/data] Rolled new log segment at offset 880 in "
    "2 ms. (kafka.log.UnifiedLog)",
    "[2026-11-22 15:46:13,451] INFO [LocalLog partition=orders-1, dir=/data] Rolled new log segment (kafka.log.X)",
)

_RUNTIME = "(org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
STARTS = (
    "[2026-11-22 15:46:13,448] INFO [GroupCoordinator id=1] Scheduling unloading of metadata for __consumer_offsets-7 "
    f"with epoch OptionalInt[0] {_RUNTIME}",
    "[2026-11-22 15:46:13,448] INFO [GroupCoordinator id=1] Ignored unloading metadata for __consumer_offsets-7 in "
    f"epoch OptionalInt[0] since metadata was never loaded. {_RUNTIME}",
    "[2026-11-22 15:46:13,449] INFO [GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-9 "
    f"with epoch 0 {_RUNTIME}",
    "[2026-11-22 15:46:13,451] INFO [GroupCoordinator id=1] Finished loading of metadata from __consumer_offsets-9 "
    "with epoch 0 in 2ms where 1ms was spent in the scheduler. Loaded 0 records which total to 0 bytes. "
    f"{_RUNTIME}",
    "[2026-11-22 15:46:13,452] INFO [BrokerLifecycleManager id=1] Unable to send a heartbeat because the RPC got "
    "timed out before it could be sent. (kafka.server.BrokerLifecycleManager)",
    "[2026-11-22 15:46:13,452] INFO [LogLoader partition=__consumer_offsets-9, dir=/data] Loading producer state till "
    "offset 0 (org.apache.kafka.storage.internals.log.UnifiedLog)",
    "[2026-11-22 15:46:13,453] INFO [Broker id=1] Leader __transaction_state-9 with topic id "
    "Some(NcATNNTSquLONRNdqYfLAA) starts at leader epoch 0 from offset 0 with partition epoch 0, high watermark 0, ISR "
    "[1,2,3] (state.change.logger)",
    "[2026-11-22 15:46:13,454] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=9] [GroupId billing] "
    "Bumped group epoch to 1 with metadata hash 7. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
    *OTHER,
)

READ = "from kafkalearn.oncall.logs import read_files; print(len(read_files([{path!r}]).events))"
WHY = "from kafkalearn.oncall import why; print(len(why({path!r}, has_advice=False).rebalances))"
WAYS = {
    "grep -c": ["grep", "-c", "-E", "Preparing to rebalance|Stabilized group|Bumped group epoch", "{path}"],
    "lines -> events": [sys.executable, "-c", READ],
    "lines -> causes": [sys.executable, "-c", WHY],
}


def write_starts(path: Path, count: int) -> None:
    """A log of brokers that start and stop."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(f"{STARTS[number % len(STARTS)]}\n" for number in range(count))


def write_lines(path: Path, count: int) -> None:
    """A log of rebalances, the same each time."""
    with gzip.open(RUNS, "rt", encoding="utf-8") as file:
        about_groups = [line for run in map(json.loads, file) for line in run["broker"]]
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            place, rest = divmod(number, ONE_IN)
            out.write(about_groups[place % len(about_groups)] if rest == 0 else OTHER[rest - 1])
            out.write("\n")


def seconds(words: list[str], path: Path) -> float:
    """Processor time of one way, so that a busy machine does not count."""
    begin = _used()
    named = [each.replace("{path!r}", repr(str(path))).replace("{path}", str(path)) for each in words]
    subprocess.run(named, check=True, capture_output=True)  # to /dev/null grep would stop at its first line
    return _used() - begin


def _used() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(rounds: int = ROUNDS, count: int = LINES) -> None:
    """Measure and print."""
    for kind, write in {"rebalances": write_lines, "brokers that start and stop": write_starts}.items():
        _measure(kind, write, rounds, count)


def _measure(kind: str, write: Callable[[Path, int], None], rounds: int, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "server.log")
        write(path, count)
        taken = [{name: seconds(words, path) for name, words in WAYS.items()} for _ in range(rounds)]
        megabytes = path.stat().st_size / 1e6
    medians = {name: median(each[name] for each in taken) for name in WAYS}
    print(f"{kind}: {count:,} lines, {megabytes:.0f} MB; median of {rounds}, Python {sys.version.split()[0]}")
    print(
        text_table(
            {
                "way": name,
                "s": f"{each:.2f}",
                "microseconds a line": f"{1e6 * each / count:.2f}",
                "x grep": f"{each / max(medians['grep -c'], 0.001):.0f}",
            }
            for name, each in medians.items()
        )
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
