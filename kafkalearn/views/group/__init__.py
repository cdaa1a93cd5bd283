"""A consumer group, shown: picture, words, figures."""
