"""A class of a notebook is kept as text, handed in, and judged again in a process that is confined."""

import json

from kafkalearn.exercises.progress.judging import all_exercises, judge_apart
from kafkalearn.exercises.progress.record import FILE_NAME, Record
from kafkalearn.exercises.progress.sandbox import why_none_runs
from tests.exercises.build.mutants import SOURCE
from tests.exercises.test_in_a_kernel import kernel, said_by

__all__ = ["kernel"]

NAMES = ("which_broker", "alone", "static", "one_heartbeat")
CELL = SOURCE.replace("class Coordinator:", "class MyCoordinator(Base):")
BEFORE = """
from dataclasses import dataclass, field
from enum import Enum

FIRST_EPOCH = 1
group = object()  # a name that methods have for something else

class Kind(Enum):
    CLASSIC = "classic"

@dataclass
class Noted:
    kind: "Kind"
    notes: list = field(default_factory=list)

class Base:
    first_epoch = FIRST_EPOCH
    @staticmethod
    def noted():
        return Noted(Kind.CLASSIC)
    @property
    def kind(self):
        return self.noted().kind
"""


def test_a_class_of_a_notebook_is_judged_again_from_its_text(kernel):
    said_by(kernel, BEFORE)
    said_by(kernel, CELL.replace("self.epoch = 1", "self.epoch = Base.first_epoch"))
    said, _ = said_by(
        kernel,
        "from kafkalearn.exercises import build\n"
        "[bool(build.check(MyCoordinator, stage=each.number)) for each in build.stages() if each.name in "
        f"{NAMES}]",
    )

    assert said["text/plain"] == str([True] * len(NAMES))
    record = Record.read((kernel.folder / FILE_NAME).read_text(encoding="utf-8"))
    assert {*record.entries} == {f"build.{name}" for name in NAMES} < {*all_exercises()}
    source = record.entries["build.alone"].answer["source"]
    assert "class Base" in source
    assert "FIRST_EPOCH = 1" in source
    assert "object()" not in source
    if not why_none_runs():
        assert judge_apart(record) == {f"build.{name}": "right" for name in NAMES}


def test_what_is_handed_in_as_right_and_is_not_is_found(kernel):
    said_by(kernel, SOURCE.replace("Coordinator:", "Mine:").replace("% self.broker.offsets_partitions % 3]", "% 3]"))
    said_by(kernel, "from kafkalearn.exercises import build\nbuild.check(Mine, stage=1)")
    record = json.loads((kernel.folder / FILE_NAME).read_text(encoding="utf-8"))
    record["exercises"]["build.which_broker"]["answer"]["source"] = record["exercises"]["build.which_broker"]["answer"][
        "source"
    ].replace("self.broker.broker_ids[", "self.broker.broker_ids[0 * ")
    again = Record.read(json.dumps(record))
    if not why_none_runs():
        few = Record("", {"build.which_broker": again.entries["build.which_broker"]})
        assert judge_apart(few) == {"build.which_broker": "wrong"}
