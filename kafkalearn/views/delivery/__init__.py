"""A producer and its partition, shown: picture, words, figures."""
