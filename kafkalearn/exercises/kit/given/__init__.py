"""What a student gave: taken apart into plain data, and functions called within bounds."""
