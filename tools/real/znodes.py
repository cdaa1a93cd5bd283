"""What a ZooKeeper answers, and whom it notifies: tests/vectors/zookeeper/znodes.json."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafkalearn.live.jars import fetch, jar_paths, start_source
from tests.live.test_old_consumers import OPTIONS, era

FILE = "zookeeper/znodes.json"
PROGRAM = Path(__file__).resolve().parent / "ToldZooKeeper.java"
ABOUT = (
    "ZooKeeper 3.4.10 with the client of Kafka 1.1.1: requests of sessions one after the other, drawn at random (open, "
    "close, expire; create: path, data, whether ephemeral; delete: path, version; set: path, data, version; get, "
    "children, exists: path, whether a watch is left), and of each its result with version, data or children, and the "
    "watches that have fired by then: session, path, type. Paths begin with a node of the case. Written by python3 -m "
    "tools.real znodes."
)
SEED, CASE_COUNT, LENGTH = 53, 24, 40
NAMES = ("s1", "s2", "s3")
PATHS = ("/a", "/a/b", "/a/b/c", "/a/d", "/e")
Request = list[Any]


def drawn(number: int) -> list[Request]:
    """A script by chance: requests of sessions that are open, now and then of one that no longer is."""
    chance = random.Random(f"{SEED}/{number}")
    requests: list[Request] = [[name, "open"] for name in NAMES]
    kinds = ("create",) * 6 + ("delete",) * 3 + ("set",) * 3 + ("get",) * 3 + ("children",) * 4 + ("exists",) * 4
    ended: set[str] = set()
    for _ in range(LENGTH):
        name, kind = chance.choice(NAMES), chance.choice((*kinds, "end"))
        path, watches, version = chance.choice(PATHS), chance.random() < 0.7, chance.choice((-1, -1, 0, 1))
        if kind == "end":
            if len(ended) < len(NAMES) - 1 and name not in ended:
                ended.add(name)
                requests.append([name, chance.choice(("close", "expire"))])
        elif kind == "create":
            requests.append([name, kind, path, chance.choice("xyz"), chance.random() < 0.4])
        elif kind == "delete":
            requests.append([name, kind, path, version])
        elif kind == "set":
            requests.append([name, kind, path, chance.choice("xyz"), version])
        else:
            requests.append([name, kind, path, watches])
    return requests


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by one server; what Kafka it is asked beside does not matter."""
    fetch(era())
    with tempfile.TemporaryDirectory(prefix="kafkalearn-zookeeper-") as folder:
        process = start_source(PROGRAM, jar_paths(era()), folder, options=OPTIONS)
        try:
            assert process.stdout is not None
            while process.stdout.readline().strip() != "ready":
                if process.poll() is not None:
                    raise TimeoutError("ZooKeeper does not start")
            return [_played(process, number, drawn(number)) for number in range(CASE_COUNT)]
        finally:
            process.kill()
            process.communicate()


def _played(process: subprocess.Popen[str], number: int, requests: Sequence[Request]) -> dict[str, Any]:
    top = f"/case-{number}"
    _ask(process, [f"{number}-first", "open"])
    _ask(process, [f"{number}-first", "create", top, "", False])
    said = [_ask(process, [f"{number}-{name}", *_below(top, rest)]) for name, *rest in requests]
    for name in (*NAMES, "first"):
        _ask(process, [f"{number}-{name}", "close"])
    return {"name": f"by chance, {number}", "requests": requests, "said": [_plain(each, number, top) for each in said]}


def _below(top: str, words: Sequence[Any]) -> list[Any]:
    return [top + each if isinstance(each, str) and each.startswith("/") else each for each in words]


def _ask(process: subprocess.Popen[str], words: Sequence[Any]) -> tuple[list[str], list[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\t".join(str(each).lower() if isinstance(each, bool) else str(each) for each in words) + "\n")
    process.stdin.flush()
    result = process.stdout.readline().rstrip("\n").split("\t")
    _, *watches = process.stdout.readline().rstrip("\n").split("\t")
    return result, watches


def _plain(said: tuple[list[str], list[str]], number: int, top: str) -> dict[str, Any]:
    result, watches = said
    fired = sorted(each.removeprefix(f"{number}-").replace(f" {top}", " ", 1).split(" ") for each in watches)
    return {"result": result, "watches": fired}
