"""Scripts of replicas, as Kafka's classes and a real cluster went through them, played with `kafkalearn.tiny`."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn import tiny
from tests.recorded import recorded
from tests.replication.scripts import lines_of
from tests.tiny.replays import Answer, Line, NotAsked


def scripts() -> Iterator[Line]:
    """Kafka's own Partition and UnifiedLog, event by event: its state, what a fetch carried, who was answered."""
    for name in ("log-hw-leo", "log-truncation", "log-loss"):
        for case in recorded(name)["cases"]:
            yield from script(case)


def script(case: dict) -> Iterator[Line]:
    """One script, up to the first line that leaves the straight path."""
    lines, played = lines_of(case), Script(case)
    for number, line in enumerate(lines):
        reason = off_the_path(case, line, played)
        if reason:
            yield NotAsked(reason, sum(1 + len(each["expect"].get("effects", [])) for each in lines[number:]))
            return
        yield from played.line(f"{case['id']} line {number}", line)


def off_the_path(case: dict, line: dict, played: Script) -> str | None:
    """Why a line, and all behind it, is not asked."""
    if case["settings"].get("truncation") == "hw" or "release" in case:
        return "older releases"
    if "pid" in line:
        return "idempotent producers"
    state = line["expect"]["state"]
    if state["under_min_isr"] and state["isr"] != state["maximal_isr"]:
        return "an ISR that is too small until the controller agrees"
    if line.get("to", played.leader) != played.leader:
        return "a client that asks the wrong broker"
    return {
        "delete_records": "a log that begins later",
        "fence": "who counts as alive",
        "controller_isr": "an ISR that somebody else than the leader changes",
    }.get(line["op"])


