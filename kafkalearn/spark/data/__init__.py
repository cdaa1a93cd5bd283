"""Data as a class needs it, made by Spark from a seed: the same rows in every run."""
