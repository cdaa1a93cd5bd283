"""The game of chapter 16: the par is the least of all orders, and a pod that has just committed costs nothing."""

from itertools import permutations

from kafkalearn.exercises.chapter16 import BATCH_S, RACKS, ZONES, crossing_count, least_twice, read_twice, share_by_zone
from kafkalearn.exercises.kit.result import ERROR, RIGHT, WRONG


def test_one_order_alone_reads_least_twice():
    costs = sorted(map(read_twice, permutations(BATCH_S)))
    assert costs[:2] == [9_000, 10_000]
    assert least_twice.check("c1 > c4 > c3 > c2 > c5").outcome == RIGHT
    assert least_twice.check(["c1", "c4", "c3", "c5", "c2"]).outcome == WRONG
    assert least_twice.check("c1 > c1 > c2 > c3 > c4").outcome == WRONG


def test_each_sharing_without_a_crossing_is_right():
    right = 0
    for order in permutations(range(len(RACKS))):
        owned = {member: list(order[2 * place : 2 * place + 2]) for place, member in enumerate(ZONES)}
        outcome = share_by_zone.check(owned).outcome
        assert (outcome == RIGHT) == (crossing_count(owned) == 0)
        right += outcome == RIGHT
    assert right > 0
    assert share_by_zone.check({"m1": [0, 1], "m2": [3, 4], "other": [2, 5]}).outcome == ERROR
