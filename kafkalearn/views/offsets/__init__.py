"""The offsets topic, shown: picture, words, figures."""
