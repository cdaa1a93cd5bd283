"""The same records pulled and pushed, shown: picture, words."""
