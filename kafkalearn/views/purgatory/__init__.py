"""Timers and delayed operations, shown: picture, words, figures."""
