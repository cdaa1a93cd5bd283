"""The log dirs of brokers with transactions that are open, over and forgotten, as they were recorded."""

from pathlib import Path

from tests.recorded import recorded

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
