"""A replicated partition, shown: picture, words, figures."""
