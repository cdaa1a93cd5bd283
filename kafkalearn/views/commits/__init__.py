"""Positions and commits, shown: picture, words, figures."""
