import pickle

import pytest

from kafkalearn.assignors import Assignment, Member, assign
from kafkalearn.base.topic_partition import TopicPartition


def test_an_assignment_is_a_value():
    owned = {"A": [TopicPartition("t", 0)], "B": []}
    assignment = Assignment(owned)
    owned["A"].append(TopicPartition("t", 1))

    assert assignment == {"A": (TopicPartition("t", 0),), "B": ()}
    assert {assignment, Assignment({"B": [], "A": [TopicPartition("t", 0)]})} == {assignment}
    assert repr(assignment) == "<Assignment of 1 partitions to 2 members>"
    with pytest.raises(TypeError):
        assignment["A"] = ()


def test_an_assignment_is_pickled_as_what_it_holds_however_much_of_it_was_looked_at():
    fresh, looked_at = (assign("sticky", {"t": 5}, [Member("A", ["t"]), Member("B", ["t"])]) for _ in range(2))
    list(looked_at.items())

    assert pickle.dumps(fresh) == pickle.dumps(looked_at)
    assert pickle.loads(pickle.dumps(fresh)) == fresh
