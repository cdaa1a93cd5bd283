"""Transactions: one broker and the simulator are asked the same requests, what users ask about, step by step."""

from __future__ import annotations

import pytest

from conformance.mechanisms.transactions import PARTITIONS, VERSION_2
from conformance.search import compare
from kafkalearn.releases.lines import at_least
from tests.live.checked import holds

pytestmark = pytest.mark.live

NOW = {"id": 0, "who": "now"}
INIT = {"do": "InitProducerId", "v": 5, **NOW, "expects": False, "timeout": 60_000}
WRITE = {"do": "Produce", "v": 12, **NOW, "place": 0, "sequence": "next", "count": 2, "is_transactional": True}
OFFSETS = {
    "do": "TxnOffsetCommit",
    "v": 5,
    **NOW,
    "group": 0,
    "place": 1,
    "offset": 7,
    "member": "",
    "generation": None,
}
COMMIT, ABORT = ({"do": "EndTxn", "v": 5, **NOW, "commits": commits} for commits in (True, False))
ZOMBIE = {"who": "before"}

STORIES = {
    "records and offsets hold together": [INIT, WRITE, {**WRITE, "place": 1}, OFFSETS, COMMIT],
    "an aborted transaction leaves nothing": [INIT, WRITE, OFFSETS, ABORT, WRITE, COMMIT],
    "a second producer aborts what the first has open": [INIT, WRITE, INIT, INIT, {**WRITE, **ZOMBIE}, WRITE, COMMIT],
    "a retried commit is answered again": [INIT, WRITE, COMMIT, {**COMMIT, **ZOMBIE}, WRITE],
    "a reader waits behind what is open": [INIT, {**INIT, "id": 1}, WRITE, {**WRITE, "id": 1}, {**COMMIT, "id": 1}],
    "an older client adds its partitions first": [
        {**INIT, "v": 4},
        {"do": "AddPartitionsToTxn", "v": 3, **NOW, "places": [0], "verifies": False},
        {**WRITE, "v": 11},
        {**WRITE, "v": 11, "place": 1},
        {**COMMIT, "v": 4},
    ],
    "members of both protocols commit in a transaction": [
        *(
            each
            for group in (0, 1)
            for each in (
                {"do": "Join", "group": group},
                INIT,
                *({**OFFSETS, "group": group, "member": "own", "generation": above} for above in (0, 1)),
                {**OFFSETS, "group": group, "member": "wrong", "generation": 0},
                COMMIT,
            )
        )
    ],
}
"""What users ask about, as requests; each as a case of `make conform`."""


@holds(
    "requests about transactions: answers, states, markers, the last stable offset, offsets that wait",
    "transactions: what holds after every request",
)
def test_what_users_ask_about_is_answered_as_the_simulator_says(cluster, release, new_name):
    if not at_least("4.0", release):
        pytest.skip("transaction.version 2 came with 4.0")
    kafka = cluster(1, **VERSION_2.settings)
    found = {}
    for name, steps in STORIES.items():
        seen = VERSION_2.ask(kafka, {"steps": steps}, new_name)
        found[name] = compare(VERSION_2, release, {"steps": steps}, seen)
        stable = dict.fromkeys(PARTITIONS, 0)
        for _, now in seen["steps"]:
            for place in PARTITIONS:
                end, until = now.get(f"offsets {place}", (stable[place], stable[place]))
                assert stable[place] <= until <= end  # what a reader was given is never taken back
                stable[place] = until
    assert {name: each for name, each in found.items() if each is not None} == {}
