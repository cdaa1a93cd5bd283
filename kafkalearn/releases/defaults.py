"""Questions about one setting: its default in a release, its history, and all about it as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from kafkalearn.base.checks import LARGEST_LONG, one_of, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, Release, release_line
from kafkalearn.releases.settings import (
    ABSENT,
    SIDES,
    Note,
    Setting,
    Value,
    all_settings,
    limit_text,
    names,
    number_text,
    replacements,
    settings_named,
    value_text,
)

Answer = TypeVar("Answer")


def default(setting: str, release: str | Release = DEFAULT_RELEASE, side: str | None = None) -> Value:
    """The default of a setting in a release.

    Parameters
    ----------
    setting : str
        Its name, as in ``"acks"``; ``"compression.type@topic"`` names the side as well.
    release : str or Release
        A release line or a patch of one; without one, the newest line.
    side : str or None
        A name in `SIDES`. None: whichever sides know the setting in that release, if they agree.

    Returns
    -------
    str, int, float, bool, tuple of str, None or REQUIRED
        None: the release knows the setting and leaves it unset. `REQUIRED`: there is no default, it must be
        given. Numbers have the unit of the name, class names are text.

    Raises
    ------
    KafkaLearnError
        If no class that was read has the setting (it says which were read, and the nearest names), the release does
        not have it (it says which do), several sides have it and differ (it says what each has), or release or side
        is not known.

    Examples
    --------
    >>> default("session.timeout.ms"), default("session.timeout.ms", "2.8")
    (45000, 10000)
    >>> default("group.coordinator.threads", "3.9"), default("group.coordinator.threads", "4.0")
    (1, 4)
    >>> default("compression.type", side="topic")
    'producer'
    >>> default("compression.type")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: compression.type differs by side: producer none; broker producer; \
