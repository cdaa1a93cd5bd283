"""Pauses, wakeups, interrupts and commits that do not wait: see tests/vectors/commits/consumer-calls.json."""

import re

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.commits import (
    Answered,
    Assign,
    Close,
    CommitAsync,
    CommitSync,
    Poll,
    Produce,
    Settings,
    Start,
    start,
    step,
)
from kafkalearn.commits.model import AutoCommitSent, CommitRefused, CommitSent, Committed, Polled
from kafkalearn.commits.simulator import RETRIABLE
from tests.every import every_case
from tests.recorded import recorded

CASES = {each["name"]: each for each in recorded("consumer-calls")["cases"]}
CLIENTS = CLASSIC, COOPERATIVE, KIP_848 = "classic", "cooperative", "consumer"
BROKEN_OFF = ("WakeupException", "InterruptException")
EXCEPTIONS = {RETRIABLE: "RetriableCommitFailedException", "UNKNOWN_MEMBER_ID": "CommitFailedException"}
NOT_PLAYED = {
    "what is not paused is read on": "two partitions",
    "who assigns it again keeps it paused, unless it was away": "two partitions",
    "a rebalance while all is paused": "two partitions",
    "who does not own a partition cannot pause it": "two partitions",
    "who subscribes anew has nothing paused": "unsubscribe",
    "seek moves a paused partition": "seek",
    "metadata that is too large": "metadata of asynchronous commits",
    "the answer is lost": "a commit that is written, and whose callback gets an error",
    "close waits no longer than it may": "a coordinator that never answers",
}
"""What the simulator of one group on one partition has no event for."""

INTERRUPTED_CLOSES = [each for each in CASES if each.startswith(("close of a thread", "an interrupt while close"))]
"""What one of KIP-848 has done by then is a matter of chance."""

PLAYS = [
    (name, client, play)
    for name, case in CASES.items()
    if name not in NOT_PLAYED
    for client in (CLIENTS if name not in INTERRUPTED_CLOSES else CLIENTS[:2])
    for play in case[client]
]


class Player:
    """One partition, and the consumers of its group. A partition that is paused is polled for no record."""

    def __init__(self):
        self.pipeline = start(Settings(0, committed=None))
        self.own, self.paused = {}, False
        self.is_held, self.refusals = False, 0
        self.sent, self.called_back = [], []

    def do(self, event, settings=None):
        """What is sent and called back by an event; the effects."""
        self.pipeline = step(settings or self.own[event.by], self.pipeline, event)
        for each in self.pipeline.effects:
            if isinstance(each, CommitSent | AutoCommitSent):
                self.sent.append(["OffsetCommit", each.offset])
        return self.pipeline.effects

    def outcome(self, who, call, words, real):
        """What a call comes to, without what is sent and called back."""
        if call == "interrupted":
            call, *words = words
        if call == "during":
            (call, *words), *deeds = words
            if "let go" in deeds:
                self.is_held = False
        if real.get("threw") in BROKEN_OFF and call not in ("commit", "close"):
            return {"threw": real["threw"]}
        match call:
            case "write":
                self.do(Produce(*words), Settings(0))
            case "start":
                is_auto = words[0].get("enable.auto.commit", False)
                self.own[who] = Settings(
                    0, committed=None, is_auto=is_auto, auto_offset_reset="earliest", max_poll_records=3
                )
            case "assign":
                self.do(Assign(who))
            case "meet":
                self.do(Start(who))
            case "pause" | "resume":
                self.paused = call == "pause"
            case "hold" | "let go":
                self.is_held = call == "hold"
            case "refuse":
                self.refusals += 1
            case "poll":
                return {"records": self.polled(who)}
            case "polls":
                self.answer(who)
                return {"records": self.polled(who, is_once=False)}
            case "position":
                return {"position": self.pipeline.consumer(who).position}
            case "committed":
                return {"committed": self.pipeline.committed}
            case "async":
                try:
                    self.do(CommitAsync(who, *words))
                except IllegalEvent as error:
                    return {"threw": re.search(r"\w+Exception", str(error))[0]}
            case "commit":
                return self.commit(who, words, real)
            case "close":
                return self.close(who, real)
        return {}

    def polled(self, who, is_once=True):
        found, offsets = [], None
        while offsets != () and (offsets is None or not is_once):
            effects = self.do(Poll(who, 0 if self.paused else None))
            (offsets,) = [each.offsets for each in effects if isinstance(each, Polled)]
            found += offsets
        return {"0": found} if found else {}

    def answer(self, who):
        """The answers to what is on its way come, unless they are kept back."""
        for offset in () if self.is_held else self.pipeline.consumer(who).in_flight:
            is_refused = self.refusals > 0
            self.refusals -= is_refused
            self.call_back(who, self.do(Answered(who, is_refused)))
            assert self.called_back[-1][-1] == offset or self.called_back[-1][2] != "NONE"

    def call_back(self, who, effects):
        for each in effects:
            match each:
                case Committed(offset):
                    self.called_back.append([who, "committed", "NONE", offset])
                case CommitRefused(offset, error):
                    self.called_back.append([who, "committed", EXCEPTIONS[error], offset])

    def commit(self, who, words, real):
        """A commit that was broken off is on its way all the same."""
        position = self.pipeline.consumer(who).position
        times = 1 + self.refusals  # commitSync tries again
        self.refusals = 0
        self.sent += [["OffsetCommit", *(words or [position])]] * times
        waiting = len(self.pipeline.consumer(who).in_flight)
        effects = self.do(CommitSync(who, *words))
        self.call_back(who, effects[:waiting])
        if "threw" in real and real["threw"] in BROKEN_OFF:
            return {"threw": real["threw"]}
        refused = [each.error for each in effects if isinstance(each, CommitRefused)]
        return {"threw": EXCEPTIONS[refused[-1]]} if refused else {}

    def close(self, who, real):
        """Who is interrupted closes all the same, and is told."""
        waiting = len(self.pipeline.consumer(who).in_flight)
        self.call_back(who, self.do(Close(who))[:waiting])
        return {"threw": real["threw"]} if real.get("threw") in BROKEN_OFF else {}


