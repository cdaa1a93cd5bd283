import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.hashing import java_string_hash
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.rule import FORMULAS, Coordinator, find_coordinator, offsets_partition
from tests.recorded import recorded

texts = st.text(st.characters(exclude_categories=["Cs"]))
SMALLEST_HASH = ("polygenelubricants", "GydZG_", "DESIGNING WORKHOUSES", "group-feyd_ha")


def test_every_group_of_a_real_cluster_is_found_where_its_commit_was_written():
    cluster = recorded("coordinator")
    found = [find_coordinator(case["group"], cluster["leaders"]) for case in cluster["cases"]]

    assert len(found) == 300
    assert [(each.partition, each.broker_id) for each in found] == [
        (case["partition"], case["coordinator"]) for case in cluster["cases"]
    ]


@given(texts, st.integers(1, 1000))
def test_the_formulas_without_a_mask_agree_except_on_the_smallest_hash(group_id, partition_count):
    assume(java_string_hash(group_id) != -(2**31))  # Hypothesis tries texts that it reads in the code, these too
    kafka, *others = (
        offsets_partition(group_id, partition_count, name) for name in FORMULAS if "0x7fffffff" not in name
    )
    assert others == [kafka, kafka]


@pytest.mark.parametrize("group_id", SMALLEST_HASH)
def test_a_group_with_the_smallest_hash_lies_on_partition_0_and_every_article_errs(group_id):
    assert java_string_hash(group_id) == -(2**31)
    assert [offsets_partition(group_id, 50, name) for name in FORMULAS] == [0, -48, 48, 0]


@given(texts, st.integers(1, 1000))
def test_a_partition_exists_and_its_leader_is_the_coordinator(group_id, partition_count):
    leaders = round_robin_leaders([7, 8, 9], partition_count)
    found = find_coordinator(group_id, leaders, partition_count)

    assert 0 <= found.partition < partition_count
    assert found == Coordinator(group_id, java_string_hash(group_id), found.partition, [7, 8, 9][found.partition % 3])


def test_a_partition_without_a_leader_has_no_coordinator():
    assert find_coordinator("billing", [None] * 50).broker_id is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None,), "INVALID_GROUP_ID"),
        ((b"billing",), "decode it first"),
        (
            ("billing", 10**5000),
            "partition_count must be at most 2,147,483,647, got a whole number of about 5,001 digits",
        ),
        (("billing", 50, []), r"unknown formula \[\]"),
        (("billing", 0), "partition_count must be at least 1, got 0"),
        (("billing", -50), "partition_count must be at least 1, got -50"),
        (("billing", 50.0), "must be a whole number of at least 1, got float 50.0"),
        (("billing", True), "must be a whole number of at least 1, got bool True"),
        (("billing", 50, "kafk"), "did you mean 'kafka'"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_is_allowed(arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        offsets_partition(*arguments)
