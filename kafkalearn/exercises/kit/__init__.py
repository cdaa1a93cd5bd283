"""Building blocks of every exercise: ask, judge in four ways, report the result."""
