"""Answers that are an assignor the student wrote: judged by the laws, with the smallest group in which one breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kafkalearn.assignor import Assignment, Member, judge_assignor
from kafkalearn.assignor.judging.judge import judged_groups
from kafkalearn.exercises.kit.compare import is_blank
from kafkalearn.exercises.kit.functions import is_stub
from kafkalearn.exercises.kit.given.function import GivenFunction
from kafkalearn.exercises.kit.given.intake import taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Result
from kafkalearn.exercises.kit.sentences import Block, as_words, say
from kafkalearn.exercises.kit.shown import kind_of


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
        answer = taken(answer)
        if is_blank(answer) or is_stub(answer):
            return Result(NOT_ATTEMPTED)
        if not isinstance(answer, GivenFunction):
            return Result(ERROR, (say(f"{{}} is {kind_of(answer)}, and a function is wanted.", answer),))
        judgement = judge_assignor(answer, self.promise, self.is_sticky)
        if answer.spent:
            return Result(ERROR, (f"It {answer.spent}.",))
        first, *group = str(judgement).splitlines()
        return Result(RIGHT) if judgement else Result(WRONG, (as_words(first[:300]), Block("\n".join(group))))

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer assigns as the assignor `wrong` does."""
        answer = taken(answer)
        return all(_assigned(answer, *group) == _assigned(wrong, *group) for group in judged_groups())


def _assigned(assignor: Callable, partition_counts: Mapping[str, int], members: Sequence[Member]) -> object:
    try:
        answer = assignor(dict(partition_counts), list(members))
        return Assignment({member_id: sorted(map(tuple, owned)) for member_id, owned in answer.items() if owned})
    except Exception as error:  # two functions that fail alike make the same mistake
        return type(error).__name__
