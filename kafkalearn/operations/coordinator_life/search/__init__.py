"""Searching all orders of events for the shortest that breaks a promise."""
