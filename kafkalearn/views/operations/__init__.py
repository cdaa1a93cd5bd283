"""Running a cluster drawn: who leads, what a plan moves, what a dead broker leaves to others, a log that is cut."""
