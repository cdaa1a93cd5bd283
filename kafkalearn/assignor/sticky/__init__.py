"""Sticky and cooperative sticky: balance first, and then as little movement as balance allows."""
