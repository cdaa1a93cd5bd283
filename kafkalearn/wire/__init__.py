"""Kafka's binary forms: how a layout is written down, and how bytes are decoded and encoded by it.

>>> from kafkalearn.wire.decoder import decode_message
>>> from kafkalearn.wire.encoder import encode_message
>>> from kafkalearn.wire.fields import INT32, STRING, Array, Field, layout
>>> from kafkalearn.wire.reader import Reader
>>> message = layout("Message", Field("topic", STRING), Field("partitions", Array(INT32)))
>>> encode_message(message, 0, {"topic": "orders", "partitions": [7]}).hex(" ")
'00 06 6f 72 64 65 72 73 00 00 00 01 00 00 00 07'
>>> decode_message(Reader(bytes.fromhex("0001 61 00000001 00000007"), "Message"), message, 0)
{'topic': 'a', 'partitions': [7]}
"""

from kafkalearn.wire.reader import Undecodable

__all__ = ["Undecodable"]
