"""A partition of three replicas, broken by hand: a line of moves, and what may come next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.game import BETWEEN, MOST_MOVES, moves_of
from kafkalearn.page.playground.fields import number_field, text_field
from kafkalearn.page.playground.shown import played
from kafkalearn.phrases import counted, shown
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    ElectLeaders,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    broken,
    simulate,
    step,
)
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.trace import Trace
from kafkalearn.versions.releases import DEFAULT_RELEASE
from kafkalearn.views.drawing.frames import animation
from kafkalearn.views.replication.picture import draw_replication
from kafkalearn.views.replication.words import describe_replication

REPLICAS = 3
_OF_A_BROKER = (
    *(Fetch, BrokerCrashed, PowerLost, BrokerStopped, SessionExpired, BrokerRestarted, BrokerFrozen, BrokerThawed),
    *(BrokerReconnected, HighWatermarkCheckpointed),
)
MOVES: Mapping[str, ReplicationEvent] = moves_of(
    *(Produce(acks=acks) for acks in ("all", 1, 0)),
    *(kind(broker) for kind in _OF_A_BROKER for broker in range(1, REPLICAS + 1)),
    *(AlterPartitionAnswered(), IsrChecked(), TimePassed(30_000), ElectLeaders(), ElectLeaders("unclean")),
)
"""All that may happen, by the words in which a line says it."""


def play_moves(fields: Mapping[str, object]) -> dict[str, object]:
    """A line of moves played; for each step what may come next, and which promises are broken.

    Parameters
    ----------
    fields : mapping
        ``line``: moves with ``>`` between them; ``min_isr``, ``release``, ``unclean`` (true: unclean elections).

    Raises
    ------
    KafkaLearnError
        If a word is no move, or a move makes no sense where it stands: which, and why.

    Examples
    --------
    >>> said = play_moves({"line": "Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)"})
    >>> said["steps"][-1]["broken"]
    ['acknowledged records survive']
    """
    settings, line = settings_of(fields), moves_in(text_field(fields, "line"))
    trace = played_run(settings, line)
    steps = [
        {
            "moves": [words for words, event in MOVES.items() if _is_possible(settings, frame.state, event)],
            "broken": list(broken(settings, frame.state, None if at == 0 else trace[at - 1].state)),
        }
        for at, frame in enumerate(trace)
    ]
    shown_run = animation(trace, partial(draw_replication, settings), partial(describe_replication, settings), start=-1)
    lost = next((at for at, each in enumerate(steps) if each["broken"]), None)
    words = f"{counted(len(line), 'move')}; " + (
        "every promise holds." if lost is None else f"move {lost} breaks: {', '.join(steps[lost]['broken'])}."
    )
    return {"text": words, "line": BETWEEN.join(line), "steps": steps} | played(shown_run)


def moves_in(line: str) -> list[str]:
    """The words of the moves of a line.

    >>> moves_in("produce( acks=1 ) > fetch(2)")
    ['Produce(acks=1)', 'Fetch(2)']
    """
    words = [each.strip() for part in line.splitlines() for each in part.split(BETWEEN.strip())]
    words = [each for each in words if each]
    if len(words) > MOST_MOVES:
        raise KafkaLearnError(f"a line may have {MOST_MOVES} moves, got {len(words)}")
    by_plain = {_plain(each): each for each in MOVES}
    for number, each in enumerate(words, 1):
        if _plain(each) not in by_plain:
            raise KafkaLearnError(f"move {number}, {shown(each)}, is none; the moves are: {', '.join(MOVES)}")
    return [by_plain[_plain(each)] for each in words]


def _plain(words: str) -> str:
    return "".join(words.split()).casefold().replace("'", '"').removesuffix("()")


def settings_of(fields: Mapping[str, object]) -> Settings:
    """The partition that the fields describe."""
    return Settings(
        REPLICAS,
        release=text_field(fields, "release", DEFAULT_RELEASE),
        min_insync_replicas=number_field(fields, "min_isr", 1),
        is_unclean_election_enabled=bool(fields.get("unclean")),
        fetch_wait_max_ms=0,  # a fetch that finds nothing is answered at once: fewer moves, and no other outcome
    )


def played_run(settings: Settings, line: Sequence[str]) -> Trace:
    """The run of some moves; KafkaLearnError names the one that cannot come where it stands."""
    for count in range(1, len(line) + 1):
        try:
            simulate(settings, [MOVES[words] for words in line[:count]])
        except KafkaLearnError as error:
            raise KafkaLearnError(f"move {count}, {line[count - 1]}, cannot come there: {error}") from error
    return simulate(settings, [MOVES[words] for words in line])


def _is_possible(settings: Settings, state: object, event: ReplicationEvent) -> bool:
    try:
        return step(settings, state, event) != state
    except KafkaLearnError:
        return False
