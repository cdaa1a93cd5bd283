"""Searching for a load that the cleaner makes fail."""
