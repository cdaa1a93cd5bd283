"""Uniform, the default inside the broker since KIP-848: for members that subscribe alike, and for others."""
