"""What every rule on Spark shares: columns checked, rows counted by partition, Java's own functions."""
