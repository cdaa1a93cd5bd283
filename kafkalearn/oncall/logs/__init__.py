"""Logs of brokers and clients: lines -> events, from Kafka 0.8 to 4.3, of Java, librdkafka, Python, Go and others.

`read` takes lines, `read_files` files, gzipped and rotated ones among them. What a line may look like is data, in
`kafkalearn.oncall.logs.patterns`: each pattern with who writes it, since when, and an example from a real run.
`kafkalearn.oncall.why` makes rebalances and their causes of the events.
"""

from kafkalearn.oncall.logs.reader import Reading, read, read_files

__all__ = ["Reading", "read", "read_files"]
