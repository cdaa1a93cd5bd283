"""Logs that Kafka's cleaner went over, and commits that brokers were asked for, by `kafkalearn.tiny`."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn import tiny
from tests.recorded import recorded
from tests.tiny.replays import Answer, Line, NotAsked

A_DAY_MS = 86_400_000


def passes() -> Iterator[Line]:
    """What each pass of a real broker's cleaner left of a partition. Where it stopped is given: the active segment."""
    for case in recorded("compaction")["cases"]:
        log, cleaned_to = tiny.Log(), 0
        for number, phase in enumerate(case["phases"]):
            for batch in phase["batches"]:
                write(log, batch["records"])
            retention_ms = int(case["settings"]["delete.retention.ms"])
            if (
                phase["first_uncleaned_offset"] > cleaned_to
            ):  # else min.compaction.lag.ms left the cleaner nothing to do
                cleaned_to = phase["first_uncleaned_offset"]
                tiny.compact(log, cleaned_to, began_ms(phase, retention_ms), retention_ms)
            yield Answer(f"{case['id']} pass {number}", left(log), phase["survivors"])


def began_ms(phase: dict, retention_ms: int) -> int:
    """When a pass began: exactly if it wrote a horizon, else the clock just before."""
    horizons = [batch["delete_horizon"] for segment in phase["segments"] for batch in segment["batches"]]
    return max([horizon - retention_ms for horizon in horizons if horizon] + [phase["pass_ms"]])


def scripts() -> Iterator[Line]:
    """What the classes of Kafka's cleaner left, pass by pass; whether it ran and how far it went is given."""
    for case in recorded("log-compaction")["cases"]:
        log = tiny.Log()
        for number, step in enumerate(case["steps"]):
            line, recorded_pass = step.get("event", {"op": "snapshot"}), step.get("expect", {})
            reason = off_the_path(case, line)
            if reason:
                yield NotAsked(reason, sum("expect" in each for each in case["steps"][number:]))
                break
            if line["op"] == "append":
                for batch in line["batches"]:
                    write(log, [record[:2] for record in batch["records"]])
            if line["op"] == "clean" and "first_uncleanable_offset" in recorded_pass and recorded_pass.get("ran", True):
                retention_ms = case["settings"].get("delete_retention_ms", A_DAY_MS)
                tiny.compact(log, recorded_pass["first_uncleanable_offset"], line["now"], retention_ms)
            if "records" in recorded_pass:
                yield Answer(f"{case['id']} line {number}", left(log), recorded_pass["records"])
            elif recorded_pass:
                yield NotAsked("how dirty a log is, and how far the cleaner may go")


def off_the_path(case: dict, line: dict) -> str | None:
    """Why a line, and all behind it, is not asked."""
    if "offset_map_slots" in case["settings"]:
        return "a cleaner without room for all keys"
    if any(batch.get("txn") for batch in line.get("batches", ())) or line["op"] == "marker":
        return "transactions"
    keys = [record[0] for batch in line.get("batches", ()) for record in batch["records"]]
    if None in keys and case["settings"].get("cleanup_policy", "compact") == "compact":
        return "a broker that refuses records without a key"
    return {"delete_records": "a log that begins later", "retention": "retention"}.get(line["op"])


def write(log: tiny.Log, records: list) -> None:
    for key, value in records:
        log.append(None if key is None else key.encode(), value, epoch=0)


def left(log: tiny.Log) -> list:
    return [[each.offset, None if each.key is None else each.key.decode(), each.value] for each in log.records]


def commits() -> Iterator[Line]:
    """Commits and fetches of offsets while a follower of the offsets topic stands still."""
    for script in recorded("commit-path")["scripts"]:
        yield from CommitPath(script).lines()


class CommitPath:
    """A group whose commits tiny writes, with a follower that may stand still."""

    def __init__(self, script: dict) -> None:
        self.script = script
        self.cluster = tiny.Cluster([1, 2, 3])
        self.cluster.create_topic("orders", 1)
        self.group = tiny.Group(self.cluster, "billing", "orders")
        self.group.rebalance("c1")
        self.is_frozen = False

    def lines(self) -> Iterator[Line]:
        answers = {
            kind: iter([each for each in self.script["answers"] if each[0] == kind]) for kind in ("commit", "tool")
        }
        offsets, log = [], self.group.offsets_log
        for place, (op, *words) in enumerate(self.script["steps"]):
            where = f"{self.script['name']} step {place}"
            if op == "kill":
                yield NotAsked("a coordinator that loads", len(self.script["answers"]) - 2)
                return
            match op:
                case "commit":
                    offsets.append(log.leader_log.end_offset)
                    self.group.positions["orders", 0] = words[0]
                    self.group.commit("c1")
                case "freeze" | "thaw":
                    self.is_frozen = op == "freeze"
            for broker in [1, 2] * 4 if self.is_frozen else [1, 2, 3] * 4:
                log.fetch(broker)
            if op == "tool":
                _, _, offset = next(answers["tool"])
                yield Answer(where, self.group.committed(0), offset)
        for offset, (_, error, _) in zip(offsets, answers["commit"], strict=True):
            if error == "NONE":
                yield Answer(f"{self.script['name']} commit at {offset}", offset in log.acknowledged, True)
            else:
                yield NotAsked("a producer that is told of a time-out or of another leader")
        for kind, error, offset in self.script["answers"]:
            if kind == "consumer" and error == "NONE":
                yield Answer(self.script["name"], self.group.committed(0), offset)
            elif kind == "consumer":
                yield NotAsked("a coordinator that loads")
