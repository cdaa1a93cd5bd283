"""Requests and answers as bytes, without a broker."""

import json
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import read_batch
from kafkalearn.formats.wire import BOOLEAN, Field, Reader, Undecodable, decode_message, encode_message, layout
from kafkalearn.live.errors import NoAnswer, NotReached, Refused, wait_for
from kafkalearn.live.nodes import HOST
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.reading import Brokers, metadata_request
from kafkalearn.live.request_values import encode_batch
from kafkalearn.live.requests import (
    APIS,
    HEADER,
    LENGTH,
    NO_TAGS,
    Connection,
    answer_of,
    find_api,
    request_bytes,
    request_of,
)
from tools import request_layouts

data = st.one_of(st.none(), st.binary(max_size=40))
times = st.integers(0, 2**41)


@given(
    st.lists(st.tuples(data, data, times), min_size=1, max_size=8), st.integers(-1, 2**40), st.integers(-1, 2**15 - 1)
)
def test_a_batch_is_read_as_it_was_written(records, producer_id, epoch):
    batch = read_batch(encode_batch(records, producer_id, epoch, base_sequence=7))

    assert [(each.key, each.value, each.timestamp_ms) for each in batch.records] == records
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (producer_id, epoch, 7)
    assert (batch.base_offset, batch.last_offset) == (0, len(records) - 1)
    assert batch.max_timestamp_ms == max(each[2] for each in records)


def test_a_batch_without_a_record_is_refused():
    with pytest.raises(KafkaLearnError, match="at least one record"):
        encode_batch([])


@pytest.mark.parametrize("value", [True, False])
def test_true_and_false_take_a_byte(value):
    message = layout("Message", Field("isInternal", BOOLEAN))
    encoded = encode_message(message, 0, {"isInternal": value})

    assert encoded == bytes([value])
    assert decode_message(Reader(encoded, "Message"), message, 0) == {"isInternal": value}
    with pytest.raises(KafkaLearnError, match="isInternal must be True or False, got 1"):
        encode_message(message, 0, {"isInternal": 1})


@pytest.mark.parametrize(
    ("oldest", "newest", "wanted", "version"), [(0, 99, None, 9), (0, 5, None, 5), (0, 99, 2, 2), (2, 3, 3, 3)]
)
def test_the_newest_version_that_both_know_is_sent_or_the_one_that_is_wanted(oldest, newest, wanted, version):
    assert find_api("JoinGroup").version_for(oldest, newest, wanted) == version


@pytest.mark.parametrize(("oldest", "newest", "wanted"), [(0, -1, None), (12, 20, None), (2, 3, 4)])
def test_a_version_that_one_side_does_not_know_is_refused(oldest, newest, wanted):
    with pytest.raises(KafkaLearnError, match=f"JoinGroup: .*the broker knows versions {oldest} to {newest}"):
        find_api("JoinGroup").version_for(oldest, newest, wanted)


def test_an_unknown_request_names_the_nearest():
    with pytest.raises(KafkaLearnError, match="did you mean 'ListGroups'"):
        find_api("ListGroup")


def test_metadata_asks_for_no_creation_in_words_that_every_version_sent_has():
    values = metadata_request(["orders"])
    assert values["allowAutoTopicCreation"] is False
    request_bytes(APIS["Metadata"], 4, 1, "me", values)
    with pytest.raises(KafkaLearnError, match="allowAutoTopicCreation is not in this version"):
        request_bytes(APIS["Metadata"], 3, 1, "me", values)


def test_the_file_of_layouts_is_written_as_it_stands_byte_for_byte():
    text = request_layouts.RECORDED.read_text(encoding="utf-8")
    assert request_layouts.text_of(json.loads(text)) == text
    assert json.loads(text)["about"] == request_layouts.ABOUT
    assert tuple(APIS) == request_layouts.REQUESTS


def test_an_answer_with_bytes_left_over_is_refused():
    with pytest.raises(Undecodable, match="1 more byte follows"):
        answer_of(APIS["Heartbeat"], 0, bytes(4) + bytes(2) + b"x")