class Script:
    """A partition of tiny that is led through a script."""

    def __init__(self, case: dict) -> None:
        config = case["settings"]
        self.brokers = list(range(1, config.get("replicas", 3) + 1))
        self.min_insync_replicas = config.get("min_insync_replicas", 1)
        self.partition: tiny.Partition | None = None
        self.leader = -1
        self.requests: dict[str, tuple[int, int]] = {}  # the first and the last offset of each produce request
        self.on_its_way: dict[int, tiny.Answer] = {}
        self.checkpoints: dict[int, int] = {}
        self.value_count = 0

    def line(self, where: str, line: dict) -> Iterator[Line]:
        """Do what a line says, and compare what came of it."""
        expected = line["expect"]
        effects = expected.get("effects", [])
        told = len(self.partition.acknowledged) if self.partition else 0
        yield from getattr(self, line["op"])(where, line)
        for effect in effects:
            yield from self.effect(where, line, effect)
        yield from self.answered(where, told, effects)
        yield Answer(where, self.state(expected["state"]), state_of(expected["state"]))

    def elect(self, where: str, line: dict) -> Iterator[Line]:
        self.leader, isr = line["leader"], set(line["isr"])
        if self.partition is None:
            others = [each for each in self.brokers if each != self.leader]
            self.partition = tiny.Partition([self.leader, *others], self.min_insync_replicas)
            self.partition.isr = isr
        else:
            self.partition.isr = isr
            self.partition.elect(self.leader)
        yield from ()

    def produce(self, where: str, line: dict) -> Iterator[Line]:
        values = line.get("values") or [f"m{self.value_count + n}" for n in range(1, line.get("n", 1) + 1)]
        self.value_count += len(values)
        acks, expected = "all" if line["acks"] == -1 else line["acks"], line["expect"]
        name = expected["request"]
        errors = [
            each["error"] for each in expected.get("effects", []) if each.get("request") == name and "error" in each
        ]
        try:
            offsets = [self.partition.produce(None, value, acks) for value in values]
        except ValueError as refused:
            yield Answer(where, [str(refused).partition(":")[0]], errors)
            return
        self.requests = {each: span for each, span in self.requests.items() if span[1] < offsets[0]}  # the rest was cut
        self.requests[name] = offsets[0], offsets[-1]
        yield Answer(where, (offsets[0], offsets[-1]), (expected.get("base_offset"), expected.get("last_offset")))

    def fetch(self, where: str, line: dict) -> Iterator[Line]:
        broker = line["from"]
        answer = self.partition.answer(broker, *self.question(broker))
        if any(each.get("outcome") == "immediate" for each in line["expect"]["effects"] if each.get("from") == broker):
            self.on_its_way[broker] = answer
        yield from ()

    def question(self, broker: int) -> tuple[int, int]:
        log = self.partition.logs[broker]
        return log.end_offset, log.epochs[-1][0] if log.epochs else -1

    def consume(self, where: str, line: dict) -> Iterator[Line]:
        said = [f"{each.offset}:{each.value}" for each in self.partition.read(line["offset"])]
        yield Answer(where, said, line["expect"]["records"])

    def alter_partition(self, where: str, line: dict) -> Iterator[Line]:
        for broker in self.partition.isr - set(line["expect"]["state"]["maximal_isr"]):  # the clock found them too slow
            self.partition.shrink_isr(broker)
        yield from ()

    def crash(self, where: str, line: dict) -> Iterator[Line]:
        broker = line["broker"]
        self.partition.alive.discard(broker)
        if broker == self.leader:
            self.leader, self.partition.remote_ends = -1, {}  # what it knew of the others was in its memory
        if "truncate_unflushed_to" in line:
            self.partition.logs[broker].truncate(line["truncate_unflushed_to"])
        yield from ()

    def restart(self, where: str, line: dict) -> Iterator[Line]:
        broker, log = line["broker"], self.partition.logs[line["broker"]]
        self.partition.alive.add(broker)
        log.high_watermark = min(self.checkpoints.get(broker, 0), log.end_offset)  # as its disk has it
        if broker == self.leader:  # it was made the leader meanwhile
            self.partition.raise_high_watermark()
        yield from ()

    def checkpoint_hw(self, where: str, line: dict) -> Iterator[Line]:
        self.checkpoints[line["broker"]] = self.partition.logs[line["broker"]].high_watermark
        yield from ()

    def nothing(self, where: str, line: dict) -> Iterator[Line]:
        yield from ()

    tick = isr_check = show = nothing

    def effect(self, where: str, line: dict, effect: dict) -> Iterator[Line]:
        """An answer on its way: when it goes is recorded, what it carries is asked."""
        if effect["event"] == "fetch_response":
            yield self.carried(where, effect)
        elif effect["event"] == "fetch_handled":
            yield NotAsked("when a fetch that found nothing is answered")
        elif effect["event"] == "alter_partition_sent":
            yield NotAsked("the clock: who is too slow")
        elif effect["event"] == "produce_response" and effect["error"] not in ("NONE", "NOT_ENOUGH_REPLICAS"):
            first, last = self.requests.get(effect["request"], (0, -1))
            self.partition.waiting = [each for each in self.partition.waiting if not first <= each <= last]
            yield NotAsked("a producer that is told of a time-out or of another leader")

    def carried(self, where: str, effect: dict) -> Line:
        broker = effect["to"]
        answer = self.on_its_way.pop(broker, None) or self.partition.answer(broker, *self.question(broker))
        self.partition.take(broker, answer)
        said = {"leader_hw_in_response": answer.high_watermark}
        if answer.diverging:
            said["diverging_epoch"], said["diverging_end_offset"] = answer.diverging
            said["truncated_to"] = self.partition.logs[broker].end_offset
        else:
            said["records"] = [f"{each.offset}:{each.value}" for each in answer.records]
        return Answer(where, said, {key: value for key, value in effect.items() if key not in ("event", "to")})

    def answered(self, where: str, told: int, effects: list[dict]) -> Iterator[Line]:
        """Whom the leader has told that all is written."""
        offsets = set(self.partition.acknowledged[told:])
        said = {name for name, (_, last) in self.requests.items() if last in offsets}
        written = {each["request"] for each in effects if each["event"] == "produce_response"}
        refused = {each["request"] for each in effects if each.get("error", "NONE") != "NONE" and "request" in each}
        if said or written - refused:
            yield Answer(where, said, written - refused)

    def state(self, expected: dict) -> dict:
        """The partition as `state_of` has it."""
        partition = self.partition
        shown = {}
        for name, replica in expected["replicas"].items():
            log = partition.logs[int(name)]
            if int(name) not in partition.alive:
                shown[name] = "down"
                continue
            shown[name] = {"leo": log.end_offset, "hw": log.high_watermark}
            if "remote_leo" in replica:
                shown[name]["remote_leo"] = {
                    each: partition.remote_ends.get(int(each), -1) for each in replica["remote_leo"]
                }
            if "log" in replica:
                shown[name]["log"] = [f"{each.offset}:{each.value}" for each in log.records]
                shown[name]["epochs"] = [list(each) for each in log.epochs]
        isr = sorted(partition.isr) if self.leader in partition.alive else []
        return {"leader": self.leader, "leader_epoch": partition.epoch, "isr": isr, "replicas": shown}


def state_of(expected: dict) -> dict:
    """What tiny has of a recorded state: all but times and what waits. Its ISR is the one that holds the HW."""
    names = ("leo", "hw", "remote_leo", "log", "epochs")
    replicas = {
        name: each if each == "down" else {key: each[key] for key in names if key in each}
        for name, each in expected["replicas"].items()
    }
    isr = sorted(expected["maximal_isr"])
    return {"leader": expected["leader"], "leader_epoch": expected["leader_epoch"], "isr": isr, "replicas": replicas}


