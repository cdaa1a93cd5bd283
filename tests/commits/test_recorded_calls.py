"""What a real consumer was told of its commits and its position: see tests/vectors/commits/calls.json."""

import re

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.commits import Close, CommitSync, Poll, Settings, start, step
from kafkalearn.commits.model import Assign, CommitRefused, Failed, Polled
from kafkalearn.commits.simulator import TOO_LARGE
from tests.recorded import recorded

CASES = recorded("calls")["cases"]
LONGEST = 20
THROWN = re.compile(r"\w+Exception")
EXCEPTIONS = {TOO_LARGE: "OffsetMetadataTooLarge"}


class Player:
    """One partition, and the one consumer of its group."""

    def __init__(self, record_count):
        self.record_count = record_count
        self.pipeline = start(self.settings({}))

    def settings(self, given):
        return Settings(
            self.record_count,
            committed=None,
            is_auto=given.get("enable.auto.commit", False),
            auto_offset_reset=given.get("auto.offset.reset", "latest"),
            max_poll_records=3,
            metadata_max_bytes=LONGEST,
        )

    def play(self, call, *rest):
        """What a call comes to; a real consumer looks for its position when it needs it, ours when it starts."""
        if call == "start":
            self.started = self.settings(*rest)
            return {}
        if call == "committed":
            committed = self.pipeline.committed
            return {"committed": None if committed is None else [committed, self.pipeline.metadata]}
        if self.pipeline.consumer("A") is None:
            self.pipeline = step(self.started, self.pipeline, Assign())
            for effect in self.pipeline.effects:
                if isinstance(effect, Failed):
                    return {"threw": effect.exception}
        if call == "position":
            return {"position": self.pipeline.consumer("A").position}
        try:
            self.pipeline = step(self.started, self.pipeline, self.event(call, rest))
        except IllegalEvent as error:
            return {"threw": THROWN.search(str(error))[0]}
        for effect in self.pipeline.effects:
            match effect:
                case CommitRefused(error=name):
                    return {"threw": EXCEPTIONS[name]}
                case Polled(offsets):
                    return {"offsets": list(offsets)}
        return {}

    def event(self, call, rest):
        match call, rest:
            case "commit", ():
                return CommitSync()
            case "commit", (offset, *metadata):
                return CommitSync(offset=offset, metadata="".join(metadata))
            case "close", ():
                return Close()
        return Poll()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_call_comes_to_what_it_came_to(case):
    player = Player(case["records"])
    assert [player.play(*call) for call in case["calls"]] == case["outcomes"]
