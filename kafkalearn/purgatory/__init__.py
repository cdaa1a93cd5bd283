"""Requests that wait: delayed operations, and the timing wheels that end them."""
