"""Answers that are an assignor the student wrote: judged by the laws, with the smallest group in which one breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kafkalearn.assignor import Assignment, Member, judge_assignor
from kafkalearn.assignor.judging.judge import judged_groups
from kafkalearn.exercises.kit.compare import is_blank, kind_of, shown
from kafkalearn.exercises.kit.functions import is_stub
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Result
from kafkalearn.phrases import capitalised


@dataclass(frozen=True, slots=True)
class KeepsLaws:
    """Judges an assignor by `kafkalearn.assignor.judge_assignor`.

    Parameters
    ----------
    promise : str
        How even it is to be: a name in `kafkalearn.assignor.judging.laws.BALANCES`.
    is_sticky : bool
        Whether no more may move than must.

    Examples
    --------
    >>> KeepsLaws("if alike").judge(lambda partition_counts, members: {})
    Not right yet. It breaks a law in group 1, the smallest that fails: not complete: a-0 has no owner.
    topics: a with 1 partition
    m0 subscribes to a
    it gives nothing to anybody
    """

    promise: str
    is_sticky: bool = False

    def judge(self, answer: object) -> Result:
        """The result of an assignor, explained by the smallest group that fails."""
        if is_blank(answer) or is_stub(answer):
            return Result(NOT_ATTEMPTED)
        if not callable(answer):
            return Result(ERROR, (f"{capitalised(shown(answer))} is {kind_of(answer)}, and a function is asked for.",))
        judgement = judge_assignor(answer, self.promise, self.is_sticky)
        return Result(RIGHT) if judgement else Result(WRONG, (str(judgement),))

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer assigns as the assignor `wrong` does."""
        return all(_assigned(answer, *group) == _assigned(wrong, *group) for group in judged_groups())


def _assigned(assignor: Callable, partition_counts: Mapping[str, int], members: Sequence[Member]) -> object:
    try:
        answer = assignor(dict(partition_counts), list(members))
        return Assignment({member_id: sorted(map(tuple, owned)) for member_id, owned in answer.items() if owned})
    except Exception as error:  # two functions that fail alike make the same mistake
        return type(error)
