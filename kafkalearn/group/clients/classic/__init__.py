"""Consumers of the classic protocol, and the coordinator they talk to, in the world of a scenario."""
