"""What the exercises of every chapter are made of: asking, checking in three ways, and saying what was found."""
