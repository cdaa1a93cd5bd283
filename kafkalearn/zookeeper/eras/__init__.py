"""One scenario in three eras: a group that agrees through ZooKeeper, by the classic protocol, by that of KIP-848.

The old consumers are clients of the one engine (`kafkalearn.group.world`), with the same network, threads and time.
"""

from kafkalearn.zookeeper.eras.playing import ERAS, era_rows, play_eras, simulate_zookeeper

__all__ = ["ERAS", "era_rows", "play_eras", "simulate_zookeeper"]
