"""Records what real clients and brokers do, each time the same that they are told: files of tests/vectors.

    python3 -m tools.real                       every recording below, about three quarters of an hour
    python3 -m tools.real readers rebalances    only these

A file for each recording; `ToldClients.java` has consumers and producers that do what they are told, `told.py` tells
them. Nothing of what is written is computed by `kafkalearn`.
"""