topic producer. Say which with side=
    """
    line = release_line(release)
    candidates = _candidates(setting, side)
    present = [each for each in candidates if each.in_release(line) is not ABSENT]
    if not present:
        raise KafkaLearnError(_absence(candidates, line))
    return _agreed(present, lambda each: each.in_release(line), value_text)


def whole_default(setting: str, release: str | Release = DEFAULT_RELEASE, side: str | None = None) -> int:
    """The default of a setting that has a whole number in every release, such as a time or a size; else as `default`.

    >>> whole_default("session.timeout.ms", "2.8")
    10000
    """
    return whole_number(setting, default(setting, release, side), at_least=-LARGEST_LONG - 1)


def _absence(candidates: Sequence[Setting], line: str) -> str:
    """That a release does not have a setting, which releases do, and what took its place if it is gone."""
    name = candidates[0].name
    has = [f"{each.lifetime} {'have' if ' ' in each.lifetime else 'has'} it" for each in candidates]
    if len(candidates) == 1:
        said = f"Kafka {line} has no {candidates[0].side} setting {name}; {has[0]}"
    else:
        spans = (f"{text} ({each.side})" for text, each in zip(has, candidates, strict=True))
        said = f"Kafka {line} has no setting {name}; {', '.join(spans)}"
    gone = [each for each in candidates if RELEASES.index(line) > RELEASES.index(each.history[0][0])]
    instead = {replacements().get((each.name, each.side), ((), ""))[0] for each in gone} - {()}
    return said + "".join(f"; set {' and '.join(names)} instead" for names in sorted(instead))


def history(setting: str, side: str | None = None) -> tuple[tuple[str, Value], ...]:
    """Every default a setting has had, each with the release line that brought it, oldest first.

    Parameters
    ----------
    setting, side : str
        As in `default`; without a side, all sides must have the same history.

    Returns
    -------
    tuple of (str, value)
        The first line is the one that brought the setting (or 0.8.2, the oldest recorded); `ABSENT` comes last
        if a later release dropped it.

    Raises
    ------
    KafkaLearnError
        As `default`.

    Examples
    --------
    >>> history("acks"), history("linger.ms")
    ((('0.8.2', '1'), ('3.0', 'all')), (('0.8.2', 0), ('4.0', 5)))
    >>> history("session.timeout.ms")
    (('0.8.2', 1000), ('0.9.0', 30000), ('0.10.1', 10000), ('3.0', 45000))
    >>> history("block.on.buffer.full")
    (('0.8.2', True), ('0.9.0', False), ('0.11.0', ABSENT))
    """

    def words_of(name: str, history: tuple[tuple[str, Value], ...]) -> str:
        return ", ".join(f"{value_text(name, value)} since {line}" for line, value in history)

    return _agreed(_candidates(setting, side), lambda each: each.history, words_of)


def find_settings(part: str = "", release: str | Release | None = None, side: str | None = None) -> tuple[Setting, ...]:
    """The settings with `part` in their name, by name and side, with their histories and notes.

    Parameters
    ----------
    part : str
        Any piece of a name; the empty text is in all.
    release : str, Release or None
        Only those that this release knows; None: of any release.
    side : str or None
        Only those of one side.

    Raises
    ------
    KafkaLearnError
        If the release or the side is not known.

    Examples
    --------
    >>> [setting.name for setting in find_settings("zookeeper.connect", "3.9")]
    ['zookeeper.connect', 'zookeeper.connection.timeout.ms']
    """
    refuse_unknown_side(side)
    part = text("part", part)
    line = None if release is None else release_line(release)
    return tuple(
        setting
        for setting in all_settings()
        if part in setting.name
        and side in (None, setting.side)
        and (line is None or setting.in_release(line) is not ABSENT)
    )


def describe(setting: str, side: str | None = None) -> str:
    """All about a setting as text: sides, type, defaults and limits in readable units, notes.

    >>> print(describe("log.segment.bytes"))
    log.segment.bytes (broker, INT)
      0.8.2   1073741824 (1 GiB)
      limit since 0.8.2: at least 14
      limit since 4.0: at least 1048576 (1 MiB)
      note since 4.0: not below 1048576 since 4.0 (KIP-1030)
    """
    return "\n".join(map(_description, _candidates(setting, side)))


def _description(setting: Setting) -> str:
    in_words = partial(number_text, setting.name)
    lines = [f"{setting.name} ({setting.side}, {setting.type}{', internal' if setting.is_internal else ''})"]
    lines += [f"  {line:6}  {value_text(setting.name, value)}" for line, value in setting.history]
    lines += [f"  limit since {line}: {limit_text(limit, in_words)}" for line, limit in setting.limits]
    lines += [f"  note {_span(note)}: {note.text}" for note in setting.notes]
    instead, source = replacements().get((setting.name, setting.side), ((), ""))
    if instead:
        lines.append(f"  instead: {' and '.join(instead)} ({source})")
    return "\n".join(lines)


def _span(note: Note) -> str:
    if note.last == RELEASES[-1]:
        return f"since {note.first}"
    return f"on {note.first if note.first == note.last else f'{note.first} to {note.last}'}"


def refuse_unknown_side(side: str | None) -> None:
    """Pass in silence for None and the names in `SIDES`; any other raises KafkaLearnError with the known ones."""
    if side is not None:
        one_of("side", side, SIDES)


def _candidates(setting: str, side: str | None) -> tuple[Setting, ...]:
    """The settings of that name: one for each side that has it, or the one of `side`."""
    name, at, named_side = text("setting", setting).partition("@")
    side = named_side if at and side is None else side
    refuse_unknown_side(side)
    known = settings_named(name)
    if not known:
        error = str(unknown_name("setting", name, names()))
        raise KafkaLearnError(
            f"{error}{'' if error.endswith('?') else '.'} No class that was read has it: {', '.join(SIDES)} from "
            f"{RELEASES[0]} to {RELEASES[-1]} were read; Connect, Streams and the command line tools were not"
        )
    asked = tuple(each for each in known if side in (None, each.side))
    if not asked:
        raise KafkaLearnError(f"{name} is not a {side} setting; it is one of: {', '.join(each.side for each in known)}")
    return asked


def _agreed(
    candidates: Sequence[Setting], ask: Callable[[Setting], Answer], words_of: Callable[[str, Answer], str]
) -> Answer:
    """What every candidate answers, if they all answer the same."""
    answers = [ask(each) for each in candidates]
    if all(answer == answers[0] for answer in answers):
        return answers[0]
    name = candidates[0].name
    said = "; ".join(f"{each.side} {words_of(name, its)}" for each, its in zip(candidates, answers, strict=True))
    raise KafkaLearnError(f"{name} differs by side: {said}. Say which with side=")
