"""What segment files hold, counted in one pass: by Python alone, or by NumPy with the same answers."""
