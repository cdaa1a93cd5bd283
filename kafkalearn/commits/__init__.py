"""A consumer's position, what it commits and when, and what a crash in between costs."""
