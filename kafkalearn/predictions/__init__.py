"""What the reader is asked to predict: what may be answered, what is so, and what stays hidden until then."""
