"""Segment files, checkpoints and internal topics with something done to them, each x-rayed in every way.

What is read must be all that was readable: of a batch that was not touched no record may be missing, and the two ways
to read must count the same. A file of any content ends in an answer or in an error of the library.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

from kafkalearn.formats.disk import parse_segment
from kafkalearn.oncall import xray
from tests.formats.disk import CASES, FOLDER
from tests.formats.test_segments import mutated
from tests.fuzz.faults import Faults
from tests.log.partitions import PASSES

FILES_A_ROUND = 8
OFFSET_BYTES = 8  # a batch begins with its first offset, which no checksum covers
SMALL_SIDE_FILES = (
    ("cleaner-offset-checkpoint", b"0\n1\norders 0 3\n"),
    ("replication-offset-checkpoint", b"0\n2\norders 0 90\n__consumer_offsets 0 7\n"),
    ("orders-0/leader-epoch-checkpoint", b"0\n2\n0 0\n3 17\n"),
)


def _offsets_topic() -> list[tuple[str, bytes]]:
    paths = [*(FOLDER / "disk").rglob("*.log"), *(FOLDER / "cleaned").rglob("*.log")]
    return [(f"{path.parent.name}/{path.name}", path.read_bytes()) for path in sorted(paths)]


def _mixed_topic() -> list[tuple[str, bytes]]:
    return [(f"mixed-0/{name}", data) for each in PASSES[::4] for name, data in each.before.items()]


def _transactions() -> list[tuple[str, bytes]]:
    return [
        (name, bytes.fromhex(data))
        for case in CASES
        for name, data in case["files"].items()
        if name.endswith(".log") and data
    ]


SOURCES: dict[str, Callable[[], list[tuple[str, bytes]]]] = {
    "offsets-topic": _offsets_topic,
    "codecs-and-markers": _mixed_topic,
    "transactions": _transactions,
    "small-files": _transactions,
}
"""What is mutated, by name; of the last one the files beside the segments are."""

_of_kind = cache(lambda kind: [each for each in SOURCES[kind]() if len(each[1]) < 40_000])


def fuzz_segments(kind: str, seed: int, rounds: int) -> Faults:
    """X-ray mutated files of a kind, some for each round."""
    faults, random = Faults(), Random(f"{kind}/{seed}")
    for number in range(rounds * FILES_A_ROUND):
        with tempfile.TemporaryDirectory(prefix="kafkalearn-fuzz-") as folder:
            _try(faults, random, kind, Path(folder), f"{kind} {seed} {number}")
    return faults


def _try(faults: Faults, random: Random, kind: str, folder: Path, name: str) -> None:
    path, data = random.choice(_of_kind(kind))
    damaged, start, end = (data, len(data), len(data)) if kind == "small-files" else mutated(random, data)
    _write(folder / path, damaged)
    if kind == "small-files":
        side, content = random.choice(SMALL_SIDE_FILES)
        _write(folder / Path(path).parent.with_name(side) if "/" not in side else folder / side, content)
        _write(folder / side, random.choice((mutated(random, content)[0], random.randbytes(50), b"\xff\xfe0\n")))
    found = [
        each.as_data()
        for is_fast in (False, True)
        for each in faults.attempt(
            name, lambda is_fast=is_fast: xray(folder, is_fast=is_fast, now_ms=1_795_400_000_000)
        )
    ]
    faults.attempt(f"{name} in words", lambda: _in_words(folder))
    if len(found) == 2 and found[0] != found[1]:
        faults.note("the two ways differ", name)
    if found:
        _note_lost(faults, name, found[0], data, *_touched(data, damaged, start, end))
    shutil.rmtree(folder / Path(path).parts[0], ignore_errors=True)


def _in_words(folder: Path) -> tuple[str, str]:
    """What the command prints, with and without --json."""
    found = xray(folder, headers_only=True)
    return str(found), json.dumps(found.as_data())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _touched(data: bytes, damaged: bytes, start: int, end: int) -> tuple[int, int]:
    """From which byte to which the data may have been changed: of equal bytes any may be the one that went."""
    if data == damaged:
        return start, end
    places = start, end, _same(data, damaged), len(data) - _same(data[::-1], damaged[::-1])
    return min(places), max(places)


def _same(one: bytes, other: bytes) -> int:
    """With how many equal bytes they begin."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@cache
def _batches(data: bytes) -> tuple[tuple[int, int, int], ...]:
    """Of each batch of a good file where it begins and ends, and how many records of applications it has."""
    return tuple(
        (each.position, each.position + each.size_bytes, 0 if each.is_control else len(each.records))
        for each in parse_segment(data).batches
    )


def _note_lost(faults: Faults, name: str, found: dict, data: bytes, start: int, end: int) -> None:
    """A fault if fewer records were counted than the batches have that nothing was done to."""
    batches = _batches(data)
    for (first, _, _), (_, last, _) in pairwise(batches):
        if (
            start < first + OFFSET_BYTES and first < end
        ):  # of two that contradict each other the later one may be blamed
            end = max(end, last)
    untouched = sum(count for first, last, count in batches if last <= start or first >= end)
    counted = sum(log["record_count"] for log in found["logs"])
    if counted < untouched:
        faults.note(f"{untouched - counted} records that could be read were not counted", name)
