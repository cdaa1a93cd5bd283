"""Real Java share consumers and the programs of the simulator: told the same, they get the same records as often."""

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.sharing import work
from kafkalearn.sharing.work import Accept, Arrive, Close, Poll, Reject, Release, settings
from tests.every import every_case
from tests.recorded import recorded

CASES = recorded("share-members")["cases"]
SAID = {"accept": Accept, "release": Release, "reject": Reject}
REFUSED = "IllegalStateException"


class Members:
    """Steps in the words of the recorded program; what was said of records goes out with a commit, or at the end."""

    def __init__(self, case):
        (mode, most, acquiring), *others = [
            word.partition("=")[2].split(",") for word, _ in case["steps"] if "=" in word
        ]
        assert all(each == [mode, most, acquiring] for each in others)
        self.settings = settings(
            acknowledging=mode, max_poll_records=int(most), acquire_mode=acquiring, programs=("a", "b"),
            release=case["release"].rpartition(".")[0],
        )  # fmt: skip
        self.state, self.said = work.start(self.settings), []

    def step(self, event):
        self.state = work.step(self.settings, self.state, event)

    def send_what_was_said(self):
        for each in self.said:
            self.step(each)
        self.said = []

    def play(self, word):
        """What a step prints."""
        if word.startswith("send:"):
            self.step(Arrive(int(word[5:])))
        if "." not in word.partition("=")[0]:
            return ""
        name, _, what = word.partition(".")
        try:
            return self.told(name, *what.split(":"))
        except IllegalEvent:
            return REFUSED

    def told(self, name, what, offset=None):
        if what in SAID:
            event = SAID[what](name, (int(offset),))
            work.step(self.settings, self.state, event)  # refused if it makes no sense
            self.said.append(event)
            return ""
        before = len(self.state.cluster.deliveries)
        if what == "commit" and self.settings.acknowledging == "implicit":
            self.step(Accept(name))
            return "0=NONE"
        is_something_said = bool(self.said)
        self.send_what_was_said()
        if what == "commit":
            return "0=NONE" if is_something_said else ""
        if what == "close":
            self.step(Close(name))
            return ""
        self.step(Poll(name))
        new = self.state.cluster.deliveries[before:]
        assert {each.member for each in new} <= {name}
        return " ".join(f"{each.offset}/{each.count}" for each in new)


@every_case("case", CASES, ids=lambda case: f"{case['name']}, {case['release']}")
def test_programs_get_what_real_java_consumers_got(case):
    members = Members(case)
    assert [[word, members.play(word)] for word, _ in case["steps"]] == case["steps"]


def test_the_comparison_sees_one_count_more():
    case = CASES[0]
    at, (word, told) = next((at, step) for at, step in enumerate(case["steps"]) if step[1].endswith("/2 5/1"))
    steps = [*case["steps"][:at], [word, told.replace("3/2", "3/1")], *case["steps"][at + 1 :]]
    members = Members(case)
    assert [[each, members.play(each)] for each, _ in steps] != steps


def test_what_is_not_yet_said_stays_with_its_program_until_it_closes():
    chosen = settings(acknowledging="implicit")
    state = work.simulate(chosen, [Arrive(2), Poll("c1"), Close("c1"), Poll("c2")])[-1].state
    assert [(each.member, each.offset, each.count) for each in state.cluster.deliveries][2:] == [
        ("c2", 0, 2),
        ("c2", 1, 2),
    ]
    with pytest.raises(IllegalEvent, match="c1 has no session that could end"):
        work.step(chosen, state, Close("c1"))
