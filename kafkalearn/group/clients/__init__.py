"""The two group protocols in the world of a scenario: the client side, and the coordinator in virtual time."""
