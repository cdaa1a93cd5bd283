"""How far the questions of one mechanism to one release have come, in a small file, so that a next call goes on."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.conform.vectors import slug


@dataclass
class Progress:
    """What was asked until now; cases of seeds that were not asked to their end count, too."""

    mechanism: str
    release: str  # "4.3.1"
    seed: int
    done_seeds: int = 0  # so many batches of cases were drawn and asked to their end
    cases: int = 0
    requests: int = 0
    seconds: float = 0.0
    too_slow: int = 0
    lost_brokers: int = 0  # clusters that had to be started again
    differences: list[str] = field(default_factory=list)  # the names of their files
    unanswered: list[str] = field(default_factory=list)  # cases that a second cluster did not answer either, and why

    @property
    def next_seed(self) -> int:
        """The seed of the next batch; no two runs with other seeds share one."""
        return self.seed * 1_000_000 + self.done_seeds


def path_of(folder: Path, mechanism: str, release: str) -> Path:
    """Where the progress of a mechanism on a release is kept."""
    return folder / f"{slug(mechanism)}-{release}.json"


def load(folder: Path, mechanism: str, release: str, seed: int) -> Progress:
    """The progress of a run with this seed; a new one if there is none yet.

    Raises
    ------
    KafkaLearnError
        If the file is no progress.
    """
    path = path_of(folder, mechanism, release)
    if not path.exists():
        return Progress(mechanism, release, seed)
    try:
        known = Progress(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise KafkaLearnError(f"{path} is not what conform has written; remove it, and the run begins anew") from None
    return known if known.seed == seed else Progress(mechanism, release, seed)


def save(folder: Path, progress: Progress) -> None:
    """Write the progress in one go: an interrupt leaves the old file or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, progress.mechanism, progress.release)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(progress), indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)
