"""Incidents with groups that really happened, and a deployment to be judged: exercises of chapter 05b."""

from __future__ import annotations

from functools import cache

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value
from kafkalearn.group import simulate
from kafkalearn.group.world.outcome import Outcome

POD = """at 0 s: c1, c2 and c3 join
at 60 s: c3 crashes and returns after {} s
the end is at 10 min"""


@cache
def _pod(after_s: int, protocol: str) -> Outcome:
    return simulate(POD.format(after_s), protocol=protocol, group_instance_id=True)


def _reads_again(after_s: int, protocol: str) -> bool:
    return _pod(after_s, protocol).trace[-1].state.member("c3").doing == "consuming"


def _alive_and_silent() -> dict[str, object]:
    return {
        "classic, back after 10 s": _reads_again(10, "classic"),
        "KIP-848, back after 10 s": _reads_again(10, "consumer"),
        "KIP-848, back after 60 s": _reads_again(60, "consumer"),
        "error": "UNRELEASED_INSTANCE_ID",
    }


alive_and_silent = Exercise(
    name="alive_and_silent",
    asks=(
        "**A real incident** (PostHog/posthog#65809, 2026): a container runs out of memory and is started again at "
        "once, in the same pod. Its `group.instance.id` is the pod's name, its group uses the KIP-848 protocol. From "
        "then on the pod is *Running* and *Ready*, and reads nothing.\n\n"
        "Does such a consumer read again (yes or no) if it is back 10 s after its crash, with the classic "
        "protocol and with KIP-848? And 60 s after it, with KIP-848? Which error does its join get in the case that "
        "goes wrong?"
    ),
    start=(
        "answer = {\n"
        '    "classic, back after 10 s": ...,\n'
        '    "KIP-848, back after 10 s": ...,\n'
        '    "KIP-848, back after 60 s": ...,\n'
        '    "error": ...,\n'
        "}\n"
        "exercises.alive_and_silent.check(answer)"
    ),
    judge=Value(_alive_and_silent),
    solve=_alive_and_silent,
    hints=(
        "A crash is no `close()`: the coordinator does not know that the process is gone.",
        "The classic coordinator gives the place to the newcomer and fences the old process. The new one does not.",
        'Play it: `simulate(..., protocol="consumer", group_instance_id=True)`, and look at the last frames.',
    ),
    reasoning=(
        "Classic: the newcomer with the same instance id takes the place over at once; it is the *old* process, if it "
        "still lived, that would be fenced. KIP-848 turns it round: as long as the old member has not said that it "
        "leaves (epoch -2) and its session has not ended, the instance id counts as in use, and the join is answered "
        "UNRELEASED_INSTANCE_ID. Clients take that as fatal. After 45 s the session has ended, and a new process is "
        "welcome: so after 60 s it reads again.\n\n"
        "In the incident the program did not end on the fatal error: it polled a dead client for ever, and the probe "
        "of Kubernetes found it alive. The cure was to let the process end, so that it is started again until the id "
        "is free, and to make members static only where the names of pods outlive a deployment."
    ),
    misconceptions=(
        Misconception(
            {"KIP-848, back after 10 s": True},
            "A crash sends nothing, and the new coordinator protects the member it knows.",
        ),
        Misconception(
            {"classic, back after 10 s": False},
            "In the classic protocol the newcomer wins, and the older process with the same id is fenced.",
        ),
        Misconception({"error": "FENCED_INSTANCE_ID"}, "That one is for a process whose place another has taken."),
    ),
    moral="A static member needs a clean end, or patience. And a fatal error must end the process.",
)

hours_of_rebalance = Exercise(
    name="hours_of_rebalance",
    asks=(
        "Open. *Our group has 300 consumers; a deployment restarts them one after the other, and for hours nothing is "
        "read. The article says so: a rebalance of a large group takes hours, and there is no cure.* Each poll of "
        "theirs takes about a minute. What takes hours here, and when is nothing read in them? Name at least three "
        "changes that help, each with what it costs, and say which you would try first. "
        "`kafkalearn.group.scenario.durations` has numbers."
    ),
    start='advice = """\n"""\nexercises.hours_of_rebalance.check(advice)',
    judge=Open(),
    solve=lambda: "Not one rebalance, but a hundred and fifty in a row. Static members first.",
    hints=(
        "How long does one rebalance take at most, and what decides it?",
        "How many rebalances does such a deployment bring? Who reads while one of them waits?",
        "Which of static members, cooperative, KIP-848, shorter polls, restarting all at once changes the number of "
        "rebalances, and which changes what one of them costs?",
    ),
    reasoning=(
        "One rebalance takes as long as the slowest member's poll, here about a minute, and never more than "
        "`max.poll.interval.ms`. But each restart begins one, or comes while one is under way: about one for two "
        "restarts, and so they fill most of the two and a half hours that the deployment takes. Yet who is in a poll "
        "goes on with its records until it comes back. If all polls take a minute, they come back together, and a "
        "partition is unread for some 20 seconds in all. If one consumer is slower than the rest, all others wait for "
        "it each time, and then nearly nothing is read for hours: see `rolling_restart(30, is_one_slow=True)`.\n\n"
        "Static members: no rebalance at all if each is back within its session timeout; the price is that nobody "
        "reads its partitions meanwhile. Fewer records in a poll (`max.poll.records`): each rebalance becomes short; "
        "the price is more polls. Cooperative or KIP-848: as many rebalances, but only what moves stands still. All "
        "at once: one rebalance, and for its length nothing is read. Static members are the smallest change; KIP-848 "
        "is the one that lasts."
    ),
)
