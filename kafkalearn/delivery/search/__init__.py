"""What only the searches over a producer's schedules need: `find`, the outcome matrix, and counting all schedules."""
