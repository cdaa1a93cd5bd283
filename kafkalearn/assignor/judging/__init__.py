"""Assignors judged: the laws they must keep, what a rebalance costs, the fewest moves, and generated groups."""
