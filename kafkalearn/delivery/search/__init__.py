"""What only the searches over a producer's schedules need: `find`, the matrix of results, and counting schedules."""
