"""Histories of logs and of clusters: ListOffsets, replicas that move, commits while a follower stands still."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

from conformance.mechanisms.offsets import LIST_OFFSETS
from kafkalearn.live import Kafka
from tests.live import reassigning
from tests.live.test_commit_path import CONFIG, answers_to
from tools.histories.recording import Ask, History, Recording


@contextmanager
def asking_list_offsets(line: str) -> Iterator[Ask]:
    """A broker for logs of which the offsets are asked."""
    with Kafka(release=line) as kafka:
        numbers = count(1)

        def ask(history: History) -> dict[str, Any]:
            return {**history, "answers": LIST_OFFSETS.ask(kafka, history, lambda kind: f"{kind}-{next(numbers)}")}

        yield ask


@contextmanager
def asking_operators(line: str) -> Iterator[Ask]:
    """A cluster of four brokers for scripts of an operator, with and without eligible leader replicas."""
    with ExitStack() as running:
        clusters: dict[bool, Kafka] = {}
        numbers = count(1)

        def ask(history: History) -> dict[str, Any]:
            has_elr = history["elr"]
            if has_elr not in clusters:
                running.close()  # one cluster at a time
                cluster = Kafka(
                    len(reassigning.BROKERS), line, reassigning.CONFIG, has_eligible_leader_replicas=has_elr
                )
                clusters.clear()
                clusters[has_elr] = running.enter_context(cluster)
            now = reassigning.play(clusters[has_elr], history["name"], f"moved-{next(numbers)}", has_elr)
            return {**now, "steps": with_ends(history["steps"], now["steps"])}

        yield ask


def with_ends(recorded: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps, where a move is under way with the state that was recorded of it if it has ended as it did then.

    >>> recorded = [{"op": "reassign", "state": "moved"}, {"op": "end", "state": "moved"}]
    >>> with_ends(recorded, [{"op": "reassign", "state": None}, {"op": "end", "state": "moved"}]) == recorded
    True
    >>> with_ends(recorded, [{"op": "reassign", "state": None}, {"op": "end", "state": "stuck"}])[0]["state"]
    """
    ends = [*(each["state"] for each in now[1:]), None]
    return [
        {**step, "state": before["state"]} if step["state"] is None and before["state"] == end else step
        for before, step, end in zip(recorded, now, ends, strict=True)
    ]


@contextmanager
def asking_coordinators(line: str) -> Iterator[Ask]:
    """A cluster for each script of commits, as brokers stand still in it."""

    def ask(history: History) -> dict[str, Any]:
        with Kafka(3, line, CONFIG) as kafka, ThreadPoolExecutor(4) as pool:
            return {**history, "answers": answers_to(kafka, pool, history)}

    yield ask


def nobody_says(history: History) -> bool:
    """These histories have nothing that is drawn: only equal answers are the same."""
    return False


LISTED = Recording(
    "log/list-offsets.json", ("cases",), asking_list_offsets, nobody_says, name=lambda each: str(each["asked"])[:80]
)
MOVES = Recording("replication/reassignment.json", ("cases",), asking_operators, nobody_says)
COMMITS = Recording(
    "offsets/commit-path.json",
    ("scripts",),
    asking_coordinators,
    nobody_says,
    lambda history: (
        "what is in flight when a broker is killed is not the same each time" if "killed" in history["name"] else ""
    ),
)
