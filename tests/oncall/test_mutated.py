"""5,000 logs with faults: cut, doubled, shuffled, with bytes of anything in them. No error but a sentence."""

import random
from contextlib import suppress

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import why
from kafkalearn.oncall.logs.files import lines_of
from tests.oncall.runs import LEARNING, history_of, runs

COUNT = 5000
PIECES = (
    "\0",
    "\x1b[31m",
    "\u2028",
    "é",
    "{",
    '{"message": ',
    "[",
    "] ",
    "%7|",
    " (",
    "generation ",
    "9" * 40,
    "\r",
    "\t",
)


def mutated(rng, lines):
    """Lines with one to four faults."""
    lines = list(lines)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(lines))
        line = lines[at]
        place = rng.randint(0, len(line))
        kind = rng.randrange(7)
        if kind == 0:
            lines[at] = line[:place]
        elif kind == 1:
            lines[at] = line[place:]
        elif kind == 2:
            lines[at] = line[:place] + rng.choice(PIECES) + line[place:]
        elif kind == 3:
            lines.insert(at, line)
        elif kind == 4:
            lines[at] = line[:place] + line[place + rng.randint(1, 30) :]
        elif kind == 5:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], line
        else:
            lines[at] = line + lines[(at + 1) % len(lines)]
    return lines


def test_no_mutated_log_fails():
    rng = random.Random(20261122)
    chosen = runs(LEARNING)
    for _ in range(COUNT):
        run = rng.choice(chosen)
        lines = [*run["broker"], *rng.choice([*run["clients"].values(), []])[:30]]
        answer = why(mutated(rng, lines), has_advice=False)
        assert answer.reading.line_count >= len(lines) - 4
        str(answer)
        answer.as_data()


def test_what_is_before_the_fault_is_found():
    for run in runs(LEARNING)[::20]:
        torn = {**run, "broker": [*run["broker"], run["broker"][-1][:70], "\0\0\0", "{"], "clients": {}}
        assert history_of(torn).rebalances == history_of({**run, "clients": {}}).rebalances


def test_no_bytes_fail(tmp_path):
    rng = random.Random(7)
    path = tmp_path / "any.log"
    text = "\n".join(runs(LEARNING)[0]["broker"]).encode()
    for _ in range(300):
        data = bytearray(text)
        for _ in range(rng.randint(1, 200)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.randrange(len(data))])
        with suppress(KafkaLearnError):  # a sentence
            list(lines_of(path))
            str(why([path], has_advice=False))
