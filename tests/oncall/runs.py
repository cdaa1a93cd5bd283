"""Runs of real groups, each with what was done to it: a third of them was apart while the causes were written."""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

from kafkalearn.oncall.logs.causes import CAUSES, UNKNOWN
from kafkalearn.oncall.logs.reader import Reader, Reading
from kafkalearn.oncall.logs.rebalances import GroupHistory, histories
from tests.recorded import recorded

FOLDER = Path(__file__).parents[1] / "vectors" / "server_logs"
LEARNING, HELD_OUT = "learning", "held_out"
RIGHT, BROAD, NOT_NAMED, WRONG = "right", "right, but not exact", "unknown", "wrong"


@cache
def runs(part: str) -> tuple[dict, ...]:
    """The runs of a part; of those the script of which went as planned, by counts and times."""
    with gzip.open(FOLDER / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        logs = {each["run"]: each for each in map(json.loads, file)}
    return tuple({**each, **logs[each["run"]]} for each in recorded("server-log-runs")[part])


def read_run(run: dict, has_broker: bool = True, has_clients: bool = True) -> Reading:
    """The events of a run, by the broker's log, its clients' logs, or both."""
    reader = Reader()
    for line in run["broker"] if has_broker else ():
        reader.feed(line, "server.log")
    for name, lines in run["clients"].items() if has_clients else ():
        for line in lines:
            reader.feed(line, f"{name}.log")
    return reader.result()


def history_of(run: dict, has_broker: bool = True, has_clients: bool = True) -> GroupHistory | None:
    """What is found about the group of a run."""
    found = histories(read_run(run, has_broker, has_clients).events)
    return next((each for each in found if each.group == run["group"]), None)


def judged(run: dict, has_clients: bool) -> list[tuple[str, str, str]]:
    """For each rebalance that the script has caused: the verdict, the cause found, the true one.

    The members that form a group may need several rebalances for it; of those only the first is judged.
    """
    history = history_of(run, has_clients=has_clients)
    found = history.rebalances if history else ()
    assert len(found) == len(run["expected"]), run["run"]
    rows = []
    for place, (one, true) in enumerate(zip(found, run["expected"], strict=True)):
        if 0 < place < run["formed"]:
            continue
        cause = true["cause"]
        if one.cause == cause:
            verdict = RIGHT
        elif cause in CAUSES[one.cause].covers:
            verdict = BROAD
        else:
            verdict = NOT_NAMED if one.cause == UNKNOWN else WRONG
        rows.append((verdict, one.cause, cause))
    return rows


def counts(part: str, has_clients: bool, release: str | None = None) -> Counter:
    """How many rebalances of a part got which verdict."""
    chosen = (run for run in runs(part) if release in (None, run["release"]))
    return Counter(verdict for run in chosen for verdict, _, _ in judged(run, has_clients))


def wrong_causes(part: str) -> list[tuple[str, bool, str, str]]:
    """Every cause that is another than the true one, by the broker's log alone and with the clients'."""
    return [
        (run["run"], has_clients, found, true)
        for run in runs(part)
        for has_clients in (False, True)
        for verdict, found, true in judged(run, has_clients)
        if verdict == WRONG
    ]
