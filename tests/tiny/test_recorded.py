"""`kafkalearn.tiny` is held to what real Kafka answered, wherever its straight path goes; the rest is counted."""

from collections import Counter

import pytest

from tests.tiny import cleaning, replays, replication

KINDS = {
    replays.keys: (
        8556,
        {
            "another client's hash": 8000,
        },
    ),
    replays.groups: (537, {}),
    replays.ranges: (
        157,
        {
            "static members": 45,
            "ids that UTF-16 sorts otherwise": 2,
            "racks": 2,
            "other assignors": 314,
        },
    ),
    replays.stickies: (
        69,
        {
            "members that subscribe to different topics": 56,
            "the two rounds of cooperative-sticky": 114,
            "two members that report one partition": 6,
        },
    ),
    replication.scripts: (
        478,
        {
            "when a fetch that found nothing is answered": 86,
            "a producer that is told of a time-out or of another leader": 2,
            "the clock: who is too slow": 2,
            "an ISR that somebody else than the leader changes": 31,
            "an ISR that is too small until the controller agrees": 8,
            "a log that begins later": 5,
            "who counts as alive": 5,
            "older releases": 79,
            "idempotent producers": 33,
            "a client that asks the wrong broker": 10,
        },
    ),
    replication.epochs: (
        51,
        {
            "an epoch that nobody knows of": 3,
            "epochs: errors, and a log that begins later": 8,
        },
    ),
    replication.runs: (
        217,
        {
            "an unclean election": 4,
            "eligible leader replicas": 25,
            "a leader that stands still": 6,
            "the time until a death is noticed": 7,
            "a cluster of which nobody is left": 1,
        },
    ),
    cleaning.passes: (75, {}),
    cleaning.scripts: (
        35,
        {
            "transactions": 7,
            "a cleaner without room for all keys": 3,
            "a broker that refuses records without a key": 2,
            "a log that begins later": 1,
            "retention": 1,
        },
    ),
    cleaning.commits: (
        9,
        {
            "a producer that is told of a time-out or of another leader": 1,
            "a coordinator that loads": 5,
        },
    ),
}
"""For each kind of recording how many answers tiny is held to, and what is not asked, by the reason."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__.rpartition('.')[2]}-{kind.__name__}")
def test_tiny_answers_as_real_kafka_did(kind):
    lines = list(kind())
    answers = [line for line in lines if isinstance(line, replays.Answer)]
    not_asked = Counter()
    for line in lines:
        if isinstance(line, replays.NotAsked):
            not_asked[line.reason] += line.count

    wrong = [line for line in answers if line.said != line.recorded]
    assert wrong == [], f"{len(wrong)} of {len(answers)}; the first is {wrong[0]}"
    assert (len(answers), dict(not_asked)) == KINDS[kind]


def test_so_many_recorded_answers_hold_tiny():
    assert sum(count for count, _ in KINDS.values()) == 10_184
