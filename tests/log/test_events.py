"""Events that no producer sends."""

import pytest

from kafkalearn.errors import KafkaLearnError
from kafkalearn.log import Append, NewBatch


def test_a_batch_without_records_is_refused():
    with pytest.raises(KafkaLearnError, match="a batch has at least one record"):
        NewBatch(())


def test_an_append_without_batches_is_refused():
    with pytest.raises(KafkaLearnError, match="an append has at least one batch"):
        Append(())
