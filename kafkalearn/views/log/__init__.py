"""A log and its cleaner, shown: picture, words, figures."""
