"""What the exercises of every chapter are made of: asking, judging in four ways, and saying what was found."""
