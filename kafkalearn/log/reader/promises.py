"""What always holds of a log with a reader, and what a user hopes for: that the reader's table becomes right."""

from __future__ import annotations

from kafkalearn.log.promises import INVARIANTS as OF_THE_LOG
from kafkalearn.log.reader.state import Crossing, ahead_of, ghosts, table_of
from kafkalearn.log.settings import Settings
from kafkalearn.promises import Promises, Since, judges, of_inner


def _position_in_the_log(settings: Settings, crossing: Crossing) -> bool:
    return 0 <= crossing.reader.position <= crossing.log.log_end_offset


def _reads_what_is_replicated(settings: Settings, before: Crossing, crossing: Crossing) -> bool:
    return before.reader.position <= crossing.reader.position <= max(before.reader.position, before.log.high_watermark)


def _log_has_the_truth(settings: Settings, crossing: Crossing) -> bool:
    return table_of(crossing.log.records) == crossing.truth


def _ends_up_right_but_for_ghosts(settings: Settings, crossing: Crossing) -> bool:
    in_the_end = table_of(ahead_of(crossing), crossing.reader.table)
    wrong = set(in_the_end) ^ set(crossing.truth)
    return {key for key, _ in wrong} == set(ghosts(crossing))


def _quick_reader_gets_no_ghost(settings: Settings, before: Crossing, crossing: Crossing) -> bool:
    since_ms = before.reader.behind_since_ms
    is_quick = since_ms is None or crossing.now_ms - since_ms < settings.delete_retention_ms
    return not is_quick or set(ghosts(crossing)) <= set(ghosts(before))


INVARIANTS: Promises = {
    **of_inner(OF_THE_LOG, lambda crossing: crossing.log),
    "the reader's position is in the log": _position_in_the_log,
    "the reader goes forward, and not beyond the high watermark": Since(_reads_what_is_replicated),
}
"""What holds in every state that an empty log and its reader can reach."""

PROMISES: Promises = {
    "the log holds the last value of every key": _log_has_the_truth,
    "a reader that reads on is wrong in its ghosts only": _ends_up_right_but_for_ghosts,
    "the reader has no ghost": lambda settings, crossing: not ghosts(crossing),
    "a reader that takes less than delete.retention.ms gets no ghost": Since(_quick_reader_gets_no_ghost),
}
"""What a user of a compacted topic hopes for.

The policy ``delete`` breaks the first two, a slow reader the third. An offset map that is full can break the fourth:
a tombstone's delete horizon is set when its segment is copied, though the map has not come to the tombstone yet.
"""

check, broken = judges(INVARIANTS, PROMISES)
