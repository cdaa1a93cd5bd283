"""The recorded offsets topic of a real broker, as it lies in data/offsets-topic."""

import gzip
import json
from pathlib import Path

from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.offsets import replay
from tests.recorded import recorded

FOLDER = Path(__file__).parents[2] / "data" / "offsets-topic"
MOMENTS = ("before", "after-pass-1", "after-pass-2")
RUNS = ("disk", *(f"cleaned/{moment}" for moment in MOMENTS))
RECORD_COUNTS = {"disk": 796, "cleaned/before": 292, "cleaned/after-pass-1": 70, "cleaned/after-pass-2": 46}


def segments(run: str):
    return read_disk(FOLDER / run)


def told(run: str) -> list[dict]:
    """What Kafka's own classes said of each record of a run."""
    name = "records" if run == "disk" else run
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def admin(run: str) -> dict:
    """What the Java Admin client said when the run's files were copied."""
    if run == "disk":
        cases = json.loads((FOLDER / "admin.json").read_text(encoding="utf-8"))["cases"]
        return {name: value for case in cases for name, value in case.items()}
    cases = json.loads((FOLDER / "cleaned/admin.json").read_text(encoding="utf-8"))["cases"]
    return next(case for case in cases if f"cleaned/{case['moment']}" == run)


def replayed(run: str):
    return replay((record.key, record.value) for record in committed_records(segments(run)))


# The log dirs of brokers with transactions that are open, over and forgotten, as they were recorded.
CASES = recorded("transaction-log")["cases"]
TOPIC = "__transaction_state"


def case_id(case):
    return case["release"]


def written(case, folder: Path) -> Path:
    """The folder, with the files of a case in it."""
    for name, data in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(data))
    return folder


def rows_of(printed: str) -> list[list[str]]:
    """The rows of a table that kafka-transactions prints, without its head."""
    lines = printed if isinstance(printed, list) else printed.splitlines()
    return [[cell.strip() for cell in line.split("\t")] for line in lines[1:] if line.strip()]
