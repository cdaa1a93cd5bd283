"""The consumers of a scenario: what a process of each protocol does and hears."""
