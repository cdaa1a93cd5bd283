"""What all rules stand on: traces, promises, searches, hashes, Java's collections, validation of arguments, tables."""
