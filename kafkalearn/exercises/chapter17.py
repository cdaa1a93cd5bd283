"""The exercises of chapter 17: can you write the coordinator yourself?"""

from __future__ import annotations

from typing import Any

from kafkalearn.exercises.build import stages
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception


def _answer(stage: str, request: int) -> Any:
    """What Kafka answered to a request of a stage, by the number that a check names."""
    (steps,) = (each.steps for each in stages() if each.name == stage)
    return next(each["answer"] for step in steps for each in step["answers"] if each["step"] == request - 1)


def _error(stage: str, request: int) -> str:
    return _answer(stage, request)["errorCode"]


def _of_partition(stage: str, request: int) -> str:
    return _answer(stage, request)["topics"][0]["partitions"][0]["errorCode"]


whose_member = Exercise(
    name="whose_member",
    asks=(
        "Predict. Client a has sent a JoinGroup with an empty `memberId`, and was answered an id. Which error does "
        "each of these get: that JoinGroup itself; a Heartbeat with the id; a JoinGroup with the id `nobody`?"
    ),
    start=(
        'errors = {"JoinGroup without an id": ..., "Heartbeat with the id": ...,\n'
        '          "JoinGroup as nobody": ...}\n'
        "exercises.whose_member.check(errors)"
    ),
    judge=Value(
        lambda: {
            "JoinGroup without an id": _error("an_id_first", 1),
            "Heartbeat with the id": _error("an_id_first", 8),
            "JoinGroup as nobody": _error("an_id_first", 3),
        }
    ),
    hints=(
        "Having an id is not yet being a member.",
        "Two of the three are the same error.",
    ),
    reasoning=(
        "`MEMBER_ID_REQUIRED`, then `UNKNOWN_MEMBER_ID` twice. The id waits in a set of its own until the second "
        "JoinGroup comes with it; before that nobody of this name is in the group."
    ),
    misconceptions=(
        Misconception(
            {"Heartbeat with the id": "NONE"},
            "That would be so of a member. Who was only given an id has not joined: the group could not count on it.",
        ),
    ),
)

when_answered = Exercise(
    name="when_answered",
    asks=(
        "Predict. An empty group, and `group.initial.rebalance.delay.ms` is 1000. Member a joins at 0 ms, b at 400 ms, "
        "nobody else; both have a rebalance timeout of a minute. After how many milliseconds is a answered, and which "
        "generation do they get?"
    ),
    start='answer = {"ms": ..., "generation": ...}\nexercises.when_answered.check(answer)',
    judge=Value(lambda: {"ms": 2000, "generation": _answer("wait_for_others", 3)["generationId"]}),
    hints=(
        "At the end of the delay somebody has come since it began.",
        "Then it waits as long once more, not from b's coming on, but from the end of the first delay.",
    ),
    reasoning=(
        "At 1000 ms the delay ends, b has come meanwhile, so it waits 1000 ms more: both are answered at 2000 ms, in "
        "generation 1. Stage 5 shows the two ends: nothing while 900 ms pass, both while 1500 ms do."
    ),
    misconceptions=(
        Misconception({"ms": 1000}, "That is when nobody else comes. Who came meanwhile lets the coordinator wait on."),
        Misconception({"ms": 1400}, "It waits on from the end of a delay, not from the moment at which somebody came."),
    ),
)

old_process = Exercise(
    name="old_process",
    asks=(
        "Predict. A static member `pod-1` is started a second time while the first process lives. What does the first "
        "one's Heartbeat get if it names its instance id; if it does not; and if it names `pod-9`, which nobody is?"
    ),
    start='errors = {"pod-1": ..., "no instance id": ..., "pod-9": ...}\nexercises.old_process.check(errors)',
    judge=Value(
        lambda: {
            "pod-1": _error("fenced", 5),
            "no instance id": _error("fenced", 9),
            "pod-9": _error("fenced", 10),
        }
    ),
    hints=(
        "The instance is there, but another process is it by now.",
        "Without an instance id only the member id is looked for, and that was replaced.",
    ),
    reasoning=(
        "`FENCED_INSTANCE_ID` with `pod-1`: the instance is known, under another member id. Otherwise "
        "`UNKNOWN_MEMBER_ID`, twice. Only the first one tells the process why."
    ),
    misconceptions=(
        Misconception(
            {"no instance id": "FENCED_INSTANCE_ID"},
            "To be fenced it would have to say which instance it is; the old member id alone is simply gone.",
        ),
    ),
)

