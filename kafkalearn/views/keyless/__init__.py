"""A producer of keyless records, shown: picture, words, figures."""
