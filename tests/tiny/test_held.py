"""The answers in the package are those of the recordings; tiny gives them all, and a changed rule does not."""

import json
import os
from dataclasses import dataclass

import pytest

from kafkalearn import tiny
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.journey.held import ANSWERS, held
from tests.every import every_case
from tests.recorded import recorded
from tests.tiny import replays
from tests.tiny.cleaning import began_ms

RUNS = ("given-00", "given-02", "given-03", "given-04", "given-05", "given-06", "given-08", "given-12", "given-17")
PASSES = ("given-01", "given-03", "given-14", "given-22", "given-29")
SETTLED = ("start", "produce", "freeze", "thaw", "wait", "pause", "restart")  # a death is noticed later
NAMES = {"leader": "the leader", "leader_epoch": "the leader's epoch", "isr": "the ISR"}


def chosen():
    """What answers.json holds, from whole recordings."""
    return {
        "keys": {case["key_hex"]: case["partition"] for case in recorded("groups-murmur2")["vectors"]},
        "groups": [
            [case["group_id"], case["partitions"], case["partition"]] for case in recorded("groups-hash")["vectors"]
        ],
        "stickies": [sticky(case) for case in recorded("groups-assignors")["vectors"] if is_straight(case)],
        "passes": [cleaned(case) for case in recorded("compaction")["cases"] if case["id"] in PASSES],
        "runs": [run(case) for case in recorded("replication")["cases"] if case["id"] in RUNS],
    }


def is_straight(case):
    return case["assignor"] == "sticky" and isinstance(replays.sticky_answer(case), replays.Answer)


def sticky(case):
    topics_of = {each["member_id"]: each["topics"] for each in case["members"]}
    owned = {each["member_id"]: each.get("owned", []) for each in case["members"]}
    kept = {name: case[name] for name in ("id", "assignment")}
    return kept | {"topics": replays.used(case["topics"], topics_of), "owned": owned}


def cleaned(case):
    retention_ms, cleaned_to, phases = int(case["settings"]["delete.retention.ms"]), 0, []
    for phase in case["phases"]:
        is_run = phase["first_uncleaned_offset"] > cleaned_to
        cleaned_to = max(cleaned_to, phase["first_uncleaned_offset"])
        phases.append(
            {
                "written": [record for batch in phase["batches"] for record in batch["records"]],
                "clean_to": cleaned_to if is_run else None,
                "now_ms": began_ms(phase, retention_ms),
                "left": phase["survivors"],
            }
        )
    return {"id": case["id"], "delete_retention_ms": retention_ms, "phases": phases}


def run(case):
    return {
        "name": case["name"],
        "replicas": case["replicas"],
        "min_insync_replicas": int(case["topic_config"]["min.insync.replicas"]),
        "events": [event_of(each) for each in case["events"]],
    }


def event_of(entry):
    event = {name: entry[name] for name in ("op", "brokers", "acks", "isr") if name in entry}
    if "answer" in entry:
        event["values"] = entry["answer"]["values"] or ["?"]
        event["answer"] = {name: entry["answer"][name] for name in ("error", "base_offset")}
    if entry.get("state") and entry["op"] in SETTLED and entry["state"]["metadata"]:
        metadata, state = entry["state"]["metadata"], entry["state"]
        leader = None if metadata["leader"] == -1 else metadata["leader"]
        event["state"] = {NAMES["leader"]: leader, NAMES["leader_epoch"]: metadata["leader_epoch"]}
        event["state"] |= {NAMES["isr"]: sorted(metadata["isr"]), "the high watermark": state["hw"]}
        disks = {broker: [record[:2] for record in records] for broker, records in state["values"].items()}
        event["state"]["the disks"] = disks
    return event


def test_the_answers_in_the_package_are_those_of_the_recordings():
    text = json.dumps(chosen(), ensure_ascii=False, separators=(",", ":")) + "\n"
    if os.environ.get("KAFKALEARN_WRITE_GOLDEN"):
        ANSWERS.write_text(text, encoding="utf-8", newline="\n")
    assert ANSWERS.read_text(encoding="utf-8") == text


def test_tiny_gives_every_one_of_them():
    rows = held()
    assert [row["rule"] for row in rows if row["asked"] != row["hold"] or row["the first that breaks"]] == []
    assert min(row["asked"] for row in rows) >= 10


class Hasty(tiny.Partition):
    """The leader takes for safe what it alone has written."""

    def raise_high_watermark(self) -> None:
        self.leader_log.high_watermark = self.leader_log.end_offset
        super().raise_high_watermark()


class NeverCuts(tiny.Partition):
    """A follower keeps what its leader never had."""

    def take(self, follower: int, answer: tiny.Answer) -> None:
        self.logs[follower].copy(answer.records)


class Waits(tiny.Partition):
    """A leader that never finds a follower too slow."""

    def shrink_isr(self, follower: int) -> None:
        """Nothing."""


def without_tombstones(log, end, now_ms, delete_retention_ms):
    tiny.compact(log, end, now_ms, delete_retention_ms)
    log.records = [each for each in log.records if each.value is not None]


@dataclass
class Change:
    """A rule that is wrong, and a word of the first answer that it breaks."""

    name: str
    rule: object
    says: str


CHANGES = {
    "no mask": Change("partition_for_key", lambda key, count: tiny.murmur2(key) % count, "the key"),
    "another hash": Change("offsets_partition", lambda group, count=50: len(group) % count, "the group"),
    "everything anew": Change(
        "assign_sticky",
        lambda counts, owned: tiny.assign_range(counts, {name: list(counts) for name in owned}),
        "sticky",
    ),
    "the leader alone": Change("Partition", Hasty, "the high watermark"),
    "never cut": Change("Partition", NeverCuts, "acks1-loss-with-truncation"),
    "never too slow": Change("Partition", Waits, "the ISR"),
    "no tombstone stays": Change("compact", without_tombstones, "what pass"),
    "it raises": Change("compact", lambda *_: 1 / 0, "ZeroDivisionError"),
    "a partition that raises": Change("Partition", type("Odd", (tiny.Partition,), {"fetch": None}), "TypeError"),
}


@every_case("name", sorted(CHANGES))
def test_a_rule_that_is_changed_breaks_an_answer_and_no_other_rule_does(name):
    change = CHANGES[name]
    rows = {row["rule"]: row for row in held(**{change.name: change.rule})}
    broken = [rule for rule, row in rows.items() if row["asked"] != row["hold"]]

    assert broken == [change.name]
    assert change.says in rows[change.name]["the first that breaks"]


def test_a_rule_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(KafkaLearnError, match="partition_for_key"):
        held(partition_of_key=len)
