"""Assignments and rebalances, shown: picture, words, figures."""