def epochs() -> Iterator[Line]:
    """Kafka's LeaderEpochFileCache: what it keeps and where an epoch ends."""
    for case in recorded("log-leader-epoch-cache")["cases"]:
        log = tiny.Log()
        for number, step in enumerate(case["steps"]):
            where, expected, line = f"{case['id']} line {number}", step["expect"], step["event"]
            match line["op"]:
                case "assign" if "refused" not in step:
                    log.begin_epoch(line["epoch"], line["start_offset"])
                case "truncate_from_end":
                    log.truncate(line["offset"])
                case "end_offset_for" if expected["answer"][1] >= 0:
                    log.end_offset = line["log_end_offset"]
                    said = log.end_of_epoch(line["epoch"])
                    yield Answer(where, said, tuple(expected["answer"]))
                case "end_offset_for":
                    yield NotAsked("an epoch that nobody knows of")
                    continue
                case _:
                    yield NotAsked("epochs: errors, and a log that begins later", len(case["steps"]) - number)
                    break
            yield Answer(where, [list(each) for each in log.epochs], expected["entries"])


def runs() -> Iterator[Line]:
    """Three brokers that are frozen, killed and started again: every disk, and what producers were told."""
    for case in recorded("replication")["cases"]:
        played = Run(case)
        for number, entry in enumerate(case["events"]):
            reason = played.take(entry)
            if reason:
                left = case["events"][number:]
                yield NotAsked(reason, sum(("answer" in each) + (each.get("state") is not None) for each in left))
                break
            where = f"{case['id']} {case['name']} line {number}"
            if "answer" in entry:
                answer = {key: entry["answer"][key] for key in ("broker", "error", "base_offset")}
                yield Answer(where, played.answer, answer)
            if entry.get("state") is not None:
                yield played.compared(where, entry)


class Run:
    """A partition of tiny that is led through a run of a cluster."""

    def __init__(self, case: dict) -> None:
        topic = case["topic_config"]
        self.partition = tiny.Partition(case["replicas"], int(topic["min.insync.replicas"]))
        self.is_unclean = topic["unclean.leader.election.enable"] == "true"
        self.has_elr = case["elr"]
        self.frozen: set[int] = set()
        self.answer: dict = {}

    def take(self, entry: dict) -> str | None:
        """Do what an entry says; or why not."""
        partition = self.partition
        for broker in entry.get("brokers", []):
            match entry["op"]:
                case "freeze" if broker == partition.leader:
                    return "a leader that stands still"
                case "freeze":
                    self.frozen.add(broker)
                case "thaw":
                    self.frozen.discard(broker)
                case "kill" | "stop":
                    partition.kill(broker)
                case "restart":
                    partition.restart(broker)
        if entry["op"] == "wait":
            for broker in partition.isr & self.frozen - set(entry.get("isr", partition.isr)):
                partition.shrink_isr(broker)  # the clock found it too slow
        if partition.leader is None and self.has_elr:
            return "eligible leader replicas"
        if partition.leader is None and self.is_unclean and entry["op"] == "restart":
            return "an unclean election"
        if entry["op"] == "produce":
            self.answer = self.produce(entry)
        self.replicate()
        if entry["op"] == "produce" and self.answer["error"] == "NONE" and entry["acks"] == "all":
            is_told = partition.leader_log.end_offset - 1 in partition.acknowledged
            self.answer |= {} if is_told else {"error": "REQUEST_TIMED_OUT"}
        return None

    def produce(self, entry: dict) -> dict:
        partition, leader = self.partition, self.partition.leader
        try:
            offsets = [partition.produce(None, value, entry["acks"]) for value in entry["answer"]["values"] or ["?"]]
        except ValueError as refused:
            if leader is None:
                return {"broker": -1, "error": "no reachable leader", "base_offset": None}
            return {"broker": leader, "error": str(refused).partition(":")[0], "base_offset": None}
        return {"broker": leader, "error": "NONE", "base_offset": offsets[0]}

    def replicate(self) -> None:
        if self.partition.leader is not None:
            for broker in self.partition.replicas * 6:
                if broker not in self.frozen:
                    self.partition.fetch(broker)

    def compared(self, where: str, entry: dict) -> Line:
        state, partition = entry["state"], self.partition
        if not state["metadata"]:
            return NotAsked("a cluster of which nobody is left")
        if entry["op"] in ("kill", "stop"):
            return NotAsked("the time until a death is noticed")
        said = {
            "leader": -1 if partition.leader is None else partition.leader,
            "leader_epoch": partition.epoch,
            "isr": sorted(partition.isr),
            "hw": None if partition.leader is None else partition.leader_log.high_watermark,
            "leo": {str(each): log.end_offset for each, log in sorted(partition.logs.items())},
            "epochs": {
                str(each): [list(entry) for entry in log.epochs] for each, log in sorted(partition.logs.items())
            },
            "values": {
                str(each): [[record.offset, record.value, record.epoch] for record in log.records]
                for each, log in sorted(partition.logs.items())
            },
        }
        metadata = {key: state["metadata"][key] for key in ("leader", "leader_epoch")}
        metadata["isr"] = sorted(state["metadata"]["isr"])
        return Answer(where, said, metadata | {key: state[key] for key in ("hw", "leo", "epochs", "values")})
