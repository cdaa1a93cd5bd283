"""Partitions of real brokers as they lay on disk, before and after passes of their cleaner."""

from dataclasses import dataclass
from pathlib import Path

from kafkalearn.log import Log, Settings, read_log
from tests.recorded import recorded

TOPIC, PARTITION = "mixed", 0


@dataclass(frozen=True)
class Pass:
    """One pass: the files before it and after it, by name."""

    settings: Settings
    before: dict[str, bytes]
    after: dict[str, bytes]
    cleaned_to_before: int | None
    cleaned_to: int | None
    seen_ms: int
    snapshots: dict[str, bytes]
    aborted: dict[str, bytes]


def unhexed(files):
    return {name: bytes.fromhex(data) for name, data in files.items()}


def passes_of(case: dict) -> list[Pass]:
    files, found = {}, []
    for each in case["passes"]:
        before = files | unhexed(each["written"])
        files = {name: data for name, data in before.items() if name not in each["gone"]} | unhexed(each["left"])
        facts = {name: each[name] for name in ("cleaned_to_before", "cleaned_to", "seen_ms")}
        kept = {name: unhexed(each[name]) for name in ("snapshots", "aborted")}
        found.append(Pass(Settings(release="4.3", **case["settings"]), before, files, **facts, **kept))
    return found


PASSES = [each for case in recorded("cleaned-partitions")["cases"] for each in passes_of(case)]


def write(folder: Path, files: dict[str, bytes], cleaned_to: int | None) -> Path:
    """A log dir with these files of the partition, and how far the cleaner has come."""
    place = folder / f"{TOPIC}-{PARTITION}"
    place.mkdir(parents=True)
    for name, data in files.items():
        (place / name).write_bytes(data)
    line = "" if cleaned_to is None else f"{TOPIC} {PARTITION} {cleaned_to}\n"
    (folder / "cleaner-offset-checkpoint").write_text(f"0\n{int(bool(line))}\n{line}", encoding="utf-8")
    return folder


def logs_of(each: Pass, folder: Path) -> tuple[Log, Log]:
    """The log before a pass, and after it."""
    before = read_log(write(folder / "before", each.before, each.cleaned_to_before))
    return before, read_log(write(folder / "after", each.after, each.cleaned_to))


def clean_ms(each: Pass, before: Log, after: Log) -> int:
    """The cleaner's clock: where it has set a delete horizon that says it, else when the pass was over."""
    new = {batch.delete_horizon_ms for batch in after.batches} - {batch.delete_horizon_ms for batch in before.batches}
    return next((horizon_ms - each.settings.delete_retention_ms for horizon_ms in new), each.seen_ms)
