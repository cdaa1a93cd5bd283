"""What an upgrade changes for somebody's own settings: what is refused, gone, different, or without effect already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from kafkalearn.answers.answer import Answer, Outcome, wrapped
from kafkalearn.answers.settings.findings import DANGERS, NOTED, Finding, facts_for, findings_in
from kafkalearn.answers.settings.sides import read_files
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import listed
from kafkalearn.versions.releases import DEFAULT_RELEASE, release_line

MOST_SHOWN = 12  # of each danger, in words


@dataclass(frozen=True)
class Upgrade(Answer):
    """The answer to `upgrade`: the findings, the most dangerous first, what is in a file before what is general."""

    old: str
    new: str
    sides: tuple[tuple[str, str], ...]  # file, and whose settings it has
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """Found, if there is anything but notes."""
        return Outcome.FOUND if any(each.danger != NOTED for each in self.findings) else Outcome.FINE

    def as_data(self) -> dict[str, object]:
        """As `Answer.as_data`."""
        files = [{"file": name, "side": side} for name, side in self.sides]
        return {"old": self.old, "new": self.new, "files": files, "findings": [*map(asdict, self.findings)]}

    def __str__(self) -> str:
        """How much was found, then each finding with its line and source."""
        return self.in_words(MOST_SHOWN)

    def in_words(self, most: int) -> str:
        """The same, with at most so many findings of each danger."""
        files = listed(f"{name} ({side})" for name, side in self.sides)
        counts = Counter(each.danger for each in self.findings)
        said = [wrapped(f"Kafka {self.old} to {self.new}: {files}")]
        for danger, meaning in DANGERS.items():
            if not counts[danger]:
                continue
            said.append(wrapped(f"{danger} ({meaning}): {counts[danger]}"))
            chosen = [each for each in self.findings if each.danger == danger]
            said += [wrapped(self._sentence(each), "  ", "    ") for each in chosen[:most]]
            if len(chosen) > most:
                said.append(f"  and {len(chosen) - most} more: --all, or --json")
        return "\n".join(said if self.findings else [*said, "nothing is known that changes for these settings"])

    def _sentence(self, finding: Finding) -> str:
        place = "" if finding.line is None else f"line {finding.line}: "
        file = f"{finding.file}, " if finding.file and len(self.sides) > 1 else ""
        return f"{file}{place}{finding.text} [{finding.source}]"


def upgrade(
    old: str, new: str = DEFAULT_RELEASE, files: str | Path | Iterable[object] = (), *, side: str | None = None
) -> Upgrade:
    """What an upgrade changes for the settings in somebody's own files.

    Defaults that change matter where a file does not set them; lines that are set are held to both releases. Secrets
    are never shown.

    Parameters
    ----------
    old, new : str
        The two releases, the older first; the same twice looks through the files alone.
    files : str, Path, or an iterable of them
        Java's properties files; a pair of a side and a file says whose settings it has.
    side : str or None
        Whose settings all files have, a name in `kafkalearn.versions.settings.SIDES`; None: recognised by their names.

    Raises
    ------
    KafkaLearnError
        If a release is unknown, a file cannot be read, or whose settings it has cannot be recognised.

    Examples
    --------
    >>> from kafkalearn.datafiles import data_directory
    >>> answer = upgrade("3.9", "4.0", data_directory("own-cluster") / "producer.properties")
    >>> [(each.danger, each.line, each.name) for each in answer.findings if each.line is not None]
    [('refused', 5, 'delivery.timeout.ms'), ('unknown', 7, 'compresion.type'), ('noted', 9, 'batch.size')]

    References
    ----------
    The settings and facts of `kafkalearn.versions`; the rules of `kafkalearn.answers.settings.refusals`.
    """
    older, newer = release_line(old), release_line(new)
    given = read_files(files, side)
    if not given:
        raise KafkaLearnError("which settings? Give at least one properties file")
    found = [each for whose, name, file in given for each in findings_in(older, newer, name, whose, file)]
    found += facts_for(older, newer, [(whose, file) for whose, _, file in given])
    order = [*DANGERS]
    found.sort(key=lambda each: (order.index(each.danger), each.file is None))  # stable: by file, then as found
    return Upgrade(older, newer, tuple((name, whose) for whose, name, _ in given), tuple(found))
