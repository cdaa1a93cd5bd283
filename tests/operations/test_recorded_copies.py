"""How long throttled copies took in a real cluster: see tests/vectors/operations/throttled-copies.json."""

import pytest

from kafkalearn.operations.leadership import moved_bytes, partition_of
from kafkalearn.operations.planning import copy_seconds
from kafkalearn.operations.reassignment import Target
from tests.recorded import recorded

CASES = recorded("throttled-copies")["cases"]
LEAST, MOST = 0.9, 1.35  # of the bound: rates are of windows a second long, and the machine had other work


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_copy_takes_as_long_as_the_throttle_allows_or_never_ends(case):
    plan = [Target("big", place, (to,)) for place, (to, _) in enumerate(case["copies"])]
    moved, written = (
        moved_bytes([partition_of("big", place, [1], size_bytes=size) for place, size in enumerate(sizes)], plan)
        for sizes in ([size for _, size in case["copies"]], [case["written"]] * len(plan))
    )
    bound = copy_seconds(moved, written, case["throttle"])
    if bound is None:
        assert case["seconds"] is None
    else:
        assert LEAST <= case["seconds"] / bound <= MOST
