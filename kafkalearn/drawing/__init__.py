"""What all pictures are rendered with: SVG, the player, controls, figures, widgets."""
