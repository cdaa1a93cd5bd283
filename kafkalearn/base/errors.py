"""The errors kafkalearn raises: every message says what came, what is allowed and what to do; a student reads it.

Before them the small pieces that sentences are made of, after them what the core does without: the packages that some
helpers need, and the extra of kafkalearn that installs each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sized
from difflib import get_close_matches
from functools import wraps
from importlib.util import find_spec
from inspect import signature
from math import log10
from types import MappingProxyType
from typing import Any, TypeVar, cast

# Pieces of sentences.


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Format a number and its noun, singular or plural; thousands are separated.

    >>> counted(1, "record"), counted(12_000, "record"), counted(2, "copy", "copies")
    ('1 record', '12,000 records', '2 copies')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(things: Iterable[object], last: str = "and", nothing: str = "none") -> str:
    """Join things with commas, the last one with a conjunction.

    >>> listed([1, 2, 3]), listed(["a", "b"], last="or"), listed([])
    ('1, 2 and 3', 'a or b', 'none')
    """
    words = [str(each) for each in things]
    if len(words) < 2:
        return words[0] if words else nothing
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def capitalised(words: str) -> str:
    """Capitalise the first letter, and leave the others as they are.

    >>> capitalised("broker 2 fetches; its LEO is 3")
    'Broker 2 fetches; its LEO is 3'
    """
    return words[:1].upper() + words[1:]


def begun(words: str, openers: Collection[str]) -> str:
    """The beginning of a sentence: its first letter large if it begins with one of `openers`, else with a name.

    >>> begun("the session ends", ("the", "a")), begun("c1 rebalances", ("the", "a"))
    ('The session ends', 'c1 rebalances')
    """
    return capitalised(words) if words.partition(" ")[0] in openers else words


def shown(value: object, longest: int = 80) -> str:
    """Format a value for an error message: its repr, truncated where it is long.

    A number that Python does not write out (it stops at 4,300 digits) is shown by its size, any other value that
    cannot be written by its type: a message about bad input must not fail on the bad input.

    >>> shown("orders"), shown("x" * 1000, longest=12)
    ("'orders'", "'xxxxxxxx... (1000 long)")
    >>> shown(10**5000)
    'a whole number of about 5,001 digits'
    """
    try:
        written = repr(value)
        size = f" ({len(value)} long)" if isinstance(value, Sized) else ""
    except Exception:  # whatever a repr of somebody else's may raise
        if isinstance(value, int):
            return f"a whole number of about {int(log10(abs(value))) + 1:,} digits"
        return f"a {type(value).__name__} that cannot be written out"
    return written if len(written) <= longest else f"{written[: longest - 3]}...{size}"


# Errors.

LONGEST_NAME = 200  # of what a likeness is looked for: no name of Kafka's is half as long


def printable(text: str) -> str:
    r"""Escape control characters in foreign text, so that it cannot move a terminal's cursor.

    Line ends stay; whoever prints one line replaces them as well.

    >>> print(printable("anna\x1b[2J.json"))
    anna\x1b[2J.json
    """
    return "\n".join(each if each.isprintable() else _escaped(each) for each in text.split("\n"))


def _escaped(line: str) -> str:
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


class KafkaLearnError(ValueError):
    """Base class of all our errors; the message says what came and what to do.

    >>> raise KafkaLearnError("partition_count must be at least 1, got 0")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: partition_count must be at least 1, got 0
    """


class IllegalEvent(KafkaLearnError):  # noqa: N818  (named for what it is, as Kafka names its states)
    """An event that makes no sense in this state; nothing has changed, and the message says what is possible."""


def no_event(event: object, known: Iterable[type]) -> IllegalEvent:
    """The error for an event that a simulator does not have.

    >>> print(no_event("Fetch", [KafkaLearnError]))
    unknown event 'Fetch'; expected one of KafkaLearnError
    """
    return IllegalEvent(f"unknown event {shown(event)}; expected one of {', '.join(e.__name__ for e in known)}")


_Step = TypeVar("_Step", bound=Callable[..., Any])


def refusing_events(step: _Step) -> _Step:
    """The same step of a simulator, whose refusals are all of one kind.

    A part of it that refuses a value knows nothing of events: a clock past 64 bits, a name that no node may have. What
    it says is told as an `IllegalEvent` that names the event.

    >>> @refusing_events
    ... def step(settings, state, event):
    ...     raise KafkaLearnError("port must be at most 65,535, got 70000")
    >>> step(None, None, "BrokerStarted(70000)")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.IllegalEvent: 'BrokerStarted(70000)' cannot be: port must be at most 65,535, got 70000
    """

    @wraps(step)
    def refusing(*given: object, **named: object) -> object:
        try:
            return step(*given, **named)
        except IllegalEvent:
            raise
        except KafkaLearnError as error:
            *_, event = signature(step).bind(*given, **named).arguments.values()
            raise IllegalEvent(f"{shown(event, 200)} cannot be: {error}") from error

    return cast("_Step", refusing)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> KafkaLearnError:
    """The error for a misspelt name: it suggests the nearest known ones, or lists what is known if few.

    Parameters
    ----------
    kind : str
        What was being named: ``"setting"``, ``"release"``, ``"partitioner"``.
    name : object
        What came.
    known : iterable of str
        All names that are allowed, in the order they should be listed.

    Returns
    -------
    KafkaLearnError
        To be raised by the caller.

    Examples
    --------
    >>> print(unknown_name("partitioner", "murmur3", ["murmur2", "crc32", "fnv1a"]))
    unknown partitioner 'murmur3'; did you mean 'murmur2'? Known: 'murmur2', 'crc32', 'fnv1a'
    """
    names = list(known)
    asked = name[:LONGEST_NAME] if isinstance(name, str) else shown(name)
    near = get_close_matches(asked, names, n=3, cutoff=0.6)
    message = f"unknown {kind} {shown(name)}"
    if near:
        message += f"; did you mean {' or '.join(repr(each) for each in near)}?"
    if len(names) <= 12:
        message += f"{'' if near else ';'} Known: {', '.join(repr(each) for each in names)}"
    elif not near:
        message += f"; {len(names)} are known, none is spelt like it"
    return KafkaLearnError(message)


# Packages that need not be there.
#
# `pip install kafkalearn` is the core, and needs nothing but Python. ``kafkalearn[fast]`` reads segment files faster,
# ``kafkalearn[spark]`` adds what Spark needs, ``kafkalearn[live]`` that and a Kafka client, ``kafkalearn[lab]`` all of
# it and the figures, the player and JupyterLab; ``kafkalearn[completion]`` completes the command in a shell,
# ``kafkalearn[agents]`` gives its questions to agents, ``kafkalearn[yaml]`` reads the settings of Spring Boot's.

EXTRAS: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["numpy", "pandas", "pyarrow", "pyspark"], "spark"),
        "google_crc32c": "fast",
        "confluent_kafka": "live",
        "shtab": "completion",
        "mcp": "agents",
        **dict.fromkeys(["anywidget", "ipywidgets", "jupyterlab", "matplotlib", "resvg_py"], "lab"),
    }
)
"""The extra that installs a package, by the name under which the package is imported."""


class MissingExtra(KafkaLearnError, ImportError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """A package is not installed that this part of kafkalearn needs; the message names the extra that installs it."""


def is_installed(package: str) -> bool:
    """Whether a package is installed; it is not imported.

    >>> is_installed("no_such_package")
    False
    """
    return find_spec(package) is not None


def require(who: str, *packages: str, extra: str | None = None) -> None:
    """Raise unless all these packages are installed; none of them is imported.

    Parameters
    ----------
    who : str
        The module or function that needs them, as the message names it.
    *packages : str
        Names in `EXTRAS`.
    extra : str or None
        The extra to be named, where it is not that of `EXTRAS`: pyarrow comes with more than one.

    Raises
    ------
    MissingExtra
        Names the first package that is not there, and the command that installs it.

    Examples
    --------
    >>> require("kafkalearn.views.figure", "matplotlib")
    """
    for package in packages:
        if not is_installed(package):
            raise MissingExtra(
                f"{who} needs {package}, which is not installed: pip install 'kafkalearn[{extra or EXTRAS[package]}]'"
            )
