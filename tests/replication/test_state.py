import pytest

from kafkalearn.releases.lines import RELEASES
from kafkalearn.replication import LeaderElected, Settings, start, step
from kafkalearn.replication.state import blank


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("replica_count", "assignment"), [(1, None), (2, (2, 1)), (3, (2, 3, 1)), (3, ())])
def test_a_run_starts_just_after_the_first_election(release, replica_count, assignment):
    settings = Settings(replica_count, release, assignment=assignment)
    leader = (settings.assignment or settings.broker_ids)[0]
    assert start(settings) == step(settings, blank(settings), LeaderElected(leader, settings.broker_ids))
