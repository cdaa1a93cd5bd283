from kafkalearn.base.java import JavaHashMap, JavaHashSet, TimelineHashSet, hash_order, table_size, utf16_key
from tests.every import every_case
from tests.recorded import recorded


@every_case("case", recorded("java-collections")["cases"])
def test_a_collection_is_walked_in_the_order_of_javas_or_kafkas(case):
    walk = {"HashMap": walked_hash_map, "TimelineHashMap": walked_timeline_set}[case["collection"]]
    assert walk(case) == case["keys"]


def walked_hash_map(case):
    walked = JavaHashMap(table_size(case["initial_capacity"]))
    for operation, key in case["operations"]:
        if operation == "put":
            walked[key] = None
        elif operation == "computeIfAbsent":
            walked.compute_if_absent(key, lambda: None)
        else:
            walked.pop(key, None)
    return list(walked)


def walked_timeline_set(case):
    walked = TimelineHashSet()
    for operation, key in case["operations"]:
        (walked.add if operation == "put" else walked.discard)(key)
    return list(walked)


def test_a_copy_is_made_large_enough_at_once_so_it_can_be_walked_in_another_order():
    one_by_one, numbers = JavaHashSet(), [*range(11), 32]
    for number in numbers:
        one_by_one.add(number)

    assert list(one_by_one) == [0, 32, *range(1, 11)]  # twelve keys: still 16 buckets, 32 shares that of 0
    assert list(JavaHashSet.copy_of(numbers)) == [0, 32, *range(1, 11)]  # 32 buckets: 32 again with 0
    assert list(JavaHashSet([*range(11), 16])) == [0, 16, *range(1, 11)]
    assert list(JavaHashSet.copy_of([*range(11), 16])) == [*range(11), 16]


def test_a_map_that_has_grown_stays_large():
    grown = JavaHashSet(range(13))
    for number in range(1, 13):
        grown.discard(number)
    grown.add(16)
    grown.add(1)

    assert list(grown) == [0, 1, 16]
    assert hash_order([0, 16, 1]) == [0, 16, 1]  # in one that never grew, 16 shares the bucket of 0


def test_a_surrogate_pair_sorts_before_the_last_characters_of_two_bytes():
    assert sorted(["a", "\uffff", "\U0001f600"], key=utf16_key) == ["a", "\U0001f600", "\uffff"]
    assert sorted(["a", "\uffff", "\U0001f600"]) == ["a", "\uffff", "\U0001f600"]
