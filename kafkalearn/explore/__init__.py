"""Breadth-first search over event schedules: the shortest run that breaks a promise.

`explore` tries every event in every state that can be reached, level by level, so the first broken promise it meets
is reached by as few events as can be. It hands back that run as a trace, to be played. `survey` goes
on, and has such a run for each promise.

How it is quick: a simulator's state is made of *parts* (a controller, a ledger, each replica's log), and a step looks
at few of them. The search runs each step on `Parts` that watch which parts are read, and remembers the answer for
all states that agree there: a fetch of broker 2 need not be worked out again because broker 3 has crashed meanwhile.
The rules are those of the simulator, written once. Promises are remembered in the same way.

States that differ by the names of the brokers alone are one (`Relabelling`), and of two schedules that lead to one
state only the first is followed.
"""

from kafkalearn.explore.model import Model, Progress, Relabelling, Search, Survey, whole
from kafkalearn.explore.search import explore, survey

__all__ = ["Model", "Progress", "Relabelling", "Search", "Survey", "explore", "survey", "whole"]
