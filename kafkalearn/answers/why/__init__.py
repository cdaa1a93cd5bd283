"""Why a group rebalances: the question `why`, and what it is answered with."""

from kafkalearn.answers.why.question import why

__all__ = ["why"]
