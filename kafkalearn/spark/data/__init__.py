"""Data in the amount a class needs, made by Spark from a seed: the same rows in every run."""
