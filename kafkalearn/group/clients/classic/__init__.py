"""A consumer of the classic protocol, and the coordinator it talks to, in the world of a scenario."""
