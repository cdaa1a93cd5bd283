"""Asks brokers again what recorded histories have asked, and writes anew those that are answered otherwise.

    python3 -m tools.histories 4.3                            all that a broker of this line can be asked again
    python3 -m tools.histories 4.3 list-offsets commit-path   only these files

A history has its questions beside the answers, so it can be asked again. It has also what the broker has drawn: times,
ids. So an answer stays as it is recorded where it is the same, and where it is one that the same simulator gives for
what was drawn now, as it does for what was drawn then. A history that is answered otherwise three times in a row is
written anew, and printed. A line of which a file has no histories yet gets those of the newest line, asked of it.

`kafkalearn` computes none of what is written. What no command makes again stands in `tools.histories.left`, with why.
"""
