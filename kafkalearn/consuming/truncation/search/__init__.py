"""Searching all schedules of a partition and its readers."""
