"""Is this a Kafka? The questions of conform for any broker that speaks the protocol: agrees, differs, cannot be asked.

::

    python -m conformance.judge localhost:9092 --may-write --report judge.md

It makes topics and groups whose names begin with one prefix, and removes them at the end, also after an error or an
interrupt. Only questions that requests over the network can ask are asked, groups with the times that the cluster's own
settings allow; what needs a broker's disk or its death is said to be so. Exit code 0: all agree; 1: something differs;
2: it cannot say.
"""
