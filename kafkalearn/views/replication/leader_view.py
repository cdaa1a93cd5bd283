"""The right column in the picture of a replicated partition: what the leader knows of each follower, and its ISR."""

from __future__ import annotations

from kafkalearn.replication.effects import FetchAnswered
from kafkalearn.replication.state import Leadership, Partition, Remote
from kafkalearn.views.drawing.style import MARK, MUTED, PANEL, SMALL, TITLE
from kafkalearn.views.drawing.svg import edge, rect, text
from kafkalearn.views.replication.replica_status import ids_in_words, remote_in_words, remote_of

KNOWN_LEFT, KNOWN_WIDTH = 808, 164


def leader_view(state: Partition, before: Partition | None, broker_id: int, top: float) -> str:
    """The right column: the leader's copy of a follower's LEO, and of itself its ISR."""
    leading = state.replica(broker_id).leading
    if leading is not None and state.replica(broker_id).is_running:
        return "\n".join(
            [
                text(KNOWN_LEFT, top + 24, "its ISR", SMALL, colour=MUTED),
                text(KNOWN_LEFT, top + 48, ids_in_words(leading.isr), TITLE - 2, bold=True),
                _asked(leading, top + 72),
            ]
        )
    remote = remote_of(state, broker_id)
    if remote is None:
        return ""
    was = remote if before is None else remote_of(before, broker_id)
    is_new = was is not None and was.log_end_offset != remote.log_end_offset
    known = f"LEO {remote_in_words(remote)}"
    return "\n".join(
        [
            rect(KNOWN_LEFT, top + 12, KNOWN_WIDTH, 38, PANEL, rx=4, **edge(is_new, MUTED)),
            text(KNOWN_LEFT + KNOWN_WIDTH / 2, top + 38, known, TITLE - 4, "middle", bold=True),
            _answer_or_lag(state, broker_id, remote, top + 71),
        ]
    )


def _asked(leading: Leadership, y: float) -> str:
    """The ISR that the leader has asked for and not got yet."""
    if leading.proposal is None:
        return ""
    how = "refused" if leading.proposal.is_refused else "asked"
    words = f"{how}: {','.join(map(str, leading.proposal.isr))}"
    return text(KNOWN_LEFT, y, words, SMALL, colour=MARK, bold=True)


def _answer_or_lag(state: Partition, broker_id: int, remote: Remote, y: float) -> str:
    """Under the copy: the HW that an answer has just brought, or since when the follower lacks something."""
    answers = [each for each in state.effects if isinstance(each, FetchAnswered) and each.broker_id == broker_id]
    if answers and answers[-1].high_watermark is not None:
        words = f"answer with HW {answers[-1].high_watermark}"
        return text(KNOWN_LEFT, y, words, SMALL, colour=MARK, bold=True)
    if remote.last_caught_up_ms is None:
        return text(KNOWN_LEFT, y, "never caught up", SMALL, colour=MUTED)
    since_ms = state.now_ms - remote.last_caught_up_ms
    words = f"caught up {_time(since_ms)} ago"  # with the leader's end as it was then: it may lack what came since
    if since_ms and state.leader is not None and remote.log_end_offset == state.leader.log_end_offset:
        words = "has everything"  # whenever it was: since 2.1 such a follower is never removed
    return text(KNOWN_LEFT, y, words, SMALL, colour=MUTED)


def _time(ms: int) -> str:
    """A time short enough for its place.

    >>> _time(500), _time(30_001), _time(700_000)
    ('500 ms', '30.001 s', '11 min')
    """
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:g} s" if ms < 100_000 else f"{ms // 60_000} min"
