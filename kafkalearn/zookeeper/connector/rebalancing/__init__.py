"""``syncedRebalance``: its lock, its tries, its eight steps, and the assignment that each consumer computes."""
