"""What a real Kafka answers to fixed questions: asked now where one can be started, else as it was recorded.

A *question* has a name and an answer that is the same in every run: offsets, partitions, owners, errors, never times,
ports or random ids. The recorded answers lie in ``data/real-kafka``. `kafkalearn.live.questions.ask_live` makes
`real_answer` ask a broker first.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypedDict

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory

Ask = Callable[[str], object]


class RealAnswer(NamedTuple):
    """What a real Kafka answered."""

    value: object
    asked: str  # one sentence: of which Kafka, and when


class NobodyAnswers(KafkaLearnError):  # noqa: N818  (a state of this machine, not a fault)
    """No real Kafka can be asked here now; the message says why."""


class Recording(TypedDict):
    """The file of recorded answers."""

    about: str
    version: str
    recorded: str  # the day
    answers: dict[str, object]  # by the names of the questions


@cache
def recorded_answers() -> Recording:
    """The recording: ``version``, ``recorded`` (the day), and ``answers`` by the names of the questions."""
    return json.loads((data_directory("real-kafka") / "answers.json").read_text(encoding="utf-8"))


def questions() -> tuple[str, ...]:
    """The names of all questions.

    >>> questions()[:3]
    ('coordinators', 'short group ids', 'partitions of keys')
    """
    return tuple(recorded_answers()["answers"])


_ASKING: dict[str, Ask] = {}  # by the version of the Kafka that is asked; one at most
_ANSWERED: dict[str, RealAnswer] = {}


def real_answer(name: str) -> RealAnswer:
    """What a real Kafka answers: now, if `ask_with` has said whom to ask; else, and if nobody answers, as recorded.

    A question is asked once in a process.

    Parameters
    ----------
    name : str
        One of `questions`.

    Raises
    ------
    KafkaLearnError
        If there is no such question.

    Examples
    --------
    >>> real_answer("coordinators").value["billing"]
    {'partition': 9, 'broker': 1}
    """
    one_of("question", name, questions())
    if name not in _ANSWERED:
        for version, ask in _ASKING.items():
            _ANSWERED[name] = asked_or_recorded(name, ask, version)
    return _ANSWERED.get(name) or RealAnswer(recorded_answers()["answers"][name], recorded_sentence())


def ask_with(ask: Ask | None, version: str = "") -> None:
    """Have `real_answer` ask this function first; None: nobody, as at the beginning.

    Parameters
    ----------
    ask : callable or None
        From the name of a question to its answer; it raises `NobodyAnswers` where there is no Kafka.
    version : str
        Of the Kafka that it asks.
    """
    _ANSWERED.clear()
    _ASKING.clear()
    if ask is not None:
        _ASKING[version] = ask


def started_sentence(version: str) -> str:
    """What is said of an answer that was asked now."""
    return f"Asked of Kafka {version}, started on this machine for it."


def reason_of(error: KafkaLearnError) -> str:
    """Why nobody answers, without what to do about it.

    >>> reason_of(KafkaLearnError("there is no Java; install one, or name it in JAVA_HOME"))
    'there is no Java'
    """
    return str(error).partition("; ")[0]


def recorded_sentence(reason: str = "") -> str:
    """What is said of a recorded answer, and why it is one."""
    recording = recorded_answers()
    said = f"Asked of Kafka {recording['version']} on {recording['recorded']}, and recorded"
    return f"{said}; here none can be asked: {reason}" if reason else f"{said}."


def asked_or_recorded(name: str, ask: Ask, version: str) -> RealAnswer:
    """The answer that `ask`, which starts a Kafka of this version, gives; where nobody answers, the recorded one."""
    try:
        return RealAnswer(ask(name), started_sentence(version))
    except NobodyAnswers as reason:
        return RealAnswer(recorded_answers()["answers"][name], recorded_sentence(str(reason)))
