"""Records messages of formats 0 and 1 as released clients write them: tests/vectors/segments/old-messages.json.

    python3 -m tools.old_messages

Asked are the classes themselves (OldMessages.java): of clients whose format it was, and of later ones, which still
wrote it for old brokers. What is compressed stands in one message.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from kafkalearn.live.jars import Module
from tools.kafka_jars import HERE, client_jars, run_class
from tools.recordings import text_of

RECORDED = HERE.parent / "tests" / "vectors" / "segments" / "old-messages.json"
SNAPPY = Module("org.xerial.snappy", "snappy-java", "1.1.10.5")
LZ4, LZ4_OF_THEN = Module("org.lz4", "lz4-java", "1.8.0"), Module("net.jpountz.lz4", "lz4", "1.3.0")
ALL = ("none", "gzip", "snappy", "lz4")
ASKED = {
    "0.9.0.1": ({0: ALL[:3]}, LZ4_OF_THEN),
    "0.10.1.1": ({1: ALL}, LZ4_OF_THEN),
    "1.1.1": ({0: ALL, 1: ALL}, LZ4),
    "3.9.2": ({0: ALL, 1: ALL}, LZ4),
}
"""By client the formats, each with its codecs (0.9's lz4 needs a library that is no longer there)."""

BASE, COUNT = 40, 7
ABOUT = (
    "Messages of format 0 or 1, in base64, as the MemoryRecords of released clients write them: 7 records from offset "
    "40 on, at 1500000000000 ms and a second later each; record n has the key key-n, none where n is a multiple of 3, "
    "and a value, none where n is 3 more than a multiple of 4. Written by python3 -m tools.old_messages."
)


def cases() -> Iterator[dict[str, Any]]:
    """All of them, by client, format and codec."""
    for client, (formats, lz4) in ASKED.items():
        jars = client_jars(client, SNAPPY, lz4)
        for magic, codecs in formats.items():
            for codec in codecs:
                said = run_class(jars, "OldMessages", str(magic), codec, str(BASE), str(COUNT)).split()[-1]
                base64.b64decode(said, validate=True)
                yield {"client": client, "magic": magic, "codec": codec, "bytes": said}


def main(_: Sequence[str]) -> int:
    """Ask all of them, and write the file."""
    RECORDED.write_text(text_of({"about": ABOUT, "cases": list(cases())}, "cases"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
