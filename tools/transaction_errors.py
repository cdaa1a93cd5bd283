"""Records what Java's transactional producers make of every error: tests/vectors/transactions/client-errors.json.

    python3 -m tools.transaction_errors            every line from 2.4 on
    python3 -m tools.transaction_errors 4.4=4.4.1  only these lines, the others as they are recorded

Asked is the released `TransactionManager` itself (AskTransactions.java): it is put into the state in which it sends a
request, and its own handler is given an answer with the error. It prints what has changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from kafkalearn.live.jars import releases
from tools.kafka_jars import HERE, client_jars, run_class
from tools.recordings import differences, numbers_of, text_of
from tools.settings.rows import compressed, expanded

RECORDED = HERE.parent / "tests" / "vectors" / "transactions" / "client-errors.json"
OLDER = (
    "2.4.1", "2.5.1", "2.6.3", "2.7.2", "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2",
    "3.8.1", "3.9.2",
)  # fmt: skip
ABOUT = (
    "What the TransactionManager of released Java producers makes of each error, by request (EndTxn is a commit): "
    "retried; abortable or fatal, with the class of the error that it keeps, and of its causes; thrown: the call fails "
    "and the producer is as before; ignored. Of each {line: answer}, only the lines where it changes, and an error "
    "from the first line that it has. asked: the release of each line. Written by python3 -m tools.transaction_errors."
)


def main(words: list[str]) -> int:
    """Ask the lines named, or all; write the file and print what has changed in it."""
    old = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"asked": {}, "answers": {}}
    all_lines = {line_of(each): each for each in OLDER} | {line: each.version for line, each in releases().items()}
    named = {line: patch or all_lines[line] for line, _, patch in (word.partition("=") for word in words)}
    wanted = named or all_lines
    new = taken_in(old, {line: answers_of(version) for line, version in wanted.items()}, wanted)
    print("\n".join(differences(old["answers"], new["answers"])) or "nothing has changed")
    RECORDED.write_text(text_of(new, "answers"), encoding="utf-8")
    return 0


def line_of(version: str) -> str:
    """The line of a patch.

    >>> line_of("3.9.2")
    '3.9'
    """
    return version.rpartition(".")[0]


def answers_of(version: str) -> dict[str, str]:
    """What a release answers, by request and error."""
    print(f"asking {version}", flush=True)
    answers = {}
    for line in run_class(client_jars(version), "AskTransactions").splitlines():
        request, error, *answer = line.split("\t")
        answers[f"{request}: {error}"] = " ".join(answer).strip()
    return answers


def taken_in(old: Mapping[str, Any], read: Mapping[str, Mapping[str, str]], asked: Mapping[str, str]) -> dict[str, Any]:
    """The recording with what these lines answer now.

    >>> old = {"asked": {"4.0": "4.0.2"}, "answers": {"EndTxn: A": {"4.0": "fatal"}}}
    >>> taken_in(old, {"4.1": {"EndTxn: A": "retried"}}, {"4.1": "4.1.2"})["answers"]
    {'EndTxn: A': {'4.0': 'fatal', '4.1': 'retried'}}
    """
    both = {**old["asked"], **asked}
    lines = sorted(both, key=numbers_of)
    names = sorted({*old["answers"], *(name for each in read.values() for name in each)})
    answers = {}
    for name in names:
        by_line = expanded(old["answers"].get(name, {})) | {line: each.get(name) for line, each in read.items()}
        answers[name] = compressed({line: by_line.get(line) for line in lines}, first=None)
    return {"about": ABOUT, "asked": {line: both[line] for line in lines}, "answers": answers}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