late_commit = Exercise(
    name="late_commit",
    asks=(
        "Predict. A third member joins a group of a and b, in generation 1. a commits before it joins again; after all "
        "three have been answered JoinGroup, a commits in generation 2 and b in generation 1; then a sends the "
        "assignments, and commits in generation 2. Which error has each of the four?"
    ),
    start=(
        'errors = {"a, before it joins": ..., "a, before SyncGroup": ...,\n'
        '          "b, the old generation": ..., "a, after SyncGroup": ...}\n'
        "exercises.late_commit.check(errors)"
    ),
    judge=Value(
        lambda: {
            "a, before it joins": _of_partition("commit_in_between", 10),
            "a, before SyncGroup": _of_partition("commit_in_between", 14),
            "b, the old generation": _of_partition("commit_in_between", 15),
            "a, after SyncGroup": _of_partition("commit_in_between", 17),
        }
    ),
    hints=(
        "Who hears of a rebalance commits first, and then gives its partitions up.",
        "Between the answers to JoinGroup and the assignments nobody knows whose a partition is.",
        "The generation is looked at before the state.",
    ),
    reasoning=(
        "`NONE`, `REBALANCE_IN_PROGRESS`, `ILLEGAL_GENERATION`, `NONE`. In PreparingRebalance the old generation still "
        "counts; in CompletingRebalance the new one does, and no commit is taken."
    ),
    misconceptions=(
        Misconception(
            {"a, before it joins": "REBALANCE_IN_PROGRESS"},
            "That is what its heartbeat says. Were the commit refused, too, every rebalance would read records twice.",
        ),
        Misconception(
            {"b, the old generation": "REBALANCE_IN_PROGRESS"},
            "The generation comes first: what is of an older one is refused whatever the group does.",
        ),
    ),
)

when_gone = Exercise(
    name="when_gone",
    asks=(
        "Predict. Offsets are kept for 60 s. At 0 s a tool commits for `refunds`, which has no members, and a member "
        "of `billing` for its own group. At 10 s that member leaves. After how many seconds may each offset go?"
    ),
    start='seconds = {"refunds": ..., "billing": ...}\nexercises.when_gone.check(seconds)',
    judge=Value(lambda: {"refunds": 60, "billing": 70}),
    hints=(
        "As long as a group has members, no offset of it grows old.",
        "Since 2.1 (KIP-211) the time counts from when it became empty.",
    ),
    reasoning=(
        "60 and 70: without members each offset counts from its commit, with members from the moment at which the last "
        "one has gone. Stage 20 has both, and a group that has members all the time: its offset stays."
    ),
    misconceptions=(
        Misconception({"billing": 60}, "So it was before 2.1: groups that waited weeks for a record lost their place."),
    ),
)

two_epochs = Exercise(
    name="two_epochs",
    asks=(
        "Predict. KIP-848: a has all three partitions of `orders`, in epoch 2. b joins. Which epoch does b get with "
        "its first answer, and how many partitions? And which epoch does a get with its next heartbeat, before it has "
        "said that it gave anything up?"
    ),
    start=(
        'answer = {"epoch of b": ..., "partitions of b": ...,\n          "epoch of a": ...}\n'
        "exercises.two_epochs.check(answer)"
    ),
    judge=Value(
        lambda: {
            "epoch of b": _answer("reconciliation", 3)["memberEpoch"],
            "partitions of b": len(_answer("reconciliation", 3)["assignment"]["topicPartitions"]),
            "epoch of a": _answer("reconciliation", 5)["memberEpoch"],
        }
    ),
    hints=(
        "The group's epoch goes up by one when a member comes.",
        "Who has nothing to give up is at the new epoch at once, even if it cannot be given anything yet.",
    ),
    reasoning=(
        "3, none, and 2. b has nothing to give up, so it is in epoch 3, and waits. a keeps its epoch until it reports "
        "that it owns no more than it shall have; then it gets epoch 3, and b its partition."
    ),
    misconceptions=(
        Misconception(
            {"partitions of b": 1}, "It is to have one; but that is still a's, and nobody shares a partition."
        ),
        Misconception({"epoch of a": 3}, "Not yet: the epoch is what tells the coordinator that a has given up."),
    ),
)

_CHAPTER = Chapter("17 build", (whose_member, when_answered, old_process, late_commit, when_gone, two_epochs))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
