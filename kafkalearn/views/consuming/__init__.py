"""A topic and the groups that read it, shown: picture, words, figures."""
