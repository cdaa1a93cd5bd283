"""The look-up of a coordinator, shown: picture, words, figures."""
