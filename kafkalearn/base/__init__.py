"""What all rules stand on: traces, promises, searches, hashes, Java's collections, checks of what is given, tables."""
