"""A consumer group and its coordinator: joins, heartbeats, rebalances, and the time they cost."""
