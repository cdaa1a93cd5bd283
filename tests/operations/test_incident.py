"""The incident of the offsets topic: it grows, a broker dies, and the fix holds."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.incident import BACK, CLEANED, DEAD_AGAIN, FULL, GROWING, HEALTHY, STAGES, Incident, play


@pytest.fixture(scope="module", params=["2.0", "4.3"])
def stages(request):
    return request.param, {stage.name: stage for stage in play(Incident(release=request.param))}


def test_the_partition_grows_when_its_cleaner_has_stopped_and_shrinks_when_it_runs_again(stages):
    release, seen = stages
    assert list(seen) == list(STAGES)
    assert seen[GROWING].cleaner == ("dead" if release == "2.0" else "uncleanable")
    assert seen[GROWING].size_bytes > 2 * seen[HEALTHY].size_bytes
    assert seen[BACK].size_bytes == seen[GROWING].size_bytes  # a restart alone cleans nothing
    assert seen[CLEANED].size_bytes < seen[GROWING].size_bytes / 2
    assert seen[CLEANED].cleaner == "running"


def test_groups_are_lost_with_one_replica_and_not_with_three(stages):
    _, seen = stages
    assert {name for name, stage in seen.items() if stage.lost_groups} == {FULL}
    assert 60 < seen[FULL].lost_groups < 140
    assert (seen[FULL].replica_count, seen[DEAD_AGAIN].replica_count) == (1, 3)


def test_sizes_that_are_none_are_refused():
    with pytest.raises(KafkaLearnError, match="group_count must be at least 1"):
        Incident(group_count=0)
