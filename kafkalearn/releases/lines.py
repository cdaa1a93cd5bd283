"""Kafka's releases in order: which lines there are, which line a release belongs to, which came first.

A *release line* is what shares its documentation: 0.8.2, 0.10.1, 1.0, 4.3. A *patch* is one release of it:
4.3.1. Up to 0.11 a line has three numbers and its patches four. Defaults are known by line (`kafkalearn.releases`);
a rule that changed in a patch asks `at_least`. A simulator answers for the releases that were asked, `AnswersFor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name

# One line for each of Kafka's numbering eras: 0.x with three numbers, then the majors.
# fmt: off
RELEASES = (
    "0.8.2", "0.9.0", "0.10.0", "0.10.1", "0.10.2", "0.11.0",
    "1.0", "1.1",
    "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8",
    "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9",
    "4.0", "4.1", "4.2", "4.3", "4.4",
)
# fmt: on
"""All release lines from 0.8.2 on, oldest first."""

LONGEST_PATCH = 3  # digits

DEFAULT_RELEASE = RELEASES[-1]
"""The release that is meant wherever none is given: the newest line."""


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A release line or one of its patches; ordered as released, a line before its own patches.

    Examples
    --------
    >>> parse_release("0.8.2") < parse_release("0.10.0") < parse_release("1.0") < parse_release("4.3")
    True
    >>> parse_release("4.0") < parse_release("4.0.1") < parse_release("4.1")
    True
    """

    number: tuple[int, ...]

    def __str__(self) -> str:
        """The release as Kafka writes it."""
        return ".".join(map(str, self.number))

    @property
    def line(self) -> str:
        """The name in `RELEASES` of the line it belongs to."""
        return ".".join(map(str, self.number[: 3 if self.number[0] == 0 else 2]))


def parse_release(release: str | Release) -> Release:
    """The release that a text names: a line in `RELEASES`, or any patch of one.

    Parameters
    ----------
    release : str or Release
        ``"4.3"``, ``"4.3.0"``, ``"0.8.2.2"``. A patch newer than this library is taken as one of its line.

    Returns
    -------
    Release
        Ordered; with ``.line`` and ``.number``.

    Raises
    ------
    KafkaLearnError
        If it is not text, or its line is not known; the message names the nearest lines.

    Examples
    --------
    >>> parse_release("3.9.2"), parse_release("3.9.2").line
    (Release(number=(3, 9, 2)), '3.9')
    >>> try:
    ...     parse_release("2.9")
    ... except KafkaLearnError as error:
    ...     print(str(error).partition(" (known")[0])
    unknown release '2.9'; did you mean '3.9' or '2.8' or '2.7'?
    """
    if isinstance(release, Release):
        return release
    if not isinstance(release, str):
        raise KafkaLearnError(
            f"release must be a str, got {type(release).__name__} {shown(release)}; put it in quotes: "
            "as numbers, 0.10 and 0.1 would be the same"
        )
    line, _, patch = release.rpartition(".")
    is_patch = patch.isascii() and patch.isdecimal() and len(patch) <= LONGEST_PATCH
    if release in RELEASES or (line in RELEASES and is_patch):
        return Release(tuple(map(int, release.split("."))))
    error = unknown_name("release", release, RELEASES)
    raise KafkaLearnError(f"{error} (known: {RELEASES[0]} to {RELEASES[-1]} and their patches)")


def _checked_release(_: str, release: str | Release) -> str | Release:
    parse_release(release)
    return release


ReleaseName: TypeAlias = Annotated[str, _checked_release]
"""For the annotation of a field: a release, as in `parse_release`."""


def release_line(release: str | Release) -> str:
    """The name in `RELEASES` of the line a release belongs to; errors as in `parse_release`.

    >>> release_line("3.9.2"), release_line("0.8.2.2"), release_line("4.3")
    ('3.9', '0.8.2', '4.3')
    """
    return parse_release(release).line


def at_least(since: str | Release, release: str | Release = DEFAULT_RELEASE) -> bool:
    """Whether `release` has what came with `since`.

    A line given as `release` stands for its newest patch, one given as `since` for its first.

    Parameters
    ----------
    since : str or Release
        The first release that has it.
    release : str or Release
        The release in question; without one, the newest line.

    Examples
    --------
    >>> at_least("2.4", "2.3"), at_least("2.4", "2.4.0"), at_least("2.4")
    (False, True, True)
    >>> at_least("4.0.1", "4.0.0"), at_least("4.0.1", "4.0")
    (False, True)
    """
    asked, first = parse_release(release), parse_release(since)
    return asked >= first or first.number[: len(asked.number)] == asked.number


@dataclass(frozen=True, slots=True)
class AnswersFor:
    """The releases that a simulator answers for: those that were asked, by their classes, a broker, or their own tests.

    Its settings refuse all others. A line stands for all of its patches; where a patch is the first, older ones of its
    line are refused too.

    Parameters
    ----------
    simulator : str
        As the error names it, ``"groups.classic"``.
    first, last : str
        Both belong to it; without a last one it goes to the newest line.
    reason : str
        Why there are no others, for the error.

    Examples
    --------
    >>> answers = AnswersFor("groups.classic", "2.4")
    >>> str(answers), "2.3.1" in answers, "3.9.2" in answers
    ('2.4 to 4.4', False, True)
    >>> try:
    ...     answers.check("0.9.0")
    ... except KafkaLearnError as error:
    ...     print(error)
    groups.classic answers for 2.4 to 4.4, not 0.9.0: no other release was asked; give one of these
    """

    simulator: str
    first: str
    last: str = DEFAULT_RELEASE
    reason: str = "no other release was asked"

    def __str__(self) -> str:
        """First and last, as the ledger has them."""
        return f"{self.first} to {self.last}"

    def __contains__(self, release: str | Release) -> bool:
        """Whether it answers for a release; errors as in `parse_release`."""
        asked, last = parse_release(release), parse_release(self.last)
        return at_least(self.first, asked) and asked.number[: len(last.number)] <= last.number

    def check(self, release: str | Release) -> None:
        """Pass in silence if it answers for a release.

        Raises
        ------
        KafkaLearnError
            If it does not, with the releases that it answers for; or if there is no such release.
        """
        if release not in self:
            raise KafkaLearnError(
                f"{self.simulator} answers for {self}, not {parse_release(release)}: {self.reason}; give one of these"
            )