def is_commit(callback):
    return callback[1] == "committed"


@every_case(("name", "client", "play"), PLAYS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_call_comes_to_what_it_came_to(name, client, play):
    player = Player()
    for (who, call, *words), real in zip(CASES[name]["calls"], play, strict=True):
        seen = {key: real[key] for key in ("threw", "records", "position", "committed") if key in real}
        assert player.outcome(who, call, words, real) == seen, (who, call, words)
    sent = [request for real in play for request in real.get("requests", []) if request != ["leave"]]
    assert player.sent == sent
    called_back = [each for real in play for each in real.get("callbacks", []) if is_commit(each)]
    if called_back or client == KIP_848:
        assert [each[: len(real)] for each, real in zip(player.called_back, called_back, strict=True)] == called_back


@pytest.mark.parametrize("name", INTERRUPTED_CLOSES)
def test_an_interrupted_close_is_whole_with_the_classic_protocol_and_may_be_none_with_kip_848(name):
    """It may have committed nothing, and stay a member until its session is over: as if it had crashed."""
    ends = {
        client: {tuple(real[key] for real in play for key in ("committed", "members") if key in real) for play in plays}
        for client, plays in CASES[name].items()
        if client in CLIENTS
    }
    for client in (CLASSIC, COOPERATIVE):
        assert {each[0] for each in ends[client]} == {0}
        assert {each[-1] for each in ends[client]} == ({0} if name == "close of a thread that was interrupted" else {3})
    assert any(each[0] == 1 for each in ends[KIP_848])


def test_a_classic_consumer_closes_without_the_callbacks_that_are_due_and_one_of_kip_848_calls_them():
    case = CASES["close waits for what is on its way"]
    called = {each: [real.get("callbacks", []) for real in case[each][0]] for each in CLIENTS}
    due = [["c1", "committed", "NONE", 1], ["c1", "committed", "NONE", 2]]
    assert [called[each][-2] for each in CLIENTS] == [[], [], due]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_member_keeps_in_a_rebalance_stays_paused_and_what_it_gives_up_does_not(client):
    """With range all is given up, even what comes back at once."""
    (play,) = CASES["a rebalance while all is paused"][client]
    revoked = [each for real in play for each in real.get("callbacks", []) if each[:2] == ["c1", "revoked"]]
    counts = [real["paused"] for real in play if "paused" in real]
    kept = 2 - revoked[0][2]
    assert counts == [kept, kept]
    assert kept == (0 if client == CLASSIC else 1)
