"""A server to begin with: it speaks the framing of Kafka's protocol, and answers FindCoordinator, not yet rightly.

    python starter.py               in one terminal
    kafkalearn build localhost:9092   in another: it says which request is answered otherwise than by Kafka

It needs nothing but Python 3.11. The fields of every request and answer: https://kafka.apache.org/protocol
"""

import socket
import struct
import sys
import threading

LOCK = threading.Lock()  # one request at a time, whoever sends it


def take(connection, size):
    """So many bytes, however many packets they come in."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def text(body, at):
    """A string of the plain encoding: its length in 2 bytes, then UTF-8; the position behind it."""
    (length,) = struct.unpack_from(">h", body, at)
    return body[at + 2 : at + 2 + length].decode(), at + 2 + length


def as_text(words):
    """The same the other way round."""
    return struct.pack(">h", len(words.encode())) + words.encode()


def find_coordinator(version, body, reply):
    """Version 2: throttle time, error, message, node, host, port."""
    key, _ = text(body, 0)  # the id of the group; a byte with the kind of key follows
    print("FindCoordinator", version, key)
    throttle_ms, error, message, node_id = 0, 0, -1, 1  # a string of length -1 is null
    reply(struct.pack(">ihhi", throttle_ms, error, message, node_id) + as_text("localhost") + struct.pack(">i", 9092))


ANSWERS = {10: find_coordinator}  # by the number of the request: 11 JoinGroup, 14 SyncGroup, 12 Heartbeat, ...


def serve(connection):
    """Every message has its length in front; a request begins with its kind, version, number, and client's name."""
    try:
        while True:
            (size,) = struct.unpack(">i", take(connection, 4))
            message = take(connection, size)
            kind, version, number = struct.unpack_from(">hhi", message)
            _, at = text(message, 8)

            def reply(body, number=number):  # at once or later: keep it for who has to wait
                answer = struct.pack(">i", number) + body
                connection.sendall(struct.pack(">i", len(answer)) + answer)

            with LOCK:
                ANSWERS[kind](version, message[at:], reply)
    except (ConnectionError, KeyError) as error:
        print("closed", repr(error))
        connection.close()


if __name__ == "__main__":
    with socket.create_server(("localhost", int(sys.argv[1]) if sys.argv[1:] else 9092)) as listener:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
