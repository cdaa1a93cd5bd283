"""How much memory Spark's Java side gets."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.session import start
from kafkalearn.spark.session.start import heap_option, machine_memory_bytes


def test_the_limit_of_a_container_counts_if_it_is_lower(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(start, "CONTAINER_LIMITS", (limit, tmp_path / "not there"))

    limit.write_text("max\n")
    whole = machine_memory_bytes()
    limit.write_text("2147483648\n")
    assert machine_memory_bytes() == 2 * 2**30 < whole


@pytest.mark.parametrize("size", ["", "g", "4 gallons", "-1g", "1.5g"])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(KafkaLearnError, match=r"spark\.driver\.memory must be a size like '2g' or '1536m'"):
        heap_option(size)
