"""The consumer before the coordinator: a group that agreed through ZooKeeper, with nobody in charge.

- `kafkalearn.zookeeper.tree`: a small ZooKeeper, with sessions and watches
- `kafkalearn.zookeeper.layout`: which nodes Kafka kept there, to the byte
- `kafkalearn.zookeeper.connector`: the old high-level consumer: listeners, rebalances, ownership
- `kafkalearn.zookeeper.search`: the herd and the split brain, found and played
"""
