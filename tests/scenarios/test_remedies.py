"""Which absences a change of settings avoids: the rule against the simulator, at the borders too."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios import simulate
from kafkalearn.scenarios.remedies import (
    ABSENCES,
    HEARTBEAT_MS,
    REMEDIES,
    Remedy,
    is_avoided,
    patience_ms,
    play_absence,
)

BOTH = Remedy("static, session 2 min", is_static=True, session_timeout_ms=120_000)
POLL = Remedy("poll 6 min, static", is_static=True, max_poll_interval_ms=360_000)


@pytest.mark.parametrize("cause", ABSENCES)
@pytest.mark.parametrize("remedy", [*REMEDIES, BOTH, POLL], ids=lambda each: each.name)
def test_what_is_avoided_is_so_up_to_one_heartbeat_before_the_end(cause, remedy):
    limit_ms = patience_ms(remedy, cause)
    if limit_ms:
        assert is_avoided(remedy, cause, limit_ms - 1)
        assert play_absence(cause, limit_ms - 1, remedy).rebalance_count == 1
    longer_ms = limit_ms + HEARTBEAT_MS + 1000
    assert not is_avoided(remedy, cause, longer_ms)
    assert play_absence(cause, longer_ms, remedy).rebalance_count > 1


def test_nobody_waits_for_the_others_with_kip_848():
    *_, kip_848 = REMEDIES
    for cause in ABSENCES:
        run = play_absence(cause, 20_000, kip_848)
        assert run.rebalance_count > 1
        assert max(run.member_standstill_ms[name] for name in ("c1", "c3")) < 100


def test_who_never_comes_back_is_not_waited_for():
    assert not any(is_avoided(remedy, cause, None) for remedy in (*REMEDIES, BOTH) for cause in ABSENCES)


def test_with_a_longer_session_a_group_waits_for_a_dead_member():
    story = (
        "topic orders has 6 partitions\nat 0 s: c1, c2 and c3 join\n"
        "at 60 s: c2 crashes\nat 115 s: c4 joins\nthe end is at 8 min"
    )
    took = [simulate(story, session_timeout_ms=ms).rebalances[-1]["duration_ms"] for ms in (45_000, 600_000)]
    assert took[0] < 3_000 < 300_000 <= took[1]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: Remedy("", is_static=True), "name is empty"),
        (lambda: Remedy("short", session_timeout_ms=6000), "session_timeout_ms must be at least 45,?000"),
        (lambda: Remedy("short", max_poll_interval_ms=1), "max_poll_interval_ms must be at least 300,?000"),
        (lambda: Remedy("KIP-848", protocol="kip-848"), "protocol"),
        (lambda: Remedy("static", is_static=True, protocol="consumer"), "one remedy for each"),
        (lambda: patience_ms(BOTH, "topics changed"), "cause"),
        (lambda: is_avoided(BOTH, "member left", -1), "away_ms must be at least 0"),
        (lambda: play_absence("topics changed", 1, BOTH), "cause"),
    ],
)
def test_what_cannot_be_judged_is_refused(ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask()
