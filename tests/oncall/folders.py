"""Log dirs made for a test."""

from pathlib import Path

from tests.formats.writing import batch

NOW_MS = 1_795_176_000_000
HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def one(offset, key=b"k", value=b"v", at_ms=NOW_MS, **given):
    """A batch with one record."""
    return batch(offset, [(offset, at_ms, key, value)], **given)


def write(folder: Path, files: dict[int, bytes], topic="orders", partition=0, **checkpoints: int) -> Path:
    """A partition's segments by base offset, and lines in the checkpoint files of the log dir."""
    place = folder / f"{topic}-{partition}"
    place.mkdir(parents=True, exist_ok=True)
    for base_offset, data in files.items():
        (place / f"{base_offset:020}.log").write_bytes(data)
    for name, offset in checkpoints.items():
        path = folder / f"{name.replace('_', '-')}-checkpoint"
        lines = path.read_text("utf-8").splitlines()[2:] if path.exists() else []
        lines += [] if offset is None else [f"{topic} {partition} {offset}"]
        path.write_text("\n".join(["0", str(len(lines)), *lines, ""]), encoding="utf-8")
    return folder


def kinds(found):
    return [each.kind for each in found.findings]


def only(found):
    (finding,) = found.findings
    return finding
