"""What all pictures are drawn with: SVG, the player, controls, figures, widgets."""