@pytest.fixture
def somebody():
    """A listener that answers whatever comes with the bytes that it is given."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answers = []

        def serve():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                client.recv(1000)
                if answers:
                    client.sendall(answers[0])
                    client.close()

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], answers


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "does not speak Kafka's protocol"),
        (b"", "the broker has closed the connection"),
        (bytes([0, 0, 0, 10, 0, 0, 0, 9]) + bytes(6), r"answers request 9, 1 was waited for"),
    ],
)
def test_who_is_no_broker_is_noticed(somebody, answer, said):
    port, answers = somebody
    answers.append(answer)
    with pytest.raises(NoAnswer, match=said):
        Connection("127.0.0.1", port, timeout_s=2)


def test_who_says_nothing_is_not_waited_for_for_ever(somebody):
    with pytest.raises(NoAnswer, match="no answer in time; is the broker alive"):
        Connection("127.0.0.1", somebody[0], timeout_s=0.2)


def test_without_a_broker_to_ask_the_message_says_so():
    with pytest.raises(NoAnswer, match="there is no broker to ask"):
        Brokers(()).ask_any((), "Metadata", {})


def test_what_is_waited_for_is_named_with_what_there_was_at_last():
    def refused():
        raise Refused("no leader", "LEADER_NOT_AVAILABLE")

    with pytest.raises(NotReached, match=r"the leader 2 has not come about in 0 s; at last there was: 1"):
        wait_for(lambda: 1, 2, "the leader", timeout_s=0)
    with pytest.raises(NotReached, match=r"at last there was: Refused\('no leader'\)"):
        wait_for(refused, 2, "the leader", timeout_s=0)


def test_a_proxy_is_closed_twice_without_complaint():
    proxy = Proxy()
    proxy.close()
    proxy.close()
    with pytest.raises(KafkaLearnError, match="unknown request 'Produced'"):
        proxy.swallow("Produced")


def test_a_proxy_hears_requests_and_puts_errors_into_answers():
    words = {"groupId": "g", "generationId": 1, "memberId": "m"}
    heard = []

    def answer(server):
        connection, _ = server.accept()
        with connection:
            for number in (1, 2, 3):
                message = connection.recv(4096)
                _, version, client_id, fields = request_of(message[LENGTH.size :])
                assert (version, client_id) == (4, "me")
                assert fields.items() >= words.items()
                body = (
                    number.to_bytes(4, "big")
                    + NO_TAGS
                    + encode_message(api.response, 4, {"throttleTimeMs": 0, "errorCode": 0})
                )
                connection.sendall(LENGTH.pack(len(body)) + body)

    api = find_api("Heartbeat")
    with socket.create_server((HOST, 0)) as server, Proxy(heard=lambda name, *_: heard.append(name)) as proxy:
        proxy.forward_to(f"{HOST}:{server.getsockname()[1]}")
        proxy.answer_with("Heartbeat", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID")
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        with Connection(HOST, proxy.port, client_id="me", asks_versions=False) as connection:
            errors = [connection.call("Heartbeat", words, 4)["errorCode"] for _ in range(3)]
    assert errors == [16, 25, 0]
    assert heard == ["Heartbeat"] * 3


def test_a_proxy_refuses_a_request_in_the_brokers_place_and_keeps_answers_back():
    words, api, asked = {"transactionalId": "x", "transactionTimeoutMs": 1000}, find_api("InitProducerId"), []
    taken = {"errorCode": 0, "producerId": 7, "producerEpoch": 1, "throttleTimeMs": 0}

    def answer(server):
        connection, _ = server.accept()
        with connection:
            for _ in range(2):
                message = connection.recv(4096)
                asked.append(request_of(message[LENGTH.size :])[0].name)
                _, _, number = HEADER.unpack_from(message, LENGTH.size)
                body = number.to_bytes(4, "big") + NO_TAGS + encode_message(api.response, 5, taken)
                connection.sendall(LENGTH.pack(len(body)) + body)

    with socket.create_server((HOST, 0)) as server, Proxy() as proxy:
        proxy.forward_to(f"{HOST}:{server.getsockname()[1]}")
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        proxy.refuse("InitProducerId", "CONCURRENT_TRANSACTIONS")
        proxy.hold("InitProducerId")
        with Connection(HOST, proxy.port, client_id="me", asks_versions=False) as connection:
            refused = connection.send("InitProducerId", words, 5)
            wait_for(lambda: asked, ["ApiVersions"])
            assert not connection.is_answered()
            proxy.hold()
            assert connection.receive(refused).items() >= {"errorCode": 51, "producerId": -1}.items()
            assert connection.call("InitProducerId", words, 5).items() >= taken.items()
    assert asked == ["ApiVersions", "InitProducerId"]
    with pytest.raises(KafkaLearnError, match="'Heartbeat' cannot be refused"):
        proxy.refuse("Heartbeat", "UNKNOWN_MEMBER_ID")
