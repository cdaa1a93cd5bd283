"""How long throttled copies took in a real cluster: see tests/vectors/operations/throttled-copies.json."""

import pytest

from kafkalearn.operations.leadership import moved_bytes, partition_of
from kafkalearn.operations.planning import copy_seconds
from kafkalearn.operations.reassignment import Target
from tests.recorded import recorded

CASES = recorded("throttled-copies")["cases"]
LATE = 1.5  # of this machine, and of windows that are a second long


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_copy_takes_what_the_throttle_allows_but_for_its_first_windows(case):
    plan = [Target("big", place, (to,)) for place, (to, _) in enumerate(case["copies"])]
    moved, written = (
        moved_bytes([partition_of("big", place, [1], size_bytes=size) for place, size in enumerate(sizes)], plan)
        for sizes in ([size for _, size in case["copies"]], [case["written"]] * len(plan))
    )
    bound = copy_seconds(moved, written, case["throttle"])
    if bound is None:
        assert case["seconds"] is None
        return
    at_once = case["windows"] - 1  # seconds of the rate that pass before it is known
    assert max(0, bound - 2 * at_once) <= case["seconds"] <= bound * LATE
