"""Scenarios of a consumer group: written in a few lines, played with any protocol and settings, judged, improved.

`scenario` reads the text, `simulate` plays it, `find_change` looks for the smallest change of a setting that avoids
the rebalances, and says what the change costs. `experiments` puts old advice to the test.
"""

from kafkalearn.group.scenario import experiments
from kafkalearn.group.scenario.finder import CANDIDATES, find_change
from kafkalearn.group.scenario.findings import Change, Finding, Solution
from kafkalearn.group.scenario.parse import BadScenario, scenario
from kafkalearn.group.scenario.probes import PROBES, probe
from kafkalearn.group.scenario.simulate import PROTOCOLS, settings_of, simulate

__all__ = [
    "CANDIDATES",
    "PROBES",
    "PROTOCOLS",
    "BadScenario",
    "Change",
    "Finding",
    "Solution",
    "experiments",
    "find_change",
    "probe",
    "scenario",
    "settings_of",
    "simulate",
]
