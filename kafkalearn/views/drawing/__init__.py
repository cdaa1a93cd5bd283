"""What every picture is drawn with: shapes, a page, one style, and the frames of a trace."""
