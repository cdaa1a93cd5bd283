"""What a Kafka release brings: the order of releases, all of its settings, and what an upgrade changes.

The settings of broker, topic, group and clients in all release lines from 0.8.2 to 4.4, with defaults and limits, read
from Kafka's own classes (`provenance` says how; ``python3 run.py settings`` reads them again). Without a release given,
it is the newest line.

`default`, `history` and `describe` answer for one setting, `find_settings` finds it by a piece of its name,
`changes` compares two releases, and names what else an upgrade brings: Java, ZooKeeper, message formats, old requests,
tools, each with its source. `at_least` says whether a release has what came with another.

A name that several sides have (``compression.type``: producer, broker, topic) is answered without a `side` only
if those sides agree. If they differ, nothing is guessed: the error lists what each has.

A change belongs to the first *line* whose newest patch has it; it may have come in a patch of that line.
"""

from kafkalearn.releases.defaults import default, describe, find_settings, history
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, at_least
from kafkalearn.releases.settings import ABSENT, REQUIRED, provenance
from kafkalearn.releases.upgrade import changes, rows, table

__all__ = [
    "ABSENT",
    "DEFAULT_RELEASE",
    "RELEASES",
    "REQUIRED",
    "at_least",
    "changes",
    "default",
    "describe",
    "find_settings",
    "history",
    "provenance",
    "rows",
    "table",
]
