"""The controller's side: its record of a partition, how it reaches the brokers, and how brokers come and go."""
