"""A batch is as large as it is on a broker's disk: that decides what a fetch with a limit of bytes gets."""

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.sharing.appending import appended
from kafkalearn.sharing.model import Log
from tests.formats.writing import batch

TEXTS = st.one_of(st.text("ab", max_size=3), st.text("ab", min_size=55, max_size=140))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=70), st.booleans())
def test_a_batch_has_the_bytes_of_a_written_one(records, has_keys):
    keys, values = (tuple(each) for each in zip(*records, strict=True))
    log = appended(Log("t-0"), len(records), 5, values=values, keys=keys if has_keys else ())
    rows = [
        (place, 5, key.encode() if has_keys else None, value.encode()) for place, (key, value) in enumerate(records)
    ]
    assert log.batches[0].size == len(batch(0, rows))
