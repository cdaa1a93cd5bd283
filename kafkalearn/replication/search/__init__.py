"""What only the search over all schedules needs: other names for brokers, a normal form, and `find`."""
