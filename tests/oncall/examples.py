"""Questions with answers that stay: what is asked of the files in ``data/own-cluster``."""

from __future__ import annotations

import contextlib
import io
import json

from kafkalearn.base.files import data_directory
from kafkalearn.oncall.command import main

OWN, LAG = data_directory("own-cluster"), data_directory("lag")

QUESTIONS: dict[str, list[str]] = {
    "where-group": ["where", "group", "billing", "shipping", "--describe", str(OWN / "offsets-topic.txt")],
    "where-key": ["where", "key", "TT0124", "--partitions", "15", "--partitioner", "java", "--partitioner", "kcat"],
    "where-no-key": ["where", "key", "--no-key", "--partitions", "6"],
    "why": ["why", str(OWN / "server.log")],
    "lag": ["lag", "--describe", str(LAG / "first.txt"), "--describe", str(LAG / "second.txt"), "--apart", "10"],
    "lag-segments": ["lag", "--segments", str(LAG / "disk")],
    "xray": ["xray", str(OWN / "disk"), "--now", "1795400000000"],
    "upgrade-broker": ["upgrade", "3.9", "4.0", "--file", str(OWN / "server.properties")],
    "upgrade-clients": [
        "upgrade", "3.9", "4.3",
        "--consumer", str(OWN / "consumer.properties"), "--producer", str(OWN / "producer.properties"),
    ],
    "quorum": ["quorum", "--describe", str(OWN / "quorum.txt")],
    "safe-lost": ["safe", "--replicas", "3", "--acks", "1"],
    "safe": ["safe", "--describe", str(OWN / "orders.txt"), "--min-isr", "2"],
}  # fmt: skip
"""By the name of the golden file that has the answer."""


def asked(words: list[str]) -> tuple[int, str, str]:
    """The exit code of the command, its output and its errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def json_of(words: list[str]) -> str:
    """The answer as JSON, and the exit code; where the files lie is left out."""
    code, out, _ = asked([*words, "--json"])
    whole = {"exit code": code, **json.loads(out.replace(json.dumps(str(OWN))[1:-1], "own-cluster"))}
    return json.dumps(whole, indent=1, ensure_ascii=True)
