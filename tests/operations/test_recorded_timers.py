"""When the timers of a real coordinator fired after a load: see tests/vectors/operations/coordinator-timers.json."""

import pytest

from kafkalearn.operations.coordinator_life import (
    BrokerFenced,
    GroupStored,
    LoadRead,
    OrderCarriedOut,
    Settings,
    TimePassed,
    simulate,
)
from kafkalearn.operations.coordinator_life.model import MemberExpired
from tests.recorded import recorded

CASES = recorded("coordinator-timers")["cases"]
SESSION_MS, CONSUMER_SESSION_MS, CHECK_MS = 5000, 4000, 9000
EARLY_MS, LATE_MS = 250, 1500  # the log says that the load has ended after the timers have begun; looks come later
MOVED = (BrokerFenced(1), OrderCarriedOut(2, 1), LoadRead(2))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_session_and_the_expiry_task_begin_with_the_load_however_long_members_were_silent(case):
    settings = Settings(session_timeout_ms=SESSION_MS, check_interval_ms=CHECK_MS)
    silent = TimePassed(case["silent"])
    loaded = simulate(settings, [GroupStored("billing", ("c1",)), silent, *MOVED])[-1].state
    load_ms = case["silent"]
    assert loaded.coordinator(2).next_sweep_ms - load_ms == CHECK_MS
    *_, before, expired = simulate(settings, [TimePassed(SESSION_MS - 1), TimePassed(1)], loaded)
    assert not any(isinstance(each, MemberExpired) for each in before.state.effects)
    assert MemberExpired(2, "billing", "c1") in expired.state.effects

    due_ms = {"classic": SESSION_MS, "consumer": CONSUMER_SESSION_MS, "expired": CHECK_MS}
    for name, gone_ms in case["gone"].items():
        assert -EARLY_MS <= gone_ms - due_ms[name] <= LATE_MS, name
