"""Logs of brokers and clients: lines -> events, from Kafka 0.8 to 4.3, of Java, librdkafka, Python, Go and others.

`read` takes lines, `read_files` files, gzipped and rotated ones among them; `kafkalearn.oncall.why` asks the rest. The
stages, each with what it stands on:

1. files -> lines: `files`; a `reader` feeds them on, and puts together what a screen has wrapped (`edges`);
2. line -> time, writer, message: `lines`, from its front; which lines say nothing: `relevance`;
3. message -> event: `patterns`, whose forms are data, ``*.json``, a file for each family of clients; a message that
   stands anywhere else: `anywhere`; an error of no known form: `protocol_errors`; transactions: `transactions`;
4. events -> episodes: `clients` (who is who), `rebalances` (from beginning to end), `incidents` (what has no such end);
5. episode -> cause: `causes`, by ``said_by`` and ``cause_of_reason``, whoever asks;
6. cause -> answer: `avoiding` (what would have avoided it), `kafkalearn.oncall.why` and ``why_report`` (the words).

A new client is a file of patterns with its name in `kafkalearn.oncall.logs.patterns.FAMILIES`, each with the line of a
real run as its ``example``; a test reads every example. A line is looked at if it has a word that
`kafkalearn.oncall.logs.relevance.speaks_of_groups` knows, as those of all clients so far do. Code changes for a layout,
an error or a meaning that no client had before.
"""

from kafkalearn.oncall.logs.reader import Reading, read, read_files

__all__ = ["Reading", "read", "read_files"]
