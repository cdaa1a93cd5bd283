"""The inside of Apache Kafka, stepped by hand."""
