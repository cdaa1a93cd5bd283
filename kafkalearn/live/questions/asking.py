"""Asks a question by its name: of a cluster that is started for it, and gone afterwards."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from kafkalearn.arguments import one_of
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached
from kafkalearn.live.jars.connector import connector_jars
from kafkalearn.live.jars.fetching import missing
from kafkalearn.live.jars.pinned import find_release
from kafkalearn.live.nodes.preparing import prepare
from kafkalearn.live.questions import assignments, commands, coordinators, partitions, releases, replicas, tombstones
from kafkalearn.real_answers import NobodyAnswers, ask_with, asked_or_recorded, reason_of
from kafkalearn.versions.releases import DEFAULT_RELEASE

TRIES = 3

QUESTIONS: MappingProxyType[str, Callable[[str], object]] = MappingProxyType(
    {
        "coordinators": coordinators.coordinators,
        "short group ids": coordinators.short_group_ids,
        "partitions of keys": partitions.partitions_of_keys,
        "range": assignments.owners_by_range,
        "uniform": assignments.owners_by_uniform,
        "round robin": assignments.owners_by_round_robin,
        "tombstone": tombstones.tombstone,
        "tombstone of a new key": tombstones.tombstone_of_a_new_key,
        "frozen follower": replicas.frozen_follower,
        "frozen followers": replicas.frozen_followers,
        "lost record": replicas.lost_record,
        "command walk": commands.command_walk,
        "releases": releases.releases_side_by_side,
    }
)
"""Each question by its name: from a release line to the answer, which JSON can hold."""


def ask(name: str, release: str = DEFAULT_RELEASE) -> object:
    """The answer of a real Kafka of a release to a question, in one to ten seconds.

    Parameters
    ----------
    name : str
        One of `QUESTIONS`.
    release : str
        One of `kafkalearn.live.jars.pinned.releases`.

    Raises
    ------
    KafkaNotFetched, KafkaNotStarted
        If there is no Kafka here; the message says why, and what to do.
    NotReached
        If this machine is so busy that it was not in time, three times.
    KafkaLearnError
        If there is no such question.

    Examples
    --------
    ::

        ask("coordinators")["billing"]  # {'partition': 9, 'broker': 1}
    """
    question = QUESTIONS[one_of("question", name, QUESTIONS)]
    for attempt in range(1, TRIES + 1):
        try:
            return question(release)
        except (NotReached, NoAnswer):
            if attempt == TRIES:
                raise
    raise AssertionError("unreachable")


def ask_live(release: str = DEFAULT_RELEASE) -> None:
    """From now on `kafkalearn.real_answers.real_answer` asks a Kafka of this release, started for each question.

    All that the questions need is fetched and prepared now, if it is not there yet, with its progress shown. Where
    that cannot be had, or no Kafka can be started, it gives the recorded answers, and says so.
    """
    nobody = _reason_why_nobody_can_be_asked(release)

    def asked(name: str) -> object:
        if nobody is not None:
            raise NobodyAnswers(nobody)
        return _asked_now(name, release)

    ask_with(asked, find_release(release).version)


def ask_a_real_broker(name: str) -> Any:
    """The answer of a real Kafka to a question: asked now, if one was fetched before, else as it was recorded.

    It prints which of both it is. It fetches nothing itself: `make live` does, and `ask_live`.

    Parameters
    ----------
    name : str
        One of `QUESTIONS`.

    Raises
    ------
    KafkaLearnError
        If there is no such question.

    Examples
    --------
    ::

        ask_a_real_broker("coordinators")["billing"]  # {'partition': 9, 'broker': 1}
    """
    one_of("question", name, QUESTIONS)
    answer = asked_or_recorded(name, _asked_if_fetched, find_release(DEFAULT_RELEASE).version)
    print(answer.asked)
    return answer.value


def _asked_if_fetched(name: str) -> object:
    if missing(find_release(DEFAULT_RELEASE)):
        raise NobodyAnswers("none was fetched (make live does that)")
    return _asked_now(name, DEFAULT_RELEASE)


def _asked_now(name: str, release: str) -> object:
    try:
        return ask(name, release)
    except (KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached) as error:
        raise NobodyAnswers(reason_of(error)) from None


def _reason_why_nobody_can_be_asked(release: str) -> str | None:
    """None: all is there."""
    try:
        for each in dict.fromkeys((release, releases.OLDER)):
            prepare(find_release(each))
        connector_jars()
    except (KafkaNotFetched, KafkaNotStarted) as error:
        return reason_of(error)
    return None
