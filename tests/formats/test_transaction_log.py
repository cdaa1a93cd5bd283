"""Records of __transaction_state, to the byte and back, as Kafka's classes and tools have them."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.formats.transaction_log import STATES, decode_key, decode_value, encode_key, encode_value, replay
from kafkalearn.formats.wire import Undecodable
from tests.every import every_case
from tests.formats.disk import TOPIC, case_id, rows_of, written
from tests.recorded import recorded

PRINTED = re.compile(r"\| offset: (\d+) CreateTime: (\d+) .*? key: (\{.*?\}) payload: (.*)")


def with_defaults(fields):
    """Tagged fields that were not written, as a JSON converter leaves them out, too."""
    return {
        "previousProducerId": -1,
        "nextProducerId": -1,
        "nextProducerEpoch": -1,
        "clientTransactionVersion": 0,
    } | fields


@every_case("case", recorded("transaction-log")["classes"], ids=lambda case: case["value"][:24])
def test_bytes_and_fields_are_those_of_kafka_s_classes(case):
    key, value = bytes.fromhex(case["key"]), bytes.fromhex(case["value"])
    version, fields = decode_value(value)

    assert (decode_key(key), version) == (case["key_fields"]["transactionalId"], case["version"])
    assert with_defaults(fields) == with_defaults(case["fields"])
    assert encode_key(case["key_fields"]["transactionalId"]) == key
    assert encode_value(case["version"], case["fields"]) == value


def as_text(record):
    """A record as the tool of 4.0 prints it."""
    version, fields = decode_value(record.value)
    key = f"transaction_metadata::transactionalId={decode_key(record.key)}"
    if fields is None:
        return f"{key} payload: <DELETE>"
    assert (version, encode_value(1, fields)) == (1, record.value)
    at = [f"{each['topic']}-{one}" for each in fields["transactionPartitions"] or () for one in each["partitionIds"]]
    return (
        f"{key} payload: producerId:{fields['producerId']},producerEpoch:{fields['producerEpoch']},"
        f"state={STATES[fields['transactionStatus']]},partitions=[{','.join(at)}],"
        f"txnLastUpdateTimestamp={fields['transactionLastUpdateTimestampMs']},"
        f"txnTimeoutMs={fields['transactionTimeoutMs']}"
    )


def in_order(line):
    """The line with its partitions sorted: the tool has them in a set."""
    return re.sub(r"partitions=\[(.*?)\]", lambda found: f"partitions={sorted(found[1].split(','))}", line)


@pytest.mark.parametrize("case", recorded("transaction-log")["cases"], ids=case_id)
def test_a_broker_s_records_are_what_its_own_tool_prints(case, tmp_path):
    records = list(committed_records(read_disk(written(case, tmp_path), TOPIC)))
    if case["release"].startswith("4.0"):
        told = [in_order(line.partition(" key: ")[2]) for line in case["dumped"]]
        assert [in_order(as_text(record)) for record in records] == told[: len(records)]
        return
    printed = [PRINTED.fullmatch(line).groups() for line in case["dumped"]]

    assert len(printed) >= len(records) > 20  # the tool ran a little later
    for record, (offset, timestamp, key, payload) in zip(records, printed, strict=False):
        version, fields = decode_value(record.value)
        assert (record.offset, record.timestamp_ms) == (int(offset), int(timestamp))
        assert decode_key(record.key) == json.loads(key)["data"]["transactionalId"]
        if payload == "<DELETE>":
            assert fields is None
        else:
            told = json.loads(payload)
            assert (version, with_defaults(fields)) == (int(told["version"]), with_defaults(told["data"]))
            assert encode_value(version, fields) == record.value


@pytest.mark.parametrize("case", recorded("transaction-log")["cases"], ids=case_id)
def test_replayed_the_records_are_the_transactional_ids_that_the_coordinator_lists(case, tmp_path):
    found = replay(read_disk(written(case, tmp_path), TOPIC))
    listed = {row[0]: (int(row[2]), row[3]) for row in rows_of(case["listed"])}
    in_files = {each.transactional_id: (each.producer_id, each.state) for each in found.ids}

    late = "größe-1"  # its time-out passed between the copy of the files and the tool
    assert found.problems == ()
    assert in_files.pop(late) == (listed[late][0], "Ongoing")
    assert listed.pop(late)[1] in ("CompleteAbort", "Empty", "PrepareAbort")
    assert in_files == listed


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
longs, shorts = st.integers(-(2**63), 2**63 - 1), st.integers(-(2**15), 2**15 - 1)
ints = st.integers(-(2**31), 2**31 - 1)
partitions = st.lists(st.fixed_dictionaries({"topic": texts, "partitionIds": st.lists(ints, max_size=3)}), max_size=3)
plain = {
    "producerId": longs,
    "producerEpoch": shorts,
    "transactionTimeoutMs": ints,
    "transactionStatus": st.integers(-128, 127),
    "transactionPartitions": st.none() | partitions,
    "transactionLastUpdateTimestampMs": longs,
    "transactionStartTimestampMs": longs,
}
tagged = {
    "previousProducerId": longs.filter(lambda n: n != -1),
    "nextProducerId": longs.filter(lambda n: n != -1),
    "clientTransactionVersion": shorts.filter(lambda n: n != 0),
    "nextProducerEpoch": shorts.filter(lambda n: n != -1),
}


@given(st.fixed_dictionaries(plain, optional=tagged), texts)
def test_what_is_written_is_read(fields, transactional_id):
    assert decode_value(encode_value(1, fields)) == (1, fields)
    assert decode_key(encode_key(transactional_id)) == transactional_id
    first = {name: value for name, value in fields.items() if name in plain}
    assert decode_value(encode_value(0, first)) == (0, first)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data):
    for decode in (decode_key, decode_value):
        with suppress(Undecodable):
            decode(data)


def test_what_no_coordinator_writes_is_refused():
    with pytest.raises(Undecodable, match="record type 1 at byte 0 is unknown; known is 0"):
        decode_key(bytes.fromhex("00010000"))
    with pytest.raises(Undecodable, match="version 2 at byte 0 is unknown; known is 0 to 1"):
        decode_value(bytes.fromhex("0002"))
    with pytest.raises(KafkaLearnError, match="previousProducerId is not in this version"):
        encode_value(0, {**dict.fromkeys(plain, 0), "transactionPartitions": [], "previousProducerId": 3})
    assert replay([(b"\x00\x09", None), (None, b"")]).problems[0].startswith("TransactionLogKey: record type 9")
