"""The classic coordinator, held to a real broker: the same requests, drawn at random, to both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkalearn.group.classic import Settings, step
from tests.group.classic.scripts import Script
from tests.live.checked import holds
from tests.live.classic import REBALANCE_MS, SESSION_MS, LiveScript, drawn_script
from tests.live.conftest import SHARED

pytestmark = pytest.mark.live

TRIES = 3  # a timer of the broker may fire while the group is looked at; a difference that is one comes again
AT_ONCE = 4


def difference(kafka, group_id: str, script: list[dict]) -> str | None:
    """Play a script on the broker and on the simulator; where they part first, or None."""
    settings = Settings(
        kafka.release.version,
        group_initial_rebalance_delay_ms=0,
        group_min_session_timeout_ms=SHARED["group.min.session.timeout.ms"],
    )
    real, ours = LiveScript(kafka, group_id), Script(step, settings, SESSION_MS, REBALANCE_MS)
    try:
        for number, each in enumerate(script):
            if each["op"] == "sync":  # only members that are known can be assigned something
                each = {**each, "assign": {label: text for label, text in each["assign"].items() if label in real.ids}}
            seen = real.play(each)
            played = ours.play_live(seen)
            if real.has_chosen_leader:  # by the order of a HashMap of ids that it has drawn: the ledger says so
                return None
            if played != {"responses": seen["responses"], "group": seen["group"]}:
                return f"step {number}, {each}: the broker {seen}, we {played}"
    finally:
        real.close()
    return None


@holds("the classic coordinator")
@pytest.mark.parametrize("first_seed", [100, 200])
def test_random_requests_to_a_classic_group_are_answered_as_we_answer(kafka, new_name, first_seed):
    def played(seed: int) -> str | None:
        found = None
        for _ in range(TRIES):
            found = difference(kafka, new_name("random"), drawn_script(seed))
            if found is None:
                return None
        return f"seed {seed}: {found}"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        differences = list(pool.map(played, range(first_seed, first_seed + 16)))

    found = [each for each in differences if each]
    assert not found, "\n".join(found)
