"""Consumers of the KIP-848 protocol, and the coordinator they talk to, in the world of a scenario."""
