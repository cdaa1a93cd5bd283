"""Scenarios of a consumer group: written in a few lines, played with any protocol and settings, judged, improved.

Module `parse` reads the text, `simulator` plays it (`kafkalearn.group.simulate` does both), `finder` looks for the
smallest change of a setting that avoids the rebalances, and for what the change costs. `experiments` puts old advice
to the test, `durations` measures how long a rebalance takes, and `triggers` plays everything that begins one.
"""

from kafkalearn.group.scenario import durations, experiments

__all__ = ["durations", "experiments"]
